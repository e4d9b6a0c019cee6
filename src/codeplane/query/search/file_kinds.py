"""Kinds of files by path, and the subjects of tests."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from codeplane.code.languages.registry import languages
from codeplane.index.path_kinds import is_test

Kind = Literal["source", "declarations", "tests", "prose", "settings", "data"]

_REMEMBERED = 16_384
# Others wrote it, a program made it, or it holds values rather than rules.
_DATA = re.compile(
    r"(?:^|/)(?:vendor|vendored|_vendor|third_party|node_modules|dist|generated|locale|locales|fixtures)/"
    r"|\.min\.\w+$|[-.]\d+(?:\.\d+)+[^/]*\.(?:js|css)$|_pb2(?:_grpc)?\.py$|\.(?:lock|lockb|sum|map|svg|po|pot|csv|tsv|json|jsonl|snap|asc|pem|patch)$"
    r"|(?:^|/)[^/]*-lock\.\w+$"
    r"|(?:^|/)(?:LICEN[CS]E|COPYING|NOTICE|UNLICENSE|PATENTS|AUTHORS|CONTRIBUTORS|MAINTAINERS|CODEOWNERS)[^/]*$"
)
_PROSE = re.compile(
    r"(?:^|/)(?:docs?|examples?|demos?|bench(?:es|marks?)?|sandbox|playgrounds?)/|\.(?:md|mdx|markdown|rst|adoc|txt|html?|\d)$"
    r"|(?:^|/)(?:CHANGE\w*|NEWS|HISTORY|README|CONTRIBUTING|SECURITY)[^/]*$"
)
_SETTINGS = re.compile(
    r"(?:^|/)\.[^/]+(?:/|$)|\.conf(?:ig)?\.[cm]?[jt]s$|\.(?:ya?ml|toml|ini|cfg|conf|properties|xml|gradle|nix|editorconfig)$"
)
# They say what is there, and others do it.
_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$|\.pyi$")
# A question that has one of these words is about such files.
_ABOUT: Mapping[Kind, frozenset[str]] = {
    "prose": frozenset({"docs", "documentation", "documented", "guide", "tutorial", "manual"})
    | frozenset({"demo", "demos", "bench", "benchmark", "benchmarks", "sandbox", "playground"}),
    "declarations": frozenset({"typing", "typings", "types", "typescript", "declaration", "declarations", "stubs"}),
    "settings": frozenset({"ci", "config", "configuration", "settings", "pipeline"}),
    "data": frozenset({"fixture", "fixtures", "snapshots", "translations", "generated", "vendored"}),
}
# The same for files that have the word in their path.
_NAMED = frozenset(
    {
        "license", "licence", "copying", "notice", "authors", "maintainers", "contributing", "security",
        "readme", "changelog", "changes", "news", "history", "lock", "svg", "logo", "json", "csv", "po", "pot",
        "locale", "yaml", "yml", "toml", "xml", "github", "workflow", "workflows", "dependabot", "makefile",
        "html",
    }
)  # fmt: skip
_AFFIXES = re.compile(r"^test_|_test$|_tests$|[._-](?:test|spec)$|(?<=[a-z0-9])(?:Test|Tests|Spec|IT)$|^Test(?=[A-Z])")
_COMMON_STEMS = frozenset({"index", "mod", "init", "main", "util", "utils", "types", "type", "lib", "base", "common"})


@lru_cache(maxsize=_REMEMBERED)
def kind_of(path: str) -> Kind:
    """The kind of a file by its path."""
    if _DATA.search(path):
        return "data"
    if is_test(path):
        return "tests"
    if _PROSE.search(path):
        return "prose"
    if _SETTINGS.search(path):
        return "settings"
    if _DECLARATIONS.search(path):
        return "declarations"
    # LICENSE, Makefile, completion scripts: without an ending, and in no language that is known.
    name = path.rpartition("/")[2]
    return "source" if "." in name or languages().of(path) is not None else "prose"


def kinds_asked_for(words: frozenset[str]) -> frozenset[Kind]:
    """The kinds of files, other than source, that a query's words ask for."""
    return frozenset(kind for kind, about in _ABOUT.items() if about & words)


def names_asked_for(words: frozenset[str]) -> frozenset[str]:
    """The query's words that name files other than source, such as license."""
    return words & _NAMED


@lru_cache(maxsize=_REMEMBERED)
def subject_of(path: str) -> tuple[str, str, str] | None:
    """The folder, name and extension of a test's subject, or None."""
    folder, _, name = path.rpartition("/")
    stem, _, ending = name.rpartition(".")
    subject = _AFFIXES.sub("", stem)
    if subject == stem or not subject:
        return None
    return folder.replace("/test/", "/main/", 1), subject, ending


@lru_cache(maxsize=_REMEMBERED)
def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower().strip("_")


def files_under_test(tests: Iterable[str], files: Iterable[str], *, exists: Callable[[str], bool]) -> dict[str, str]:
    """The subject of each test: the file of that name beside it, or the only one among `files`."""
    named: dict[str, list[str]] = {}
    for path in files:
        named.setdefault(_stem(path), []).append(path)
    subjects: dict[str, str] = {}
    for test in tests:
        subject = subject_of(test)
        if subject is None:
            continue
        folder, name, ending = subject
        beside = f"{folder}/{name}.{ending}".removeprefix("/")
        stem = name.lower().strip("_")
        others: Sequence[str] = named.get(stem, ()) if stem not in _COMMON_STEMS else ()
        if exists(beside):
            subjects[test] = beside
        elif len(others) == 1:
            subjects[test] = others[0]
    return subjects
