"""Definitions of a source file by their heads and indentation, read without any fact of CodePlane."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_WORDS = (
    r"(?:(?:export|default|declare|abstract|async|public|private|protected|static|readonly|override|final|get|set|const"
    r"|unsafe|pub(?:\([^)]*\))?|sealed|synchronized)\s+)*"
)
_HEADS = {
    "python": (r"(?:async\s+)?(?:def|class)\s+(?P<name>\w+)",),
    "go": (r"func\s+(?:\([^)]*\)\s*)?(?P<name>\w+)", r"type\s+(?P<name>\w+)\s"),
    "rust": (_WORDS + r"(?:fn|struct|enum|trait|type|mod)\s+(?P<name>\w+)",),
    "typescript": (
        _WORDS + r"(?:function\*?|class|interface|type|enum|namespace)\s+(?P<name>[\w$]+)",
        _WORDS + r"(?P<name>[\w$]+)(?:\s*:[^=]+)?\s*=\s*(?:async\s*)?(?:function\b|\([^()]*(?:\)|$)|<|\w+\s*=>)",
        _WORDS + r"(?P<name>[\w$]+)\s*(?:<[^()]*>)?\([^;]*\)?\s*(?::[^;]+)?\{\s*$",
    ),
    "java": (
        _WORDS + r"(?:class|interface|enum|record|@interface)\s+(?P<name>\w+)",
        _WORDS + r"(?:<[^()]*>\s+)?(?!return\b|new\b|throw\b|else\b)[\w<>\[\],.? ]+\s+(?P<name>\w+)\s*\([^;=]*$",
        r"(?:public|protected|private)\s+(?P<name>\w+)\s*\([^;=]*$",
    ),
}
_SUFFIXES = {".py": "python", ".go": "go", ".rs": "rust", ".ts": "typescript", ".tsx": "typescript", ".java": "java"}
_KEYWORDS = frozenset(
    ("if", "for", "while", "switch", "catch", "return", "new", "else", "do", "try", "with", "function", "await")
)
_COMPILED = {
    language: tuple(re.compile(rf"^(?P<indent>[ \t]*){head}") for head in heads) for language, heads in _HEADS.items()
}
_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|benches|testdata|play|examples?)/|(^|/)(test_|conftest)"
    r"|([._-](test|spec)s?|Tests?)\.\w+$|\.test-d\.",
    re.I,
)
SUFFIXES = tuple(_SUFFIXES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A named definition and the lines from its head to its end, counted from 1."""

    name: str
    line: int
    end: int
    indent: int


def language_of(path: str) -> str | None:
    """The language of a source file; None for other files and for declarations without code."""
    return None if path.endswith((".d.ts", ".pyi")) else _SUFFIXES.get(PurePosixPath(path).suffix)


def is_test(path: str) -> bool:
    """Whether a path is a test's by the habits of the five languages."""
    return _TEST.search(path) is not None


def definitions(path: str, text: str) -> list[Definition]:
    """The definitions of a file in order, nested ones included."""
    language = language_of(path)
    return list(_definitions(_COMPILED[language], text.split("\n"))) if language else []


def head_name(path: str, line: str) -> str | None:
    """The name that a line defines."""
    language = language_of(path)
    return _head(_COMPILED[language], line)[0] if language else None


def innermost(found: list[Definition], line: int) -> Definition | None:
    """The definition a line is in, or None at the top of a file."""
    return max((each for each in found if each.line <= line <= each.end), key=lambda each: each.line, default=None)


def _head(patterns: tuple[re.Pattern[str], ...], line: str) -> tuple[str | None, int]:
    for pattern in patterns:
        matched = pattern.match(line)
        if matched and matched["name"] not in _KEYWORDS:
            return matched["name"], len(matched["indent"])
    return None, 0


def _definitions(patterns: tuple[re.Pattern[str], ...], lines: list[str]) -> Iterator[Definition]:
    for index, line in enumerate(lines):
        name, indent = _head(patterns, line)
        if name is not None:
            yield Definition(name=name, line=index + 1, end=_end(lines, index, indent) + 1, indent=indent)


def _end(lines: list[str], start: int, indent: int) -> int:
    last = start
    for index in range(start + 1, len(lines)):
        stripped = lines[index].lstrip()
        if not stripped:
            continue
        if len(lines[index]) - len(stripped) <= indent and not lines[index][indent:].startswith((")", "]")):
            return index if stripped[0] == "}" and len(lines[index]) - len(stripped) == indent else last
        last = index
    return last
