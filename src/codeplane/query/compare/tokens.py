"""Code as tokens, without comments, and with indentation only where it matters."""

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


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def compact(text: str) -> str:
    """Join tokens without blanks around signs."""
    return _SIGNS.sub(r"\1", text)


def code_of(facts: Facts, text: bytes, spans: Sequence[Span]) -> list[str]:
    """The tokens of some spans; a string is one token."""
    tokens: list[str] = []
    for start, end in spans:
        tokens += _tokens(facts, text, start, end)
    return tokens


def body_of(facts: Facts, text: bytes, spans: Sequence[Span]) -> list[str]:
    """The tokens of a body, with indentation marks in languages that need them."""
    if not LANGUAGES[facts.language].indented:
        return code_of(facts, text, spans)
    tokens: list[str] = []
    for start, end in spans:
        tokens += _tokens_with_indents(facts, text, start, end)
    return tokens


def without_docstring(facts: Facts, text: bytes, start: int, end: int) -> int:
    """The start of a body after its docstring."""
    if not LANGUAGES[facts.language].docstrings or not _DOCSTRING.match(text, start):
        return start
    for first, last in _texts(facts, start, end):
        return last if first == start else start
    return start


def is_comment(language: str, text: bytes, first: int) -> bool:
    """Whether a text span is a comment rather than a string."""
    if first and text[first - 1] in _QUOTES:
        return False
    return text.startswith(LANGUAGES[language].comments.openings, first)


def _tokens(facts: Facts, text: bytes, start: int, end: int) -> list[str]:
    tokens: list[str] = []
    at = start
    for first, last in _texts(facts, start, end):
        tokens += _split(facts, text[at:first])
        if not is_comment(facts.language, text, first):
            tokens.append(_string(text[first : min(last, end)]))
        at = max(at, last)
    return tokens + _split(facts, text[at:end])


def _string(raw: bytes) -> str:
    """A string as one token that cannot be mistaken for a bracket."""
    decoded = raw.decode("utf-8", "replace")
    return decoded if len(decoded) > 1 else f"'{decoded}'"


def _split(facts: Facts, code: bytes) -> list[str]:
    source = code.decode("utf-8", "replace")
    tokens = _TOKEN.findall(source)
    if LANGUAGES[facts.language].contract.line_ends_statement and not _ENDING.isdisjoint(tokens):
        source = re.sub(rf"\b({'|'.join(_ENDING)})[ \t]*\r?\n", r"\1 ; ", source)
        return _TOKEN.findall(source)
    return tokens


def _tokens_with_indents(facts: Facts, text: bytes, start: int, end: int) -> list[str]:
    """The tokens with marks for changes of indentation outside brackets."""
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
    tokens: list[str] = []
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
                tokens.append("\x03")
            if depths[-1] < depth:
                depths.append(depth)
            tokens.append("\x02")
        for token in re.findall(r"\x00|[^\W\d]\w*|\d[\w.]*|->|\.\.\.|\*\*|[^\w\s\x01]", bare):
            tokens.append(next(strings, "") if token == "\x00" else token)
            inside += (token in _OPEN) - (token in _CLOSE)
        inside = max(inside, 0)
    return tokens


def _texts(facts: Facts, start: int, end: int) -> list[Span]:
    """The outermost strings and comments that start in a span."""
    spans: list[Span] = []
    for span in facts.text_spans(start, end):
        if not spans or span[0] >= spans[-1][1]:
            spans.append(span)
    return spans


def closing_index(tokens: Sequence[str], at: int, opening: str = "([{", closing: str = ")]}") -> int:
    """The index after the bracket that closes the one at `at`, or the end."""
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
    """Split tokens at separators outside brackets; `angles` treats `<>` as brackets."""
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
