"""The facts of one file: a pure function of its language and its bytes, so they are kept by content digest."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from operator import sub
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

FORMAT = 8
NO_TARGET = 0xFFFFFFFF

Reason = Literal["PARAM", "LOCAL_ASSIGN", "DEF_IN_SCOPE", "IMPORT_ALIAS", "GLOBAL", "NONLOCAL"]
REASONS: tuple[Reason, ...] = ("PARAM", "LOCAL_ASSIGN", "DEF_IN_SCOPE", "IMPORT_ALIAS", "GLOBAL", "NONLOCAL")
# A file that was asked about more names than these has all of them sorted at once.
_FEW = 8
_PARAM, _GLOBAL, _NONLOCAL = (REASONS.index(one) for one in ("PARAM", "GLOBAL", "NONLOCAL"))


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
        scopes, steps, reasons, targets = unpacked_columns(self.bind_packed, 4)
        rows = np.empty((len(scopes), 4), np.uint32)
        rows[:, 0], rows[:, 2] = scopes, reasons
        np.cumsum(steps, dtype=np.uint32, out=rows[:, 1])
        # One less than nothing is NO_TARGET.
        np.subtract(targets, np.uint32(1), out=rows[:, 3])
        return rows

    @cached_property
    def _bind_numbers(self) -> memoryview:
        return self.binds.reshape(-1).data

    def bind_at(self, row: int) -> int:
        """Where a binding stands."""
        # Of an array a single number takes three times as long to read.
        return self._bind_numbers[4 * row + 1]

    def bind_reason(self, row: int) -> int:
        """Why a name is bound there, by its position in `REASONS`."""
        return self._bind_numbers[4 * row + 2]

    def bind_target(self, row: int) -> int:
        """The definition or the import that a binding brings, by its reason; or NO_TARGET."""
        return self._bind_numbers[4 * row + 3]

    def rows(self, scope: int, name: str) -> Sequence[int]:
        """The rows of `binds` that a scope has under a name, in their order."""
        held = self._some_bound
        found = held.get(name)
        if found is None:
            # Most answers ask a file about a few of hundreds of names.
            if len(held) >= _FEW or "bound" in self.__dict__:
                return self.bound.get((scope, name), ())
            found = held[name] = self.rows_by_scope(name)
        return found.get(scope, ())

    def rows_by_scope(self, name: str) -> dict[int, list[int]]:
        """The rows of `binds` under a name, by their scopes."""
        names, numbers, row = self.bind_names, self._bind_numbers, -1
        found: dict[int, list[int]] = {}
        for _ in range(names.count(name)):
            row = names.index(name, row + 1)
            found.setdefault(numbers[4 * row], []).append(row)
        return found

    @cached_property
    def _some_bound(self) -> dict[str, dict[int, list[int]]]:
        return {}

    def defining(self, scope: int, name: str) -> Sequence[int]:
        """The definitions that a scope has under a name, in their order."""
        return self.declared.get((scope, name), ())

    @cached_property
    def first_parameters(self) -> dict[int, int]:
        """Where the first parameter of each scope stands."""
        rows = self.binds[self.binds[:, 2] == _PARAM]
        # Rows are in the order of the text, so that the first of a scope is the last one put in from behind.
        return dict(rows[::-1, :2].tolist())

    @cached_property
    def reaches_out(self) -> bool:
        """Whether any scope says `global` or `nonlocal`."""
        reasons = self.binds[:, 2]
        return bool(((reasons == _GLOBAL) | (reasons == _NONLOCAL)).any())

    @cached_property
    def texts(self) -> NDArray[np.uint32]:
        """Stretches of string and comment text, where words are no references."""
        return _unpacked_spans(self.text_packed)

    @cached_property
    def labels(self) -> frozenset[int]:
        """Places of identifiers that name a field or an argument, not a variable."""
        (steps,) = unpacked_columns(self.label_packed, 1)
        return frozenset(np.cumsum(steps, dtype=np.uint32).tolist())

    @cached_property
    def outers(self) -> NDArray[np.uint32]:
        """Stretches inside a scope's text that are read in the scope around it."""
        return _unpacked_spans(self.outer_packed)

    @cached_property
    def bound(self) -> dict[tuple[int, str], list[int]]:
        """The rows of `binds` of each name in each scope."""
        found: dict[tuple[int, str], list[int]] = {}
        scopes = self.binds[:, 0].tolist() if self.bind_names else []
        for row, (scope, name) in enumerate(zip(scopes, self.bind_names, strict=True)):
            found.setdefault((scope, name), []).append(row)
        return found

    @cached_property
    def declared(self) -> dict[tuple[int, str], list[int]]:
        """The definitions of each name in each scope."""
        found: dict[tuple[int, str], list[int]] = {}
        for index, one in enumerate(self.definitions):
            found.setdefault((one.scope, one.name), []).append(index)
        return found

    @cached_property
    def body_of(self) -> dict[int, int]:
        """The scope each definition opens."""
        return {one.definition: index for index, one in enumerate(self.scopes) if one.definition >= 0}

    @cached_property
    def imported_at(self) -> dict[int, int]:
        """The imports, by where their names stand."""
        found = {one.imported_at: index for index, one in enumerate(self.imports) if one.imported not in ("", "*")}
        return found | {one.local_at: index for index, one in enumerate(self.imports) if one.local != "*"}

    @cached_property
    def _scope_starts(self) -> list[int]:
        return [scope.start for scope in self.scopes]

    @cached_property
    def _scope_ends(self) -> list[int]:
        return [scope.end for scope in self.scopes]

    @cached_property
    def _text_bounds(self) -> list[list[int]]:
        return [self.texts[:, 0].tolist(), self.texts[:, 1].tolist()]

    @cached_property
    def _outer_bounds(self) -> list[list[int]]:
        return [self.outers[:, 0].tolist(), self.outers[:, 1].tolist()]

    def scope_at(self, offset: int) -> int:
        """The innermost scope of a place."""
        # For one place at a time, bisecting a list takes a tenth of what numpy does.
        index, ends = bisect_right(self._scope_starts, offset) - 1, self._scope_ends
        while index > 0 and ends[index] <= offset:
            index = self.scopes[index].parent
        return max(index, 0)

    def in_text(self, offset: int) -> bool:
        """Whether a place is inside a string or comment."""
        return _inside(self._text_bounds, offset)

    def in_outer(self, offset: int) -> bool:
        """Whether a place inside a scope's text is read in the scope around it."""
        return _inside(self._outer_bounds, offset)


