"""One git mutation from its beginning to its answer: alone in the work tree, told in full, and kept for undo."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from codeplane.kernel.call import Call, Effects
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import CodePlaneError, GitBusy
from codeplane.kernel.ids import digest, new_id
from codeplane.repo.edit.consequences import Consequence
from codeplane.repo.edit.locks import PathLocks
from codeplane.repo.git.answered import MAX_REFS, GitDelta, Moved
from codeplane.repo.git.begun import Begun, Concluded, forget_since, kept_beginning, sign_of
from codeplane.repo.git.command import Git
from codeplane.repo.git.compared import Compared, Work, differing, file_deltas, plain_deltas
from codeplane.repo.git.contents import Contents, Difference, Entry
from codeplane.repo.git.described import described, moved_refs
from codeplane.repo.git.hooks import Hooks
from codeplane.repo.git.obstacles import Named, named_in_raw, named_in_tree, obstacles
from codeplane.repo.git.picture import Picture, pictured
from codeplane.repo.git.recovery import Recovery
from codeplane.repo.git.reversible import Reversible
from codeplane.repo.git.store import Store
from codeplane.repo.index.snapshot import Snapshot
from codeplane.repo.truth.paths import canonical, shown
from codeplane.repo.undo.kept import Kept
from codeplane.repo.undo.mutations import KeptMutations

T = TypeVar("T")
D = TypeVar("D")
_MAX_KEPT = 20_000
_WORK = "work"
_NO: tuple[None, str] = (None, "")
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
        self, *, git: Git, locks: PathLocks, consequences: Consequences, mutations: KeptMutations, clock: Clock
    ) -> None:
        self.git = git
        self.locks = locks
        self.consequences = consequences
        self.mutations = mutations
        self.clock = clock
        self.contents = Contents(git)
        self.recovery = Recovery(git, clock)
        self.hooks = Hooks(git, clock)
        self.store = Store(git.root)

    @asynccontextmanager
    async def writing(self, call: Call, what: str, *, calm: bool = False) -> AsyncIterator["Writing"]:
        """Have the work tree for oneself; with `calm`, only when git is in the middle of nothing."""
        async with self.locks.everything():
            before = await pictured(self.git)
            if calm:
                self.refuse_busy(before)
            await self.recovery.prune(before.recoveries)
            sign = await asyncio.to_thread(sign_of, self.git.folder, before.state)
            yield Writing(self, call, what, before, await self.consequences.before(), sign)

    @staticmethod
    def refuse_busy(picture: Picture) -> None:
        """GitBusy, with what to do, when git is in the middle of something."""
        if picture.state != "none":
            raise GitBusy(
                f"a {picture.state} is under way", hint=f"finish it first: {_FINISH[picture.state]}; see git_status"
            )
        if picture.conflicts:
            named = ", ".join(one.path for one in picture.conflicts[:5])
            raise GitBusy(
                f"{len(picture.conflicts)} files are in conflict: {named}",
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


class Writing:
    """A mutation under way."""

    def __init__(
        self, writer: Writer, call: Call, what: str, before: Picture, snapshot: Snapshot | None, sign: str
    ) -> None:
        self.before = before
        self.after: Picture | None = None
        self.mutation_id = new_id("mut")
        self._writer = writer
        self._call = call
        self._what = what
        self._snapshot = snapshot
        self._sign = sign
        self._reached: dict[str, Entry] | None = None
        self._hidden: frozenset[str] = frozenset()
        self._files: set[str] = set()
        self._links: set[str] = set()
        self._differ: dict[tuple[str | None, str], frozenset[str]] = {}
        self._recovery: str | None = None
        self._lost: dict[str, Entry] = {}
        self._left: list[str] = []
        self._tags: list[str] = []
        self._replaced = False

    async def reaches(self, paths: Iterable[str], *, hidden: Iterable[str] = (), named: Named | None = None) -> None:
        """Say which files it may write: each must be allowed, and is kept with all that lies in its way.

        In `hidden` there are edits that git does not look for; `named` are further ones, told from submodules.
        """
        self._hidden = frozenset(hidden)
        if named is not None:
            self._files |= named.files
            self._links |= named.links
        further = named.paths if named is not None else ()
        wanted = {path for path in (*paths, *self._hidden, *further) if not path.endswith("/")}
        # Git leaves submodules alone, unless a file is to come in their place.
        left = (self._links | named_in_tree([os.fsdecode(line) for line in self.before.index]).links) - self._files
        found = await asyncio.to_thread(obstacles, self._writer.git.root, sorted(wanted - left))
        found.refuse_repositories()
        wanted |= found.files
        for path in sorted(wanted):
            self._call.may_write(path)
        self._reached = await self._writer.contents.taken(wanted)

    async def reaches_between(self, *ranges: tuple[str | None, str]) -> None:
        """Say that it may write whatever differs between these pairs of commits."""
        paths: set[str] = set()
        for old, new in ranges:
            paths |= await self._differing(old, new)
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
        reached = self._reached or {}
        tracked = self.before.entries() if reached else {}
        # Git refuses to overwrite what it does not track, but never what it ignores.
        ignored = {path for path, entry in reached.items() if entry and path not in tracked} - self.before.dirty
        work_in = (self.before.dirty | self._hidden if only is None else set(only)) if work else frozenset[str]()
        self._lost = {path: entry for path, entry in reached.items() if path in work_in or path in ignored}
        self._left, self._tags = list(commits), list(tags)
        self._replaced = replaced or self._what in _REPLACING
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

    async def finished(
        self,
        *,
        undoable: bool = True,
        compared: Compared | None = None,
        undoes: tuple[str, ...] = _LOCAL,
        since: str | None = None,
    ) -> GitDelta:
        """The answer; `undoes` are the kinds of refs that an undo moves back, `since` where the branch was before it
        all began. Git has done its deed by now: what cannot be found out is said, and is no failure."""
        writer, before = self._writer, self.before
        after = await self._known(pictured(writer.git), "how the repository stands is", None)
        if after is None:
            return self._tell(await self._barely(since), None)
        self.after = after
        start = since if since is not None and after.state == "none" else before.head
        work = await self._known(self._work(after), "which files it changed is", None)
        mutation_id, note = await self._known(
            self._undoable(after, work, undoes, start) if undoable else self._ended(after), "whether undo works is", _NO
        )
        recovery = await self._known(self._recovered(work), "whether work was lost is", self._recovery)
        unknown: tuple[Compared, list[Difference]] = (compared or "worktree", [])
        looked, differences = await self._known(
            differing(writer.contents, before, after, work or {}, wanted=compared, start=start), "delta", unknown
        )
        paths = None if work is None else sorted(path for path, (old, new) in work.items() if old != new)
        hooks = await self._known(writer.hooks.exist(), "whether hooks ran is", True)
        consequence = await self._known(
            writer.consequences.of(self._snapshot, None if hooks else paths), "what it means is", Consequence()
        )
        for warning in consequence.warnings:
            self._call.warn(warning)
        files = await self._known(
            file_deltas(writer.contents, differences), "hashes of files are", plain_deltas(differences)
        )
        moved = [
            Moved(ref=shown(ref), before=before.refs.get(ref), after=after.refs.get(ref))
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

    async def _known(self, asked: Awaitable[T], what: str, otherwise: D) -> T | D:
        try:
            return await asked
        except Exception as error:  # whatever it was, the deed is done, and to say otherwise would be wrong
            said = error.message if isinstance(error, CodePlaneError) else f"{type(error).__name__}: {error}"
            self._call.warn(f"it is done, but {what} not known: {said}; see git_status")
            return otherwise

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

    async def _differing(self, old: str | None, new: str) -> frozenset[str]:
        git = self._writer.git
        if (old, new) not in self._differ:
            if old is None:
                named = named_in_tree((await git.run("ls-tree", "-r", "-z", "--full-tree", new)).fields)
            else:
                done = await git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new, "--")
                named = named_in_raw(done.fields)
            self._links |= named.links
            self._files |= named.files
            self._differ[old, new] = named.paths
        return self._differ[old, new]

    async def _work(self, after: Picture) -> Work:
        """The files it may have written, before and after; also those nobody expected, such as renamed folders."""
        if self._reached is None:
            return {}
        before = self.before
        late = set(after.dirty)
        if before.head != after.head and after.head is not None:
            late |= await self._differing(before.head, after.head)
        late = {path for path in late - self._reached.keys() - before.dirty if not path.endswith("/")}
        entries = before.entries() if late else {}
        old = self._reached | {path: entries.get(path) for path in late}
        new = await self._writer.contents.taken(old)
        return {path: (old[path], new[path]) for path in old}

    async def _recovered(self, work: Work | None) -> str | None:
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

    async def _undoable(
        self, after: Picture, work: Work | None, undoes: tuple[str, ...], start: str | None
    ) -> tuple[str | None, str]:
        """The id that undo takes, and what there is to say of it."""
        before = self.before
        if before.state not in ("none", after.state):
            return await self._concluded(after, undoes, start)
        if work is None:
            return None, "cannot be undone by undo"
        changed = {path: sides for path, sides in work.items() if sides[0] != sides[1]}
        reversible = Reversible.between(before, after, changed, undoes)
        begun = Begun.now(self._writer.git.folder, before, after, self._reached or {})
        return await self._kept(after, reversible, begun), ""

    async def _concluded(self, after: Picture, undoes: tuple[str, ...], start: str | None) -> tuple[str | None, str]:
        """Of what ended a merge, rebase or pick that had stopped, the whole is undone."""
        writer, state = self._writer, self.before.state
        beginning = await asyncio.to_thread(kept_beginning, writer.mutations, self._sign) if self._sign else None
        whole = None
        if beginning is not None and after.state == "none":
            concluded = Concluded(writer.git, writer.contents)
            whole = await self._known(
                concluded.reversible(beginning, self.before, after, undoes), f"how the {state} began is", None
            )
        await self._ended(after)
        if whole is not None:
            mutation_id = await self._kept(after, whole, None)
            return mutation_id, f"undo goes back to before the {state}" if mutation_id else ""
        if start is None or start == after.head:
            return None, ""
        note = f"cannot be undone by undo; before it: {start}"
        if await writer.recovery.unreached([start]):
            ref = await writer.recovery.keep(self.mutation_id, name="head", what=self._what, files={}, commits=[start])
            note += f" (kept in {ref})"
        return None, note

    async def _ended(self, after: Picture) -> tuple[str | None, str]:
        """Once a merge, rebase or pick has ended, what was done in the middle of it cannot be undone by itself."""
        state, mutations = self.before.state, self._writer.mutations
        if self._sign and after.state == "none":
            beginning = await asyncio.to_thread(kept_beginning, mutations, self._sign)
            if beginning is not None:
                await asyncio.to_thread(forget_since, mutations, beginning, state)
        return _NO

    async def _kept(self, after: Picture, reversible: Reversible, begun: Begun | None) -> str | None:
        if len(reversible.before.files) > _MAX_KEPT:
            self._call.warn(f"it changed {len(reversible.before.files)} files, too many to undo at once")
            return None
        if reversible.is_nothing:
            return None
        subject = await asyncio.to_thread(self._writer.store.subject, after.head) if after.head else None
        kept = Kept(
            mutation_id=self.mutation_id,
            kind="git",
            what=described(self._what, self.before, after, subject),
            at_ns=self._writer.clock.now_ns(),
            session_id=self._call.task.session_id if self._call.task else None,
            state="applied",
            paths=tuple(sorted(reversible.before.files)),
            details=reversible.to_json() | ({"begun": begun.to_json()} if begun is not None else {}),
        )
        try:
            await asyncio.to_thread(self._add, kept)
        except OSError as error:
            self._call.warn(f"it cannot be undone, since that could not be kept: {error.strerror}")
            return None
        return self.mutation_id

    def _add(self, kept: Kept) -> None:
        self._writer.mutations.prune()
        self._writer.mutations.add(kept)

    def _tell(self, delta: GitDelta, after: Picture | None) -> GitDelta:
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
