"""Keeping the index in step with the disk: list, stat, read what changed, publish an epoch."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.index.content import ContentFile
from codeplane.index.files.file import FileRead, identity_of, read, stamp_of, text_digest
from codeplane.index.files.file_clock import Ticks
from codeplane.index.files.ignore import says_what_belongs
from codeplane.index.files.include import NOTHING_INCLUDED, IncludeRules
from codeplane.index.files.listing import GitAt, Listing, list_files
from codeplane.index.snapshot import Known, LeftOut, Snapshot
from codeplane.index.store import Epoch, IndexStore
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import IndexNotReady
from codeplane.kernel.ports import RepoState
from codeplane.kernel.secret_files import NOTHING_SHOWN, SecretRules
from codeplane.kernel.trace import span

_LOOKS = 3
# What is derived of the repository, in the folder that is CodePlane's own.
_KEPT = ("index.db", "facts.db", "content", "tantivy", "vectors")
_DEAD_SHARE = 0.5
_DEAD_BYTES = 4 * 1024 * 1024
_LEFT_OUT_NAMED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What an update found."""

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    # `Snapshot.state` after it, where that was found from what changed alone.
    state: int | None = None

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


Told = Callable[[Snapshot, Changes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """When the index was last compared with the disk, how (`walk`, `files` or `rebuild`) and for how long."""

    kind: str
    at_ns: int
    spent_ns: int


class Indexer:
    """The one writer of the index; its methods block and run off the event loop, one at a time."""

    def __init__(
        self,
        *,
        root: Path,
        home: Path,
        git_at: GitAt,
        repo: RepoState,
        clock: Clock,
        max_file_bytes: int,
        published: Told,
        secrets: SecretRules = NOTHING_SHOWN,
        include: IncludeRules = NOTHING_INCLUDED,
        saw: Callable[[ContentFile, Known], None] = lambda content, known: None,
        reconciled: Callable[[str, int], None] = lambda kind, spent_ns: None,
    ) -> None:
        self._root = root
        self._home = home
        self._git_at = git_at
        self._secrets = secrets
        self._include = include
        self._repo = repo
        self._clock = clock
        self._max_file_bytes = max_file_bytes
        self._published = published
        self._saw = saw
        self._reconciled = reconciled
        self._lock = threading.Lock()
        self._ticks = Ticks.of(root, home)
        self.store = IndexStore(home / "index.db")
        self._content: ContentFile | None = None
        self._generation = 0
        self._snapshot: Snapshot | None = None
        self.last_reconcile: Reconcile | None = None

    @property
    def snapshot(self) -> Snapshot | None:
        """The state in force, or None before the first one."""
        return self._snapshot

    def start(self) -> Snapshot:
        """Take up the last epoch if it is whole, and bring it up to date."""
        with self._lock:
            try:
                resumed = self._resume()
            except sqlite3.DatabaseError as error:
                self.store.remake(str(error))
                resumed = False
            if not resumed:
                return self._rebuild()
        return self.reconcile()

    def rebuild(self) -> Snapshot:
        """Read everything anew."""
        with self._lock:
            return self._rebuild()

    def is_whole(self) -> bool:
        """Whether the content that answers are read from is all there, as far as a look at its size and time tells."""
        content = self._content
        return content is None or content.is_whole()

    def mend(self) -> bool:
        """Read everything anew if somebody else changed the content; whether that was so."""
        with self._lock:
            if self.is_whole():
                return False
            self._rebuild()
            return True

    def reconcile(self) -> Snapshot:
        """Look at every file's stamp and read what changed."""
        with self._lock, self._timed("walk"):
            if not self.is_whole():
                return self._rebuild()
            listing = list_files(self._root, self._git_at, self._secrets, self._include)
            return self._updated(listing.paths, listing)

    def refresh(self, paths: Iterable[str]) -> Snapshot:
        """Look again at these files only; at all, when one of them says which files belong."""
        paths = list(paths)
        if any(map(says_what_belongs, paths)):
            return self.reconcile()
        with self._lock, self._timed("files"):
            if not self.is_whole():
                return self._rebuild()
            return self._updated(paths, None)

    def differing(self, snapshot: Snapshot, paths: Iterable[str]) -> list[str]:
        """Those of the files whose stamp on disk is not the one the snapshot knows."""
        different = []
        for path in paths:
            known = snapshot.files.get(path)
            if known is None or stamp_of(self._file(path)) != known.stamp:
                different.append(path)
        return different

    def size_bytes(self) -> int:
        """What the index takes on the disk, with everything that is derived of it."""
        return sum(_size(self._home / name) for name in _KEPT)

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            if self._content is not None:
                self._content.close()
            self.store.close()

    def _resume(self) -> bool:
        epoch = self.store.newest()
        if epoch is None:
            return False
        path = self._content_path(epoch.generation)
        if not path.exists() or path.stat().st_size < epoch.content_length:
            return False
        self._generation = epoch.generation
        self._content = ContentFile(path, length=epoch.content_length)
        self._snapshot = Snapshot(
            epoch=epoch.epoch_id,
            commit=epoch.commit_sha,
            files=self.store.files(),
            content=self._content.map(),
            content_file=path,
            sorted_until=epoch.sorted_until,
            verified_at_ns=epoch.at_ns,
            left_out={},
        )
        return self._is_sound(self._snapshot)

    @staticmethod
    def _is_sound(snapshot: Snapshot) -> bool:
        """Whether the content is what its digests say: it lay on a disk, and others may have been at it."""
        try:
            return all(identity_of(snapshot.text(known)) == known.digest for known in snapshot.texts)
        except IndexNotReady:
            return False

    @contextmanager
    def _timed(self, kind: str) -> Iterator[None]:
        began = self._clock.monotonic_ns()
        with span("index.refresh", kind=kind):
            yield
        spent_ns = self._clock.monotonic_ns() - began
        self.last_reconcile = Reconcile(kind=kind, at_ns=self._clock.now_ns(), spent_ns=spent_ns)
        self._reconciled(kind, spent_ns)

    def _rebuild(self) -> Snapshot:
        with self._timed("rebuild"):
            return self._remade()

    def _remade(self) -> Snapshot:
        listing = list_files(self._root, self._git_at, self._secrets, self._include)
        previous = self._snapshot
        generation = max(self._generation, previous.epoch if previous else 0) + 1
        path = self._content_path(generation)
        path.unlink(missing_ok=True)
        content = ContentFile(path, length=0)
        files: dict[str, Known] = {}
        for name in listing.paths:
            known = self._read(name, name in listing.tracked, content)
            if known is not None:
                files[name] = known
                self._saw(content, known)
        return self._adopt(content, generation, files, listing, Changes(changed=tuple(files)), whole=True)

    def _updated(self, paths: Iterable[str], listing: Listing | None) -> Snapshot:
        """Update, or read everything anew where somebody damaged what the update is written to."""
        try:
            return self._update(paths, listing)
        except sqlite3.OperationalError:
            # A disk that is full, say: nothing would be better after that.
            raise
        except sqlite3.DatabaseError as error:
            self.store.remake(str(error))
            return self._rebuild()

    def _update(self, paths: Iterable[str], listing: Listing | None) -> Snapshot:
        snapshot, content = self._snapshot, self._content
        assert snapshot is not None and content is not None
        now = self._clock.now_ns()
        wanted = list(paths)
        files = dict(snapshot.files)
        listed = set(wanted)
        removed = [path for path in files if path not in listed] if listing is not None else []
        changed: list[Known] = []
        touched: list[Known] = []
        for path in wanted:
            known = files.get(path)
            stamp = stamp_of(self._file(path))
            if known is not None and stamp == known.stamp:
                continue
            if stamp is None:
                if known is not None:
                    removed.append(path)
                continue
            tracked = path in listing.tracked if listing is not None else known is not None and known.tracked
            found = self._read(path, tracked, content, unless=known)
            if found is None:
                removed += [path] if known is not None else []
            elif known is not None and (found.offset, found.skipped) == (known.offset, known.skipped):
                touched.append(found)
            else:
                changed.append(found)
        replaced = dict.fromkeys((*removed, *(one.path for one in (*touched, *changed))))
        gone = [files[path] for path in replaced if path in files]
        state = snapshot.state_with(gone, (*touched, *changed))
        for path in removed:
            files.pop(path, None)
        # What is replaced keeps its place; new names have to find theirs.
        new = any(found.path not in files for found in changed)
        files |= {found.path: found for found in (*touched, *changed)}
        files = _sorted(files) if new else files
        changes = Changes(
            changed=tuple(found.path for found in changed),
            removed=tuple(removed),
            renamed=_renames(snapshot, removed, changed),
            state=state,
        )
        if changes:
            return self._publish_update(snapshot, content, files, listing, changed, changes)
        if touched:
            self.store.touch(touched)
        if touched:
            snapshot = replace(snapshot, files=files)
            snapshot.__dict__["state"] = state
        self._snapshot = snapshot.verified(
            commit=self._repo.head(),
            at_ns=now if listing is not None else snapshot.verified_at_ns,
            left_out=_left_out(listing) if listing is not None else snapshot.left_out,
            included=len(listing.included) if listing is not None else snapshot.included,
        )
        return self._snapshot

    def _publish_update(
        self,
        snapshot: Snapshot,
        content: ContentFile,
        files: dict[str, Known],
        listing: Listing | None,
        changed: list[Known],
        changes: Changes,
    ) -> Snapshot:
        if content.length > _DEAD_BYTES and _live_bytes(files) < content.length * _DEAD_SHARE:
            return self._compact(snapshot, content, files, listing, changes)
        content.sync()
        epoch = self._epoch(snapshot.epoch + 1, self._generation, content.length, snapshot.sorted_until)
        self.store.publish(epoch, changed=changed, removed=changes.removed)
        return self._take(epoch, content, files, listing, changes, verified=snapshot.verified_at_ns)

    def _compact(
        self,
        snapshot: Snapshot,
        content: ContentFile,
        files: dict[str, Known],
        listing: Listing | None,
        changes: Changes,
    ) -> Snapshot:
        """Write the live texts into a new file, sorted again."""
        everything = content.map()
        generation = self._generation + 1
        path = self._content_path(generation)
        path.unlink(missing_ok=True)
        fresh = ContentFile(path, length=0)
        moved: dict[str, Known] = {}
        for name, known in _sorted(files).items():
            if known.skipped is None:
                text = everything[known.offset : known.offset + known.length]
                known = replace(known, offset=fresh.append(bytes(text)))
            moved[name] = known
        return self._adopt(fresh, generation, moved, listing, changes, whole=True, verified=snapshot.verified_at_ns)

    def _adopt(
        self,
        content: ContentFile,
        generation: int,
        files: dict[str, Known],
        listing: Listing | None,
        changes: Changes,
        *,
        whole: bool,
        verified: int | None = None,
    ) -> Snapshot:
        content.sync()
        number = self._snapshot.epoch + 1 if self._snapshot else (self._last_epoch() + 1)
        epoch = self._epoch(number, generation, content.length, content.length)
        self.store.publish(epoch, changed=files.values(), removed=(), whole=whole)
        old, self._content, self._generation = self._content, content, generation
        if old is not None:
            old.close()
            old.path.unlink(missing_ok=True)
        return self._take(epoch, content, files, listing, changes, verified=verified or epoch.at_ns)

    def _take(
        self,
        epoch: Epoch,
        content: ContentFile,
        files: dict[str, Known],
        listing: Listing | None,
        changes: Changes,
        *,
        verified: int,
    ) -> Snapshot:
        previous = self._snapshot
        left_out = _left_out(listing) if listing is not None else previous.left_out if previous else {}
        taken = Snapshot(
            epoch=epoch.epoch_id,
            commit=epoch.commit_sha,
            files=files,
            content=content.map(),
            content_file=content.path,
            sorted_until=epoch.sorted_until,
            verified_at_ns=epoch.at_ns if listing is not None else verified,
            left_out=left_out,
            included=len(listing.included) if listing is not None else previous.included if previous else 0,
        )
        # Here, off the event loop, and from what changed alone where that is known.
        taken.__dict__["state"] = changes.state if changes.state is not None else taken.state
        self._snapshot = taken
        self._published(taken, changes)
        return taken

    def _read(self, path: str, tracked: bool, content: ContentFile, unless: Known | None = None) -> Known | None:
        """Read a file into the content; one whose digest is as before keeps its place."""
        found = self._read_whole(path)
        stamp = found.stamp
        if stamp is None:
            return None
        if found.skipped is not None:
            return Known(
                path=path, stamp=stamp, digest=found.digest, offset=-1, length=0, tracked=tracked, skipped=found.skipped
            )
        if unless is not None and unless.skipped is None and unless.length == len(found.content):
            same = unless.digest == found.digest
            if same and self._same_bytes(unless, found.content):
                return replace(unless, stamp=stamp, tracked=tracked)
        return Known(
            path=path,
            stamp=stamp,
            digest=found.digest,
            offset=content.append(found.content),
            length=len(found.content),
            tracked=tracked,
        )

    def _read_whole(self, path: str) -> FileRead:
        """Read a file, again when it was written meanwhile: what was read may be half of each."""
        file = self._file(path)
        for _ in range(_LOOKS):
            began = self._ticks.now()
            found = read(file, max_bytes=self._max_file_bytes)
            if found.stamp is None:
                break
            if found.stamp.ctime_ns >= began:
                self._ticks.wait(found.stamp)
            elif stamp_of(file) == found.stamp:
                break
        return found

    def _same_bytes(self, known: Known, content: bytes) -> bool:
        snapshot = self._snapshot
        try:
            return snapshot is not None and snapshot.text(known) == content
        except IndexNotReady:
            return False

    def _last_epoch(self) -> int:
        newest = self.store.newest()
        return newest.epoch_id if newest else 0

    def _epoch(self, number: int, generation: int, length: int, sorted_until: int) -> Epoch:
        return Epoch(
            epoch_id=number,
            at_ns=self._clock.now_ns(),
            commit_sha=self._repo.head(),
            generation=generation,
            content_length=length,
            sorted_until=sorted_until,
        )

    def _file(self, path: str) -> str:
        # Text, not a Path: this runs for every file of the repository.
        return f"{self._root}/{path}"

    def _content_path(self, generation: int) -> Path:
        return self._home / "content" / f"{generation:06d}.bin"


def _live_bytes(files: dict[str, Known]) -> int:
    return sum(known.length for known in files.values())


def _sorted(files: dict[str, Known]) -> dict[str, Known]:
    return dict(sorted(files.items(), key=lambda item: os.fsencode(item[0])))


def _size(place: Path) -> int:
    """The bytes of a file, of what SQLite keeps beside it, or of everything in a folder."""
    files = place.rglob("*") if place.is_dir() else place.parent.glob(f"{place.name}*")
    found = 0
    for one in files:
        try:
            found += one.lstat().st_size if one.is_file() else 0
        except OSError:
            continue
    return found


def _left_out(listing: Listing) -> dict[str, LeftOut]:
    return {
        reason: LeftOut(count=len(paths), paths=paths[:_LEFT_OUT_NAMED]) for reason, paths in listing.skipped.items()
    }


def _renames(snapshot: Snapshot, removed: list[str], changed: list[Known]) -> tuple[tuple[str, str], ...]:
    """A file that went and one that came with the same content are one that moved."""
    gone: dict[str, list[str]] = {}
    for path in removed:
        known = snapshot.files.get(path)
        if known is not None and known.digest:
            gone.setdefault(text_digest(known.digest), []).append(path)
    pairs = []
    for found in changed:
        if found.path not in snapshot.files and (before := gone.get(text_digest(found.digest))):
            pairs.append((before.pop(0), found.path))
    return tuple(pairs)
