"""One git mutation from its beginning to its answer: alone in the work tree, told in full, and kept for undo."""

import asyncio
from collections.abc import AsyncIterator, Collection, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Protocol, TypeVar

from codeplane.edit.consequences import Consequence
from codeplane.edit.history.mutation_record import CALL, MutationStats
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.path_locks import PathLocks
from codeplane.git.read.git_error import name_first
from codeplane.git.read.object_store import ObjectStore
from codeplane.git.safety.command import INHERITED_DESCRIPTORS, Git
from codeplane.git.safety.contents import Contents, Difference, Entry
from codeplane.git.safety.hooks import Hooks
from codeplane.git.safety.loss_finder import STATE, STATUS
from codeplane.git.safety.obstacles import ChangedPaths, find_obstacles
from codeplane.git.safety.recovery_refs import RecoveryRefs
from codeplane.git.safety.secret_contents import SecretContents
from codeplane.git.write.file_changes import ComparedSide, FileChanges, compare_files, file_deltas, plain_deltas
from codeplane.git.write.git_delta import MAX_REFS, GitDelta, MovedRef
from codeplane.git.write.git_snapshot import GitSnapshot, take_snapshot
from codeplane.git.write.mutation_title import moved_refs
from codeplane.git.write.pending_mutations import PendingMutations, StartedMutation
from codeplane.git.write.stopped_operation import operation_sign
from codeplane.git.write.undo_recording import UndoParts, UndoRecording
from codeplane.index.files.paths import canonical, shown
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.call import Call, Effects
from codeplane.kernel.clock import Clock
from codeplane.kernel.counted import ARE, counted
from codeplane.kernel.errors import CodePlaneError, DeadlineExceeded, GitBusy, PathDenied
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.secret_files import NOTHING_SHOWN, SecretRules

T = TypeVar("T")
_WORK = "work"
_NO: tuple[None, str] = (None, "")
_ASKED_AT_ONCE = 500
_LOCAL = ("refs/heads/", "refs/tags/")
# What it leaves behind lives on in what it makes.
_REPLACING = ("amend",)
_FINISH = {
    "merge": "git_merge with action continue or abort",
    "cherrypick": "git_cherrypick with action continue, skip or abort",
    "revert": "git_revert with action continue, skip or abort",
    "rebase": "git_rebase_continue, git_rebase_skip or git_rebase_abort",
    "bisect": "git bisect reset",
}


class Consequences(Protocol):
    """What a change means for the index."""

    async def before(self) -> Snapshot | None: ...

    async def of(self, before: Snapshot | None, paths: Sequence[str] | None) -> Consequence: ...


