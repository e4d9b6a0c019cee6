"""A git mutation kept for undo: what it changed, found by comparing before and after, also by a later run."""

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
from codeplane.kernel.secret_files import NOTHING_SHOWN, SecretRules

_COMPARED = ("symbolic", "head", "refs", "stashes", "settings", "index", "state")
T = TypeVar("T")
D = TypeVar("D")
_MAX_KEPT = 20_000
_NO: tuple[None, str] = (None, "")
# By so much the times of files can be behind the clock.
_TICK_NS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoParts:
    """What mutations are kept with."""

    git: Git
    contents: Contents
    recovery: RecoveryRefs
    store: ObjectStore
    mutations: MutationStore
    pending: PendingMutations
    clock: Clock
    secrets: SecretRules = NOTHING_SHOWN


class UndoRecording:
    """One mutation, from what it began with to what undo needs."""

    def __init__(
        self, keeper: UndoParts, started: StartedMutation, warn: Callable[[str], None], *, more: JsonObject
    ) -> None:
        """`more` is kept beside what undo needs."""
        self.started = started
        self._keeper = keeper
        self._warn = warn
        self._more = more
        self._files: set[str] = set()
        self._links: set[str] = set()
        self._differ: dict[tuple[str | None, str], frozenset[str]] = {}

    async def begin(self) -> None:
        """Let later runs know of it."""
        await self._told(self._keeper.pending.begin)

    async def reaches(self, reached: dict[str, Entry]) -> None:
        """Let them know which files it may write."""
        self.started = replace(self.started, reached=reached)
        await self._told(self._keeper.pending.reaches)

    async def adds_submodule(self, submodule: JsonObject) -> None:
        """Let them know what there was before the submodule that it adds."""
        self.started = replace(self.started, submodule=submodule)
        await self._told(self._keeper.pending.adds_submodule)

    async def _told(self, tell: Callable[[StartedMutation], None]) -> None:
        try:
            await asyncio.to_thread(tell, self.started)
        except OSError as error:
            # Git is not stopped by a disk that has no room for this, and says itself when it has none for that.
            self._warn(f"should CodePlane be killed now, undo will not know of this: {error.strerror}")

    async def end(self, call_id: str, *, done: bool, kept_id: str | None) -> None:
        """Say that it is over, and for a while how it ended."""
        await asyncio.to_thread(self._ended, call_id, done, kept_id)

    def _ended(self, call_id: str, done: bool, kept_id: str | None) -> None:
        pending = self._keeper.pending
        pending.note(call_id, what=self.started.what, mutation_id=kept_id, done=done)
        pending.end(self.started.mutation_id)

    def is_untouched(self, after: GitSnapshot, work: FileChanges | None) -> bool:
        """Whether everything that it could have changed is known to be as it was."""
        if self.started.worktree is not None and Path(self.started.worktree).exists():
            return False
        if not self.started.undoable or work is None or has_changed(self.started.before, after):
            return False
        return all(old == new for old, new in work.values())

    def names(self, named: ChangedPaths) -> None:
        """Further files and submodules that it deals with."""
        self._files |= named.files
        self._links |= named.links

    @property
    def left_alone(self) -> set[str]:
        """Git leaves submodules alone, unless a file is to come in their place."""
        there = parse_tree_listing([os.fsdecode(line) for line in self.started.before.index]).links
        return (self._links | there) - self._files

    async def differing(self, old: str | None, new: str) -> frozenset[str]:
        """The paths that differ between two commits."""
        git = self._keeper.git
        if (old, new) not in self._differ:
            if old is None:
                named = parse_tree_listing((await git.run("ls-tree", "-r", "-z", "--full-tree", new)).fields)
            else:
                done = await git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new, "--")
                named = parse_raw_diff(done.fields)
            self.names(named)
            self._differ[old, new] = named.paths
        return self._differ[old, new]

    async def work(self, after: GitSnapshot) -> FileChanges:
        """The files it may have written, before and after; also those nobody expected, such as renamed folders."""
        reached, before = self.started.reached, self.started.before
        if reached is None:
            return {}
        late = set(after.dirty)
        if before.head != after.head and after.head is not None:
            late |= await self.differing(before.head, after.head)
        late = {path for path in late - reached.keys() - before.dirty if not path.endswith("/")}
        entries = before.entries() if late else {}
        # What is no longer ignored was there before: an undo must not delete it, and git need not hold it.
        unknown = {path for path in late & after.untracked if path not in entries}
        late -= await asyncio.to_thread(self._there_before, unknown)
        old = dict(reached) | {path: entries.get(path) for path in late}
        new = await self._keeper.contents.capture(old)
        return {path: (old[path], new[path]) for path in old}

    def _there_before(self, paths: Collection[str]) -> set[str]:
        """Those of the files that this has not made; secrets files count as such in doubt."""
        covers, root = self._keeper.secrets.covers, self._keeper.git.root
        return {path for path in paths if covers(path) or _changed_ns(root / path) < self.started.at_ns - _TICK_NS}

    async def undoable(self, after: GitSnapshot, work: FileChanges | None, start: str | None) -> tuple[str | None, str]:
        """The id that undo takes, and what there is to say of it; `start` is where the branch was before it all."""
        before = self.started.before
        if not self.started.undoable:
            return await self.ended(after)
        if before.state not in ("none", after.state):
            return await self._concluded(after, start)
        if work is None:
            return None, "cannot be undone by undo"
        changed = {path: sides for path, sides in work.items() if sides[0] != sides[1]}
        reversible = ReversibleChange.between(before, after, changed, self.started.undoes)
        begun = OperationStart.now(self._keeper.git.folder, before, after, self.started.reached or {})
        return await self._kept(after, reversible, begun), ""

    async def known(self, asked: Awaitable[T], what: str, otherwise: D) -> T | D:
        """What is asked for, or something else and a warning: git has done its deed by now."""
        try:
            return await asked
        except Exception as error:  # whatever it was, the deed is done, and to say otherwise would be wrong
            said = error.message if isinstance(error, CodePlaneError) else f"{type(error).__name__}: {error}"
            self._warn(f"it is done, but {what} not known: {said}; see git_status")
            return otherwise

    async def _concluded(self, after: GitSnapshot, start: str | None) -> tuple[str | None, str]:
        """Of what ended a merge, rebase or pick that had stopped, the whole is undone."""
        keeper, before, sign = self._keeper, self.started.before, self.started.sign
        beginning = await asyncio.to_thread(find_start, keeper.mutations, sign) if sign else None
        whole = None
        if beginning is not None and after.state == "none":
            concluded = WholeOperation(keeper.git, keeper.contents)
            whole = await self.known(
                concluded.reversible(beginning, before, after, self.started.undoes),
                f"how the {before.state} began is",
                None,
            )
        # Kept before its parts are forgotten: whoever is killed in between loses neither.
        mutation_id = await self._kept(after, whole, None) if whole is not None else None
        await self.ended(after)
        if whole is not None:
            return mutation_id, f"undo goes back to before the {before.state}" if mutation_id else ""
        if start is None or start == after.head:
            return _NO
        note = f"cannot be undone by undo; before it: {start}"
        if await keeper.recovery.unreached([start]):
            ref = await keeper.recovery.keep(
                self.started.mutation_id, name="head", what=self.started.what, files={}, commits=[start]
            )
            note += f" (kept in {ref})"
        return None, note

    async def ended(self, after: GitSnapshot) -> tuple[str | None, str]:
        """Once a merge, rebase or pick has ended, what was done in the middle of it cannot be undone by itself."""
        sign, mutations = self.started.sign, self._keeper.mutations
        if sign and after.state == "none":
            beginning = await asyncio.to_thread(find_start, mutations, sign)
            if beginning is not None:
                await asyncio.to_thread(drop_since, mutations, beginning, self.started.before.state)
        return _NO

    async def _kept(self, after: GitSnapshot, reversible: ReversibleChange, begun: OperationStart | None) -> str | None:
        keeper, started = self._keeper, self.started
        if len(reversible.before.files) > _MAX_KEPT:
            self._warn(f"it changed {len(reversible.before.files)} files, too many to undo at once")
            return None
        added = await self._added()
        if reversible.is_nothing and not added:
            return None
        subject = await asyncio.to_thread(keeper.store.subject, after.head) if after.head else None
        kept = MutationRecord(
            mutation_id=started.mutation_id,
            kind="git",
            what=mutation_title(started.what, started.before, after, subject),
            at_ns=keeper.clock.now_ns(),
            session_id=started.session_id,
            state="applied",
            paths=tuple(sorted(reversible.before.files)),
            details={
                **self._more,
                **reversible.to_json(),
                **({"begun": begun.to_json()} if begun is not None else {}),
                **added,
            },
        )
        try:
            await asyncio.to_thread(self._add, kept)
        except OSError as error:
            self._warn(f"it cannot be undone, since that could not be kept: {error.strerror}")
            return None
        return started.mutation_id

    async def _added(self) -> JsonObject:
        """The work tree that was added, as an undo needs to know it; nothing when none was."""
        if self.started.worktree is None or not (Path(self.started.worktree) / ".git").exists():
            return {}
        return {WORKTREE: await AddedWorktree.describe(self._keeper.git, Path(self.started.worktree))}

    def _add(self, kept: MutationRecord) -> None:
        self._keeper.mutations.prune()
        self._keeper.mutations.add(kept)


def _changed_ns(file: Path) -> int:
    """When a file was changed last, which nobody can set back."""
    try:
        return file.lstat().st_ctime_ns
    except OSError:
        return 0


def has_changed(before: GitSnapshot, after: GitSnapshot) -> bool:
    """Whether git's own state differs between two moments."""
    return any(getattr(before, name) != getattr(after, name) for name in _COMPARED)
