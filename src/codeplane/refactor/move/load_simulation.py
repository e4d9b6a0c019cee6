"""A simulation of loading Python modules: which modules are loaded, and which names are not defined yet."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from codeplane.code.entity import Module
from codeplane.code.languages.python.evidence import module_before
from codeplane.code.model import Facts
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World

_LATER = frozenset({"function", "lambda"})
_TYPED = re.compile(rb"[ \t]*(?:el)?if[ \t]+(?:\w+\.)?TYPE_CHECKING\b")
_MOST = 600
_BEHIND = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStep:
    """One place of a module that reads a name from another one; empty for the whole module, `*` for all names."""

    at: int
    module: str
    name: str
    loads: bool = True
    """Whether the module is loaded here; otherwise a name of it is used."""
    loaded: bool = True
    """Whether this happens while the reading module itself is loaded."""
    through: tuple[str, ...] = ()
    """The packages in a dotted name after the first one, each of which must be loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFault:
    """A name that is not defined when it is read."""

    path: str
    at: int
    module: str
    name: str


@dataclass(slots=True)
class LoadSimulation:
    """Simulates loading modules of one world; the steps of each module are cached."""

    world: World
    resolver: Resolver = field(init=False)
    _steps: dict[str, list[LoadStep]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.resolver = Resolver(self.world)

    def faults(self, entry: str) -> list[LoadFault]:
        """Return what goes wrong if a module is loaded first."""
        run = _Run(self)
        run.load(entry)
        return run.faults

    def loading_progress(self, entry: str) -> dict[str, int]:
        """Return how far a module is loaded when each module that it loads is done."""
        run = _Run(self, watched=entry)
        run.load(entry)
        return run.ended

    def reaches(self, start: str) -> dict[str, set[str]]:
        """Return all modules that one loads, each with those it imports itself."""
        found: dict[str, set[str]] = {}
        waiting = self.parents(start)
        while waiting and len(found) < _MOST:
            path = waiting.pop()
            if path in found:
                continue
            found[path] = {module for step in self.steps(path) for module in self.parents(step.module)}
            waiting += found[path]
        return found

    def parents(self, module: str) -> list[str]:
        """Return a module after its packages, which are loaded first."""
        found, folder = [module], module.rpartition("/")[0]
        if module.endswith("/__init__.py"):
            folder = folder.rpartition("/")[0]
        while folder and f"{folder}/__init__.py" in self.world.snapshot.files:
            found.append(f"{folder}/__init__.py")
            folder = folder.rpartition("/")[0]
        return found[::-1]

    def steps(self, path: str) -> list[LoadStep]:
        """Return what a module reads from others while it is loaded, in the order of its text."""
        return [step for step in self.reads(path) if step.loaded]

    def reads(self, path: str) -> list[LoadStep]:
        """Return what a module reads from others, while it is loaded or later."""
        steps = self._steps.get(path)
        if steps is None:
            facts = self.world.facts(path) if path in self.world.snapshot.files else None
            dotted = facts is not None and self.world.language(facts).names.dotted_modules
            found = self._find_steps(path, facts) if facts is not None and dotted else ()
            steps = self._steps[path] = sorted(found, key=lambda step: step.at)
        return steps

    def _find_steps(self, path: str, facts: Facts) -> Iterator[LoadStep]:
        text, python = self.world.text(path), self.world.python()
        for import_ in facts.imports:
            loaded = is_loaded(facts, text, import_.at)
            for module in python.find(import_.source, path):
                yield LoadStep(at=import_.at, module=module, name=import_.imported, loaded=loaded)
                below = python.submodule(module, import_.imported) if import_.imported not in ("", "*") else None
                whole = module if not import_.imported else below
                if whole is not None:
                    prefix = import_.source if not import_.imported and not import_.alias else import_.local
                    dotted = prefix.split(".") if not import_.imported and not import_.alias else []
                    along = [python.find(".".join(dotted[:count]), path) for count in range(2, len(dotted) + 1)]
                    through = tuple(place for places in along for place in places)
                    yield from self._uses(path, facts, text, prefix, whole, through)

    def _uses(
        self, path: str, facts: Facts, text: bytes, prefix: str, module: str, through: tuple[str, ...]
    ) -> Iterator[LoadStep]:
        """Yield the names that are read from a module through a name or dotted name."""
        chain = re.compile(rb"(?<![\w.\x80-\xff])" + re.escape(prefix.encode()) + rb"\.([\w\x80-\xff]+)")
        for match in chain.finditer(text):
            at, name = match.start(), match[1].decode("utf-8", "replace")
            if facts.in_text(at) or at in facts.imported_at or match.start(1) in facts.imported_at:
                continue
            if self.world.python().submodule(module, name) is not None or module_before(text, at) is not None:
                continue
            first = prefix.partition(".")[0]
            own = self.resolver.lexical(path, facts, at, first)
            if own is not None and any(isinstance(meant, Module) for meant in self.resolver.meaning(own)):
                loaded = is_loaded(facts, text, at)
                yield LoadStep(at=at, module=module, name=name, loads=False, loaded=loaded, through=through)

    def bound_before(self, module: str, name: str, at: int) -> bool:
        """Whether a module has a name when it is loaded up to a place."""
        facts = self.world.facts(module)
        if facts is None:
            return False
        rows = facts.rows_by_binding.get((0, name), ())
        if any(facts.bind_at(row) < at for row in rows) or name.startswith("__"):
            return True
        stars = (
            [import_ for import_ in facts.imports if import_.imported == "*" and import_.at < at] if facts.star else []
        )
        places = [self.world.python().find(star.source, module) for star in stars]
        return any(not found or any(self.has(place, name) for place in found) for found in places)

    def has(self, module: str, name: str) -> bool:
        """Whether a module has a name when it is loaded."""
        facts = self.world.facts(module)
        if (
            facts is None
            or (0, name) in facts.rows_by_binding
            or name.startswith("__")
            or "__getattr__" in facts.bind_names
        ):
            return True
        return bool(self.resolver.export(module, name)) or self._has_unknown_star(module, facts)

    def _has_unknown_star(self, module: str, facts: Facts) -> bool:
        return any(
            import_.imported == "*" and not self.world.python().find(import_.source, module)
            for import_ in (facts.imports if facts.star else ())
        )


class _Run:
    """One process that loads modules."""

    def __init__(self, loading: LoadSimulation, watched: str = "") -> None:
        self._loading = loading
        self._watched = watched
        self.ended: dict[str, int] = {}
        self._at: dict[str, int] = {}
        self._done: set[str] = set()
        self.faults: list[LoadFault] = []

    def load(self, module: str) -> None:
        """Load a module after the packages around it."""
        for path in self._loading.parents(module):
            self._run(path)

    def _run(self, path: str) -> None:
        if path in self._at or len(self._at) >= _MOST:
            return
        self._at[path] = 0
        for step in self._loading.steps(path):
            self._at[path] = step.at
            if step.loads:
                self.load(step.module)
            if step.name:
                self._read_name(path, step)
        self._done.add(path)
        self.ended[path] = _BEHIND if self._watched in self._done else self._at.get(self._watched, -1)

    def _read_name(self, path: str, step: LoadStep) -> None:
        loading, module, name = self._loading, step.module, step.name
        if not loading.world.facts(module):
            return
        half = next((module for module in step.through if module in self._at and module not in self._done), None)
        if half is not None:
            self.faults.append(LoadFault(path=path, at=step.at, module=half, name=""))
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
            self.faults.append(LoadFault(path=path, at=step.at, module=module, name=name))


def is_loaded(facts: Facts, text: bytes, at: int) -> bool:
    """Whether a place is executed while its module is loaded: not in a function, nor only for types."""
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
        line_text = text[line : text.find(b"\n", line)]
        if line_text.strip() and len(line_text) - len(line_text.lstrip(b" \t")) < indent:
            indent = len(line_text) - len(line_text.lstrip(b" \t"))
            if _TYPED.match(line_text):
                return False
    return True
