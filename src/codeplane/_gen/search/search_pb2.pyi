from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SearchMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_MODE_UNSPECIFIED: _ClassVar[SearchMode]
    SEARCH_MODE_LITERAL: _ClassVar[SearchMode]
    SEARCH_MODE_REGEX: _ClassVar[SearchMode]
    SEARCH_MODE_RANKED: _ClassVar[SearchMode]
    SEARCH_MODE_LEXICAL: _ClassVar[SearchMode]
    SEARCH_MODE_SYMBOL: _ClassVar[SearchMode]
    SEARCH_MODE_DEFINITIONS: _ClassVar[SearchMode]
    SEARCH_MODE_REFERENCES: _ClassVar[SearchMode]
    SEARCH_MODE_SEMANTIC: _ClassVar[SearchMode]
    SEARCH_MODE_HYBRID: _ClassVar[SearchMode]

class TestFiles(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEST_FILES_UNSPECIFIED: _ClassVar[TestFiles]
    TEST_FILES_INCLUDE: _ClassVar[TestFiles]
    TEST_FILES_EXCLUDE: _ClassVar[TestFiles]
    TEST_FILES_ONLY: _ClassVar[TestFiles]

class Freshness(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FRESHNESS_UNSPECIFIED: _ClassVar[Freshness]
    FRESHNESS_STRICT: _ClassVar[Freshness]

class MatchType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MATCH_TYPE_UNSPECIFIED: _ClassVar[MatchType]
    MATCH_TYPE_EXACT: _ClassVar[MatchType]
    MATCH_TYPE_FUZZY: _ClassVar[MatchType]
    MATCH_TYPE_SEMANTIC: _ClassVar[MatchType]
SEARCH_MODE_UNSPECIFIED: SearchMode
SEARCH_MODE_LITERAL: SearchMode
SEARCH_MODE_REGEX: SearchMode
SEARCH_MODE_RANKED: SearchMode
SEARCH_MODE_LEXICAL: SearchMode
SEARCH_MODE_SYMBOL: SearchMode
SEARCH_MODE_DEFINITIONS: SearchMode
SEARCH_MODE_REFERENCES: SearchMode
SEARCH_MODE_SEMANTIC: SearchMode
SEARCH_MODE_HYBRID: SearchMode
TEST_FILES_UNSPECIFIED: TestFiles
TEST_FILES_INCLUDE: TestFiles
TEST_FILES_EXCLUDE: TestFiles
TEST_FILES_ONLY: TestFiles
FRESHNESS_UNSPECIFIED: Freshness
FRESHNESS_STRICT: Freshness
MATCH_TYPE_UNSPECIFIED: MatchType
MATCH_TYPE_EXACT: MatchType
MATCH_TYPE_FUZZY: MatchType
MATCH_TYPE_SEMANTIC: MatchType

class SearchRequest(_message.Message):
    __slots__ = ("query", "mode", "paths", "languages", "kinds", "tests", "ignore_case", "context", "fresh", "page_size", "page_token", "workspace")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    TESTS_FIELD_NUMBER: _ClassVar[int]
    IGNORE_CASE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    FRESH_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    query: str
    mode: SearchMode
    paths: _containers.RepeatedScalarFieldContainer[str]
    languages: _containers.RepeatedScalarFieldContainer[str]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    tests: TestFiles
    ignore_case: bool
    context: int
    fresh: Freshness
    page_size: int
    page_token: str
    workspace: str
    def __init__(self, query: _Optional[str] = ..., mode: _Optional[_Union[SearchMode, str]] = ..., paths: _Optional[_Iterable[str]] = ..., languages: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ..., tests: _Optional[_Union[TestFiles, str]] = ..., ignore_case: _Optional[bool] = ..., context: _Optional[int] = ..., fresh: _Optional[_Union[Freshness, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., workspace: _Optional[str] = ...) -> None: ...

class Symbol(_message.Message):
    __slots__ = ("name", "kind", "container", "id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    container: str
    id: str
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., container: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("path", "line", "column", "snippet", "before", "after", "score", "match_type", "symbol", "tier")
    PATH_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    MATCH_TYPE_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    path: str
    line: int
    column: int
    snippet: str
    before: _containers.RepeatedScalarFieldContainer[str]
    after: _containers.RepeatedScalarFieldContainer[str]
    score: float
    match_type: MatchType
    symbol: Symbol
    tier: str
    def __init__(self, path: _Optional[str] = ..., line: _Optional[int] = ..., column: _Optional[int] = ..., snippet: _Optional[str] = ..., before: _Optional[_Iterable[str]] = ..., after: _Optional[_Iterable[str]] = ..., score: _Optional[float] = ..., match_type: _Optional[_Union[MatchType, str]] = ..., symbol: _Optional[_Union[Symbol, _Mapping]] = ..., tier: _Optional[str] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("mode", "hits", "next_page_token", "total", "total_is_exact", "files", "epoch", "commit", "tiers", "partial", "stale", "query_time_ms")
    class TiersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    MODE_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    TOTAL_IS_EXACT_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    TIERS_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    QUERY_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    mode: SearchMode
    hits: _containers.RepeatedCompositeFieldContainer[Hit]
    next_page_token: str
    total: int
    total_is_exact: bool
    files: int
    epoch: int
    commit: str
    tiers: _containers.ScalarMap[str, int]
    partial: str
    stale: _containers.RepeatedScalarFieldContainer[str]
    query_time_ms: float
    def __init__(self, mode: _Optional[_Union[SearchMode, str]] = ..., hits: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total: _Optional[int] = ..., total_is_exact: _Optional[bool] = ..., files: _Optional[int] = ..., epoch: _Optional[int] = ..., commit: _Optional[str] = ..., tiers: _Optional[_Mapping[str, int]] = ..., partial: _Optional[str] = ..., stale: _Optional[_Iterable[str]] = ..., query_time_ms: _Optional[float] = ...) -> None: ...

class StreamSearchRequest(_message.Message):
    __slots__ = ("query", "mode", "paths", "languages", "kinds", "tests", "ignore_case", "context", "fresh", "page_size", "workspace", "most")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    TESTS_FIELD_NUMBER: _ClassVar[int]
    IGNORE_CASE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    FRESH_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    query: str
    mode: SearchMode
    paths: _containers.RepeatedScalarFieldContainer[str]
    languages: _containers.RepeatedScalarFieldContainer[str]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    tests: TestFiles
    ignore_case: bool
    context: int
    fresh: Freshness
    page_size: int
    workspace: str
    most: int
    def __init__(self, query: _Optional[str] = ..., mode: _Optional[_Union[SearchMode, str]] = ..., paths: _Optional[_Iterable[str]] = ..., languages: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ..., tests: _Optional[_Union[TestFiles, str]] = ..., ignore_case: _Optional[bool] = ..., context: _Optional[int] = ..., fresh: _Optional[_Union[Freshness, str]] = ..., page_size: _Optional[int] = ..., workspace: _Optional[str] = ..., most: _Optional[int] = ...) -> None: ...
