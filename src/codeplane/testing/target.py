"""The smallest thing that can be run by itself."""

from dataclasses import dataclass

from codeplane.kernel.config import CustomRunner
from codeplane.testing.runner import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A test file, package, class or project, and who runs it from where."""

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
    def together(self) -> tuple[str, str] | None:
        """Targets with the same can share a process; None for one that cannot."""
        if self.custom is not None or self.runner is None or not self.runner.many:
            return None
        return self.runner_name, self.root

    def is_at(self, path: str) -> bool:
        """Whether a path names it, a folder around it or a file in it."""
        if path in ("", self.target_id, self.path) or path in self.covers:
            return True
        return self.path.startswith(f"{path}/")

    @property
    def inner(self) -> str:
        """Its path below the runner's root."""
        return self.path[len(self.root) :].lstrip("/") if self.root else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A target to run, whole or only some tests of it by name."""

    target: Target
    names: tuple[str, ...] = ()

    @property
    def target_id(self) -> str:
        """The target's."""
        return self.target.target_id

    @property
    def together(self) -> tuple[str, str] | None:
        """Those with the same can share a process; names that are said by a pattern would be looked for everywhere."""
        runner = self.target.runner
        is_pattern = bool(self.names) and runner is not None and not runner.node_ids
        return None if is_pattern else self.target.together
