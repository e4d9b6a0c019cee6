"""How a repository stands at one moment: its head, refs, index, stashes and what is unfinished in the work tree."""

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
    """One moment; `index` has a line for each entry, as `git ls-files --stage` prints them."""

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
        """The branch that is checked out, also when it has no commits yet."""
        return self.symbolic.removeprefix(_HEADS) if self.symbolic else None

    @property
    def dirty(self) -> frozenset[str]:
        """Every path whose content no commit has."""
        return self.changed | self.untracked

    def entry(self, path: str) -> str | None:
        """The mode and object of a path in the index, when it is there without conflict."""
        return self.entries().get(path)

    def entries(self) -> dict[str, str]:
        """The mode and object of every path in the index that is not in conflict."""
        return self._entries(b"0")

    def ours(self) -> dict[str, str]:
        """The same, with those in conflict as our side of it has them."""
        return self._entries(b"02")

    def _entries(self, stages: bytes) -> dict[str, str]:
        found = {}
        for line in self.index:
            facts, _, name = line.partition(b"\t")
            mode, oid, stage = facts.split(b" ")
            if stage in stages and mode != _GITLINK:
                found[os.fsdecode(name)] = f"{mode.decode()} {oid.decode()}"
        return found


def submodule_paths(picture: GitSnapshot) -> frozenset[str]:
    """The paths of submodules in the index."""
    lines = (line for line in picture.index if line.startswith(_GITLINK))
    return frozenset(os.fsdecode(line.partition(b"\t")[2]) for line in lines)


async def take_snapshot(git: Git) -> GitSnapshot:
    """The repository as it stands now; git itself is asked only for what cannot be read without it."""
    folder = git.folder
    shared = common_dir(folder)
    status, here = await asyncio.gather(
        git.run("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--no-renames"),
        asyncio.to_thread(_read, git.root, folder, shared),
    )
    named, settings, index = here
    if named is None:
        named = _refs((await git.run("for-each-ref", "--format=%(objectname) %(symref) %(refname)")).line)
    if settings is None:
        done = await git.run("config", "--local", "-z", "--get-regexp", r"^branch\.", check=False)
        settings = tuple(_setting(one) for one in done.fields) if done.code == 0 else ()
    if index is None:
        listed = await git.run("ls-files", "--stage", "-z")
        index = frozenset(line for line in listed.out.split(b"\0") if line)
    stashes = await _stashes(git, shared) if STASH in named else ()
    head, intended, changed, staged, untracked, conflicts = _status(status.fields)
    return GitSnapshot(
        symbolic=await _symbolic(git),
        head=head,
        refs={name: oid for name, oid in named.items() if not name.startswith(OURS) and name != STASH},
        recoveries={name: oid for name, oid in named.items() if name.startswith(OURS)},
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
    # Where libgit2 reads the refs, objects are named as the index is read here.
    return refs, settings_in(shared / "config", _BRANCH), index_lines(folder / "index") if refs is not None else None


async def _symbolic(git: Git) -> str | None:
    said = os.fsdecode(await asyncio.to_thread((git.folder / "HEAD").read_bytes)).rstrip("\n")
    if said.startswith("ref: refs/heads/") and not said.endswith("/.invalid"):
        return said.removeprefix("ref: ")
    # Refs can be stored in other ways than as files.
    return (await git.run("symbolic-ref", "--quiet", "HEAD", check=False)).line or None


def _refs(printed: str) -> dict[str, str]:
    found = {}
    for line in printed.splitlines():
        oid, symbolic, name = line.split(" ", 2)
        if not symbolic:
            found[name] = oid
    return found


async def _stashes(git: Git, shared: Path) -> tuple[tuple[str, str], ...]:
    try:
        lines = (await asyncio.to_thread((shared / "logs" / STASH).read_bytes)).splitlines()
        told = [line.partition(b"\t") for line in reversed(lines)]
        return tuple((facts.split(b" ")[1].decode(), os.fsdecode(said)) for facts, _, said in told)
    except (OSError, IndexError):
        done = await git.run("log", "--walk-reflogs", "-z", "--format=%H %gs", STASH, "--", check=False)
        return tuple((oid, said) for oid, _, said in (one.partition(" ") for one in done.fields))


def _setting(line: str) -> tuple[str, str]:
    key, _, value = line.partition("\n")
    return key, value


def _status(fields: list[str]) -> tuple[str | None, set[str], set[str], set[str], set[str], list[Conflict]]:
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
            # In the index, but with nothing to be committed of it.
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
    return head, intended, changed, staged, untracked, sorted(conflicts, key=lambda one: one.path)
