"""Edit one entry of a JSON-with-comments document and leave every other byte as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | dict[str, JsonValue] | None"

_BOM = "\ufeff"
_BLANK = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])|(?:true|false|null)(?!\w)")
_INDENT = re.compile(r"\{[ \t]*\r?\n([ \t]+)\"")
_BREAK = re.compile(r"[\r\n]")
_REST_OF_LINE = re.compile(r"[ \t]*(\r?\n)?")
# Far above any real configuration, far below where Python's own stack would give out.
_DEEPEST = 100


class JsoncError(ValueError):
    """The document cannot be parsed, or cannot be edited without changing other parts."""

    def __init__(self, message: str, *, text: str, at: int) -> None:
        self.position = at
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(f"{message} (line {self.line}, column {self.column})")


@dataclass(frozen=True, kw_only=True)
class _Member:
    key: str
    start: int
    value: _Node
    comma: int | None


@dataclass(frozen=True, kw_only=True)
class _Node:
    start: int
    end: int
    members: tuple[_Member, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class _Document:
    text: str
    plain: str
    root: _Node | None

    def value(self) -> JsonValue:
        return {} if self.root is None else self.value_of(self.root)

    def value_of(self, node: _Node) -> JsonValue:
        # The standard library has the last word on values: our scanner only finds where they are.
        try:
            value: JsonValue = json.loads(self.plain[node.start : node.end])
        except ValueError as error:
            raise JsoncError(f"not JSON: {error}", text=self.text, at=node.start) from error
        return value

    def member(self, node: _Node, key: str) -> _Member | None:
        if node.members is None:
            raise JsoncError(f"expected an object around {json.dumps(key)}", text=self.text, at=node.start)
        members = [member for member in node.members if member.key == key]
        if len(members) > 1:
            raise JsoncError(f"{json.dumps(key)} appears twice", text=self.text, at=members[1].start)
        return members[0] if members else None

    def find(self, path: tuple[str, ...]) -> tuple[_Member | None, _Member] | None:
        node, found = self.root, None
        for key in path:
            member = None if node is None else self.member(node, key)
            if node is None or member is None:
                return None
            siblings = node.members or ()
            at = siblings.index(member)
            found, node = (siblings[at - 1] if at else None, member), member.value
        return found


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith(_BOM) else 0
        self.noise: list[tuple[int, int]] = [(0, self.at)]

    def document(self) -> _Document:
        self.trivia()
        root = None if self.at == len(self.text) else self.node(1)
        self.trivia()
        if self.at != len(self.text):
            raise self.error("unexpected text after the document")
        plain = list(self.text)
        for start, end in self.noise:
            plain[start:end] = " " * (end - start)
        return _Document(text=self.text, plain="".join(plain), root=root)

    def error(self, message: str, at: int | None = None) -> JsoncError:
        return JsoncError(message, text=self.text, at=self.at if at is None else at)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found.group()

    def trivia(self) -> None:
        self.match(_BLANK)
        while self.peek() == "/":
            start = self.at
            if not self.match(_COMMENT):
                raise self.error("comment is never closed" if self.text.startswith("/*", start) else "stray slash")
            self.noise.append((start, self.at))
            self.match(_BLANK)

    def node(self, depth: int) -> _Node:
        if depth > _DEEPEST:
            raise self.error("nested too deeply")
        match self.peek():
            case "{":
                return self.object(depth)
            case "[":
                return self.array(depth)
            case '"':
                start = self.at
                self.string()
                return _Node(start=start, end=self.at)
        start = self.at
        if not self.match(_SCALAR):
            raise self.error("expected a value")
        return _Node(start=start, end=self.at)

    def string(self) -> str:
        start = self.at
        token = self.match(_STRING)
        if not token:
            raise self.error("expected a string" if self.peek() != '"' else "string is never closed")
        try:
            return str(json.loads(token))
        except ValueError as error:
            raise self.error(f"bad string: {error}", start) from error

    def object(self, depth: int) -> _Node:
        start, members = self.at, list[_Member]()
        self.at += 1
        self.trivia()
        while self.peek() != "}":
            if members and members[-1].comma is None:
                raise self.error('expected "," or "}"')
            member = self.at
            key = self.string()
            self.trivia()
            if self.peek() != ":":
                raise self.error('expected ":"')
            self.at += 1
            self.trivia()
            value = self.node(depth + 1)
            members.append(_Member(key=key, start=member, value=value, comma=self.separator("}")))
        self.at += 1
        return _Node(start=start, end=self.at, members=tuple(members))

    def array(self, depth: int) -> _Node:
        start, first, comma = self.at, True, None
        self.at += 1
        self.trivia()
        while self.peek() != "]":
            if not first and comma is None:
                raise self.error('expected "," or "]"')
            self.node(depth + 1)
            first, comma = False, self.separator("]")
        self.at += 1
        return _Node(start=start, end=self.at)

    def separator(self, close: str) -> int | None:
        self.trivia()
        if self.peek() != ",":
            return None
        comma = self.at
        self.at += 1
        self.trivia()
        if self.peek() == close:
            self.noise.append((comma, comma + 1))
        return comma


def get_entry(text: str, path: tuple[str, ...]) -> JsonValue:
    """Return the value at `path`, or None."""
    document = _Scanner(text).document()
    found = document.find(path)
    return document.value_of(found[1].value) if found else None


def set_entry(text: str, path: tuple[str, ...], value: JsonValue) -> str:
    """Return the document with `value` at `path`, creating missing objects on the way."""
    document = _Scanner(text).document()
    new = _render_member(text, path, value) if document.root is None else _set(document, document.root, path, value)
    _verify(text, new, with_entry(document.value(), path, value))
    return new


def remove_entry(text: str, path: tuple[str, ...]) -> str:
    """Return the document without the entry at `path`, unchanged if there is none."""
    document = _Scanner(text).document()
    found = document.find(path)
    if found is None:
        return text
    new = _without(text, *found)
    _verify(text, new, without_entry(document.value(), path))
    return new


def with_entry(tree: JsonValue, path: tuple[str, ...], value: JsonValue) -> dict[str, JsonValue]:
    """Return a copy of `tree` with `value` at `path`."""
    branch = dict(tree) if isinstance(tree, dict) else {}
    branch[path[0]] = with_entry(branch.get(path[0]), path[1:], value) if path[1:] else value
    return branch


def without_entry(tree: JsonValue, path: tuple[str, ...]) -> dict[str, JsonValue]:
    """Return a copy of `tree` without `path`."""
    branch = dict(tree) if isinstance(tree, dict) else {}
    if path[1:]:
        branch[path[0]] = without_entry(branch[path[0]], path[1:])
    else:
        branch.pop(path[0])
    return branch


def _set(document: _Document, node: _Node, path: tuple[str, ...], value: JsonValue) -> str:
    text = document.text
    for depth, key in enumerate(path):
        member = document.member(node, key)
        if member is None:
            return _insert(text, node, key, with_entry({}, path[depth:], value)[key])
        node = member.value
    if _are_equal(document.value_of(node), value):
        return text
    shown = _compact(value) if not _BREAK.search(text) else _pretty(text, value, _indent_at(text, node.start))
    return text[: node.start] + shown + text[node.end :]


def _insert(text: str, node: _Node, key: str, value: JsonValue) -> str:
    members, close = node.members or (), node.end - 1
    # Comments after the last member stay with it: the new member goes below them.
    at = node.start + len(text[node.start : close].rstrip(" \t\r\n"))
    name = f"{json.dumps(key, ensure_ascii=False)}: "
    last = members[-1] if members else None
    needs_comma = last is not None and last.comma is None
    before = text[: last.value.end] + "," + text[last.value.end : at] if last and needs_comma else text[:at]
    if last and not _BREAK.search(text, node.start, node.end):
        return before + " " + name + _compact(value) + text[at:]
    outer = _indent_at(text, node.start)
    inner = _indent_at(text, last.start) if last and _starts_line(text, last.start) else outer + _unit(text)
    newline = _newline(text)
    tail = text[at:] if _BREAK.search(text, at, close) else newline + outer + text[close:]
    trailing = "," if last and not needs_comma else ""
    return before + newline + inner + name + _pretty(text, value, inner) + trailing + tail


def _without(text: str, previous: _Member | None, member: _Member) -> str:
    start, end, comma = member.start, member.value.end, member.comma
    if comma is not None:
        # Between a value and its comma there can be a comment, and comments stay.
        note = text[end:comma]
        if note.strip():
            return text[:start] + note + text[comma + 1 :]
        start, end = _with_line(text, start, comma + 1)
        return text[:start] + text[end:]
    comma = previous.comma if previous else None
    if comma is None:
        start, end = _with_line(text, start, end)
        return text[:start] + text[end:]
    note = text[comma + 1 : start]
    if not note.strip():
        return text[:comma] + text[end:]
    start, end = _with_line(text, start, end)
    return text[:comma] + text[comma + 1 : start] + text[end:]


def _with_line(text: str, start: int, end: int) -> tuple[int, int]:
    rest = _REST_OF_LINE.match(text, end)
    if rest and rest.group(1) and _starts_line(text, start):
        return text.rfind("\n", 0, start) + 1, rest.end()
    # Where something follows on the same line, the blanks before it belonged to the member.
    return start, end if rest is None or rest.group(1) else rest.end()


def _render_member(text: str, path: tuple[str, ...], value: JsonValue) -> str:
    newline = _newline(text)
    lead = text if not text.strip(_BOM + " \t\r\n") or text.endswith("\n") else text + newline
    return lead + _pretty(text, with_entry({}, path, value), "") + newline


def _verify(old: str, new: str, expected: JsonValue) -> None:
    try:
        held = _are_equal(_Scanner(new).document().value(), expected)
    except JsoncError:
        held = False
    if not held:
        raise JsoncError("the edit would change more than one entry", text=old, at=0)


def _are_equal(left: JsonValue, right: JsonValue) -> bool:
    # Python thinks True == 1 == 1.0; a configuration file does not.
    return json.dumps(left) == json.dumps(right)


def _compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _pretty(text: str, value: JsonValue, indent: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", _newline(text) + indent)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    match = _INDENT.search(text)
    return match.group(1) if match else "  "


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _starts_line(text: str, at: int) -> bool:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return "\n" in text[:at] and not line.strip(" \t")
