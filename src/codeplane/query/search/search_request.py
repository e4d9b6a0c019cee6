"""The request of a search: what to look for, and where."""

from typing import Literal as OneOf

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from codeplane.kernel.ids import digest
from codeplane.kernel.json import canonical
from codeplane.kernel.page import PageRequest
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.search.pattern import Literal, Pattern, Regex, literal_ignoring_case
from codeplane.query.search.scope import Tests

Mode = OneOf[
    "auto",
    "literal",
    "regex",
    "ranked",
    "lexical",
    "symbol",
    "definitions",
    "references",
    "semantic",
    "hybrid",
]

# The longest text of an issue.
MAX_QUERY = 65_536


class SearchRequest(PageRequest, WorkspaceRequest):
    """What to look for, and where."""

    query: str = Field(min_length=1, max_length=MAX_QUERY)
    mode: Mode = Field("auto", description="auto picks by the query's shape")
    paths: tuple[str, ...] = Field((), description="globs or folders to look in", max_length=100)
    languages: tuple[str, ...] = Field((), max_length=50)
    kinds: tuple[str, ...] = Field((), description="of symbols: function, class, method …", max_length=50)
    tests: Tests = "include"
    ignore_case: bool = False
    context: int = Field(0, ge=0, le=100, description="lines before and after")
    fresh: OneOf["default", "strict"] = Field("default", description="strict walks the disk first")
    limit: int = Field(20, ge=1, le=100, description="default 10 where files are ranked")
    # Accepted and not listed: agents want the lines, and pay for every byte of a tool list.
    include_snippets: SkipJsonSchema[bool] = Field(True, description="false: where the lines are, without their text")


class StreamRequest(SearchRequest):
    """What to look for, and how much of it."""

    most: int = Field(1000, ge=1, le=100_000, description="lines in all")


def pattern_of(request: SearchRequest, mode: str) -> Pattern:
    if mode == "regex":
        return Regex(request.query, ignore_case=request.ignore_case)
    return literal_ignoring_case(request.query) if request.ignore_case else Literal(request.query)


def describe_scope(request: SearchRequest) -> str:
    filters = {"paths": list(request.paths), "languages": list(request.languages), "tests": request.tests}
    return " ".join(f"{name}={value}" for name, value in filters.items() if value and value != "include")


def request_digest(request: SearchRequest) -> str:
    return digest(
        canonical(request.model_dump(mode="json", exclude={"cursor", "limit", "context", "fresh", "include_snippets"}))
    )
