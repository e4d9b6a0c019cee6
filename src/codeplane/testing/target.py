"""Targets: the smallest units that a runner can run alone."""

from dataclasses import dataclass

from codeplane.kernel.config import CustomRunner
from codeplane.testing.runner import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A test file, package, class or project, with its runner and the folder that it runs in."""

    target_id: str
    path: str
    root: str
    language: str
    runner_name: str
    runner: Runner | None
    words: tuple[str, ...]
    custom: CustomRunner | None = None
    test_count: int | None = None
    covers: tuple[str, ...] = ()

    @property
    def process_key(self) -> tuple[str, str] | None:
        """Targets with the same key can share a process; None for one that cannot."""
        if self.custom is not None or self.runner is None or not self.runner.many:
            return None
        return self.runner_name, self.root

    def matches_path(self, path: str) -> bool:
        """Whether a path is this target, a folder around it or a file in it."""
        if path in ("", self.target_id, self.path) or path in self.covers:
            return True
        return self.path.startswith(f"{path}/")

    @property
    def files(self) -> tuple[str, ...]:
        """The files it consists of."""
        return self.covers or (self.path,)

    @property
    def path_in_root(self) -> str:
        """The path below the runner's root."""
        return self.path[len(self.root) :].lstrip("/") if self.root else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSelection:
    """A target to run, whole or only some tests of it by name."""

    target: Target
    names: tuple[str, ...] = ()

    @property
    def target_id(self) -> str:
        """The id of the target."""
        return self.target.target_id

    @property
    def process_key(self) -> tuple[str, str] | None:
        """Selections with the same key can share a process; None if the names are given as a pattern."""
        runner = self.target.runner
        is_pattern = bool(self.names) and runner is not None and not runner.node_ids
        return None if is_pattern else self.target.process_key
