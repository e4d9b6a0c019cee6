"""How a repository stands at one moment: its head, refs, index, stashes and what is unfinished in the work tree."""

import asyncio
import os
from dataclasses import dataclass

from codeplane.repo.git.command import Git
from codeplane.repo.git.conflict import Conflict, conflict
from codeplane.repo.git.state import State, state_in

OURS = "refs/codeplane/"
STASH = "refs/stash"
_HEADS = "refs/heads/"
_GITLINK = b"160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
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
        found = {}
        for line in self.index:
            facts, _, name = line.partition(b"\t")
            mode, oid, stage = facts.split(b" ")
            if stage == b"0" and mode != _GITLINK:
                found[os.fsdecode(name)] = f"{mode.decode()} {oid.decode()}"
        return found


async def pictured(git: Git) -> Picture:
    """The repository as it stands now."""
    status, refs, settings, index = await asyncio.gather(
        git.run("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--no-renames"),
        git.run("for-each-ref", "--format=%(objectname) %(symref) %(refname)"),
        git.run("config", "--local", "-z", "--get-regexp", r"^branch\.", check=False),
        git.run("ls-files", "--stage", "-z"),
    )
    named = _refs(refs.line)
    stashes = await _stashes(git) if STASH in named else ()
    head, intended, changed, untracked, conflicts = _status(status.fields)
    return Picture(
        symbolic=await _symbolic(git),
        head=head,
        refs={name: oid for name, oid in named.items() if not name.startswith(OURS) and name != STASH},
        recoveries={name: oid for name, oid in named.items() if name.startswith(OURS)},
        stashes=stashes,
        settings=tuple(_setting(one) for one in settings.fields) if settings.code == 0 else (),
        index=frozenset(line for line in index.out.split(b"\0") if line),
        intended=frozenset(intended),
        changed=frozenset(changed),
        untracked=frozenset(untracked),
        conflicts=tuple(conflicts),
        state=state_in(git.folder),
    )


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


async def _stashes(git: Git) -> tuple[tuple[str, str], ...]:
    done = await git.run("log", "--walk-reflogs", "-z", "--format=%H %gs", STASH, "--", check=False)
    return tuple((oid, said) for oid, _, said in (one.partition(" ") for one in done.fields))


def _setting(line: str) -> tuple[str, str]:
    key, _, value = line.partition("\n")
    return key, value


def _status(fields: list[str]) -> tuple[str | None, set[str], set[str], set[str], list[Conflict]]:
    head: str | None = None
    intended, changed, untracked, conflicts = set(), set(), set(), []
    for line in fields:
        kind = line[:2]
        if line.startswith("# branch.oid "):
            oid = line.removeprefix("# branch.oid ")
            head = None if oid == "(initial)" else oid
        elif kind == "1 ":
            _, states, *_, path = line.split(" ", 8)
            changed.add(path)
            if states == ".A":
                intended.add(path)
        elif kind == "u ":
            *facts, path = line.split(" ", 10)
            changed.add(path)
            oids = {stage: oid for stage, oid in enumerate(facts[7:10], start=1) if oid.strip("0")}
            conflicts.append(conflict(path, oids))
        elif kind == "? ":
            untracked.add(line[2:])
    return head, intended, changed, untracked, sorted(conflicts, key=lambda one: one.path)
