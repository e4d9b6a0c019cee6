"""Selection of the tests that a change can break: those that import it, nearest to the changed definitions first."""

import asyncio
import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from codeplane.code.languages.registry import languages
from codeplane.code.resolve.world import World
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_test
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import NotFound, NotGit
from codeplane.kernel.plural import plural
from codeplane.query.knowledge import Knowledge
from codeplane.testing.changes import Changes, Lines
from codeplane.testing.import_graph import ImportCache, ImportGraph, Step
from codeplane.testing.mentions import files_mentioning, targets_built_with, targets_naming
from codeplane.testing.ranking import Ranking, UseCache, likeness
from codeplane.testing.target import Target

# Of more targets than this, those that mention the changed definitions are selected.
_ENOUGH = 4
_SHARE = 0.4
_MOST = 60
_MAX_CHAIN = 4
_SETTINGS = re.compile(
    r"(?:^|/)(?:pyproject\.toml|pytest\.ini|tox\.ini|setup\.cfg|setup\.py|package\.json|tsconfig[\w.]*\.json"
    r"|(?:jest|vitest|vite|babel)\.config\.\w+|go\.mod|go\.sum|Cargo\.toml|Cargo\.lock|build\.rs|pom\.xml|mix\.exs"
    r"|build\.gradle(?:\.kts)?|Gemfile(?:\.lock)?|\.rspec|[\w.]+\.(?:cs|fs)proj)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A target that a change reaches: its id, the reason, and the number of imports between them."""

    path: str
    reason: str
    distance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The targets to run, nearest first, with notes on those that were left out."""

    reached: tuple[Reached, ...]
    notes: tuple[str, ...] = ()
    left_out: int = 0


class _LazyLines(Mapping[str, Lines]):
    """The changed lines of some paths, compared with git once somebody asks for lines."""

    def __init__(self, paths: Iterable[str], find: Callable[[], Mapping[str, Lines]]) -> None:
        self._paths = dict.fromkeys(paths)
        self._find = find

    @cached_property
    def _lines(self) -> Mapping[str, Lines]:
        return self._find()

    def __getitem__(self, path: str) -> Lines:
        return self._lines[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, path: object) -> bool:
        return path in self._paths


class _TargetFiles:
    """The targets of each file."""

    def __init__(self, targets: tuple[Target, ...]) -> None:
        self.targets = targets
        self._numbers: dict[str, list[int]] = {}
        for number, target in enumerate(targets):
            for path in target.files:
                self._numbers.setdefault(path, []).append(number)

    def targets_with(self, paths: Iterable[str]) -> Iterator[Target]:
        """Yield the targets that have any of some files, in their order."""
        numbers = {number for path in paths for number in self._numbers.get(path, ())}
        return (self.targets[number] for number in sorted(numbers))


class Impact:
    """Selects tests by what changed."""

    def __init__(
        self, *, knowledge: Knowledge, targets: Callable[[Snapshot], tuple[Target, ...]], changes: Changes
    ) -> None:
        self._knowledge = knowledge
        self._targets = targets
        self._changes = changes
        self._imports = ImportCache(knowledge.modules)
        self._uses = UseCache()
        self._files = _TargetFiles(())
        self._waiting = False
        self._busy = threading.Lock()

    async def after_edit(self, snapshot: Snapshot, paths: Sequence[str]) -> Selection | None:
        """Select the tests for the files of an edit, in the state after it; None while that is not known.

        An edit does not wait for the selection of another edit, so that many edits cost one selection at a time.
        """
        if self._waiting:
            return None
        self._waiting = True
        try:
            if (await self._knowledge.wait_for_facts(snapshot)).files:
                return None
            return await asyncio.to_thread(self._unless_busy, snapshot, paths)
        finally:
            self._waiting = False

    async def test_files(self, snapshot: Snapshot, path: str) -> tuple[str, ...] | None:
        """The test files that reach a file, nearest first; None while that is not known."""
        if (await self._knowledge.wait_for_facts(snapshot)).files:
            return None
        return await asyncio.to_thread(self._test_files, snapshot, path)

    def _test_files(self, snapshot: Snapshot, path: str) -> tuple[str, ...]:
        targets = {target.target_id: target for target in self._targets(snapshot)}
        selection = self.select(snapshot, {path: ()})
        files = dict.fromkeys(
            file for reached in selection.reached for file in targets[reached.path].files if is_test(file)
        )
        # Called after it first, and of those the ones beside it: a package or a project is one target.
        folder = path.rpartition("/")[0]
        return tuple(
            sorted(files, key=lambda file: (likeness(path, file) < 1, not file.startswith(f"{folder}/") or not folder))
        )

    def _unless_busy(self, snapshot: Snapshot, paths: Sequence[str]) -> Selection | None:
        if not self._busy.acquire(blocking=False):
            return None
        try:
            # The lines count only where there are more tests than are named, and take half as long as all else.
            return self.select(snapshot, _LazyLines(paths, partial(self._changed_lines, paths, "")))
        finally:
            self._busy.release()

    def _changed_lines(self, paths: Sequence[str] | None, since: str) -> Mapping[str, Lines]:
        try:
            known = self._changes.changed_since(since, paths)
        except NotGit:
            if paths is None:
                raise
            # Whole files count as changed.
            known = {}
        return dict(known) if paths is None else {path: known.get(path, ()) for path in paths}

    async def reaching(self, path: str, lines: Lines) -> Selection:
        """Select the tests that reach some lines of a file, or all of it without lines."""
        fresh = await self._knowledge.fresh()
        snapshot = await fresh.snapshot(strict=False)
        if path not in snapshot.files:
            raise NotFound(f"{path_text(path)!r} is not indexed", hint="list_dir shows what is")
        behind = (await self._knowledge.wait_for_facts(snapshot)).line()
        found = await asyncio.to_thread(self.select, snapshot, {path: lines})
        notes = (*found.notes, behind) if behind else found.notes
        return Selection(reached=found.reached, notes=notes, left_out=found.left_out)

    async def selection(self, paths: Sequence[str] | None = None, *, since: str = "") -> Selection:
        """Select the tests to run for changed files; without paths, for all that differ from a ref or HEAD."""
        changed = await asyncio.to_thread(self._changed_lines, paths, since)
        fresh = await self._knowledge.fresh()
        snapshot = await fresh.snapshot(strict=True)
        behind = (await self._knowledge.wait_for_facts(snapshot)).line()
        found = await asyncio.to_thread(self.select, snapshot, changed)
        notes = (*found.notes, behind) if behind else found.notes
        return Selection(reached=found.reached, notes=notes, left_out=found.left_out)

    def select(self, snapshot: Snapshot, changed: Mapping[str, Lines]) -> Selection:
        """Select the tests to run in one state of the repository."""
        targets = self._targets(snapshot)
        if not changed:
            return Selection(reached=(), notes=("nothing has changed",))
        files = self._files_of(targets)
        world = World(snapshot, self._knowledge.store, self._knowledge.modules)
        imports = ImportGraph(world, self._imports, gone=[path for path in changed if path not in snapshot.files])
        seeds = dict.fromkeys(changed)
        mentions: dict[str, str] = {}
        for path in changed:
            if not _is_code(path):
                for user in files_mentioning(snapshot, path):
                    if user not in seeds:
                        mentions[user] = f"names {path_text(path.rpartition('/')[2])}"
        steps = imports.files_reaching([*seeds, *mentions])
        found: dict[str, Reached] = {}
        for target in files.targets_with(steps):
            best = min((steps[path] for path in target.files if path in steps), key=lambda step: step.distance)
            found[target.target_id] = _by_import(target, best, steps, mentions)
        for target, reason in targets_built_with(targets, changed):
            found[target.target_id] = Reached(path=target.target_id, reason=reason, distance=1)
        for target, reason in targets_naming(world, self._knowledge.store, targets, changed):
            found.setdefault(target.target_id, Reached(path=target.target_id, reason=reason, distance=2))
        settings = [path for path in changed if _SETTINGS.search(path)]
        always = self._always(files, settings, changed)
        found |= always
        if not found:
            return Selection(reached=(), notes=(f"no test reaches {_list_paths(changed)}",))
        return self._limit_selection(world, imports, targets, changed, found, set(always))

    def _files_of(self, targets: tuple[Target, ...]) -> _TargetFiles:
        held = self._files
        if held.targets is not targets:
            held = self._files = _TargetFiles(targets)
        return held

    def _limit_selection(
        self,
        world: World,
        imports: ImportGraph,
        targets: Sequence[Target],
        changed: Mapping[str, Lines],
        found: dict[str, Reached],
        always: set[str],
    ) -> Selection:
        most = max(_ENOUGH, min(math.floor(len(targets) * _SHARE), _MOST))
        if len(found) - len(always) <= most:
            return Selection(reached=_sort_reached(found.values()))
        narrowing = Ranking(world, self._knowledge.store, imports, targets, self._uses)
        ranked = narrowing.rank(changed, [reached for reached in found if reached not in always])
        selected = {target_id: found[target_id] for target_id in always}
        for target_id, why in ranked[:most]:
            before = found[target_id]
            selected[target_id] = Reached(path=target_id, reason=why or before.reason, distance=before.distance)
        order = {target_id: at for at, (target_id, _) in enumerate(ranked)}
        left = len(found) - len(selected)
        nearest = "those nearest to the changed definitions"
        note = f"{len(selected)} of {len(found)} targets that import what changed: {nearest}"
        reached = sorted(
            selected.values(),
            key=lambda reached: (reached.path not in always, order.get(reached.path, -1), reached.path),
        )
        return Selection(reached=tuple(reached), notes=(note,), left_out=left)

    def _always(self, files: _TargetFiles, settings: Sequence[str], changed: Mapping[str, Lines]) -> dict[str, Reached]:
        """Return the changed tests themselves, and every test of a runner whose settings changed."""
        found: dict[str, Reached] = {}
        for path in settings:
            folder = path.rpartition("/")[0]
            for target in files.targets:
                if not folder or target.path.startswith(f"{folder}/"):
                    reason = f"{path_text(path)} has settings for it"
                    found[target.target_id] = Reached(path=target.target_id, reason=reason, distance=1)
        for target in files.targets_with(changed):
            if _is_test_itself(target):
                found[target.target_id] = Reached(path=target.target_id, reason="changed itself", distance=0)
        return found


def _by_import(target: Target, step: Step, steps: Mapping[str, Step], mentions: Mapping[str, str]) -> Reached:
    chain: list[str] = []
    at = step
    while at.through and len(chain) < _MAX_CHAIN:
        chain.append(at.through)
        at = steps[at.through]
    last = chain[-1] if chain else target.path
    reason = " → ".join(["imports " + path_text(chain[0]), *map(path_text, chain[1:])]) if chain else "changed itself"
    if at.through:
        reason += f" → … ({plural(step.distance, 'import')})"
    elif last in mentions:
        reason = f"{reason}, which {mentions[last]}" if chain else mentions[last]
    return Reached(path=target.target_id, reason=reason, distance=step.distance + (last in mentions))


def _is_test_itself(target: Target) -> bool:
    """Whether its files hold nothing but tests; a crate's unit tests are in the code they test."""
    return target.runner is None or target.runner.unit != "crate" or "/tests/" in f"/{target.path}"


def _is_code(path: str) -> bool:
    found = languages().of(path)
    return found is not None and found.names_things


def _sort_reached(found: Iterable[Reached]) -> tuple[Reached, ...]:
    return tuple(sorted(found, key=lambda reached: (reached.distance, reached.path)))


def _list_paths(changed: Mapping[str, Lines]) -> str:
    names = [path_text(path) for path in sorted(changed)[:3]]
    return ", ".join(names) + (" …" if len(changed) > 3 else "")
