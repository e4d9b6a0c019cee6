"""One git mutation under way: the files it may write, the losses it causes, and the delta in the end."""

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

from codeplane.edit.consequences import Consequence
from codeplane.git.read.git_error import name_first
from codeplane.git.safety.contents import Difference, Entry
from codeplane.git.safety.hooks import Hooks
from codeplane.git.safety.obstacles import ChangedPaths, find_obstacles
from codeplane.git.write.autostash import Autostash
from codeplane.git.write.file_changes import ComparedSide, FileChanges, compare_files, file_deltas, plain_deltas
from codeplane.git.write.git_delta import MAX_REFS, GitDelta, MovedRef
from codeplane.git.write.git_snapshot import GitSnapshot, take_snapshot
from codeplane.git.write.mutation_title import moved_refs
from codeplane.git.write.undo_recording import UndoParts, UndoRecording
from codeplane.git.write.write_permission import WritePermission
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.call import Call, Effects
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject
from codeplane.kernel.secret_paths import SecretRules

T = TypeVar("T")
WORK = "work"
_NO_UNDO: tuple[None, str] = (None, "")
# The commits that these leave behind live on in what they make.
_REPLACING = ("amend",)


class Consequences(Protocol):
    """Determines what a change means for the index."""

    async def before(self) -> Snapshot | None: ...

    async def of(self, before: Snapshot | None, paths: Sequence[str] | None) -> Consequence: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationParts:
    """The parts that every git mutation uses."""

    undo: UndoParts
    hooks: Hooks
    consequences: Consequences
    permission: WritePermission
    secrets: SecretRules


