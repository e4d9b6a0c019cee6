"""What a name can stand for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Module:
    """A file, or a folder of modules."""

    path: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A name bound in a scope of a file: all definitions and assignments there that share it are one symbol."""

    file: str
    scope: int
    name: str


@dataclass(frozen=True, slots=True)
class Instance:
    """A value made by a class of this repository."""

    of: Bound


@dataclass(frozen=True, slots=True)
class Outside:
    """Something that is certainly not of this repository."""

    source: str


Entity = Module | Bound | Instance | Outside
