"""What a name can stand for; made and compared by the thousand, so not by dataclasses, which take six times as long."""

from msgspec import Struct


class Module(Struct, frozen=True, gc=False):
    """A file, or a folder of modules."""

    path: str


class Bound(Struct, frozen=True, gc=False):
    """A name bound in a scope of a file: all definitions and assignments there that share it are one symbol."""

    file: str
    scope: int
    name: str


class Instance(Struct, frozen=True, gc=False):
    """A value made by a class of this repository."""

    of: Bound


class Outside(Struct, frozen=True, gc=False):
    """Something that is certainly not of this repository."""

    source: str


Entity = Module | Bound | Instance | Outside
