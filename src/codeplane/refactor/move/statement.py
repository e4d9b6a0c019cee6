"""One import statement of Python as it is written: where its source and each of its names stand."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from codeplane.code.facts.model import Facts

_TOKEN = re.compile(
    rb"(?:[ \t\f]|\\\r?\n)*(?:(?P<comment>\#[^\r\n]*)|(?P<line>\r?\n|\r)|(?P<name>[A-Za-z_\x80-\xff][\w\x80-\xff]*)"
    rb"|(?P<mark>[.,()*;]))"
)
_OPENS = re.compile(rb":\s*(?:#.*)?$")
_REST = re.compile(rb"[ \t\f]*(?:\#[^\r\n]*)?(?=\r?\n|\r|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of a file and what takes its place."""

    start: int
    end: int
    new: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A name of a statement: `name` is dotted where whole modules are imported."""

    name: str
    start: int
    name_end: int
    alias: str
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """`import a.b as c, d` or `from a import (b as c, d)`; `source` is empty for the former."""

    start: int
    end: int
    source: str
    source_start: int
    source_end: int
    items: tuple[Item, ...]
    in_brackets: bool

    @property
    def is_from(self) -> bool:
        """Whether it takes names out of a module."""
        return self.source_end > 0


def statement_at(text: bytes, at: int) -> Statement | None:
    """The import statement that begins at a place, or None where it cannot be read."""
    tokens, end = _tokens(text, at)
    if not tokens or tokens[0][1] not in (b"import", b"from"):
        return None
    place, source, source_start, source_end = 1, "", 0, 0
    if tokens[0][1] == b"from":
        while place < len(tokens) and tokens[place][1] != b"import":
            source += tokens[place][1].decode("utf-8", "replace")
            place += 1
        if place in (1, len(tokens)):
            return None
        source_start, source_end = tokens[1][0], tokens[place - 1][0] + len(tokens[place - 1][1])
        place += 1
    in_brackets = place < len(tokens) and tokens[place][1] == b"("
    inner = [one for one in tokens[place:] if one[1] not in (b"(", b")")]
    items: list[Item] = []
    held: list[tuple[int, bytes]] = []
    for one in [*inner, (end, b",")]:
        if one[1] == b",":
            if held:
                items.append(_item(held))
            held = []
        else:
            held.append(one)
    if not items:
        return None
    return Statement(
        start=at,
        end=end,
        source=source,
        source_start=source_start,
        source_end=source_end,
        items=tuple(items),
        in_brackets=in_brackets,
    )


def import_spans(facts: Facts, text: bytes) -> list[tuple[int, int]]:
    """The stretches of a file's import statements, where names are brought and not used."""
    found = (statement_at(text, at) for at in sorted({one.at for one in facts.imports}))
    return [(one.start, one.end) for one in found if one is not None]


def without(text: bytes, statement: Statement, items: Collection[Item]) -> list[Span]:
    """What takes some, not all, of a statement's names out of it, with what is said beside them on their own lines."""
    left = [one for one in statement.items if one not in items]
    assert left
    spans: list[Span] = []
    for index, one in enumerate(statement.items):
        if one not in items:
            continue
        after = statement.items[index + 1] if index + 1 < len(statement.items) else None
        line, following = line_start(text, one.start), _after_comma(text, one.end)
        rest = _REST.match(text, following)
        if statement.in_brackets and not text[line : one.start].strip() and rest is not None:
            spans.append(Span(start=line, end=past_newline(text, rest.end())))
        elif after is not None and any(other in left for other in statement.items[index + 1 :]):
            spans.append(Span(start=one.start, end=after.start))
        else:
            # The last ones go with the comma before them, or after it where lines end in one.
            before = max((other.end for other in left if other.end <= one.start), default=one.start)
            before = max([before, *(span.end for span in spans if span.end <= one.end)])
            spans.append(Span(start=before, end=one.end))
    return spans


def line_start(text: bytes, at: int) -> int:
    """Where the line of a place begins."""
    return max(text.rfind(b"\n", 0, at), text.rfind(b"\r", 0, at) if b"\n" not in text else -1) + 1


