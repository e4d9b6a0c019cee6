"""The compared states, parsed from what callers name."""

import asyncio
import os
import re
from dataclasses import dataclass

from codeplane.git.read.reader import GitReader
from codeplane.kernel.errors import InvalidArgument, NotFound, RefNotFound

_EPOCH = re.compile(r"epoch:(\d{1,15})")
_SHORT = 9
_PATH = re.compile(r"\.{1,3}$|\.{0,2}/|~|.*/\.{0,2}$", re.DOTALL)
_RANGES = re.compile(r"\.{2,}")
# In words that a commit is looked for by, dots are dots.
_SEARCHED = re.compile(r"^:/|\^\{/")
_HINT = "base and target name a commit, branch, tag, a...b or epoch:N; paths=[…] says where to look"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitState:
    """A commit, or the state before the first."""

    commit: str | None
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """The work tree."""

    label: str = "working tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochState:
    """An epoch of the index."""

    epoch: int
    label: str


State = GitState | WorkTree | EpochState


def is_epoch(name: str | None) -> bool:
    """Whether a state is named by epoch."""
    return name is not None and name.startswith("epoch:")


def epoch_of(name: str, *, first: int, last: int) -> EpochState:
    """Parse an epoch's name; NotFound if it is no longer stored."""
    match = _EPOCH.fullmatch(name)
    if match is None:
        raise InvalidArgument(f"{name[:100]!r} names no epoch", hint="write epoch:N, such as epoch:12")
    number = int(match[1])
    if not first <= number <= last:
        kept = f"epoch:{first} to epoch:{last}" if first <= last else "none yet"
        raise NotFound(f"epoch {number} is not kept", hint=f"kept: {kept}; git refs reach further back")
    return EpochState(epoch=number, label=f"epoch {number}")


async def states(reading: GitReader, base: str, target: str | None) -> tuple[GitState, GitState | WorkTree]:
    """Resolve two names to states; `a...b` starts at the merge base, `a..b` at a."""
    for name in (base, *([target] if target is not None else [])):
        _refuse_path(name)
    if target is None and ".." in base and not _SEARCHED.search(base):
        if _RANGES.findall(base)[1:]:
            raise InvalidArgument(f"{base[:100]!r} names more than two states", hint="write a..b or a...b")
        symmetric = "..." in base
        left, _, right = base.partition("..." if symmetric else "..")
        left, right = left or "HEAD", right or "HEAD"
        target_commit = await _commit(reading, right)
        base_commit = await _commit(reading, left)
        if symmetric:
            merge_base = await reading.run("merge-base", base_commit, target_commit, codes=(0, 1))
            if merge_base.code or not merge_base.out.strip():
                raise InvalidArgument(f"{left} and {right} have no commit in common", hint=f"use {left}..{right}")
            base_commit = merge_base.out.decode().split()[0]
            left = f"merge base of {left} and {right}"
        return _state_of_commit(left, base_commit), _state_of_commit(right, target_commit)
    if base == "HEAD" and target is None:
        head = await reading.head()
        return _state_of_commit(base, head) if head else GitState(
            commit=None, label="nothing: no commits yet"
        ), WorkTree()
    base_commit = await _commit(reading, base)
    if target is None:
        return _state_of_commit(base, base_commit), WorkTree()
    return _state_of_commit(base, base_commit), _state_of_commit(target, await _commit(reading, target))


def _refuse_path(name: str) -> None:
    """Reject a path, which cannot name a state."""
    if _PATH.match(name):
        raise InvalidArgument(f"{name[:100]!r} is a path, not a state", hint=_HINT)


async def _commit(reading: GitReader, name: str) -> str:
    try:
        return await reading.commit(name)
    except RefNotFound:
        if "\0" not in name and name.strip() and await asyncio.to_thread(os.path.lexists, reading.root / name):
            raise InvalidArgument(f"{name[:100]!r} is a file or folder, not a state", hint=_HINT) from None
        raise


def _state_of_commit(name: str, commit: str) -> GitState:
    short = commit[:_SHORT]
    return GitState(commit=commit, label=short if commit.startswith(name) else f"{name} ({short})")
