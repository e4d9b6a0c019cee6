"""Snapshots of a repository: its head, refs, index, stashes and uncommitted work."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from codeplane.git.read.conflict import Conflict, conflict
from codeplane.git.read.index_file import index_lines
from codeplane.git.read.object_store import ObjectStore, settings_in
from codeplane.git.read.repository import common_dir
from codeplane.git.read.state import State, state_in
from codeplane.git.safety.command import Git

OURS = "refs/codeplane/"
STASH = "refs/stash"
_HEADS = "refs/heads/"
_BRANCH = "branch."
_GITLINK = b"160000"
_NOTHING = "000000"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSnapshot:
    """A repository at one moment; `index` has a line for each entry, as `git ls-files --stage` prints it."""

    symbolic: str | None
    head: str | None
    refs: dict[str, str]
    recoveries: dict[str, str]
    stashes: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    index: frozenset[bytes]
    intended: frozenset[str]
    changed: frozenset[str]
    staged: frozenset[str]
    untracked: frozenset[str]
    conflicts: tuple[Conflict, ...]
    state: State

    @property
    def branch(self) -> str | None:
        """The branch that is checked out, even without commits."""
        return self.symbolic.removeprefix(_HEADS) if self.symbolic else None

    @property
    def dirty(self) -> frozenset[str]:
        """Every path with uncommitted content."""
        return self.changed | self.untracked

    def entry(self, path: str) -> str | None:
        """Return the mode and object id of a path in the index, unless it is in conflict."""
        return self.entries().get(path)

    def entries(self) -> dict[str, str]:
        """Return the mode and object id of every path in the index without conflict."""
        return self._entries(b"0")

    def ours(self) -> dict[str, str]:
        """Return all entries, with our side of those in conflict."""
        return self._entries(b"02")

    def _entries(self, stages: bytes) -> dict[str, str]:
        entries = {}
        for line in self.index:
            facts, _, name = line.partition(b"\t")
            mode, oid, stage = facts.split(b" ")
            if stage in stages and mode != _GITLINK:
                entries[os.fsdecode(name)] = f"{mode.decode()} {oid.decode()}"
        return entries


def submodule_paths(picture: GitSnapshot) -> frozenset[str]:
    """Return the paths of submodules in the index."""
    lines = (line for line in picture.index if line.startswith(_GITLINK))
    return frozenset(os.fsdecode(line.partition(b"\t")[2]) for line in lines)


async def take_snapshot(git: Git) -> GitSnapshot:
    """Take a snapshot; git is run only for what cannot be read without it."""
    folder = git.folder
    shared = common_dir(folder)
    status, read = await asyncio.gather(
        git.run("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--no-renames"),
        asyncio.to_thread(_read, git.root, folder, shared),
    )
    refs, settings, index = read
    if refs is None:
        refs = _parse_refs((await git.run("for-each-ref", "--format=%(objectname) %(symref) %(refname)")).line)
    if settings is None:
        done = await git.run("config", "--local", "-z", "--get-regexp", r"^branch\.", check=False)
        settings = tuple(_parse_setting(field) for field in done.fields) if done.code == 0 else ()
    if index is None:
        listed = await git.run("ls-files", "--stage", "-z")
        index = frozenset(line for line in listed.out.split(b"\0") if line)
    stashes = await _stashes(git, shared) if STASH in refs else ()
    head, intended, changed, staged, untracked, conflicts = _parse_status(status.fields)
    return GitSnapshot(
        symbolic=await _symbolic(git),
        head=head,
        refs={name: oid for name, oid in refs.items() if not name.startswith(OURS) and name != STASH},
        recoveries={name: oid for name, oid in refs.items() if name.startswith(OURS)},
        stashes=stashes,
        settings=settings,
        index=index,
        intended=frozenset(intended),
        changed=frozenset(changed),
        staged=frozenset(staged),
        untracked=frozenset(untracked),
        conflicts=tuple(conflicts),
        state=state_in(folder),
    )


def _read(
    root: Path, folder: Path, shared: Path
) -> tuple[dict[str, str] | None, tuple[tuple[str, str], ...] | None, frozenset[bytes] | None]:
    refs = ObjectStore(root).refs()
    # Where libgit2 reads the refs, object names are SHA-1, as our index reader expects.
    return refs, settings_in(shared / "config", _BRANCH), index_lines(folder / "index") if refs is not None else None


async def _symbolic(git: Git) -> str | None:
    content = os.fsdecode(await asyncio.to_thread((git.folder / "HEAD").read_bytes)).rstrip("\n")
    if content.startswith("ref: refs/heads/") and not content.endswith("/.invalid"):
        return content.removeprefix("ref: ")
    # Refs are not always stored as files.
    return (await git.run("symbolic-ref", "--quiet", "HEAD", check=False)).line or None


def _parse_refs(printed: str) -> dict[str, str]:
    refs = {}
    for line in printed.splitlines():
        oid, symbolic, name = line.split(" ", 2)
        if not symbolic:
            refs[name] = oid
    return refs


async def _stashes(git: Git, shared: Path) -> tuple[tuple[str, str], ...]:
    try:
        lines = (await asyncio.to_thread((shared / "logs" / STASH).read_bytes)).splitlines()
        entries = [line.partition(b"\t") for line in reversed(lines)]
        return tuple((facts.split(b" ")[1].decode(), os.fsdecode(message)) for facts, _, message in entries)
    except (OSError, IndexError):
        done = await git.run("log", "--walk-reflogs", "-z", "--format=%H %gs", STASH, "--", check=False)
        return tuple((oid, message) for oid, _, message in (field.partition(" ") for field in done.fields))


def _parse_setting(line: str) -> tuple[str, str]:
    key, _, value = line.partition("\n")
    return key, value


def _parse_status(fields: list[str]) -> tuple[str | None, set[str], set[str], set[str], set[str], list[Conflict]]:
    head: str | None = None
    intended, changed, staged, untracked, conflicts = set(), set(), set(), set(), []
    for line in fields:
        kind = line[:2]
        if line.startswith("# branch.oid "):
            oid = line.removeprefix("# branch.oid ")
            head = None if oid == "(initial)" else oid
        elif kind == "1 ":
            _, states, _, _, mode, *_, path = line.split(" ", 8)
            changed.add(path)
            # In the index through `git add --intent-to-add`, without content.
            if states.startswith(".") and mode == _NOTHING:
                intended.add(path)
            if not states.startswith("."):
                staged.add(path)
        elif kind == "u ":
            *facts, path = line.split(" ", 10)
            changed.add(path)
            staged.add(path)
            oids = {stage: oid for stage, oid in enumerate(facts[7:10], start=1) if oid.strip("0")}
            conflicts.append(conflict(path, oids))
        elif kind == "? ":
            untracked.add(line[2:])
    return head, intended, changed, staged, untracked, sorted(conflicts, key=lambda conflict: conflict.path)