def past_newline(text: bytes, at: int) -> int:
    """The place after the end of a line."""
    if text[at : at + 2] == b"\r\n":
        return at + 2
    return at + 1 if text[at : at + 1] in (b"\n", b"\r") else at


def is_alone(text: bytes, start: int, end: int) -> bool:
    """Whether nothing but a comment shares the lines of a stretch."""
    return not text[line_start(text, start) : start].strip() and _REST.match(text, end) is not None


def line_end(text: bytes, at: int) -> int:
    """Where the line of a place ends, before its line ending."""
    end = text.find(b"\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if end > at and text[end - 1 : end] == b"\r" else end


def added_after(text: bytes, start: int, end: int, statements: list[str]) -> Span:
    """Statements put behind one that stands at a place, with its indentation."""
    if not is_alone(text, start, end):
        return Span(start=end, end=end, new="".join(f"; {one}" for one in statements))
    indent = text[line_start(text, start) : start].decode("utf-8", "replace")
    at = line_end(text, end)
    return Span(start=at, end=at, new="".join(f"\n{indent}{one}" for one in statements))


def removed(text: bytes, start: int, end: int, gone: Collection[tuple[int, int]] = ()) -> Span:
    """What takes a whole statement away; a block that would be empty keeps `pass`.

    `gone` are the other statements that go: a block of nothing but those is empty.
    """
    if not is_alone(text, start, end):
        after = re.compile(rb"[ \t]*;[ \t]*").match(text, end)
        if after is not None and _REST.match(text, after.end()) is None:
            return Span(start=start, end=after.end())
        before = re.compile(rb";[ \t]*\Z").search(text[line_start(text, start) : start])
        if before is not None:
            return Span(start=line_start(text, start) + before.start(), end=after.end() if after else end)
        return Span(start=start, end=end, new="pass")
    if _is_only_one(text, start, end, gone):
        return Span(start=start, end=end, new="pass")
    return Span(start=line_start(text, start), end=past_newline(text, line_end(text, end)))


def _is_only_one(text: bytes, start: int, end: int, gone: Collection[tuple[int, int]]) -> bool:
    """Whether a block has no other statement that stays; of several that go the first one keeps it."""
    indent = start - line_start(text, start)
    at = line_start(text, start)
    opened = False
    while at > 0 and indent:
        before = line_start(text, at - 1)
        code = text[before : line_end(text, before)].strip()
        if code and not code.startswith(b"#"):
            opened = _OPENS.search(code) is not None
            break
        at = before
    if not opened:
        return False
    at = past_newline(text, line_end(text, end))
    while at < len(text):
        until = line_end(text, at)
        line = text[at:until]
        code = line.strip()
        if code and not code.startswith(b"#") and not any(one <= at + indent < stop for one, stop in gone):
            return len(line) - len(line.lstrip()) < indent
        at = max(past_newline(text, until), at + 1)
    return True


def _tokens(text: bytes, at: int) -> tuple[list[tuple[int, bytes]], int]:
    """The words and marks of a statement with their places, and where it ends."""
    found: list[tuple[int, bytes]] = []
    depth, end = 0, at
    while (match := _TOKEN.match(text, at)) is not None:
        kind = match.lastgroup or ""
        if kind in ("comment", "line"):
            if not depth:
                break
        elif match[kind] == b";":
            break
        else:
            depth += {b"(": 1, b")": -1}.get(match[kind], 0)
            found.append((match.start(kind), match[kind]))
            end = match.end()
        at = match.end()
    return found, end


def _item(tokens: list[tuple[int, bytes]]) -> Item:
    alias = ""
    named = tokens
    if len(tokens) > 2 and tokens[-2][1] == b"as":
        alias, named = tokens[-1][1].decode("utf-8", "replace"), tokens[:-2]
    return Item(
        name=b"".join(word for _, word in named).decode("utf-8", "replace"),
        start=tokens[0][0],
        name_end=named[-1][0] + len(named[-1][1]),
        alias=alias,
        end=tokens[-1][0] + len(tokens[-1][1]),
    )


def _after_comma(text: bytes, at: int) -> int:
    match = re.compile(rb"[ \t]*,").match(text, at)
    return match.end() if match is not None else at
