"""Random packages that can be run: what a seed gives is always the same."""

from random import Random

from tests.refactor.programs.bodies import CLASSES, NAMES, function, indented, klass
from tests.refactor.programs.definition import NUMBER, Parameters, Thing, any_use, used
from tests.refactor.programs.imports import Module, imported, source
from tests.refactor.programs.program import Program

_MODULES = ("core", "util", "model", "shapes", "alpha", "beta", "base")
_HEAD = ["from dataclasses import dataclass", "from typing import TYPE_CHECKING"]


def drawn(seed: int) -> Program:
    """A program that runs, of the first seed from this one on that gives one."""
    while True:
        found = _program(Random(seed))
        answer = found.outcome()
        if answer and " ended by " not in answer and "<" not in answer and found.loads():
            return found
        seed += 1_000_003


def _program(draw: Random) -> Program:
    root = draw.choice(["", "", "src/"])
    made: list[Module] = []
    for package in [
        "shop",
        *(["shop.deep"] if draw.random() < 0.6 else []),
        *(["other"] if draw.random() < 0.4 else []),
    ]:
        folder = root + package.replace(".", "/")
        inside = []
        for name in draw.sample(_MODULES, draw.randint(1, 3)):
            inside.append(_module(draw, Module(path=f"{folder}/{name}.py", dotted=f"{package}.{name}"), made))
            made.append(inside[-1])
        if package != "other" or draw.random() < 0.7:
            made.append(_package(draw, Module(path=f"{folder}/__init__.py", dotted=package), inside))
    if draw.random() < 0.3:
        made.append(_module(draw, Module(path=f"{root}single.py", dotted="single"), made))
    _circles(draw, made)
    runs = [_user(draw, Module(path=f"{root}main.py", dotted="main"), made)]
    if draw.random() < 0.7:
        if draw.random() < 0.5:
            made.append(Module(path="tests/__init__.py", dotted="tests"))
        runs += [
            _user(draw, Module(path=f"tests/test_{number}.py", dotted=f"tests.test_{number}"), made)
            for number in range(draw.randint(1, 2))
        ]
    files = {change.path: _text(change) for change in [*made, *runs]}
    if root:
        files["pyproject.toml"] = '[tool.setuptools.packages.find]\nwhere = ["src"]\n'
    return Program(files=files, roots=("src", "") if root else ("",), runs=tuple(run.dotted for run in runs))


def _text(module: Module) -> str:
    lines = [*_HEAD, *module.lines] if module.lines else []
    if module.listed is not None:
        lines.append(f"__all__ = {module.listed!r}")
    return "".join(f"{line}\n" for line in lines)


def _module(draw: Random, module: Module, before: list[Module]) -> Module:
    """A module with imports of those that are there already, and definitions."""
    _imports(draw, module, before)
    names = module.names
    for _ in range(draw.randint(2, 5)):
        _definition(draw, module, before)
    if draw.random() < 0.3:
        own = [name for name in names if "." not in name]
        module.listed = [symbol for symbol in own if draw.random() < 0.7]
    return module


def _imports(draw: Random, module: Module, before: list[Module]) -> None:
    for what in draw.sample(before, min(len(before), draw.randint(0, 3))):
        taken = [name.partition(".")[0] for name in module.names] + ["dataclass", "TYPE_CHECKING"]
        lines, binds = imported(draw, what, module, names=taken)
        module.lines += lines
        module.names.update(binds)


def _definition(draw: Random, module: Module, before: list[Module]) -> None:
    names = module.names
    tops = {name.partition(".")[0] for name in names}
    free = [one for one in NAMES if one not in tops]
    classes = [one for one in CLASSES if one not in tops]
    kind = draw.choice(
        ["number", "function", "function", "class", "class", "instance", "builder", "taker", "branch", "typed"]
    )
    if not free or not classes:
        return
    name, large = draw.choice(free), draw.choice(classes)
    known = [name for name in names if names[name].kind == "class" and "." not in name]
    if kind == "number":
        module.lines.append(f"{name} = {any_use(draw, names)}")
        names[name] = NUMBER
    elif kind == "function":
        lines, takes = function(draw, name, names)
        module.lines += _decorated(draw, lines)
        names[name] = Thing(kind="function", takes=takes)
    elif kind == "branch":
        lines, takes = function(draw, name, names)
        declared = ", ".join([*takes.needed, *(f"{one}=2" for one in takes.optional)])
        module.lines += [f"if {any_use(draw, names)} > 3:", *indented(lines), "else:"]
        module.lines += [f"    def {name}({declared}):", f"        return {takes.needed[0]}"]
        names[name] = Thing(kind="function", takes=takes)
    elif kind == "class" or not known:
        lines, made = klass(draw, large, names)
        module.lines += lines
        names[large] = made
    elif kind == "instance":
        of = draw.choice(known)
        module.lines.append(f"{name} = {of}({names[of].takes.arguments(draw)})")
        names[name] = Thing(kind="instance", of=names[of])
    elif kind == "builder":
        of = draw.choice(known)
        module.lines += [f"def {name}() -> {of}:", f"    return {of}({names[of].takes.arguments(draw)})"]
        names[name] = Thing(kind="builder", of=names[of])
    elif kind == "taker":
        of = draw.choice(known)
        quoted = draw.choice([of, f'"{of}"'])
        one = Thing(kind="instance", of=names[of])
        module.lines += [f"def {name}(given: {quoted}) -> int:", f"    return {used(draw, names, 'given', one)}"]
        names[name] = Thing(kind="taker", of=names[of])
    else:
        _typed(draw, module, before, name)


