"""The two states that are compared, as callers name them."""

import re
from dataclasses import dataclass

from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.repo.git.reading import Reading

_EPOCH = re.compile(r"epoch:(\d{1,15})")
_SHORT = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class GitState:
    """A commit; without one it is the state before the first."""

    commit: str | None
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """The files as they are."""

    said: str = "working tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochState:
    """What the index knew at an epoch."""

    epoch: int
    said: str


State = GitState | WorkTree | EpochState


def is_epoch(name: str | None) -> bool:
    """Whether a state is named by epoch."""
    return name is not None and name.startswith("epoch:")


def epoch_of(name: str, *, first: int, last: int) -> EpochState:
    """The epoch a name stands for; NotFound, saying which are kept, when that one is not."""
    match = _EPOCH.fullmatch(name)
    if match is None:
        raise InvalidArgument(f"{name[:100]!r} names no epoch", hint="write epoch:N, such as epoch:12")
    number = int(match[1])
    if not first <= number <= last:
        kept = f"epoch:{first} to epoch:{last}" if first <= last else "none yet"
        raise NotFound(f"epoch {number} is not kept", hint=f"kept: {kept}; git refs reach further back")
    return EpochState(epoch=number, said=f"epoch {number}")


async def states(reading: Reading, base: str, target: str | None) -> tuple[GitState, GitState | WorkTree]:
    """The commits two names stand for; `a...b` begins where both parted, `a..b` at a."""
    if target is None and ".." in base and not base.startswith(":/"):
        symmetric = "..." in base
        left, _, right = base.partition("..." if symmetric else "..")
        left, right = left or "HEAD", right or "HEAD"
        two = await reading.commit(right)
        one = await reading.commit(left)
        if symmetric:
            found = await reading.run("merge-base", one, two, codes=(0, 1))
            if found.code or not found.out.strip():
                raise InvalidArgument(f"{left} and {right} have no commit in common", hint=f"use {left}..{right}")
            one = found.out.decode().split()[0]
            left = f"merge base of {left} and {right}"
        return _named(left, one), _named(right, two)
    if base == "HEAD" and target is None and await reading.head() is None:
        return GitState(commit=None, said="nothing: no commits yet"), WorkTree()
    one = await reading.commit(base)
    if target is None:
        return _named(base, one), WorkTree()
    return _named(base, one), _named(target, await reading.commit(target))


def _named(said: str, commit: str) -> GitState:
    short = commit[:_SHORT]
    return GitState(commit=commit, said=short if commit.startswith(said) else f"{said} ({short})")
