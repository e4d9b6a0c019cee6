"""What loading a Python module does, step by step: which modules it loads, and which names are not there yet."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from codeplane.code.facts.model import Facts
from codeplane.code.resolve.entity import Module
from codeplane.code.resolve.evidence import module_before
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World

_LATER = frozenset({"function", "lambda"})
_TYPED = re.compile(rb"[ \t]*(?:el)?if[ \t]+(?:\w+\.)?TYPE_CHECKING\b")
_MOST = 600
_BEHIND = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One place of a module that takes a name from another one; none for the whole, `*` for all there are."""

    at: int
    module: str
    name: str
    loads: bool = True
    """Whether the module is loaded here; otherwise it is there, and its name is used."""
    loaded: bool = True
    """Whether this happens while the module that takes is loaded itself."""
    through: tuple[str, ...] = ()
    """The packages that a dotted name goes through below its first one: each is known there once it is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A name that is not there when it is taken."""

    path: str
    at: int
    module: str
    name: str


@dataclass(slots=True)
class Loading:
    """Loads modules of one world in mind; what it learned of them is kept."""

    world: World
    resolver: Resolver = field(init=False)
    _steps: dict[str, list[Step]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.resolver = Resolver(self.world)

    def faults(self, entry: str) -> list[Fault]:
        """What goes wrong when a module is the first to be loaded."""
        run = _Run(self)
        run.load(entry)
        return run.faults

    def ended(self, entry: str) -> dict[str, int]:
        """How far a module is when each of those that it loads has ended."""
        run = _Run(self, watched=entry)
        run.load(entry)
        return run.ended

    def reaches(self, start: str) -> dict[str, set[str]]:
        """All modules that loading one loads, each with those it names itself."""
        found: dict[str, set[str]] = {}
        waiting = self.parents(start)
        while waiting and len(found) < _MOST:
            path = waiting.pop()
            if path in found:
                continue
            found[path] = {one for step in self.steps(path) for one in self.parents(step.module)}
            waiting += found[path]
        return found

    def parents(self, module: str) -> list[str]:
        """A module with the packages around it, which are loaded before it."""
        found, folder = [module], module.rpartition("/")[0]
        if module.endswith("/__init__.py"):
            folder = folder.rpartition("/")[0]
        while folder and f"{folder}/__init__.py" in self.world.snapshot.files:
            found.append(f"{folder}/__init__.py")
            folder = folder.rpartition("/")[0]
        return found[::-1]

    def steps(self, path: str) -> list[Step]:
        """What a module takes from others while it is loaded, in the order of its text."""
        return [one for one in self.taken(path) if one.loaded]

    def taken(self, path: str) -> list[Step]:
        """What a module takes from others, while it is loaded or later."""
        held = self._steps.get(path)
        if held is None:
            facts = self.world.facts(path) if path in self.world.snapshot.files else None
            dotted = facts is not None and self.world.language(facts).names.dotted_modules
            found = self._found(path, facts) if facts is not None and dotted else ()
            held = self._steps[path] = sorted(found, key=lambda one: one.at)
        return held

    def _found(self, path: str, facts: Facts) -> Iterator[Step]:
        text, python = self.world.text(path), self.world.python()
        for one in facts.imports:
            loaded = _is_loaded(facts, text, one.at)
            for module in python.find(one.source, path):
                yield Step(at=one.at, module=module, name=one.imported, loaded=loaded)
                below = python.submodule(module, one.imported) if one.imported not in ("", "*") else None
                whole = module if not one.imported else below
                if whole is not None:
                    said = one.source if not one.imported and not one.alias else one.local
                    dotted = said.split(".") if not one.imported and not one.alias else []
                    along = [python.find(".".join(dotted[:count]), path) for count in range(2, len(dotted) + 1)]
                    through = tuple(place for places in along for place in places)
                    yield from self._uses(path, facts, text, said, whole, through)

    def _uses(
        self, path: str, facts: Facts, text: bytes, said: str, module: str, through: tuple[str, ...]
    ) -> Iterator[Step]:
        """Names that are read from a module that a name, or a dotted one, stands for."""
        chain = re.compile(rb"(?<![\w.\x80-\xff])" + re.escape(said.encode()) + rb"\.([\w\x80-\xff]+)")
        for one in chain.finditer(text):
            at, name = one.start(), one[1].decode("utf-8", "replace")
            if facts.in_text(at) or at in facts.imported_at or one.start(1) in facts.imported_at:
                continue
            if self.world.python().submodule(module, name) is not None or module_before(text, at) is not None:
                continue
            first = said.partition(".")[0]
            own = self.resolver.lexical(path, facts, at, first)
            if own is not None and any(isinstance(meant, Module) for meant in self.resolver.meaning(own)):
                loaded = _is_loaded(facts, text, at)
                yield Step(at=at, module=module, name=name, loads=False, loaded=loaded, through=through)

    def bound_before(self, module: str, name: str, at: int) -> bool:
        """Whether a module has a name once it is loaded up to a place."""
        facts = self.world.facts(module)
        if facts is None:
            return False
        rows = facts.bound.get((0, name), ())
        if any(facts.bind_at(row) < at for row in rows) or name.startswith("__"):
            return True
        stars = [one for one in facts.imports if one.imported == "*" and one.at < at] if facts.star else []
        places = [self.world.python().find(one.source, module) for one in stars]
        return any(not found or any(self.has(place, name) for place in found) for found in places)

    def has(self, module: str, name: str) -> bool:
        """Whether a module has a name once it is loaded."""
        facts = self.world.facts(module)
        if facts is None or (0, name) in facts.bound or name.startswith("__") or "__getattr__" in facts.bind_names:
            return True
        return bool(self.resolver.export(module, name)) or self._takes_unseen(module, facts)

    def _takes_unseen(self, module: str, facts: Facts) -> bool:
        return any(
            one.imported == "*" and not self.world.python().find(one.source, module)
            for one in (facts.imports if facts.star else ())
        )


class _Run:
    """One process that loads modules."""

    def __init__(self, loading: Loading, watched: str = "") -> None:
        self._loading = loading
        self._watched = watched
        self.ended: dict[str, int] = {}
        self._at: dict[str, int] = {}
        self._done: set[str] = set()
        self.faults: list[Fault] = []

    def load(self, module: str) -> None:
        """Load a module after the packages around it."""
        for one in self._loading.parents(module):
            self._run(one)

    def _run(self, path: str) -> None:
        if path in self._at or len(self._at) >= _MOST:
            return
        self._at[path] = 0
        for step in self._loading.steps(path):
            self._at[path] = step.at
            if step.loads:
                self.load(step.module)
            if step.name:
                self._taken(path, step)
        self._done.add(path)
        self.ended[path] = _BEHIND if self._watched in self._done else self._at.get(self._watched, -1)

    def _taken(self, path: str, step: Step) -> None:
        loading, module, name = self._loading, step.module, step.name
        if not loading.world.facts(module):
            return
        half = next((one for one in step.through if one in self._at and one not in self._done), None)
        if half is not None:
            self.faults.append(Fault(path=path, at=step.at, module=half, name=""))
            return
        if name == "*":
            lacking = module not in self._done and module != path
        elif loading.bound_before(module, name, self._at.get(module, 0)) and module not in self._done:
            return
        elif (below := loading.world.python().submodule(module, name)) is not None:
            self.load(below)
            return
        else:
            lacking = module not in self._done or not loading.has(module, name)
        if lacking:
            self.faults.append(Fault(path=path, at=step.at, module=module, name=name))


def _is_loaded(facts: Facts, text: bytes, at: int) -> bool:
    """Whether a place is reached while its module is loaded: not in a function, nor for types alone."""
    scope = facts.scope_at(at)
    if facts.in_outer(at):
        scope = max(facts.scopes[scope].parent, 0)
    while scope > 0:
        if facts.scopes[scope].kind in _LATER:
            return False
        scope = facts.scopes[scope].parent
    line = text.rfind(b"\n", 0, at) + 1
    indent = len(text[line:at]) - len(text[line:at].lstrip(b" \t"))
    while indent and line > 0:
        line = text.rfind(b"\n", 0, line - 1) + 1
        said = text[line : text.find(b"\n", line)]
        if said.strip() and len(said) - len(said.lstrip(b" \t")) < indent:
            indent = len(said) - len(said.lstrip(b" \t"))
            if _TYPED.match(said):
                return False
    return True
