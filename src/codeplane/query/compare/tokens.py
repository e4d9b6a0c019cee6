"""Code as its tokens: without comments, and with layout only where layout means something."""

import re
from collections.abc import Sequence

from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Facts

_TOKEN = re.compile(r"[^\W\d][\w$]*|[$#][\w$]+|\d[\w.]*|->|=>|\.\.\.|\*\*|::|\?\.|[^\w\s]", re.UNICODE)
_QUOTES = frozenset(b"\"'`")
# A line's end after these words ends the statement, whatever follows.
_ENDING = frozenset({"return", "break", "continue", "throw", "yield"})
_DOCSTRING = re.compile(rb"[rRuU]?(?:\"{3}|'{3}|\"|')")
_OPEN, _CLOSE = "([{", ")]}"
_SIGNS = re.compile(r" ?([\[\](){},.<>;:?|&*=]) ?")
Span = tuple[int, int]


def words(said: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(said.split())


def tight(said: str) -> str:
    """Tokens as somebody would have written them: no blanks around signs."""
    return _SIGNS.sub(r"\1", said)


def code_of(facts: Facts, text: bytes, spans: Sequence[Span]) -> list[str]:
    """The tokens of stretches of a file, as one list; a string is one token."""
    found: list[str] = []
    for start, end in spans:
        found += _tokens(facts, text, start, end)
    return found


def body_of(facts: Facts, text: bytes, spans: Sequence[Span]) -> list[str]:
    """The same for what is done: how far lines are indented counts where it decides what belongs together."""
    if not LANGUAGES[facts.language].indented:
        return code_of(facts, text, spans)
    found: list[str] = []
    for start, end in spans:
        found += _indented(facts, text, start, end)
    return found


def without_docstring(facts: Facts, text: bytes, start: int, end: int) -> int:
    """Where a body begins after the words its author put first about it."""
    if not LANGUAGES[facts.language].docstrings or not _DOCSTRING.match(text, start):
        return start
    for first, last in _texts(facts, start, end):
        return last if first == start else start
    return start


def is_comment(language: str, text: bytes, first: int) -> bool:
    """Whether a stretch of text that is no code is a comment, not a string."""
    if first and text[first - 1] in _QUOTES:
        return False
    return text.startswith(LANGUAGES[language].comments.openings, first)


def _tokens(facts: Facts, text: bytes, start: int, end: int) -> list[str]:
    found: list[str] = []
    at = start
    for first, last in _texts(facts, start, end):
        found += _split(facts, text[at:first])
        if not is_comment(facts.language, text, first):
            found.append(_string(text[first : min(last, end)]))
        at = max(at, last)
    return found + _split(facts, text[at:end])


def _string(said: bytes) -> str:
    """A string as one token that is no bracket, also where its quotes were left out."""
    told = said.decode("utf-8", "replace")
    return told if len(told) > 1 else f"'{told}'"


def _split(facts: Facts, code: bytes) -> list[str]:
    said = code.decode("utf-8", "replace")
    tokens = _TOKEN.findall(said)
    if LANGUAGES[facts.language].contract.line_ends_statement and not _ENDING.isdisjoint(tokens):
        said = re.sub(rf"\b({'|'.join(_ENDING)})[ \t]*\r?\n", r"\1 ; ", said)
        return _TOKEN.findall(said)
    return tokens


def _indented(facts: Facts, text: bytes, start: int, end: int) -> list[str]:
    """The tokens with a mark for each deeper and shallower line, as far as brackets leave lines their meaning."""
    # Strings and comments are put aside, so that what is left has only lines that are lines.
    kept: list[str] = []
    plain: list[str] = []
    at = text.rfind(b"\n", 0, start) + 1
    plain.append(" " * len(text[at:start]))
    at = start
    for first, last in _texts(facts, start, end):
        plain.append(text[at:first].decode("utf-8", "replace"))
        if not is_comment(facts.language, text, first):
            kept.append(_string(text[first : min(last, end)]))
            plain.append("\x00")
        at = max(at, last)
    plain.append(text[at:end].decode("utf-8", "replace"))
    strings = iter(kept)
    found: list[str] = []
    depths = [-1]
    inside = 0
    for line in "".join(plain).replace("\\\r\n", "\x01").replace("\\\n", "\x01").split("\n"):
        bare = line.strip(" \t\r\x01\f")
        if not bare:
            continue
        if not inside:
            depth = len(line.expandtabs()) - len(line.expandtabs().lstrip())
            while depths[-1] > depth:
                depths.pop()
                found.append("\x03")
            if depths[-1] < depth:
                depths.append(depth)
            found.append("\x02")
        for token in re.findall(r"\x00|[^\W\d]\w*|\d[\w.]*|->|\.\.\.|\*\*|[^\w\s\x01]", bare):
            found.append(next(strings, "") if token == "\x00" else token)
            inside += (token in _OPEN) - (token in _CLOSE)
        inside = max(inside, 0)
    return found


def _texts(facts: Facts, start: int, end: int) -> list[Span]:
    """The strings and comments that begin in a stretch, outermost only."""
    spans: list[Span] = []
    for span in facts.text_spans(start, end):
        if not spans or span[0] >= spans[-1][1]:
            spans.append(span)
    return spans


def balanced(tokens: Sequence[str], at: int, opening: str = "([{", closing: str = ")]}") -> int:
    """The place after the bracket that closes the one at a place; the end where none does."""
    depth = 0
    for place in range(at, len(tokens)):
        if tokens[place] in opening:
            depth += 1
        elif tokens[place] in closing:
            depth -= 1
            if depth == 0:
                return place + 1
    return len(tokens)


def split_at(tokens: Sequence[str], separators: str, *, angles: bool) -> list[list[str]]:
    """The parts between separators that are in no bracket; `angles` are brackets in types."""
    parts: list[list[str]] = [[]]
    depth = 0
    opening, closing = (_OPEN + "<", _CLOSE + ">") if angles else (_OPEN, _CLOSE)
    for token in tokens:
        if token in opening:
            depth += 1
        elif token in closing:
            depth = max(depth - 1, 0)
        if token in separators and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]
