"""Entities that a name can refer to; thousands are made and compared, for which dataclasses take six times as long."""

from msgspec import Struct


class Module(Struct, frozen=True, gc=False):
    """A file, or a folder of modules."""

    path: str


class Bound(Struct, frozen=True, gc=False):
    """A name bound in a scope of a file: all its definitions and assignments there are one symbol."""

    file: str
    scope: int
    name: str


class Instance(Struct, frozen=True, gc=False):
    """An instance of a class in this repository."""

    of: Bound


class Outside(Struct, frozen=True, gc=False):
    """Something that is certainly not from this repository."""

    source: str


Entity = Module | Bound | Instance | Outside
