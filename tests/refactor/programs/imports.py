"""Imports of one drawn module in another, in all the forms that Python has."""

from dataclasses import dataclass, field
from random import Random

from tests.refactor.programs.definition import Thing


@dataclass(kw_only=True)
class Module:
    """A module that is drawn: its place, its dotted name, its lines, and what it gives."""

    path: str
    dotted: str
    lines: list[str] = field(default_factory=list)
    thing: Thing = field(default_factory=lambda: Thing(kind="module"))
    listed: list[str] | None = None
    """What `__all__` says, where there is one."""
    typed: list[str] = field(default_factory=list)
    loaded: set[str] = field(default_factory=set)

    @property
    def package(self) -> str:
        """The package that relative imports begin at."""
        return self.dotted if self.path.endswith("__init__.py") else self.dotted.rpartition(".")[0]

    @property
    def names(self) -> dict[str, Thing]:
        """What its code can use."""
        return self.thing.given

    def starred(self) -> dict[str, Thing]:
        """What `import *` takes from it."""
        names = self.listed if self.listed is not None else [name for name in self.names if not name.startswith("_")]
        return {name: self.names[name] for name in names if name in self.names and "." not in name}


def source(draw: Random, module: str, into: Module) -> str:
    """How an import names a module: whole, or from where it stands."""
    package = into.package
    if not package or module.partition(".")[0] != package.partition(".")[0] or draw.random() < 0.4:
        return module
    up, home = 1, package
    while not f"{module}.".startswith(f"{home}."):
        home, up = home.rpartition(".")[0], up + 1
    return "." * up + module[len(home) + 1 :]


def imported(draw: Random, what: Module, into: Module, *, names: list[str]) -> tuple[list[str], dict[str, Thing]]:
    """An import statement and what it binds; nothing where that would hide something."""
    given = {name: thing for name, thing in what.names.items() if "." not in name}
    form = draw.choice(["module", "alias", "from", "from", "from", "renamed", "submodule", "star", "guarded"])
    parent, _, last = what.dotted.rpartition(".")
    if form == "module":
        if what.dotted.partition(".")[0] in names:
            return [], {}
        return [f"import {what.dotted}"], {what.dotted: what.thing}
    if form == "submodule" and parent and last not in names:
        if last in names or into.dotted == parent:
            return [], {}
        return [f"from {source(draw, parent, into)} import {last}"], {last: what.thing}
    if form == "alias":
        name = draw.choice(["unit", "part", last])
        return ([f"import {what.dotted} as {name}"], {name: what.thing}) if name not in names else ([], {})
    if form == "star":
        taken = what.starred()
        if set(taken) & set(names):
            return [], {}
        return [f"from {source(draw, what.dotted, into)} import *"], taken
    chosen = [one for one in given if one not in names and draw.random() < 0.6]
    if not chosen:
        return [], {}
    module = source(draw, what.dotted, into)
    if form == "renamed":
        alias = f"{chosen[0]}_{draw.choice(['own', 'far'])}"
        if alias in names:
            return [], {}
        return [f"from {module} import {chosen[0]} as {alias}"], {alias: given[chosen[0]]}
    if form == "guarded":
        name = chosen[0]
        return (
            ["try:", f"    from {module} import {name}", "except ImportError:", f"    {name} = None"],
            {name: given[name]},
        )
    if draw.random() < 0.2:
        return (
            [f"from {module} import (", *(f"    {one},  # {one}" for one in chosen), ")"],
            {one: given[one] for one in chosen},
        )
    return [f"from {module} import {', '.join(chosen)}"], {one: given[one] for one in chosen}
