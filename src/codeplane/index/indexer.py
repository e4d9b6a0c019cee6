"""The indexer: lists files, reads what changed, and publishes epochs."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from codeplane.disk.git_folders import git_folders
from codeplane.index.change_log import ChangeLog
from codeplane.index.content import ContentFile
from codeplane.index.content_reader import ContentReader
from codeplane.index.emptied_files import EmptiedFiles
from codeplane.index.files.file import identity_of
from codeplane.index.files.file_clock import FileClock
from codeplane.index.files.ignore import IgnoreRules, says_what_belongs
from codeplane.index.files.include import NOTHING_INCLUDED, IncludeRules
from codeplane.index.files.listing import GitAt, Listing, list_files
from codeplane.index.index_changes import Changes, ReconcileRecord, find_renames
from codeplane.index.snapshot import IndexedFile, LeftOut, Snapshot
from codeplane.index.store import Epoch, IndexStore
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import IndexNotReady
from codeplane.kernel.ports import RepoState
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules
from codeplane.kernel.trace import span

# What is derived of the repository, in the folder that is CodePlane's own.
_KEPT = ("index.db", "facts.db", "content", "tantivy", "vectors")
_DEAD_SHARE = 0.5
_DEAD_BYTES = 4 * 1024 * 1024
_LEFT_OUT_NAMED = 200


OnPublish = Callable[[Snapshot, Changes], None]


class Indexer:
    """The only writer of the index; its methods block and run off the event loop, one at a time."""

    def __init__(
        self,
        *,
        root: Path,
        home: Path,
        git_at: GitAt,
        repo: RepoState,
        clock: Clock,
        max_file_bytes: int,
        published: OnPublish,
        secrets: SecretRules = NOTHING_SHOWN,
        include: IncludeRules = NOTHING_INCLUDED,
        saw: Callable[[ContentFile, IndexedFile], None] = lambda content, known: None,
        reconciled: Callable[[str, int], None] = lambda kind, spent_ns: None,
    ) -> None:
        self.root = self._root = root
        self._home = home
        self._git_at = git_at
        self._secrets = secrets
        self._include = include
        self._repo = repo
        self._clock = clock
        self._published = published
        self._saw = saw
        self._reconciled = reconciled
        self._lock = threading.Lock()
        self._reader = ContentReader(root=root, clock=FileClock.of(root, home), max_file_bytes=max_file_bytes)
        self.store = IndexStore(home / "index.db")
        self._content: ContentFile | None = None
        self._generation = 0
        self._snapshot: Snapshot | None = None
        self._log = ChangeLog()
        self._emptied = EmptiedFiles(clock)
        self.last_reconcile: ReconcileRecord | None = None

    @property
    def snapshot(self) -> Snapshot | None:
        """The current snapshot, or None before the first."""
        return self._snapshot

    def start(self) -> Snapshot:
        """Resume the last epoch if it is intact, and update it."""
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
        """Read every file again."""
        with self._lock:
            return self._rebuild()

    def is_whole(self) -> bool:
        """Whether the content file is intact, judged by its size and time."""
        content = self._content
        return content is None or content.is_whole()

    def mend(self) -> bool:
        """Read every file again if the content was changed from outside; return whether it was."""
        with self._lock:
            if self.is_whole():
                return False
            self._rebuild()
            return True

    def reconcile(self) -> Snapshot:
        """Check every file's stamp and read what changed."""
        with self._lock, self._measure("walk"):
            if not self.is_whole():
                return self._rebuild()
            listing = list_files(self._root, self._git_at, self._secrets, self._include)
            return self._update_or_rebuild(listing.paths, listing)

    def refresh(self, paths: Iterable[str]) -> Snapshot:
        """Check only these files; all of them if one is an ignore file. Those that do not belong are not read."""
        paths = list(paths)
        if any(map(says_what_belongs, paths)):
            return self.reconcile()
        with self._lock, self._measure("files"):
            if not self.is_whole():
                return self._rebuild()
            return self._update_or_rebuild(paths, None)

    def find_changed(self, snapshot: Snapshot, paths: Iterable[str]) -> list[str]:
        """The paths whose stamp on disk differs from the snapshot's, and files that were empty there for a moment."""
        different = []
        for path in dict.fromkeys((*paths, *self._emptied.recent(snapshot))):
            known = snapshot.files.get(path)
            if known is None or self._reader.stamp_of(path) != known.stamp:
                different.append(path)
        return different

    def size_bytes(self) -> int:
        """The bytes of the index on disk, with everything derived from it."""
        return sum(_size(self._home / name) for name in _KEPT)

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            if self._content is not None:
                self._content.close()
            self.store.close()

    def _resume(self) -> bool:
        epoch = self.store.newest_epoch()
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
            log=self._log,
        )
        return self._is_sound(self._snapshot)

    @staticmethod
    def _is_sound(snapshot: Snapshot) -> bool:
        """Whether the content matches its digests."""
        try:
            return all(identity_of(snapshot.text(known)) == known.digest for known in snapshot.texts)
        except IndexNotReady:
            return False

    @contextmanager
    def _measure(self, kind: str) -> Iterator[None]:
        began = self._clock.monotonic_ns()
        with span("index.refresh", kind=kind):
            yield
        spent_ns = self._clock.monotonic_ns() - began
        self.last_reconcile = ReconcileRecord(kind=kind, at_ns=self._clock.now_ns(), spent_ns=spent_ns)
        self._reconciled(kind, spent_ns)

    def _rebuild(self) -> Snapshot:
        with self._measure("rebuild"):
            return self._read_all_files()

    def _read_all_files(self) -> Snapshot:
        listing = list_files(self._root, self._git_at, self._secrets, self._include)
        previous = self._snapshot
        generation = max(self._generation, previous.epoch if previous else 0) + 1
        path = self._content_path(generation)
        path.unlink(missing_ok=True)
        content = ContentFile(path, length=0)
        files: dict[str, IndexedFile] = {}
        for name in listing.paths:
            known = self._reader.read(name, content, tracked=name in listing.tracked)
            if known is not None:
                files[name] = known
                self._saw(content, known)
        return self._adopt(content, generation, files, listing, Changes(changed=tuple(files)), whole=True)

    def _update_or_rebuild(self, paths: Iterable[str], listing: Listing | None) -> Snapshot:
        """Update, or rebuild if the database is damaged."""
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
        left_out = self._left_out_of(wanted, snapshot) if listing is None else frozenset()
        files = dict(snapshot.files)
        listed = set(wanted)
        removed = [path for path in files if path not in listed] if listing is not None else []
        changed: list[IndexedFile] = []
        touched: list[IndexedFile] = []
        for path in wanted:
            known = files.get(path)
            stamp = self._reader.stamp_of(path) if path not in left_out else None
            if known is not None and stamp == known.stamp:
                continue
            if stamp is None:
                if known is not None:
                    removed.append(path)
                continue
            tracked = path in listing.tracked if listing is not None else known is not None and known.tracked
            file_read = self._reader.read(path, content, tracked=tracked, known=known, snapshot=snapshot)
            if file_read is None:
                removed += [path] if known is not None else []
            elif known is not None and (file_read.offset, file_read.skipped) == (known.offset, known.skipped):
                touched.append(file_read)
            else:
                changed.append(file_read)
        self._emptied.note(snapshot, changed)
        replaced = dict.fromkeys((*removed, *(file.path for file in (*touched, *changed))))
        gone = [files[path] for path in replaced if path in files]
        state = snapshot.state_with(gone, (*touched, *changed))
        for path in removed:
            files.pop(path, None)
        # What is replaced keeps its place; new names have to find theirs.
        new = any(file_read.path not in files for file_read in changed)
        files |= {file_read.path: file_read for file_read in (*touched, *changed)}
        files = _sort_files(files) if new else files
        changes = Changes(
            changed=tuple(file_read.path for file_read in changed),
            removed=tuple(removed),
            renamed=find_renames(snapshot, removed, changed),
            state=state,
        )
        if changes:
            return self._publish_update(snapshot, content, files, listing, changed, changes)
        if touched:
            self.store.touch(touched)
        if touched:
            looked_at, snapshot = snapshot, replace(snapshot, files=files)
            snapshot.__dict__["state"] = state
            snapshot.follow(looked_at, ())
        self._snapshot = snapshot.as_verified(
            commit=self._repo.head(),
            at_ns=now if listing is not None else snapshot.verified_at_ns,
            left_out=_count_left_out(listing) if listing is not None else snapshot.left_out,
            included=len(listing.included) if listing is not None else snapshot.included,
        )
        return self._snapshot

    def _left_out_of(self, paths: list[str], snapshot: Snapshot) -> frozenset[str]:
        """The paths that a listing would leave out: a caller may have them from git, which knows no such rules."""
        rules, gits = IgnoreRules.of(self._root, self._secrets), git_folders(self._root)
        _, unlisted = rules.split_paths([path for path in paths if path not in snapshot.files], tracked=False)
        left_out = {path for path in paths if rules.is_withheld(path) or gits.cover(path)}
        return frozenset(left_out.union(path for path in unlisted if not self._include.covers(path)))

    def _publish_update(
        self,
        snapshot: Snapshot,
        content: ContentFile,
        files: dict[str, IndexedFile],
        listing: Listing | None,
        changed: list[IndexedFile],
        changes: Changes,
    ) -> Snapshot:
        if content.length > _DEAD_BYTES and snapshot.live_bytes < content.length * _DEAD_SHARE:
            return self._compact(snapshot, content, files, listing, changes)
        # Not synced: what a crash of the machine takes is found at the next start, where all content is checked.
        content.flush()
        epoch = self._epoch(snapshot.epoch + 1, self._generation, content.length, snapshot.sorted_until)
        self.store.publish(epoch, changed=changed, removed=changes.removed)
        return self._take(epoch, content, files, listing, changes, verified=snapshot.verified_at_ns)

    def _compact(
        self,
        snapshot: Snapshot,
        content: ContentFile,
        files: dict[str, IndexedFile],
        listing: Listing | None,
        changes: Changes,
    ) -> Snapshot:
        """Write the live texts into a new, sorted file."""
        everything = content.map()
        generation = self._generation + 1
        path = self._content_path(generation)
        path.unlink(missing_ok=True)
        fresh = ContentFile(path, length=0)
        moved: dict[str, IndexedFile] = {}
        for name, known in _sort_files(files).items():
            if known.skipped is None:
                text = everything[known.offset : known.offset + known.length]
                known = replace(known, offset=fresh.append(bytes(text)))
            moved[name] = known
        return self._adopt(fresh, generation, moved, listing, changes, whole=True, verified=snapshot.verified_at_ns)

    def _adopt(
        self,
        content: ContentFile,
        generation: int,
        files: dict[str, IndexedFile],
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
        files: dict[str, IndexedFile],
        listing: Listing | None,
        changes: Changes,
        *,
        verified: int,
    ) -> Snapshot:
        previous = self._snapshot
        left_out = _count_left_out(listing) if listing is not None else previous.left_out if previous else {}
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
            log=self._log,
        )
        # What was read again as a whole has no state before.
        self._log.add(epoch.epoch_id, changes.paths if changes.state is not None else None)
        # Here, off the event loop, and from what changed alone where that is known.
        taken.__dict__["state"] = changes.state if changes.state is not None else taken.state
        if previous is not None and previous.content_file == content.path:
            taken.follow(previous, changes.paths)
        self._snapshot = taken
        self._published(taken, changes)
        return taken

    def _last_epoch(self) -> int:
        newest = self.store.newest_epoch()
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

    def _content_path(self, generation: int) -> Path:
        return self._home / "content" / f"{generation:06d}.bin"


def _sort_files(files: dict[str, IndexedFile]) -> dict[str, IndexedFile]:
    return dict(sorted(files.items(), key=lambda item: os.fsencode(item[0])))


def _size(place: Path) -> int:
    """The bytes of a file with SQLite's files beside it, or of a folder."""
    files = place.rglob("*") if place.is_dir() else place.parent.glob(f"{place.name}*")
    total = 0
    for entry in files:
        try:
            total += entry.lstat().st_size if entry.is_file() else 0
        except OSError:
            continue
    return total


def _count_left_out(listing: Listing) -> dict[str, LeftOut]:
    return {
        reason: LeftOut(count=len(paths), paths=paths[:_LEFT_OUT_NAMED]) for reason, paths in listing.skipped.items()
    }
