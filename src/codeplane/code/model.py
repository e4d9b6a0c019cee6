"""The facts of one file: a pure function of its language and its bytes, so they are kept by content digest."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from sys import intern
from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import force_setattr
from numpy.typing import NDArray

from codeplane.code.packed_columns import cumulate, is_inside, span_bounds, unpack_columns, unpack_spans, views

FORMAT = 9
NO_TARGET = 0xFFFFFFFF

Reason = Literal["PARAM", "LOCAL_ASSIGN", "DEF_IN_SCOPE", "IMPORT_ALIAS", "GLOBAL", "NONLOCAL"]
REASONS: tuple[Reason, ...] = ("PARAM", "LOCAL_ASSIGN", "DEF_IN_SCOPE", "IMPORT_ALIAS", "GLOBAL", "NONLOCAL")
_NOWHERE: Mapping[int, Sequence[int]] = {}
_PARAM, _GLOBAL, _NONLOCAL = (REASONS.index(reason) for reason in ("PARAM", "GLOBAL", "NONLOCAL"))


class Definition(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """A named thing the file introduces; offsets are bytes, lines count from 1, columns from 0.

    Kept are small numbers, counted from where it starts, and what it is inside of: places and paths take a tenth more.
    `body_after` is counted from its name, and -1 for what has no body.
    """

    kind: str
    name: str
    inside: str
    signature: str
    scope: int
    container: int
    ordinal: int
    column: int
    start: int
    name_after: int
    line: int
    lines_after: int
    size: int
    body_after: int
    bases: tuple[int, int] | None = None

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + self.size

    @property
    def name_at(self) -> int:
        """Where its name is."""
        return self.start + self.name_after

    @property
    def end_line(self) -> int:
        """The line it ends in."""
        return self.line + self.lines_after

    @property
    def path(self) -> str:
        """Its name, with those of what it is inside of."""
        return f"{self.inside}.{self.name}" if self.inside else self.name

    @property
    def body(self) -> int:
        """Where its body begins, or its end."""
        return self.start + (self.name_after + self.body_after if self.body_after >= 0 else self.size)


class Scope(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """A stretch of text in which names are bound; `definition` is the one it belongs to, or -1."""

    kind: str
    parent: int
    start: int
    size: int
    definition: int = -1

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + self.size


class Import(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """A name taken from elsewhere; `imported` is empty for a whole module and `*` for everything.

    `bound` is the name it is known by here if that is neither its alias nor its own; places are counted from `at`.
    """

    kind: str
    scope: int
    source: str
    imported: str
    alias: str
    bound: str
    at: int
    imported_after: int
    local_after: int

    @property
    def local(self) -> str:
        """The name it is known by here, with or without an alias."""
        return self.bound or self.alias or self.imported

    @property
    def imported_at(self) -> int:
        """Where its own name is."""
        return self.at + self.imported_after

    @property
    def local_at(self) -> int:
        """Where it is bound."""
        return self.at + self.local_after


class Export(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """A name the file gives away; with a source it is passed on from there. `known_as` is None where it is the same."""

    name: str
    known_as: str | None
    source: str
    evidence: str
    at: int

    @property
    def local(self) -> str:
        """The name it has in the file."""
        return self.name if self.known_as is None else self.known_as


class DynamicAccess(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """A place that reaches names by text at run time."""

    pattern: str
    at: int
    literal: str | None


class Facts(msgspec.Struct, frozen=True, array_like=True, kw_only=True, dict=True):
    """Everything one parse of a file yields; `dict` lets what is derived be kept.

    `errors` is the line of the first syntax error, or 0; `clipped` says that there are more definitions than are kept.
    """

    language: str
    definitions: tuple[Definition, ...]
    scopes: tuple[Scope, ...]
    imports: tuple[Import, ...]
    exports: tuple[Export, ...]
    dynamic: tuple[DynamicAccess, ...]
    bind_names: tuple[str, ...]
    bind_packed: bytes
    text_packed: bytes
    label_packed: bytes
    outer_packed: bytes
    star: bool = False
    errors: int = 0
    clipped: bool = False

    @cached_property
    def binds(self) -> NDArray[np.uint32]:
        """One row a binding: scope, offset, reason, target (a definition or an import, by reason; or NO_TARGET)."""
        scopes, steps, reasons, targets = unpack_columns(self.bind_packed, 4)
        rows = np.empty((len(scopes), 4), np.uint32)
        rows[:, 0], rows[:, 2] = scopes, reasons
        np.cumsum(steps, dtype=np.uint32, out=rows[:, 1])
        # One less than nothing is NO_TARGET.
        np.subtract(targets, np.uint32(1), out=rows[:, 3])
        return rows

    @cached_property
    def _bind_columns(self) -> tuple[memoryview, memoryview, memoryview, memoryview]:
        # Of an array a single number takes three times as long to read.
        scopes, steps, reasons, targets = views(self.bind_packed, 4)
        return scopes, cumulate(steps).data, reasons, targets

    def bind_scope(self, row: int) -> int:
        """The scope in which a binding binds its name."""
        scope: int = self._bind_columns[0][row]
        return scope

    def bind_at(self, row: int) -> int:
        """Where a binding stands."""
        place: int = self._bind_columns[1][row]
        return place

    def bind_reason(self, row: int) -> int:
        """Why a name is bound there, by its position in `REASONS`."""
        reason: int = self._bind_columns[2][row]
        return reason

    def bind_target(self, row: int) -> int:
        """The definition or the import that a binding brings, by its reason; or NO_TARGET."""
        target: int = self._bind_columns[3][row]
        return target - 1 if target else NO_TARGET

    def rows(self, scope: int, name: str) -> Sequence[int]:
        """The rows of `binds` that a scope has under a name, in their order."""
        return self.rows_by_scope(name).get(scope, ())

    def rows_by_scope(self, name: str) -> Mapping[int, Sequence[int]]:
        """The rows of `binds` under a name, by their scopes."""
        # Most answers ask a file about a few of hundreds of names: only theirs are split by scope.
        held = self._some_bound
        found = held.get(name)
        if found is None:
            rows = self._rows.get(name)
            if rows is None:
                return _NOWHERE
            scopes, found = self._bind_columns[0], {}
            for row in rows:
                found.setdefault(scopes[row], []).append(row)
            held[name] = found
        return found

    @cached_property
    def _some_bound(self) -> dict[str, dict[int, list[int]]]:
        return {}

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for row, name in enumerate(self.bind_names):
            found[name].append(row)
        return found

    def definitions_in(self, scope: int, name: str) -> Sequence[int]:
        """The definitions that a scope has under a name, in their order."""
        there = self._definitions_by_name.get(name)
        return [index for index in there if self.definitions[index].scope == scope] if there else ()

    def indexes_of(self, name: str) -> Sequence[int]:
        """The definitions of a name, in their order."""
        return self._definitions_by_name.get(name, ())

    @cached_property
    def _definitions_by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for index, definition in enumerate(self.definitions):
            found[definition.name].append(index)
        return found

    @cached_property
    def first_parameters(self) -> dict[int, int]:
        """Where the first parameter of each scope stands."""
        rows = self.binds[self.binds[:, 2] == _PARAM]
        # Rows are in the order of the text, so that the first of a scope is the last one put in from behind.
        return dict(rows[::-1, :2].tolist())

    @cached_property
    def reaches_out(self) -> bool:
        """Whether any scope says `global` or `nonlocal`."""
        reasons = bytes(self._bind_columns[2])
        return _GLOBAL in reasons or _NONLOCAL in reasons

    @cached_property
    def texts(self) -> NDArray[np.uint32]:
        """Stretches of string and comment text, where words are no references."""
        return unpack_spans(self.text_packed)

    @cached_property
    def labels(self) -> frozenset[int]:
        """Places of identifiers that name a field or an argument, not a variable."""
        (steps,) = unpack_columns(self.label_packed, 1)
        return frozenset(np.cumsum(steps, dtype=np.uint32).tolist())

    @cached_property
    def outers(self) -> NDArray[np.uint32]:
        """Stretches inside a scope's text that are read in the scope around it."""
        return unpack_spans(self.outer_packed)

    @cached_property
    def rows_by_binding(self) -> dict[tuple[int, str], list[int]]:
        """The rows of `binds` of each name in each scope."""
        found: dict[tuple[int, str], list[int]] = {}
        scopes = self.binds[:, 0].tolist() if self.bind_names else []
        for row, (scope, name) in enumerate(zip(scopes, self.bind_names, strict=True)):
            found.setdefault((scope, name), []).append(row)
        return found

    @cached_property
    def definitions_by_binding(self) -> dict[tuple[int, str], list[int]]:
        """The definitions of each name in each scope."""
        found: dict[tuple[int, str], list[int]] = {}
        for index, definition in enumerate(self.definitions):
            found.setdefault((definition.scope, definition.name), []).append(index)
        return found

    @cached_property
    def body_of(self) -> dict[int, int]:
        """The scope each definition opens."""
        return {scope.definition: index for index, scope in enumerate(self.scopes) if scope.definition >= 0}

    @cached_property
    def imported_at(self) -> dict[int, int]:
        """The imports, by where their names stand."""
        found = {
            import_.imported_at: index
            for index, import_ in enumerate(self.imports)
            if import_.imported not in ("", "*")
        }
        return found | {import_.local_at: index for index, import_ in enumerate(self.imports) if import_.local != "*"}

    @cached_property
    def _scope_starts(self) -> list[int]:
        return [scope.start for scope in self.scopes]

    @cached_property
    def _scope_ends(self) -> list[int]:
        return [scope.end for scope in self.scopes]

    @cached_property
    def _text_bounds(self) -> tuple[memoryview, memoryview]:
        return span_bounds(self.text_packed)

    @cached_property
    def _outer_bounds(self) -> tuple[memoryview, memoryview]:
        return span_bounds(self.outer_packed)

    def scope_at(self, offset: int) -> int:
        """The innermost scope of a place."""
        # For one place at a time, bisecting a list takes a tenth of what numpy does.
        index, ends = bisect_right(self._scope_starts, offset) - 1, self._scope_ends
        while index > 0 and ends[index] <= offset:
            index = self.scopes[index].parent
        return max(index, 0)

    def in_text(self, offset: int) -> bool:
        """Whether a place is inside a string or comment."""
        return is_inside(self._text_bounds, offset)

    def text_span(self, offset: int) -> tuple[int, int]:
        """Start and end of the last string or comment that starts at or before a place; two zeros without one."""
        starts, ends = self._text_bounds
        index = bisect_right(starts, offset) - 1
        return (starts[index], ends[index]) if index >= 0 else (0, 0)

    def text_spans(self, start: int, end: int) -> list[tuple[int, int]]:
        """Start and end of each string or comment that starts in a stretch, in order."""
        starts, ends = self._text_bounds
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        return list(zip(starts[first:last], ends[first:last], strict=True))

    def is_label(self, offset: int) -> bool:
        """Whether an identifier at a place names a field or an argument."""
        places = self._label_places
        index = bisect_left(places, offset)
        return index < len(places) and places[index] == offset

    @cached_property
    def _label_places(self) -> memoryview:
        (steps,) = views(self.label_packed, 1)
        return cumulate(steps).data

    def in_outer(self, offset: int) -> bool:
        """Whether a place inside a scope's text is read in the scope around it."""
        return is_inside(self._outer_bounds, offset)

    def outer_start(self, offset: int) -> int:
        """Return where the stretch around a place starts that is read in the scope around its own; -1 for others."""
        starts, ends = self._outer_bounds
        index = bisect_right(starts, offset) - 1
        return starts[index] if index >= 0 and offset < ends[index] else -1


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Facts)


def pack_facts(facts: Facts) -> bytes:
    """Facts as bytes."""
    return _ENCODER.encode(facts)


def unpack_facts(raw: bytes) -> Facts:
    """Facts from bytes."""
    facts = _DECODER.decode(raw)
    # A name is there as often as it is bound: shared, all of them together take a quarter less memory.
    force_setattr(facts, "bind_names", tuple(map(intern, facts.bind_names)))
    for definition in facts.definitions:
        force_setattr(definition, "kind", intern(definition.kind))
        force_setattr(definition, "name", intern(definition.name))
    for scope in facts.scopes:
        force_setattr(scope, "kind", intern(scope.kind))
    return facts
