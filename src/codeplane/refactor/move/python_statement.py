"""Import statements of Python, with the offsets of their sources and names."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from codeplane.code.model import Facts
from codeplane.refactor.move.span import REST_OF_LINE, Span, is_alone, line_end, line_start, past_newline

_TOKEN = re.compile(
    rb"(?:[ \t\f]|\\\r?\n)*(?:(?P<comment>\#[^\r\n]*)|(?P<line>\r?\n|\r)|(?P<name>[A-Za-z_\x80-\xff][\w\x80-\xff]*)"
    rb"|(?P<mark>[.,()*;]))"
)
_OPENS = re.compile(rb":\s*(?:#.*)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A name in a statement; dotted if whole modules are imported."""

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
        """Whether it is a `from` import."""
        return self.source_end > 0


def statement_at(text: bytes, at: int) -> Statement | None:
    """Return the import statement at a place, or None if it cannot be parsed."""
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
    inner = [token for token in tokens[place:] if token[1] not in (b"(", b")")]
    items: list[Item] = []
    item_tokens: list[tuple[int, bytes]] = []
    for part in [*inner, (end, b",")]:
        if part[1] == b",":
            if item_tokens:
                items.append(_item(item_tokens))
            item_tokens = []
        else:
            item_tokens.append(part)
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
    """Return the spans of a file's import statements, where names are bound and not used."""
    found = (statement_at(text, at) for at in sorted({import_.at for import_ in facts.imports}))
    return [(statement.start, statement.end) for statement in found if statement is not None]


def remove_items(text: bytes, statement: Statement, items: Collection[Item]) -> list[Span]:
    """Return the spans that remove some names of a statement, with the comments on lines of their own."""
    left = [item for item in statement.items if item not in items]
    assert left
    spans: list[Span] = []
    for index, name_item in enumerate(statement.items):
        if name_item not in items:
            continue
        after = statement.items[index + 1] if index + 1 < len(statement.items) else None
        line, following = line_start(text, name_item.start), _after_comma(text, name_item.end)
        rest = REST_OF_LINE.match(text, following)
        if statement.in_brackets and not text[line : name_item.start].strip() and rest is not None:
            spans.append(Span(start=line, end=past_newline(text, rest.end())))
        elif after is not None and any(other in left for other in statement.items[index + 1 :]):
            spans.append(Span(start=name_item.start, end=after.start))
        else:
            # The last names go with the comma before them, or the one after them if lines end in a comma.
            before = max((other.end for other in left if other.end <= name_item.start), default=name_item.start)
            before = max([before, *(span.end for span in spans if span.end <= name_item.end)])
            spans.append(Span(start=before, end=name_item.end))
    return spans


def add_after(text: bytes, start: int, end: int, statements: list[str]) -> Span:
    """Return the span that adds statements after one, with its indentation."""
    if not is_alone(text, start, end):
        return Span(start=end, end=end, new="".join(f"; {statement}" for statement in statements))
    indent = text[line_start(text, start) : start].decode("utf-8", "replace")
    at = line_end(text, end)
    return Span(start=at, end=at, new="".join(f"\n{indent}{statement}" for statement in statements))


def remove_statement(text: bytes, start: int, end: int, gone: Collection[tuple[int, int]] = ()) -> Span:
    """Return the span that removes a statement; a block that would be empty gets `pass`.

    `gone`: the other removed statements; a block with only those is empty.
    """
    if not is_alone(text, start, end):
        after = re.compile(rb"[ \t]*;[ \t]*").match(text, end)
        if after is not None and REST_OF_LINE.match(text, after.end()) is None:
            return Span(start=start, end=after.end())
        before = re.compile(rb";[ \t]*\Z").search(text[line_start(text, start) : start])
        if before is not None:
            return Span(start=line_start(text, start) + before.start(), end=after.end() if after else end)
        return Span(start=start, end=end, new="pass")
    if _is_only_one(text, start, end, gone):
        return Span(start=start, end=end, new="pass")
    return Span(start=line_start(text, start), end=past_newline(text, line_end(text, end)))


def _is_only_one(text: bytes, start: int, end: int, gone: Collection[tuple[int, int]]) -> bool:
    """Whether no other statement of the block stays; of several removed ones the first gets the `pass`."""
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
        if code and not code.startswith(b"#") and not any(path <= at + indent < stop for path, stop in gone):
            return len(line) - len(line.lstrip()) < indent
        at = max(past_newline(text, until), at + 1)
    return True


def _tokens(text: bytes, at: int) -> tuple[list[tuple[int, bytes]], int]:
    """Return the tokens of a statement with their offsets, and where it ends."""
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
