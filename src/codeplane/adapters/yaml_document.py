"""A YAML text as plain values with their line numbers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, cast

import yaml
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject, JsonValue

MAX_DEPTH = 20
MAX_NUMBER = 2**53
_TAG = "tag:yaml.org,2002:"
_PLAIN = frozenset(f"{_TAG}{name}" for name in ("str", "int", "float", "bool", "null"))
# A date or a bare `=` or `<<` means nothing in settings: they are the text that was written.
_TEXT = frozenset(f"{_TAG}{name}" for name in ("timestamp", "value", "merge"))

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a setting comes from: a file with lines, a variable or an option."""

    name: str
    is_file: bool = False
    spell: Callable[[str], str] = str

    def at(self, line: int | None, column: int | None = None) -> str:
        """Return the location as `file:line`."""
        if not self.is_file:
            return self.name if column is None else f"{self.name}, column {column}"
        return ":".join([self.name, *(str(number) for number in (line, column) if number is not None)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The values of a YAML text, and their lines."""

    origin: Origin
    value: JsonValue
    lines: Mapping[KeyPath, int]

    @classmethod
    def parse(cls, text: str, origin: Origin) -> "Document":
        """Read a text without aliases, tags or repeated keys, or raise ConfigInvalid with line and column."""
        lines: dict[KeyPath, int] = {}
        try:
            value = _Parser(text, origin, lines).document()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = origin.at(mark.line + 1, mark.column + 1) if mark else origin.at(None)
            message = ", ".join(part for part in (error.context, error.problem) if part)
            raise ConfigInvalid(f"{place}: not YAML: {message}") from None
        except yaml.reader.ReaderError as error:
            line = text.encode()[: error.position].count(b"\n") + 1
            raise ConfigInvalid(f"{origin.at(line)}: not YAML: {error.reason}") from None
        except UnicodeEncodeError:
            raise ConfigInvalid(f"{origin.name}: not UTF-8 text") from None
        return cls(origin=origin, value=value, lines=lines)

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a path, or of its nearest parent."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


class _Parser:
    """Builds the values from the parser's events."""

    def __init__(self, text: str, origin: Origin, lines: dict[KeyPath, int]) -> None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._events = cast("Iterator[yaml.Event]", yaml.parse(text, Loader=loader))
        self._origin = origin
        self._lines = lines
        self._resolve = cast("Callable[[type[yaml.ScalarNode], str, tuple[bool, bool]], str]", Resolver().resolve)
        self._construct = SafeConstructor().construct_object

    def document(self) -> JsonValue:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        value = self._value(next(self._events), ())
        next(self._events)
        following = next(self._events)
        if not isinstance(following, yaml.StreamEndEvent):
            self._refuse(following, "a second document; keep only one")
        return value

    def _value(self, event: yaml.Event, path: KeyPath) -> JsonValue:
        self._lines.setdefault(path, _place(event)[0])
        if len(path) > MAX_DEPTH:
            self._refuse(event, "nested too deeply")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        self._read_scalar(event)
        if getattr(event, "tag", None) not in (None, f"{_TAG}map", f"{_TAG}seq"):
            self._refuse(event, "tags (!) are not taken")
        return self._mapping(path) if isinstance(event, yaml.MappingStartEvent) else self._sequence(path)

    def _mapping(self, path: KeyPath) -> JsonObject:
        mapping: JsonObject = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._scalar(event) if isinstance(event, yaml.ScalarEvent) else None
            if not isinstance(key, str):
                self._refuse(event, "a key must be a plain word")
            if key in mapping:
                self._refuse(event, f"{key!r} is given twice")
            self._lines[(*path, key)] = _place(event)[0]
            mapping[key] = self._value(next(self._events), (*path, key))
        return mapping

    def _sequence(self, path: KeyPath) -> list[JsonValue]:
        sequence: list[JsonValue] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            sequence.append(self._value(event, (*path, len(sequence))))
        return sequence

    def _scalar(self, event: yaml.ScalarEvent) -> JsonValue:
        self._read_scalar(event)
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag in _TEXT:
            return event.value
        if tag not in _PLAIN:
            self._refuse(event, "tags (!) are not taken")
        try:
            value: JsonValue = self._construct(yaml.ScalarNode(tag, event.value))
        except (ValueError, KeyError, IndexError):
            self._refuse(event, f"{event.value[:60]!r} cannot be read as a value")
        if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:
            self._refuse(event, f"{event.value[:60]} is not a number that can be counted with")
        return value

    def _read_scalar(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            self._refuse(event, "anchors and aliases (& and *) are not taken; quote the value if it is text")

    def _refuse(self, event: yaml.Event, why: str) -> NoReturn:
        raise ConfigInvalid(f"{self._origin.at(*_place(event))}: {why}")


def _place(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