class GitMutation:
    """A git mutation under way."""

    def __init__(self, parts: MutationParts, call: Call, undo: UndoRecording, snapshot: Snapshot | None) -> None:
        self.before = undo.started.before
        self.after: GitSnapshot | None = None
        self.mutation_id = undo.started.mutation_id
        self.autostash = Autostash(parts.undo.git, parts.permission, call, self.before)
        # The id for undo, once it is known, and whether nothing at all has changed.
        self.kept_id: str | None = None
        self.untouched = False
        self._parts = parts
        self._git = parts.undo.git
        self._contents = parts.undo.contents
        self._recovery_refs = parts.undo.recovery
        self._call = call
        self._undo = undo
        self._what = undo.started.what
        self._snapshot = snapshot
        self._hidden: frozenset[str] = frozenset()
        self._recovery: str | None = None
        self._lost: dict[str, Entry] = {}
        self._left: list[str] = []
        self._tags: list[str] = []
        self._replaced = False

    async def reach(
        self, paths: Iterable[str], *, hidden: Iterable[str] = (), named: ChangedPaths | None = None
    ) -> None:
        """Declare the files that git may write: each must be allowed, and is kept with everything in its way.

        `hidden` are edited files that git does not check; `named` are more files, which may be submodules or not.
        """
        self._hidden = frozenset(hidden)
        if named is not None:
            self._undo.add_paths(named)
        more = named.paths if named is not None else ()
        wanted = {path for path in (*paths, *self._hidden, *more) if not path.endswith("/")}
        obstacles = await asyncio.to_thread(
            find_obstacles, self._git.root, sorted(wanted - self._undo.untouched_submodules)
        )
        obstacles.refuse_repositories()
        wanted |= obstacles.files
        for path in sorted(wanted):
            self._call.may_write(path)
        await self._refuse_secrets(wanted)
        await self._undo.record_paths(await self._contents.capture(wanted))

    async def _refuse_secrets(self, paths: Iterable[str]) -> None:
        """Raise PathDenied when an agent would store the content of a secrets file that git does not have."""
        if self._call.actor.is_person:
            return
        conflicts = {conflict.path for conflict in self.before.conflicts}
        covered = [path for path in paths if self._parts.secrets.covers(path) and path not in conflicts]
        if covered:
            now, tracked = await self._contents.capture(covered, write=False), self.before.entries()
            self._parts.permission.refuse_secret_changes(
                self._call, (path for path, entry in now.items() if entry is not None and entry != tracked.get(path))
            )

    async def reach_between(self, *ranges: tuple[str | None, str]) -> None:
        """Declare that git may write whatever differs between these pairs of commits."""
        paths: set[str] = set()
        for old, new in ranges:
            paths |= await self._undo.changed_paths(old, new)
        await self.reach(paths)

    async def record_submodule(self, submodule: JsonObject) -> None:
        """Record the state before a submodule is added."""
        await self._undo.set_submodule(submodule)

    async def keep_losses(
        self,
        *,
        commits: Iterable[str] = (),
        tags: Iterable[str] = (),
        work: bool = True,
        only: Collection[str] | None = None,
        replaced: bool = False,
    ) -> None:
        """Keep, under a recovery ref, commits that may become unreachable and work that is in no commit.

        With `only`, keep the work in these files alone; `replaced` commits live on in others and are kept for undo.
        """
        reached = self._undo.started.reached or {}
        tracked = self.before.entries() if reached else {}
        # Git refuses to overwrite untracked files, but not ignored ones.
        ignored = {path for path, entry in reached.items() if entry and path not in tracked} - self.before.dirty
        work_in = (self.before.dirty | self._hidden if only is None else set(only)) if work else frozenset[str]()
        self._lost = {path: entry for path, entry in reached.items() if path in work_in or path in ignored}
        self._left, self._tags = list(commits), list(tags)
        self._replaced = replaced or self._what in _REPLACING
        if apart := await asyncio.to_thread(self._contents.secrets_apart, self._lost):
            self._call.warn(f"kept for undo in .codeplane/, and by git nowhere: {name_first(sorted(apart))}")
        if self._left or self._tags or any(self._lost.values()):
            head = [self.before.head] if self.before.head else []
            self._recovery = await self._recovery_refs.keep(
                self.mutation_id,
                name=WORK,
                what=self._what,
                files=self._lost,
                commits=[*head, *self._left],
                tags=self._tags,
            )

    async def finish(self, *, compared: ComparedSide | None = None, since: str | None = None) -> GitDelta:
        """Return the delta and keep the mutation for undo; `since` is where the branch was before it all began.

        Git has made the change by now: what cannot be found out is a warning, and a cancelled call is kept too.
        """
        return await run_to_end(self._finish(compared, since))

    async def keep_for_undo(self) -> None:
        """Keep what was done so far for undo, unless that has happened already."""
        if self.after is None:
            await self.finish()

    async def _finish(self, compared: ComparedSide | None, since: str | None) -> GitDelta:
        before, undo = self.before, self._undo
        after = await undo.or_warn(take_snapshot(self._git), "how the repository stands is", None)
        if after is None:
            return self._report(await self._minimal_delta(since), None)
        self.after = after
        start = since if since is not None and after.state == "none" else before.head
        changes = await undo.or_warn(undo.file_changes(after), "which files it changed is", None)
        mutation_id, note = await undo.or_warn(undo.store(after, changes, start), "whether undo works is", _NO_UNDO)
        self.kept_id = mutation_id
        self.untouched = undo.is_untouched(after, changes)
        recovery = await undo.or_warn(self._needed_recovery(changes), "whether work was lost is", self._recovery)
        unknown: tuple[ComparedSide, list[Difference]] = (compared or "worktree", [])
        side, differences = await undo.or_warn(
            compare_files(self._contents, before, after, changes or {}, wanted=compared, start=start), "delta", unknown
        )
        consequence = await self._consequence(changes)
        files = await undo.or_warn(
            file_deltas(self._contents, differences), "hashes of files are", plain_deltas(differences)
        )
        moved = [
            MovedRef(ref=path_text(ref), before=before.refs.get(ref), after=after.refs.get(ref))
            for ref in moved_refs(before.refs, after.refs)
        ]
        delta = GitDelta(
            head_before=start,
            head=after.head,
            branch=after.branch,
            refs=tuple(moved[:MAX_REFS]),
            refs_moved=len(moved),
            compared=side if differences else "none",
            files_changed=len(differences),
            insertions=sum(difference.insertions for difference in differences),
            deletions=sum(difference.deletions for difference in differences),
            files=files,
            conflicts=after.conflicts,
            repo_state=after.state,
            clean=not after.dirty,
            affected_symbols=consequence.symbols,
            affected_tests=consequence.tests,
            repo_fingerprint=consequence.repo_fingerprint,
            mutation_id=mutation_id,
            recovery=recovery,
            note=note,
        )
        return self._report(delta, after)

    async def _consequence(self, changes: FileChanges | None) -> Consequence:
        paths = None if changes is None else sorted(path for path, (old, new) in changes.items() if old != new)
        # A hook may have written any file.
        hooks = await self._undo.or_warn(self._parts.hooks.exist(), "whether hooks ran is", True)
        consequence = await self._undo.or_warn(
            self._parts.consequences.of(self._snapshot, None if hooks else paths), "what it means is", Consequence()
        )
        for warning in consequence.warnings:
            self._call.warn(warning)
        return consequence

    async def _minimal_delta(self, since: str | None) -> GitDelta:
        """Return a delta when not even a snapshot can be taken."""
        symbolic, head = await asyncio.to_thread(self._parts.undo.store.head)
        self._call.warn("it cannot be undone by undo, since what it changed is not known")
        return GitDelta(
            head_before=since or self.before.head,
            head=head,
            branch=symbolic.removeprefix("refs/heads/") if symbolic else None,
            clean=None,
            recovery=self._recovery,
        )

    async def _needed_recovery(self, changes: FileChanges | None) -> str | None:
        """Return the recovery ref; drop it when everything in it is reachable elsewhere."""
        if self._recovery is None:
            return None
        files = {
            path
            for path, entry in self._lost.items()
            if entry and (changes is None or changes[path][0] != changes[path][1])
        }
        objects = [*self._left, *self._tags]
        unreached = await self._recovery_refs.has_unreachable(objects) if objects else False
        if files or (unreached and not self._replaced):
            return self._recovery
        are_commits = [await asyncio.to_thread(self._parts.undo.store.is_commit, oid) for oid in self._tags]
        if not unreached and all(are_commits):
            await self._recovery_refs.drop(self.mutation_id, name=WORK)
        return None

    def _report(self, delta: GitDelta, after: GitSnapshot | None) -> GitDelta:
        """Report the effects to the call and return the delta."""
        lines = [f"{file.action} {file.path}" for file in delta.files]
        hashed = [self._what, *(f"{file.path}\0{file.new_hash}" for file in delta.files)]
        # Mutations that change no files must still differ by what they moved.
        hashed += [f"{ref.ref} {ref.before} {ref.after}" for ref in delta.refs]
        hashed += [f"HEAD {self.before.symbolic} {delta.head_before} {delta.branch} {delta.head}"]
        if after is not None:
            hashed += [repr(line) for line in sorted(self.before.index ^ after.index)]
            hashed += [repr((self.before.stashes[:1], after.stashes[:1]))]
        self._call.report_change(
            Effects(
                changed_paths=tuple(file.path for file in delta.files),
                files_changed_hash=digest("\n".join(hashed).encode("utf-8", "surrogateescape")),
                insertions=delta.insertions,
                deletions=delta.deletions,
                short_diff=tuple(lines[:20]),
                symbol_changes=delta.affected_symbols,
            )
        )
        return delta


async def run_to_end(work: Coroutine[None, None, T]) -> T:
    """Await work that must not stop half-way: a call that is cancelled meanwhile ends after it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        if not task.cancelled():
            task.exception()
        raise