def packed_columns(*columns: Sequence[int]) -> bytes:
    """Columns of equal length, each as narrow as its largest number: first their widths, then one after the other."""
    if not columns[0]:
        return b"\1" * len(columns)
    parts = []
    widths = []
    for column in columns:
        largest = max(column)
        if largest < 1 << 8:
            widths.append(1)
            parts.append(bytes(column))
        else:
            kind = "H" if largest < 1 << 16 else "I"
            packed = array(kind, column)
            widths.append(packed.itemsize)
            parts.append(packed.tobytes())
    return b"".join((bytes(widths), *parts))


def unpacked_columns(raw: bytes, count: int) -> list[NDArray[np.uint32]]:
    """The columns that were packed."""
    widths = raw[:count]
    rows, rest = divmod(len(raw) - count, sum(widths) or 1)
    if len(widths) < count or rest:
        raise ValueError("columns of unequal length")
    found, at = [], count
    for width in widths:
        found.append(np.frombuffer(raw, dtype=f"<u{width}", count=rows, offset=at).astype(np.uint32))
        at += rows * width
    return found


def packed_steps(numbers: Sequence[int]) -> list[int]:
    """Ascending numbers as the steps between them, which are small."""
    return list(map(sub, numbers, (0, *numbers)))


def packed_spans(spans: Sequence[tuple[int, int]]) -> bytes:
    """Stretches in the order of their starts: the steps between these, and the lengths."""
    if not spans:
        return b"\1\1"
    starts, ends = zip(*spans, strict=True)
    return packed_columns(packed_steps(starts), list(map(sub, ends, starts)))


def packed(facts: Facts) -> bytes:
    """Facts as bytes."""
    return _ENCODER.encode(facts)


def unpacked(raw: bytes) -> Facts:
    """Facts from bytes."""
    return _DECODER.decode(raw)


def _unpacked_spans(raw: bytes) -> NDArray[np.uint32]:
    steps, lengths = unpacked_columns(raw, 2)
    spans = np.empty((len(steps), 2), np.uint32)
    np.cumsum(steps, dtype=np.uint32, out=spans[:, 0])
    np.add(spans[:, 0], lengths, out=spans[:, 1])
    return spans


def _inside(bounds: list[list[int]], offset: int) -> bool:
    starts, ends = bounds
    index = bisect_right(starts, offset) - 1
    return index >= 0 and offset < ends[index]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Facts)
