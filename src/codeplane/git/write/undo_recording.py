"""Records a git mutation for undo by comparing the repository before and after, also in a later run."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.git.read.object_store import ObjectStore
from codeplane.git.safety.command import Git
from codeplane.git.safety.contents import Contents, Entry
from codeplane.git.safety.obstacles import ChangedPaths, parse_raw_diff, parse_tree_listing
from codeplane.git.safety.recovery_refs import RecoveryRefs
from codeplane.git.write.added_worktree import WORKTREE, AddedWorktree
from codeplane.git.write.file_changes import FileChanges
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.git.write.mutation_title import mutation_title
from codeplane.git.write.pending_mutations import PendingMutations, StartedMutation
from codeplane.git.write.reversible_change import ReversibleChange
from codeplane.git.write.stopped_operation import OperationStart, WholeOperation, drop_since, find_start
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules

_COMPARED = ("symbolic", "head", "refs", "stashes", "settings", "index", "state")
T = TypeVar("T")
D = TypeVar("D")
_MAX_KEPT = 20_000
_NO_UNDO: tuple[None, str] = (None, "")
# The times of files can be behind the clock by this much.
_TICK_NS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoParts:
    """The parts that record a mutation."""

    git: Git
    contents: Contents
    recovery: RecoveryRefs
    store: ObjectStore
    mutations: MutationStore
    pending: PendingMutations
    clock: Clock
    secrets: SecretRules = NOTHING_SHOWN


class UndoRecording:
    """Record one mutation, from its start to what undo needs."""

    def __init__(
        self, parts: UndoParts, started: StartedMutation, warn: Callable[[str], None], *, details: JsonObject
    ) -> None:
        """`details` are stored beside what undo needs."""
        self.started = started
        self._parts = parts
        self._warn = warn
        self._details = details
        self._files: set[str] = set()
        self._links: set[str] = set()
        self._differ: dict[tuple[str | None, str], frozenset[str]] = {}

    async def begin(self) -> None:
        """Record the start, so that a later run can recover the mutation."""
        await self._record(self._parts.pending.begin)

    async def record_paths(self, reached: dict[str, Entry]) -> None:
        """Record the files that it may write."""
        self.started = replace(self.started, reached=reached)
        await self._record(self._parts.pending.record_reached)

    async def set_submodule(self, submodule: JsonObject) -> None:
        """Record the state before the submodule that it adds."""
        self.started = replace(self.started, submodule=submodule)
        await self._record(self._parts.pending.record_submodule)

    async def _record(self, write: Callable[[StartedMutation], None]) -> None:
        try:
            await asyncio.to_thread(write, self.started)
        except OSError as error:
            # Only a warning: on a full disk git itself may still succeed.
            self._warn(f"should CodePlane be killed now, undo will not know of this: {error.strerror}")

    async def end(self, call_id: str, *, done: bool, kept_id: str | None) -> None:
        """Record the end, and for a while how it ended."""
        await asyncio.to_thread(self._end, call_id, done, kept_id)

    def _end(self, call_id: str, done: bool, kept_id: str | None) -> None:
        pending = self._parts.pending
        pending.note(call_id, what=self.started.what, mutation_id=kept_id, done=done)
        pending.end(self.started.mutation_id)

    def is_untouched(self, after: GitSnapshot, changes: FileChanges | None) -> bool:
        """Whether it is certain that nothing changed."""
        if self.started.worktree is not None and Path(self.started.worktree).exists():
            return False
        if not self.started.undoable or changes is None or has_changed(self.started.before, after):
            return False
        return all(old == new for old, new in changes.values())

    def add_paths(self, named: ChangedPaths) -> None:
        """Add files and submodules that it deals with."""
        self._files |= named.files
        self._links |= named.links

    @property
    def untouched_submodules(self) -> set[str]:
        """Submodules, which git does not touch unless a file takes their place."""
        tracked = parse_tree_listing([os.fsdecode(line) for line in self.started.before.index]).links
        return (self._links | tracked) - self._files

    async def changed_paths(self, old: str | None, new: str) -> frozenset[str]:
        """Return the paths that differ between two commits."""
        git = self._parts.git
        if (old, new) not in self._differ:
            if old is None:
                named = parse_tree_listing((await git.run("ls-tree", "-r", "-z", "--full-tree", new)).fields)
            else:
                done = await git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new, "--")
                named = parse_raw_diff(done.fields)
            self.add_paths(named)
            self._differ[old, new] = named.paths
        return self._differ[old, new]

    async def file_changes(self, after: GitSnapshot) -> FileChanges:
        """Return the files it may have written, before and after, also unexpected ones such as renamed folders."""
        reached, before = self.started.reached, self.started.before
        if reached is None:
            return {}
        unexpected = set(after.dirty)
        if before.head != after.head and after.head is not None:
            unexpected |= await self.changed_paths(before.head, after.head)
        unexpected = {path for path in unexpected - reached.keys() - before.dirty if not path.endswith("/")}
        entries = before.entries() if unexpected else {}
        # A file that is only no longer ignored existed before: an undo must not delete it.
        untracked = {path for path in unexpected & after.untracked if path not in entries}
        unexpected -= await asyncio.to_thread(self._files_before, untracked)
        old = dict(reached) | {path: entries.get(path) for path in unexpected}
        new = await self._parts.contents.capture(old)
        return {path: (old[path], new[path]) for path in old}

    def _files_before(self, paths: Collection[str]) -> set[str]:
        """Return the files that the mutation did not create; secrets files always count as such."""
        covers, root = self._parts.secrets.covers, self._parts.git.root
        return {path for path in paths if covers(path) or _changed_ns(root / path) < self.started.at_ns - _TICK_NS}

    async def store(self, after: GitSnapshot, changes: FileChanges | None, start: str | None) -> tuple[str | None, str]:
        """Store the mutation; return its id for undo and a note. `start` is where the branch was before it all."""
        before = self.started.before
        if not self.started.undoable:
            return await self.forget_parts(after)
        if before.state not in ("none", after.state):
            return await self._store_whole(after, start)
        if changes is None:
            return None, "cannot be undone by undo"
        changed = {path: sides for path, sides in changes.items() if sides[0] != sides[1]}
        reversible = ReversibleChange.between(before, after, changed, self.started.undoes)
        operation = OperationStart.now(self._parts.git.folder, before, after, self.started.reached or {})
        return await self._add(after, reversible, operation), ""

    async def or_warn(self, work: Awaitable[T], what: str, otherwise: D) -> T | D:
        """Await work; when it fails, warn and return `otherwise`, since git has made the change by now."""
        try:
            return await work
        except Exception as error:  # the change is made, so the call must not fail
            reason = error.message if isinstance(error, CodePlaneError) else f"{type(error).__name__}: {error}"
            self._warn(f"it is done, but {what} not known: {reason}; see git_status")
            return otherwise

    async def _store_whole(self, after: GitSnapshot, start: str | None) -> tuple[str | None, str]:
        """Store a merge, rebase or pick that had stopped as one mutation, from its start to its end."""
        parts, before, sign = self._parts, self.started.before, self.started.sign
        first = await asyncio.to_thread(find_start, parts.mutations, sign) if sign else None
        whole = None
        if first is not None and after.state == "none":
            operation = WholeOperation(parts.git, parts.contents)
            whole = await self.or_warn(
                operation.reversible(first, before, after, self.started.undoes),
                f"how the {before.state} began is",
                None,
            )
        # Stored before its parts are dropped, so that a crash in between loses neither.
        mutation_id = await self._add(after, whole, None) if whole is not None else None
        await self.forget_parts(after)
        if whole is not None:
            return mutation_id, f"undo goes back to before the {before.state}" if mutation_id else ""
        if start is None or start == after.head:
            return _NO_UNDO
        note = f"cannot be undone by undo; before it: {start}"
        if await parts.recovery.has_unreachable([start]):
            ref = await parts.recovery.keep(
                self.started.mutation_id, name="head", what=self.started.what, files={}, commits=[start]
            )
            note += f" (kept in {ref})"
        return None, note

    async def forget_parts(self, after: GitSnapshot) -> tuple[str | None, str]:
        """Drop the mutations within a merge, rebase or pick that has ended, which cannot be undone alone."""
        sign, mutations = self.started.sign, self._parts.mutations
        if sign and after.state == "none":
            first = await asyncio.to_thread(find_start, mutations, sign)
            if first is not None:
                await asyncio.to_thread(drop_since, mutations, first, self.started.before.state)
        return _NO_UNDO

    async def _add(
        self, after: GitSnapshot, reversible: ReversibleChange, operation: OperationStart | None
    ) -> str | None:
        parts, started = self._parts, self.started
        if len(reversible.before.files) > _MAX_KEPT:
            self._warn(f"it changed {len(reversible.before.files)} files, too many to undo at once")
            return None
        added = await self._added_worktree()
        if reversible.is_nothing and not added:
            return None
        subject = await asyncio.to_thread(parts.store.subject, after.head) if after.head else None
        record = MutationRecord(
            mutation_id=started.mutation_id,
            kind="git",
            what=mutation_title(started.what, started.before, after, subject),
            at_ns=parts.clock.now_ns(),
            session_id=started.session_id,
            state="applied",
            paths=tuple(sorted(reversible.before.files)),
            details={
                **self._details,
                **reversible.to_json(),
                **({"begun": operation.to_json()} if operation is not None else {}),
                **added,
            },
        )
        try:
            await asyncio.to_thread(self._write, record)
        except OSError as error:
            self._warn(f"it cannot be undone, since that could not be kept: {error.strerror}")
            return None
        return started.mutation_id

    async def _added_worktree(self) -> JsonObject:
        """Describe the work tree that was added, for undo; empty when none was."""
        if self.started.worktree is None or not (Path(self.started.worktree) / ".git").exists():
            return {}
        return {WORKTREE: await AddedWorktree.describe(self._parts.git, Path(self.started.worktree))}

    def _write(self, record: MutationRecord) -> None:
        self._parts.mutations.prune()
        self._parts.mutations.add(record)


def _changed_ns(file: Path) -> int:
    """Return the change time of a file, which nobody can set."""
    try:
        return file.lstat().st_ctime_ns
    except OSError:
        return 0


def has_changed(before: GitSnapshot, after: GitSnapshot) -> bool:
    """Whether git's own state differs between two snapshots."""
    return any(getattr(before, name) != getattr(after, name) for name in _COMPARED)