class Writer:
    """Begins git mutations, one at a time."""

    def __init__(
        self,
        *,
        git: Git,
        locks: PathLocks,
        consequences: Consequences,
        mutations: MutationStore,
        pending: PendingMutations,
        clock: Clock,
        secrets: SecretRules = NOTHING_SHOWN,
        secret_contents: SecretContents | None = None,
    ) -> None:
        """`secret_contents` keeps what is overwritten of secrets files; without one git does."""
        self.git = git
        self.secrets = secrets
        self.locks = locks
        self.consequences = consequences
        self.clock = clock
        self.contents = Contents(git, secret_contents)
        self.recovery = RecoveryRefs(git, clock, self.contents)
        self._secret_contents = secret_contents
        self.hooks = Hooks(git, clock)
        self.store = ObjectStore(git.root)
        self.keeper = UndoParts(
            git=git,
            contents=self.contents,
            recovery=self.recovery,
            store=self.store,
            mutations=mutations,
            pending=pending,
            clock=clock,
            secrets=secrets,
        )

    @asynccontextmanager
    async def writing(
        self,
        call: Call,
        what: str,
        *,
        calm: bool = False,
        undoable: bool = True,
        undoes: tuple[str, ...] = _LOCAL,
        worktree: str | None = None,
    ) -> AsyncIterator["GitMutation"]:
        """Have the work tree for oneself; with `calm`, only when git is in the middle of nothing.

        `undoes` are the kinds of refs that an undo moves back, `worktree` is the folder of a work tree that is added.
        It is written down before git begins, and however the call ends, what git did meanwhile is kept for undo.
        """
        async with self.locks.hold_all():
            await asyncio.to_thread(self.git.refuse_new_links)
            self.keeper.pending.refuse_while_running()
            before = await take_snapshot(self.git)
            if calm:
                self.refuse_busy(before)
            await self.recovery.prune(before.recoveries)
            if self._secret_contents is not None:
                await asyncio.to_thread(self._secret_contents.prune, self.git.config.recovery_days)
            started = StartedMutation(
                mutation_id=new_id("mut"),
                what=what,
                at_ns=self.keeper.clock.now_ns(),
                session_id=call.task.session_id if call.task else None,
                call_id=call.call_id,
                undoable=undoable,
                undoes=undoes,
                sign=await asyncio.to_thread(operation_sign, self.git.folder, before.state),
                before=before,
                worktree=worktree,
            )
            keeping = UndoRecording(
                self.keeper,
                started,
                call.warn,
                more=MutationStats(actor=str(call.actor)).to_json() | {CALL: call.call_id},
            )
            writing = GitMutation(self, call, keeping, await self.consequences.before())
            call.change_begins()
            held = INHERITED_DESCRIPTORS.set(())
            try:
                await run_to_end(keeping.begin())
                INHERITED_DESCRIPTORS.set(self.keeper.pending.held(started.mutation_id))
                yield writing
                call.change_ended(done=True, mutation_id=writing.kept_id)
            except (Exception, asyncio.CancelledError) as error:
                if not isinstance(error, CodePlaneError) or isinstance(error, DeadlineExceeded):
                    # It was cut short, perhaps after git had done its deed.
                    await run_to_end(writing.cut_short())
                    if writing.untouched:
                        call.change_ended(done=False)
                raise
            finally:
                INHERITED_DESCRIPTORS.reset(held)
                await run_to_end(keeping.end(call.call_id, done=call.change == "done", kept_id=writing.kept_id))

    @staticmethod
    def refuse_busy(picture: GitSnapshot) -> None:
        """GitBusy, with what to do, when git is in the middle of something."""
        if picture.state != "none":
            raise GitBusy(
                f"a {picture.state} is under way", hint=f"finish it first: {_FINISH[picture.state]}; see git_status"
            )
        if picture.conflicts:
            named = ", ".join(one.path for one in picture.conflicts[:5])
            raise GitBusy(
                f"{counted(len(picture.conflicts), 'file', verbs=ARE)} in conflict: {named}",
                hint="resolve them and git_stage them, or git_discard",
            )

    def paths(self, call: Call, paths: Iterable[str]) -> list[str]:
        """Paths as callers name them, canonical and allowed; the root itself is `.`."""
        found = []
        for path in paths:
            name = canonical(path, root=self.git.root)
            if name:
                call.may_write(name)
            found.append(name or ".")
        return found

    def refuse_secrets(self, call: Call, paths: Iterable[str], *, hint: str = "") -> None:
        """PathDenied where an agent would have git store a secrets file: a sandbox shows what git holds."""
        named = [path for path in paths if not call.actor.is_person and self.secrets.covers(path)]
        if named:
            them = "it" if len(named) == 1 else "them"
            raise PathDenied(
                f"{_named_secrets(sorted(named))}, so only the owner gives {them} to git",
                hint=hint
                or f"name the other files, or have the owner ignore {them} (.gitignore) or stage {them}: git add",
                details={"paths": [shown(path) for path in named[:100]]},
            )

    def refuse_secret_changes(self, call: Call | None, paths: Iterable[str]) -> None:
        """PathDenied where an agent would have git change a secrets file, which it may not write either."""
        if call is None or call.actor.is_person:
            return
        if named := sorted({path for path in paths if self.secrets.covers(path)}):
            raise PathDenied(
                f"{_named_secrets(named)}, so only the owner changes {'it' if len(named) == 1 else 'them'}",
                hint="name the other files",
                details={"paths": [shown(path) for path in named[:100]]},
            )

    async def below(self, call: Call, paths: Sequence[str]) -> Sequence[str]:
        """Ask about every changed file that a folder among the paths stands for, not about its name alone.

        Returns the paths with those files.
        """
        folders = [path for path in paths if not (self.git.root / path).is_file()]
        if not folders:
            return paths
        listed = await self.git.run(*STATUS, "--", *folders)
        found = [line[STATE:].rstrip("/") for line in listed.fields]
        for path in found:
            call.may_write(path)
        return [*paths, *found]

    async def may_write_tree(self, call: Call, commit: str, *, prefix: str = "") -> None:
        """Ask about every file of a commit, as it would lie below `prefix`."""
        listed = await self.git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        await self.may_write_all(call, (f"{prefix}{path}" for path in listed.fields))

    async def may_write_between(self, call: Call, old: str | None, new: str) -> None:
        """Ask about every file that differs between two commits."""
        if old is None:
            await self.may_write_tree(call, new)
            return
        done = await self.git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new, "--")
        await self.may_write_all(call, done.fields)

    async def may_write_commits(self, call: Call, commits: Iterable[str]) -> None:
        """Ask about every file that one of these commits changes, also where a later one takes it back."""
        given = "".join(f"{oid}\n" for oid in commits).encode()
        if not given:
            return
        options = ("-r", "-z", "-m", "--root", "--name-only", "--no-renames", "--no-commit-id")
        done = await self.git.run("diff-tree", "--stdin", *options, input=given)
        await self.may_write_all(call, done.fields)

    @staticmethod
    async def may_write_all(call: Call, paths: Iterable[str]) -> None:
        """Ask about every path; others get their turn meanwhile."""
        for number, path in enumerate(dict.fromkeys(paths)):
            if number % _ASKED_AT_ONCE == 0:
                await asyncio.sleep(0)
            call.may_write(path)


