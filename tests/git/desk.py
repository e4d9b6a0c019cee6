"""Writing operations on repositories of tests, beside the plain git command line on copies of them."""

import asyncio
import functools
import hashlib
import io
import os
import random
import shutil
import tarfile
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from codeplane.edit.consequences import Consequence
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.path_locks import PathLocks
from codeplane.git.safety.command import Git
from codeplane.git.write.pending_mutations import PendingMutations
from codeplane.git.write.reversal import GitReversal
from codeplane.git.write.writer import Writer
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call, Operation
from codeplane.kernel.clock import Clock, SystemClock
from codeplane.kernel.config import GitConfig
from codeplane.kernel.event_log import EventLog
from codeplane.trust.protected_paths import refuse_protected
from tests.git.random_repository import RandomRepository, environment

T = TypeVar("T")
_ODD = "r\u00e9po 'x"


@dataclass
class RecordedPaths:
    """What the index was told to look at; it has nothing to say here."""

    paths: list[Sequence[str] | None] = field(default_factory=list)

    async def before(self) -> Snapshot | None:
        return None

    async def of(self, before: Snapshot | None, paths: Sequence[str] | None) -> Consequence:
        self.paths.append(paths)
        return Consequence(repo_fingerprint="0")


@dataclass
class Desk:
    """A repository with everything that writing operations need."""

    made: RandomRepository
    config: GitConfig = field(default_factory=GitConfig)
    variables: Mapping[str, str] = field(default_factory=dict)
    told: RecordedPaths = field(default_factory=RecordedPaths)
    clock: Clock = field(default_factory=SystemClock)
    step: Callable[[str], None] = lambda name: None

    def __post_init__(self) -> None:
        self.git = self.command()
        kept = self.made.root.parent / f"{self.made.root.name}.undo"
        self.mutations = MutationStore(kept, SystemClock(), 14.0, 100)
        self.pending_folder = kept.with_name(f"{kept.name}.git")
        self.pending = PendingMutations(self.pending_folder, step=self.step)
        self.writer = Writer(
            git=self.git,
            locks=PathLocks(),
            consequences=self.told,
            mutations=self.mutations,
            pending=self.pending,
            clock=self.clock,
        )
        self.reversal = GitReversal(self.writer)

    def command(self) -> Git:
        """The git of this desk."""
        return Git(self.made.root, self.config, lambda: environment(self.made.at) | dict(self.variables))

    def undo(self, mutation_id: str | None) -> None:
        """Take a mutation back."""
        self._turn(mutation_id, "undone")

    def redo(self, mutation_id: str | None) -> None:
        """Do it again."""
        self._turn(mutation_id, "applied")

    def _turn(self, mutation_id: str | None, state: str) -> None:
        assert mutation_id is not None
        kept = self.mutations.get(mutation_id)
        assert kept is not None
        turn = self.reversal.undo if state == "undone" else self.reversal.redo
        run(turn(call(), kept))


def call() -> Call:
    """A call as handlers see it, judged by the real rules for paths."""
    return Call(
        call_id="call_1",
        request_id="req_1",
        operation=cast(Operation, None),
        caller=Caller(surface="test"),
        actor=Actor(kind=ActorKind.OWNER, actor_id="test"),
        task=None,
        idempotency_key=None,
        log=cast(EventLog, None),
        check_path=lambda call, path: refuse_protected(path),
        find_scope=lambda call: None,
    )


def run(waited: Awaitable[T]) -> T:
    """The result of one call."""

    async def waiting() -> T:
        return await waited

    return asyncio.run(waiting())


def copied(made: RandomRepository, folder: Path, *, chance: random.Random | None = None) -> RandomRepository:
    """The same repository in another place."""
    shutil.copytree(made.root, folder, symlinks=True)
    return RandomRepository(root=folder.resolve(), at=made.at, chance=chance or random.Random(0))


@dataclass(frozen=True, kw_only=True)
class RepositoryState:
    """Everything that two repositories must agree on to be the same."""

    head: bytes
    refs: bytes
    stashes: bytes
    index: bytes
    status: bytes
    settings: bytes
    files: tuple[tuple[str, str], ...]


def repository_state(made: RandomRepository) -> RepositoryState:
    """How a repository stands, asked of git and of the disk."""
    refs = made.git("for-each-ref", "--format=%(objectname) %(refname) %(symref)")
    settings = made.git("config", "--local", "--get-regexp", r"^branch\.", check=False)
    return RepositoryState(
        head=made.git("symbolic-ref", "--quiet", "HEAD", check=False),
        refs=b"\n".join(line for line in refs.splitlines() if b"refs/codeplane/" not in line),
        stashes=made.git("stash", "list", "--format=%H %gs") if b"refs/stash" in refs else b"",
        index=made.git("ls-files", "--stage", "-z"),
        status=made.git("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all"),
        settings=b"\n".join(sorted(settings.splitlines())),
        files=tuple(_files(made.root)),
    )


def _files(root: Path) -> list[tuple[str, str]]:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [one for one in folders if one != ".git"]
        for name in [*names, *(one for one in folders if (Path(folder) / one).is_symlink())]:
            place = Path(folder) / name
            if place.is_symlink():
                content = f"link {place.readlink()}"
            elif name == ".git":
                continue
            else:
                runs = "x" if place.stat().st_mode & 0o100 else "-"
                content = f"{runs} {hashlib.sha256(place.read_bytes()).hexdigest()}"
            found.append((str(place.relative_to(root)), content))
    return sorted(found)


def simple(folder: Path, **variables: str) -> Desk:
    """A desk with three commits on main: `a.txt` in each, `b.txt` since the second."""
    with tarfile.open(fileobj=io.BytesIO(_packed())) as archive:
        archive.extractall(folder, filter="data")
    return Desk(RandomRepository(root=(folder / _ODD).resolve(), at=3), variables=variables)


@functools.cache
def _packed() -> bytes:
    """The same each time, so it is made once."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as place, tarfile.open(fileobj=packed, mode="w") as archive:
        made = RandomRepository.empty(Path(place) / _ODD, "--template=")
        for number in (1, 2, 3):
            made.write("a.txt", f"line {number}\nsecond\nthird\n")
            if number > 1:
                made.write("b.txt", f"b {number}\n")
            made.commit(f"number {number}")
        archive.add(made.root, _ODD)
    return packed.getvalue()
