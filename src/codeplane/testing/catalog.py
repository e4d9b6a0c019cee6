"""The targets of a repository: discovered in its newest state, with the programs that run them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from codeplane.code.resolve.world import World
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import TestRunnerNotFound
from codeplane.query.knowledge import Knowledge
from codeplane.testing.case_names import near_names
from codeplane.testing.discovery import Discovery, DiscoveryState
from codeplane.testing.program import Programs
from codeplane.testing.runner import Runner
from codeplane.testing.target import Target, TargetSelection

DID_YOU_MEAN = ": did you mean "
_MAX_FILES = 50


class TargetCatalog:
    """Discovers targets, and reuses the last discovery while nothing has changed."""

    def __init__(self, *, knowledge: Knowledge, config: TestsConfig, programs: Programs) -> None:
        self._knowledge = knowledge
        self._config = config
        self._programs = programs
        self._discovered: tuple[Snapshot | None, tuple[Target, ...], DiscoveryState | None] = (None, (), None)

    @property
    def snapshot(self) -> Snapshot:
        """The state that was discovered last."""
        snapshot, _, _ = self._discovered
        assert snapshot is not None, "targets are discovered before a run is planned"
        return snapshot

    @property
    def known(self) -> tuple[Target, ...]:
        """The targets of the last discovery."""
        return self._discovered[1]

    async def targets(self) -> tuple[Target, ...]:
        """Return all targets on disk, including tests that were written a moment ago."""
        fresh = await self._knowledge.fresh()
        snapshot = await fresh.snapshot(strict=True)
        return await asyncio.to_thread(self.targets_of, snapshot)

    def targets_of(self, snapshot: Snapshot) -> tuple[Target, ...]:
        """Return all targets of one state."""
        discovered, targets, before = self._discovered
        if discovered is not snapshot:
            discovery = Discovery(
                snapshot=snapshot,
                config=self._config,
                available=self._is_available,
                before=before,
                changed=changed_contents(discovered, snapshot),
            )
            targets = discovery.targets
            self._discovered = (snapshot, targets, discovery.state())
        return targets

    def missing_runners(self, targets: Sequence[Target]) -> tuple[str, ...]:
        """Return a message for each runner that these targets need and that is not installed."""
        needed = {(target.runner_name, target.root): target for target in targets}
        messages = (_not_found(name) for (name, _), target in needed.items() if not self._can_run(target))
        return tuple(dict.fromkeys(messages))

    def refuse_unrunnable(self, wanted: Sequence[TargetSelection]) -> None:
        """Raise TestRunnerNotFound when no runner of these targets is installed."""
        if not wanted or any(self._can_run(selection.target) for selection in wanted):
            return
        target = wanted[0].target
        if target.custom is None and target.runner is not None:
            self._programs.find(target.runner, target.root)
        raise TestRunnerNotFound(_not_found(target.custom.cmd[0] if target.custom is not None else target.runner_name))

    def programs_of(self, wanted: Sequence[TargetSelection]) -> set[Path]:
        """Return the programs that run these targets, as they are found now."""
        found = set()
        targets = {(selection.target.runner_name, selection.target.root): selection.target for selection in wanted}
        for target in targets.values():
            if target.custom is not None:
                program = self._programs.command(target.custom.cmd[0], target.root)
            else:
                program = self._programs.at(target.runner, target.root) if target.runner is not None else None
            if program is not None:
                found.add(Path(program.words[0]))
        return found

    def not_found(self, selection: TargetSelection, name: str) -> str:
        """Say that a target has no test of this name, with the tests whose names are similar."""
        snapshot, target = self.snapshot, selection.target
        world = World(snapshot, self._knowledge.store, self._knowledge.modules)
        paths = [path for path in target.files if path in snapshot.files][:_MAX_FILES]
        facts = [facts for facts in map(world.facts, paths) if facts is not None]
        near = near_names(target, name, [world.text(path).decode(errors="replace") for path in paths], facts)
        suggestions = ", ".join(f"{target.target_id}::{test}" for test in near)
        return f"{target.target_id}::{name}" + (f"{DID_YOU_MEAN}{suggestions}?" if suggestions else "")

    def _can_run(self, target: Target) -> bool:
        if target.custom is not None:
            return self._programs.command(target.custom.cmd[0], target.root) is not None
        return target.runner is not None and self._is_available(target.runner, target.root)

    def _is_available(self, runner: Runner, root: str) -> bool:
        return self._programs.at(runner, root) is not None


def _not_found(runner: str) -> str:
    return f"Test runner '{runner}' not found in PATH"


def changed_contents(before: Snapshot | None, now: Snapshot) -> frozenset[str] | None:
    """Return the paths whose content changed; None if files came or went, or if that is not known."""
    changed = now.changed_since(before.epoch) if before is not None else None
    if before is None or changed is None:
        return None
    return changed if all(path in before.files and path in now.files for path in changed) else None
