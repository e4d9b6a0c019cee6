"""What a drawn module gives, and how code uses it: every use is a number."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal

Kind = Literal["number", "function", "class", "instance", "builder", "taker", "module"]
Sort = Literal["attribute", "constant", "method", "property", "static", "maker"]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The names a function takes: those it must be given, and those it may be."""

    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    def arguments(self, draw: Random, number: str = "") -> str:
        """Arguments by place or by name, in an order that calls allow."""
        named = draw.random() < 0.4
        given = []
        for parameter in self.needed:
            value = number or str(draw.randint(1, 9))
            given.append(f"{parameter}={value}" if named else value)
        for one in self.optional:
            if draw.random() < 0.4:
                given.append(f"{one}={draw.randint(1, 9)}")
        return ", ".join(given)

    def declared(self, draw: Random) -> str:
        """The same as a definition writes them."""
        return ", ".join([*self.needed, *(f"{one}={draw.randint(1, 9)}" for one in self.optional)])


@dataclass(kw_only=True, eq=False)
class Thing:
    """Something with a name; `of` is the class of an instance, `given` what a module holds."""

    kind: Kind
    takes: Parameters = Parameters()
    members: dict[str, tuple[Sort, Parameters]] = field(default_factory=dict)
    of: "Thing | None" = None
    given: "dict[str, Thing]" = field(default_factory=dict)


Names = Mapping[str, Thing]
NUMBER = Thing(kind="number")


def used(draw: Random, names: Names, name: str, thing: Thing, depth: int = 0) -> str:
    """An expression that uses a thing and is a number."""
    if thing.kind == "number":
        return name
    if thing.kind == "function":
        return f"{name}({thing.takes.arguments(draw)})"
    if thing.kind == "module":
        inner = [one for one in thing.given if depth < 2 or thing.given[one].kind != "module"]
        if not inner:
            return "1"
        chosen = draw.choice(inner)
        return used(draw, names, f"{name}.{chosen}", thing.given[chosen], depth + 1)
    if thing.kind == "class":
        return _of_class(draw, name, thing)
    assert thing.of is not None
    if thing.kind == "instance":
        return _member(draw, name, thing.of)
    if thing.kind == "builder":
        return _member(draw, f"{name}({thing.takes.arguments(draw)})", thing.of)
    classes = [name for name in names if names[name] is thing.of]
    if not classes:
        return "2"
    return f"{name}({draw.choice(classes)}({thing.of.takes.arguments(draw)}))"


def any_use(draw: Random, names: Names) -> str:
    """A use of one of some names, or a number."""
    known = [name for name in names if names[name].kind != "module" or names[name].given]
    if not known or draw.random() < 0.15:
        return str(draw.randint(1, 9))
    name = draw.choice(known)
    return used(draw, names, name, names[name])


def _of_class(draw: Random, name: str, thing: Thing) -> str:
    constants = [one for one, (sort, _) in thing.members.items() if sort == "constant"]
    if constants and draw.random() < 0.3:
        return f"{name}.{draw.choice(constants)}"
    makers = [one for one, (sort, _) in thing.members.items() if sort == "maker"]
    if makers and draw.random() < 0.3:
        chosen = draw.choice(makers)
        return _member(draw, f"{name}.{chosen}({thing.members[chosen][1].arguments(draw)})", thing)
    return _member(draw, f"{name}({thing.takes.arguments(draw)})", thing)


def _member(draw: Random, value: str, of: Thing) -> str:
    """A member of an instance, as a number."""
    known = [one for one, (sort, _) in of.members.items() if sort != "maker"]
    if not known:
        return "3"
    name = draw.choice(known)
    sort, takes = of.members[name]
    return f"{value}.{name}({takes.arguments(draw)})" if sort in ("method", "static") else f"{value}.{name}"
