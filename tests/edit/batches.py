"""A mixed batch of twenty files, journals that stop where they are told to, and trees to compare."""

import os
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from codeplane.edit.batch import Change
from codeplane.edit.file_state import sha256_of
from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.journal import Journal
from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.edit.reversal import reverse_batch
from codeplane.kernel.clock import SystemClock

MUTATION = "mut_0001"
Tree = dict[str, tuple[str, bytes, int]]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A work tree with the folders of its journal."""

    root: Path
    home: Path

    @classmethod
    def at(cls, folder: Path) -> "Place":
        place = cls(root=folder / "root", home=folder / "root" / ".codeplane")
        place.home.mkdir(parents=True)
        return place

    @property
    def kept(self) -> MutationStore:
        return MutationStore(self.home / "undo", SystemClock(), 14, 500)

    def journal(self, step: Callable[[str], None] = lambda name: None) -> Journal:
        return Journal(root=self.root, folder=self.home / "journal", mutations=self.kept, step=step)

    def recover(self) -> list[RecoveredMutation]:
        return self.journal().recover()

    def under_way(self) -> list[str]:
        folder = self.home / "journal"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def kept(mutation_id: str = MUTATION, paths: tuple[str, ...] = ()) -> MutationRecord:
    """What is said of a mutation before its files are known."""
    return MutationRecord(
        mutation_id=mutation_id,
        kind="files",
        what="a test",
        at_ns=SystemClock().now_ns(),
        session_id=None,
        state="applied",
        paths=paths,
        details={"actor": "agent:test"},
    )


def tree(root: Path) -> Tree:
    """Everything in a work tree but what is ours: kind, content and mode by path."""
    found: Tree = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".codeplane"]
        for name in files:
            path = Path(folder, name)
            kind = "link" if path.is_symlink() else "file"
            content = os.fsencode(path.readlink()) if kind == "link" else path.read_bytes()
            mode = 0 if kind == "link" else stat.S_IMODE(path.stat().st_mode)
            found[path.relative_to(root).as_posix()] = (kind, content, mode)
    return found


def folders(root: Path) -> set[str]:
    """The folders of a work tree."""
    found = {path.relative_to(root) for path in root.rglob("*") if path.is_dir()}
    return {path.as_posix() for path in found if path.parts[0] != ".codeplane"}


def planted(root: Path) -> list[Change]:
    """Plant the files that the batch changes, and give the batch."""
    changes: list[Change] = []

    def plant(path: str, content: bytes, mode: int = 0o644) -> str:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
        return sha256_of(content)

    for number in range(6):
        before = plant(f"src/u{number}.py", b"old %d\n" % number, 0o755 if number == 3 else 0o640)
        changes.append(Change(path=f"src/u{number}.py", content=b"new %d\n" % number, before=before))
    for number in range(4):
        changes.append(Change(path=f"new/deep/c{number}.py", content=b"created %d\n" % number, before=None))
    for number in range(3):
        before = plant(f"gone/d{number}.py", b"deleted %d\n" % number)
        changes.append(Change(path=f"gone/d{number}.py", content=None, before=before))
    for number in range(5):
        old, new = f"src/m{number}.py", f"moved/m{number}.py"
        before = plant(old, b"moved %d\n" % number)
        changes.append(Change(path=old, content=None, before=before))
        changes.append(Change(path=new, content=root / old, before=None, moved_from=old))
    (root / "link").symlink_to("src/u0.py")
    changes.append(Change(path="link", content=b"src/u1.py", before=sha256_of(b"src/u0.py"), link=True))
    # A file gives its name to a folder.
    changes.append(Change(path="swap", content=None, before=plant("swap", b"a file\n")))
    changes.append(Change(path="swap/inner", content=b"in a folder\n", before=None))
    plant("untouched.py", b"stays\n")
    return changes


def moved_to(root: Path, changes: list[Change]) -> list[Change]:
    """The same batch in a copy of its work tree."""
    return [
        replace(change, content=root / change.moved_from) if change.moved_from is not None else change
        for change in changes
    ]


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder in memory where there is one: a killed process needs no disk, and hundreds would keep it busy."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(prefix="codeplane-", dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


Steps = Callable[[str], None]
Work = Callable[[Place], Callable[[Steps], None]]


def applying(changes: list[Change]) -> Work:
    """The work of applying a batch, in any copy of its work tree."""

    def at(place: Place) -> Callable[[Steps], None]:
        def work(step: Steps) -> None:
            place.journal(step).apply(MUTATION, kept(), moved_to(place.root, changes))

        return work

    return at


def undoing(place: Place) -> Callable[[Steps], None]:
    """The work of taking it back."""

    def work(step: Steps) -> None:
        found = place.kept.get(MUTATION)
        assert found is not None
        back = reverse_batch(place.root, place.kept.folder_of(MUTATION), found)
        place.journal(step).apply("mut_0002", back.kept, back.changes, dropped=back.dropped)

    return work


def recovering(place: Place) -> Callable[[Steps], None]:
    """The work of recovering from either."""

    def work(step: Steps) -> None:
        place.journal(step).recover()

    return work


def killed(work: Callable[[Steps], None], *, at: int) -> bool:
    """Do it in a process of its own that is killed at a step; whether it came that far."""
    pid = os.fork()
    if pid == 0:
        lock, seen = threading.Lock(), iter(range(at))

        def step(name: str) -> None:
            with lock:
                if next(seen, None) is None:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            work(step)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


class Scene:
    """A place as it is before a piece of work, copied for every try."""

    def __init__(self, folder: Path, what: str) -> None:
        self._folder = folder
        self._numbers = iter(range(1_000_000))
        self._origin = Place.at(folder / "origin")
        changes = planted(self._origin.root)
        self._work: Work = applying(changes)
        if what == "undo":
            self._origin.journal().apply(MUTATION, kept(), changes)
            self._work = undoing
        self.old = tree(self._origin.root)
        done = self.copy()
        steps: list[str] = []
        self._work(done)(steps.append)
        self.steps = len(steps)
        self.new = tree(done.root)
        assert self.new != self.old

    def copy(self) -> Place:
        """Another one, for one try."""
        folder = self._folder / str(next(self._numbers))
        shutil.copytree(self._origin.root, folder / "root", symlinks=True)
        return Place(root=folder / "root", home=folder / "root" / ".codeplane")

    def killed(self, at: int) -> Place:
        """A copy in which the work was killed at a step."""
        place = self.copy()
        assert killed(self._work(place), at=at)
        return place

    def check(self, place: Place) -> str:
        """All old or all new, and nothing under way any more."""
        found = tree(place.root)
        assert found in (self.old, self.new), _difference(found, self.old, self.new)
        assert place.under_way() == []
        shutil.rmtree(place.root)
        return "old" if found == self.old else "new"

    def second_kills(self, first: int, *, every: int) -> list[str]:
        """Kill the work at a step, its recovery at every so many of its own, and recover again."""
        ends: list[str] = []
        at = first % every
        while True:
            place = self.killed(first)
            if not killed(recovering(place), at=at):
                return ends
            place.recover()
            ends.append(self.check(place))
            at += every


def _difference(found: Tree, old: Tree, new: Tree) -> str:
    def kind(name: str) -> str:
        return "old" if found.get(name) == old.get(name) else "new" if found.get(name) == new.get(name) else "lost"

    names = sorted(name for name in found.keys() | old.keys() | new.keys() if old.get(name) != new.get(name))
    return f"a mix: {', '.join(f'{name} is {kind(name)}' for name in names)}"