def _decorated(draw: Random, lines: list[str]) -> list[str]:
    """A function, now and then kept by a cache."""
    return ["import functools", "@functools.lru_cache(maxsize=None)", *lines] if draw.random() < 0.1 else lines


def _typed(draw: Random, module: Module, before: list[Module], name: str) -> None:
    """A function that takes what is imported for types alone."""
    taken = {name.partition(".")[0] for name in module.names}
    known = [
        (one, of)
        for one in before
        for of in one.names
        if one.names[of].kind == "class" and of not in taken and "." not in of
    ]
    if not known:
        return
    home, of = draw.choice(known)
    thing = home.names[of]
    value = used(draw, {}, "given", Thing(kind="instance", of=thing))
    module.lines += ["if TYPE_CHECKING:", f"    from {source(draw, home.dotted, module)} import {of}"]
    module.lines += [f"def {name}(given: '{of}') -> int:", f"    return {value}"]
    module.names[name] = Thing(kind="taker", of=thing)


def _package(draw: Random, module: Module, inside: list[Module]) -> Module:
    """A package that gives some of what its modules have."""
    for one in inside:
        if draw.random() < 0.7:
            taken = [name.partition(".")[0] for name in module.names] + ["dataclass", "TYPE_CHECKING"]
            lines, binds = imported(draw, one, module, names=taken)
            module.lines += lines
            module.names.update(binds)
    if module.names and draw.random() < 0.4:
        module.listed = [name for name in module.names if "." not in name]
    return module


def _circles(draw: Random, made: list[Module]) -> None:
    """Functions that import, when they are called, modules that import theirs."""
    for number, change in enumerate(made):
        later = [other for other in made[number + 1 :] if any(thing is NUMBER for thing in other.names.values())]
        taken = {name.partition(".")[0] for name in change.names}
        free = [name for name in NAMES if name not in taken]
        if not later or not free or change.path.endswith("__init__.py") or draw.random() < 0.5:
            continue
        what, name = draw.choice(later), draw.choice(free)
        wanted = draw.choice([key for key, thing in what.names.items() if thing is NUMBER and "." not in key] or [""])
        if not wanted:
            continue
        module = source(draw, what.dotted, change)
        forms = [[f"    from {module} import {wanted}", f"    return {wanted} + 1"]]
        forms.append([f"    from {module} import {wanted} as near", "    return near + 1"])
        forms.append([f"    import {what.dotted} as near", f"    return near.{wanted} + 1"])
        if what.dotted.partition(".")[0] not in taken:
            forms.append([f"    import {what.dotted}", f"    return {what.dotted}.{wanted} + 1"])
        change.lines += [f"def {name}():", *draw.choice(forms)]
        change.names[name] = Thing(kind="function", takes=Parameters())


def _user(draw: Random, module: Module, made: list[Module]) -> Module:
    """A module that prints what the others have."""
    for what in made:
        taken = [name.partition(".")[0] for name in module.names] + ["dataclass", "TYPE_CHECKING"]
        lines, binds = imported(draw, what, module, names=taken)
        module.lines += lines
        module.names.update(binds)
    names = dict(module.names)
    for name, thing in names.items():
        for _ in range(2):
            module.lines.append(f"print({used(draw, names, name, thing)})")
    for _ in range(2):
        lines, takes = function(draw, "test_it", names)
        module.lines += [*lines, f"print(test_it({takes.arguments(draw)}))"]
    return module
