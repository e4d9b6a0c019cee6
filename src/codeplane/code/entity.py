"""Entities that a name can refer to; thousands are made and compared, for which dataclasses take six times as long."""

from typing import Literal

from msgspec import Struct

# A class's own members, or those of its instances; empty where a language does not separate them.
# In Java a method, a field and a type of one name are three symbols of one class.
Side = Literal["", "static", "instance", "method", "field", "type"]


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


class Meaning(Struct, frozen=True, kw_only=True, gc=False):
    """What a name at a place refers to; `certain` means that nothing unseen can make it something else.

    `own` is the binding in this file that brings it, if there is one: that of an import, for example. `side` says
    whether a member was read from a class or from an instance, if the language separates them and nothing else is in
    doubt.
    """

    entities: tuple[Entity, ...]
    certain: bool
    how: str
    own: Bound | None = None
    side: Side = ""