class GitMutation:
    """A mutation under way."""

    def __init__(self, writer: Writer, call: Call, keeping: UndoRecording, snapshot: Snapshot | None) -> None:
        self.before = keeping.started.before
        self.after: GitSnapshot | None = None
        self.mutation_id = keeping.started.mutation_id
        self._writer = writer
        self._call = call
        self._keeping = keeping
        self._what = keeping.started.what
        self._snapshot = snapshot
        self._hidden: frozenset[str] = frozenset()
        self._recovery: str | None = None
        self._lost: dict[str, Entry] = {}
        self._left: list[str] = []
        self._tags: list[str] = []
        self._replaced = False
        # The id that undo takes, once that is known; and whether all is known to be as it was.
        self.kept_id: str | None = None
        self.untouched = False

    async def reaches(
        self, paths: Iterable[str], *, hidden: Iterable[str] = (), named: ChangedPaths | None = None
    ) -> None:
        """Say which files it may write: each must be allowed, and is kept with all that lies in its way.

        In `hidden` there are edits that git does not look for; `named` are further ones, told from submodules.
        """
        self._hidden = frozenset(hidden)
        if named is not None:
            self._keeping.names(named)
        further = named.paths if named is not None else ()
        wanted = {path for path in (*paths, *self._hidden, *further) if not path.endswith("/")}
        found = await asyncio.to_thread(
            find_obstacles, self._writer.git.root, sorted(wanted - self._keeping.left_alone)
        )
        found.refuse_repositories()
        wanted |= found.files
        for path in sorted(wanted):
            self._call.may_write(path)
        await self._refuse_secrets(wanted)
        await self._keeping.reaches(await self._writer.contents.capture(wanted))

    async def _refuse_secrets(self, paths: Iterable[str]) -> None:
        """PathDenied where an agent would have what a secrets file holds, and git does not, taken into git's store."""
        if self._call.actor.is_person:
            return
        conflicts = {one.path for one in self.before.conflicts}
        covered = [path for path in paths if self._writer.secrets.covers(path) and path not in conflicts]
        if covered:
            now, tracked = await self._writer.contents.capture(covered, write=False), self.before.entries()
            self._writer.refuse_secret_changes(
                self._call, (path for path, entry in now.items() if entry is not None and entry != tracked.get(path))
            )

    async def rebase_options(self) -> list[str]:
        """Options by which git puts no changed secrets file aside for an agent; a person is told that it does."""
        named = self._changed_secrets()
        if named and not self._call.actor.is_person:
            return ["--no-autostash"]
        if named and await self._setting("rebase.autoStash") == "true":
            self._tell_of_stash(named)
        return []

    async def merge_options(self, target: str, ff: list[str]) -> list[str]:
        """Options for a merge, with `ff`; PathDenied where git would put a changed secrets file aside for an agent.

        Git does so before every merge that is more than a step forward, autostash or not.
        """
        named = self._changed_secrets()
        if not named:
            return ff
        is_stored = ff != ["--ff-only"] and not (ff == [] and await self._moves_forward(target))
        if self._call.actor.is_person:
            if is_stored or await self._setting("merge.autoStash") == "true":
                self._tell_of_stash(named)
            return ff
        if is_stored:
            hint = (
                "git stores changed files before a merge; only move forward (ff=only, mode=ff-only), or ask the owner"
            )
            self._writer.refuse_secrets(self._call, named, hint=hint)
        return ["--no-autostash", *(ff or ["--ff"])]

    async def _moves_forward(self, target: str) -> bool:
        if await self._setting("merge.ff") == "false":
            return False
        head = self.before.head
        done = head and await self._writer.git.run("merge-base", "--is-ancestor", head, target, check=False)
        return not done or done.code == 0

    async def _setting(self, name: str) -> str:
        return (await self._writer.git.run("config", "--type=bool-or-str", "--get", name, check=False)).line

    def _changed_secrets(self) -> list[str]:
        return sorted(path for path in self.before.changed if self._writer.secrets.covers(path))

    def _tell_of_stash(self, named: Sequence[str]) -> None:
        """Warn a person that git stores what these secrets files hold."""
        kept = "it holds" if len(named) == 1 else "they hold"
        self._call.warn(f"{_named_secrets(named)}: git put aside what {kept}, and a sandbox can read what git stores")

    async def adds_submodule(self, submodule: JsonObject) -> None:
        """Say what there was before a submodule that it adds."""
        await self._keeping.adds_submodule(submodule)

    async def reaches_between(self, *ranges: tuple[str | None, str]) -> None:
        """Say that it may write whatever differs between these pairs of commits."""
        paths: set[str] = set()
        for old, new in ranges:
            paths |= await self._keeping.differing(old, new)
        await self.reaches(paths)

    async def loses(
        self,
        *,
        commits: Iterable[str] = (),
        tags: Iterable[str] = (),
        work: bool = True,
        only: Collection[str] | None = None,
        replaced: bool = False,
    ) -> None:
        """Keep, under a recovery ref, commits that nothing may reach afterwards, and work that no commit has.

        With `only`, the work in these files alone; what is `replaced` lives on in other commits, and is kept for undo.
        """
        reached = self._keeping.started.reached or {}
        tracked = self.before.entries() if reached else {}
        # Git refuses to overwrite what it does not track, but never what it ignores.
        ignored = {path for path, entry in reached.items() if entry and path not in tracked} - self.before.dirty
        work_in = (self.before.dirty | self._hidden if only is None else set(only)) if work else frozenset[str]()
        self._lost = {path: entry for path, entry in reached.items() if path in work_in or path in ignored}
        self._left, self._tags = list(commits), list(tags)
        self._replaced = replaced or self._what in _REPLACING
        if apart := await asyncio.to_thread(self._writer.contents.secrets_apart, self._lost):
            self._call.warn(f"kept for undo in .codeplane/, and by git nowhere: {name_first(sorted(apart))}")
        if self._left or self._tags or any(self._lost.values()):
            head = [self.before.head] if self.before.head else []
            self._recovery = await self._writer.recovery.keep(
                self.mutation_id,
                name=_WORK,
                what=self._what,
                files=self._lost,
                commits=[*head, *self._left],
                tags=self._tags,
            )

    async def finished(self, *, compared: ComparedSide | None = None, since: str | None = None) -> GitDelta:
        """The answer; `since` is where the branch was before it all began. Git has done its deed by now: what cannot
        be found out is said, and is no failure; a call that is cancelled meanwhile is kept for undo all the same."""
        return await run_to_end(self._finished(compared, since))

    async def cut_short(self) -> None:
        """Keep for undo whatever was done until now, unless that was found out already."""
        if self.after is None:
            await self.finished()

    async def _finished(self, compared: ComparedSide | None, since: str | None) -> GitDelta:
        writer, before, keeping = self._writer, self.before, self._keeping
        after = await keeping.known(take_snapshot(writer.git), "how the repository stands is", None)
        if after is None:
            return self._tell(await self._barely(since), None)
        self.after = after
        start = since if since is not None and after.state == "none" else before.head
        work = await keeping.known(keeping.work(after), "which files it changed is", None)
        mutation_id, note = await keeping.known(keeping.undoable(after, work, start), "whether undo works is", _NO)
        self.kept_id = mutation_id
        self.untouched = keeping.is_untouched(after, work)
        recovery = await keeping.known(self._recovered(work), "whether work was lost is", self._recovery)
        unknown: tuple[ComparedSide, list[Difference]] = (compared or "worktree", [])
        looked, differences = await keeping.known(
            compare_files(writer.contents, before, after, work or {}, wanted=compared, start=start), "delta", unknown
        )
        paths = None if work is None else sorted(path for path, (old, new) in work.items() if old != new)
        hooks = await keeping.known(writer.hooks.exist(), "whether hooks ran is", True)
        consequence = await keeping.known(
            writer.consequences.of(self._snapshot, None if hooks else paths), "what it means is", Consequence()
        )
        for warning in consequence.warnings:
            self._call.warn(warning)
        files = await keeping.known(
            file_deltas(writer.contents, differences), "hashes of files are", plain_deltas(differences)
        )
        moved = [
            MovedRef(ref=shown(ref), before=before.refs.get(ref), after=after.refs.get(ref))
            for ref in moved_refs(before.refs, after.refs)
        ]
        delta = GitDelta(
            head_before=start,
            head=after.head,
            branch=after.branch,
            refs=tuple(moved[:MAX_REFS]),
            refs_moved=len(moved),
            compared=looked if differences else "none",
            files_changed=len(differences),
            insertions=sum(one.insertions for one in differences),
            deletions=sum(one.deletions for one in differences),
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
        return self._tell(delta, after)

    async def _barely(self, since: str | None) -> GitDelta:
        """The answer when git does not even say how things stand."""
        symbolic, head = await asyncio.to_thread(self._writer.store.head)
        self._call.warn("it cannot be undone by undo, since what it changed is not known")
        return GitDelta(
            head_before=since or self.before.head,
            head=head,
            branch=symbolic.removeprefix("refs/heads/") if symbolic else None,
            clean=None,
            recovery=self._recovery,
        )

    async def _recovered(self, work: FileChanges | None) -> str | None:
        """The ref to tell of; one that keeps nothing but what is to be had elsewhere goes again."""
        if self._recovery is None:
            return None
        recovery = self._writer.recovery
        files = {
            path for path, entry in self._lost.items() if entry and (work is None or work[path][0] != work[path][1])
        }
        unreached = await recovery.unreached([*self._left, *self._tags]) if self._left or self._tags else False
        if files or (unreached and not self._replaced):
            return self._recovery
        plain = [await asyncio.to_thread(self._writer.store.is_commit, oid) for oid in self._tags]
        if not unreached and all(plain):
            await recovery.drop(self.mutation_id, name=_WORK)
        return None

    def _tell(self, delta: GitDelta, after: GitSnapshot | None) -> GitDelta:
        lines = [f"{one.action} {one.path}" for one in delta.files]
        told = [self._what, *(f"{one.path}\0{one.new_hash}" for one in delta.files)]
        # Of two that change no files, each must be known from the other by what it moved.
        told += [f"{one.ref} {one.before} {one.after}" for one in delta.refs]
        told += [f"HEAD {self.before.symbolic} {delta.head_before} {delta.branch} {delta.head}"]
        if after is not None:
            told += [repr(line) for line in sorted(self.before.index ^ after.index)]
            told += [repr((self.before.stashes[:1], after.stashes[:1]))]
        self._call.changed(
            Effects(
                changed_paths=tuple(one.path for one in delta.files),
                files_changed_hash=digest("\n".join(told).encode("utf-8", "surrogateescape")),
                insertions=delta.insertions,
                deletions=delta.deletions,
                short_diff=tuple(lines[:20]),
                symbol_changes=delta.affected_symbols,
            )
        )
        return delta


async def run_to_end(work: Coroutine[None, None, T]) -> T:
    """Await what must not stop halfway: a call that is cancelled meanwhile ends after it."""
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


def _named_secrets(paths: Sequence[str]) -> str:
    return f"{name_first(paths)} {'holds secrets by its name' if len(paths) == 1 else 'hold secrets by their names'}"
