"""The `git.submodules` operation."""

import asyncio
import os
from pathlib import Path
from typing import Literal

from codeplane.git.read.reader import GitReader
from codeplane.git.read.remote_list import redact_url
from codeplane.git.read.repository import git_dir_of
from codeplane.index.files.paths import inside, path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.workspace_request import WorkspaceRequest

_AT_ONCE = 4
_MAX = 500
# Where submodules are configured; later places override earlier ones.
_PLACES = (("--blob", "HEAD:.gitmodules"), ("--blob", ":.gitmodules"), ("--file", ".gitmodules"))
SubmoduleStatus = Literal["current", "changed", "uninitialized", "conflict"]


class SubmodulesRequest(WorkspaceRequest):
    """Every submodule."""


class SubmoduleInfo(Result):
    """A submodule: the recorded commit, the checked-out commit, and what is changed inside."""

    path: str
    name: str | None = None
    url: str | None = None
    branch: str | None = None
    oid: str | None
    head: str | None = None
    status: SubmoduleStatus
    dirty: str | None = None

    def text(self) -> str:
        at = f"{(self.oid or '')[:9]}" + (
            f" (checked out: {self.head[:9]})" if self.status == "changed" and self.head else ""
        )
        dirty = f" ({self.dirty})" if self.dirty else ""
        return f"{self.path} {self.status} {at}{dirty}" + (f" {self.url}" if self.url else "")


class SubmodulesResult(Result):
    """The submodules by path."""

    submodules: tuple[SubmoduleInfo, ...]
    total: int

    def text(self) -> str:
        lines = [submodule.text() for submodule in self.submodules] or ["no submodules"]
        return "\n".join([*lines, *([f"[{_MAX} of {self.total}]"] if self.total > _MAX else [])])


class SubmoduleReadOperations:
    """Answer `git.submodules`, without `git submodule status`, which fails when `.gitmodules` lacks one."""

    def __init__(self, *, reader: GitReader) -> None:
        self._reader = reader

    @operation("git.submodules", risk=Risk.READ)
    async def submodules(self, call: Call, request: SubmodulesRequest) -> SubmodulesResult:
        """Submodules with recorded and checked-out commit, url, and whether they are initialized, changed or dirty."""
        recorded: dict[str, str | None] = {}
        for entry in (await self._reader.run("ls-files", "-z", "--stage")).records():
            facts, _, name = entry.partition(b"\t")
            if facts.startswith(b"160000 "):
                oid, stage = facts.decode().split(" ")[1:]
                recorded[os.fsdecode(name)] = oid if stage == "0" else None
        if not recorded:
            return SubmodulesResult(submodules=(), total=0)
        *stated, active = await asyncio.gather(*(self._settings(*place) for place in (*_PLACES, ("--local",))))
        by_path: dict[str, dict[str, str]] = {}
        names: dict[str, set[str]] = {}
        for submodule, settings in (pair for named in stated for pair in named.items()):
            if place := settings.get("path", "").rstrip("/"):
                by_path[place] = {"name": submodule, **settings}
                names.setdefault(place, set()).add(submodule)
        gate = asyncio.Semaphore(_AT_ONCE)

        async def info(path: str) -> SubmoduleInfo:
            facts = by_path.get(path, {})
            name = facts.get("name")
            async with gate:
                # Under any of its names: `.gitmodules` may have renamed it since it was initialized.
                initialized = any("url" in active.get(name, {}) for name in names.get(path, ()))
                head = await self._head(path) if initialized or name is None else None
                dirty = await self._describe_changes(path) if head is not None else None
            return SubmoduleInfo(
                path=path_text(path),
                name=path_text(name) if name is not None else None,
                url=redact_url(facts["url"]) if "url" in facts else None,
                branch=facts.get("branch"),
                oid=recorded[path],
                head=head,
                status=_status(recorded[path], head),
                dirty=dirty,
            )

        submodules = await asyncio.gather(*(info(path) for path in sorted(recorded)[:_MAX]))
        return SubmodulesResult(submodules=tuple(submodules), total=len(recorded))

    async def _settings(self, *where: str) -> dict[str, dict[str, str]]:
        """Read the settings of each submodule, by its name."""
        output = await self._reader.run(
            "config", *where, "--null", "--get-regexp", r"^submodule\..*\.(path|url|branch)$", codes=(0, 1, 128)
        )
        settings: dict[str, dict[str, str]] = {}
        for record in output.records():
            key, _, value = os.fsdecode(record).partition("\n")
            name, _, field = key.removeprefix("submodule.").rpartition(".")
            settings.setdefault(name, {})[field] = value
        return settings

    async def _head(self, path: str) -> str | None:
        """Return the commit that is checked out in a submodule; None when it has none."""
        try:
            if not (inside(self._reader.root, path) / ".git").exists():
                return None
            output = await self._reader.run(
                "rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1, 128), folder=path
            )
        except (CodePlaneError, OSError):
            return None
        return output.out.decode().strip() or None if output.code == 0 else None

    async def _describe_changes(self, path: str) -> str | None:
        """Describe the changes in a submodule's files; one with a git folder of its own is not inspected."""
        if not self._is_ours(path):
            return "not looked at: it holds a repository of its own"
        output = await self._reader.run("status", "--porcelain=v2", "-z", codes=(0, 128), folder=path)
        kinds = {record[:1] for record in output.records()}
        words = (("modified content", kinds & {b"1", b"2", b"u"}), ("untracked content", kinds & {b"?"}))
        return ", ".join(word for word, has in words if has) or None

    def _is_ours(self, path: str) -> bool:
        """Whether its git folder is inside that of the outer repository, where git puts it."""
        outer = Path(os.path.realpath(git_dir_of(self._reader.root)))
        inner = Path(os.path.realpath(git_dir_of(inside(self._reader.root, path))))
        shared = outer.parent.parent if outer.parent.name == "worktrees" else outer
        return any(folder / "modules" in inner.parents for folder in (outer, shared))


def _status(recorded: str | None, head: str | None) -> SubmoduleStatus:
    if recorded is None:
        return "conflict"
    if head is None:
        return "uninitialized"
    return "current" if head == recorded else "changed"
