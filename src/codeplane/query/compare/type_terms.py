"""The types of TypeScript as terms; what only a compiler can compute is opaque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


class Scope(Protocol):
    """Where a name is looked up: a file in one of the two states."""


@dataclass(frozen=True, slots=True)
class Named:
    """A type by its name, with its arguments."""

    name: str
    arguments: tuple[Term, ...] = ()
    scope: Scope | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A value as a type."""

    text: str


@dataclass(frozen=True, slots=True)
class Union:
    """One of some alternatives."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Intersection:
    """All of some types at once."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object type."""

    type: Term
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a function type."""

    type: Term
    optional: bool = False
    rest: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A function type."""

    arguments: tuple[Argument, ...]
    result: Term


@dataclass(frozen=True, slots=True)
class Object:
    """An object type; of one that `is_partial` not every member is known."""

    members: tuple[tuple[str, Member], ...] = ()
    index: Term | None = None
    calls: tuple[Function, ...] = ()
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """An array of items of one type."""

    item: Term
    readonly: bool = False


@dataclass(frozen=True, slots=True)
class Tuple:
    """An array of a fixed length."""

    items: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A type parameter; `is_inferred` if a call finds out what it stands for."""

    name: str
    bound: Term | None = field(default=None, compare=False)
    is_inferred: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type that is not understood, or computed."""

    text: str


Term = Named | Literal | Union | Intersection | Function | Object | Array | Tuple | Variable | Opaque
UNREAD = Opaque("?")


def join_union(parts: Sequence[Term]) -> Term:
    """A union of some types, without unions in it."""
    flat: list[Term] = []
    for part in parts:
        flat += [each for each in (part.parts if isinstance(part, Union) else (part,)) if each not in flat]
    return flat[0] if len(flat) == 1 else Union(tuple(flat))
