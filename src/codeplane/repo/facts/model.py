"""The facts of one file: a pure function of its language and its bytes, so they are kept by content digest."""

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

FORMAT = 5
NO_TARGET = 0xFFFFFFFF

Reason = Literal["PARAM", "LOCAL_ASSIGN", "DEF_IN_SCOPE", "IMPORT_ALIAS", "GLOBAL", "NONLOCAL"]
REASONS: tuple[Reason, ...] = ("PARAM", "LOCAL_ASSIGN", "DEF_IN_SCOPE", "IMPORT_ALIAS", "GLOBAL", "NONLOCAL")


class Definition(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A named thing the file introduces; offsets are bytes, lines count from 1, columns from 0."""

    kind: str
    name: str
    start: int
    end: int
    name_at: int
    line: int
    column: int
    end_line: int
    scope: int
    container: int
    path: str
    signature: str
    ordinal: int
    body: int
    bases: tuple[int, int] | None = None


class Scope(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A stretch of text in which names are bound; `definition` is the one it belongs to, or -1."""

    kind: str
    parent: int
    start: int
    end: int
    definition: int = -1


class Import(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A name taken from elsewhere; `imported` is empty for a whole module and `*` for everything.

    `local` is the name it is known by here, with or without an alias; `local_at` is where it is bound.
    """

    kind: str
    scope: int
    source: str
    imported: str
    alias: str
    local: str
    at: int
    imported_at: int
    local_at: int


class Export(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A name the file gives away; with a source it is passed on from there."""

    name: str
    local: str
    source: str
    evidence: str
    at: int


class DynamicAccess(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
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
        # One less than nothing is NO_TARGET.
        return np.stack((scopes, np.cumsum(steps, dtype=np.uint32), reasons, targets - np.uint32(1)), axis=1)

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
    def _scope_starts(self) -> NDArray[np.int64]:
        return np.array([scope.start for scope in self.scopes], dtype=np.int64)

    def scope_at(self, offset: int) -> int:
        """The innermost scope of a place."""
        index = int(np.searchsorted(self._scope_starts, offset, side="right")) - 1
        index = max(index, 0)
        while index and self.scopes[index].end <= offset:
            index = self.scopes[index].parent
        return index

    def in_text(self, offset: int) -> bool:
        """Whether a place is inside a string or comment."""
        return _inside(self.texts, offset)

    def in_outer(self, offset: int) -> bool:
        """Whether a place inside a scope's text is read in the scope around it."""
        return _inside(self.outers, offset)


def packed_columns(*columns: Sequence[int]) -> bytes:
    """Columns of equal length, each as narrow as its largest number: first their widths, then one after the other."""
    kinds = [_kind(max(column, default=0)) for column in columns]
    widths = bytes(array(kind).itemsize for kind in kinds)
    return widths + b"".join([array(kind, column).tobytes() for kind, column in zip(kinds, columns, strict=True)])


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
    return [after - before for before, after in zip([0, *numbers], numbers, strict=False)]


def packed_spans(spans: Sequence[tuple[int, int]]) -> bytes:
    """Stretches in the order of their starts: the steps between these, and the lengths."""
    return packed_columns(packed_steps([start for start, _ in spans]), [end - start for start, end in spans])


def packed(facts: Facts) -> bytes:
    """Facts as bytes."""
    return _ENCODER.encode(facts)


def unpacked(raw: bytes) -> Facts:
    """Facts from bytes."""
    return _DECODER.decode(raw)


def _unpacked_spans(raw: bytes) -> NDArray[np.uint32]:
    steps, lengths = unpacked_columns(raw, 2)
    starts = np.cumsum(steps, dtype=np.uint32)
    return np.stack((starts, starts + lengths), axis=1)


def _kind(largest: int) -> str:
    return "B" if largest < 1 << 8 else "H" if largest < 1 << 16 else "I"


def _inside(spans: NDArray[np.uint32], offset: int) -> bool:
    if not len(spans):
        return False
    index = int(np.searchsorted(spans[:, 0], offset, side="right")) - 1
    return index >= 0 and offset < int(spans[index, 1])


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Facts)
