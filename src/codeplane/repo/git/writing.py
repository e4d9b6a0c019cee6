"""One git mutation from its beginning to its answer: alone in the work tree, told in full, and kept for undo."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Literal, Protocol

from codeplane.kernel.call import Call, Effects
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import GitBusy
from codeplane.kernel.ids import digest, new_id
from codeplane.repo.edit.consequences import Consequence
from codeplane.repo.edit.delta import DiffStats, FileDelta
from codeplane.repo.edit.locks import PathLocks
from codeplane.repo.git.answered import MAX_FILES, MAX_REFS, GitDelta, Moved
from codeplane.repo.git.command import Git
from codeplane.repo.git.contents import Contents, Difference, Entry
from codeplane.repo.git.hooks import has_hooks
from codeplane.repo.git.picture import Picture, pictured
from codeplane.repo.git.recovery import Recovery
from codeplane.repo.git.reversible import Reversible
from codeplane.repo.index.snapshot import Snapshot
from codeplane.repo.truth.paths import canonical, shown
from codeplane.repo.undo.kept import Kept
from codeplane.repo.undo.mutations import KeptMutations

Compared = Literal["worktree", "commits", "index"]
_MAX_KEPT = 20_000
_LOCAL = ("refs/heads/", "refs/tags/")
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

    @asynccontextmanager
    async def writing(self, call: Call, what: str, *, calm: bool = False) -> AsyncIterator["Writing"]:
        """Have the work tree for oneself; with `calm`, only when git is in the middle of nothing."""
        async with self.locks.everything():
            before = await pictured(self.git)
            if calm:
                self.refuse_busy(before)
            await self.recovery.prune(before.recoveries)
            yield Writing(self, call, what, before, await self.consequences.before())

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

    def __init__(self, writer: Writer, call: Call, what: str, before: Picture, snapshot: Snapshot | None) -> None:
        self.before = before
        self.mutation_id = new_id("mut")
        self._writer = writer
        self._call = call
        self._what = what
        self._snapshot = snapshot
        self._reached: dict[str, Entry] | None = None
        self._recovery: str | None = None

    async def reaches(self, paths: Iterable[str]) -> None:
        """Say which files it may write: each must be allowed, and is kept as it lies there."""
        wanted = {path for path in paths if not path.endswith("/")}
        for path in sorted(wanted):
            self._call.may_write(path)
        self._reached = await self._writer.contents.taken(wanted)

    async def reaches_between(self, *ranges: tuple[str | None, str]) -> None:
        """Say that it may write whatever differs between these pairs of commits."""
        paths: set[str] = set()
        for old, new in ranges:
            paths |= await self._differing(old, new)
        await self.reaches(paths)

    async def loses(self, *, commits: Iterable[str] = (), tags: Iterable[str] = (), work: bool = True) -> None:
        """Keep, under a recovery ref, commits that nothing may reach afterwards, and work that no commit has."""
        ignored = {path for path, entry in (self._reached or {}).items() if entry and self.before.entry(path) is None}
        lost = {path: entry for path, entry in (self._reached or {}).items() if path in self.before.dirty | ignored}
        kept = list(commits)
        if kept or tags or (work and any(lost.values())):
            head = [self.before.head] if self.before.head else []
            self._recovery = await self._writer.recovery.keep(
                self.mutation_id, name="work", what=self._what, files=lost, commits=[*head, *kept], tags=tags
            )

    async def finished(
        self, *, undoable: bool = True, compared: Compared | None = None, undoes: tuple[str, ...] = _LOCAL
    ) -> GitDelta:
        """The answer; `undoes` are the kinds of refs that an undo moves back."""
        writer, before = self._writer, self.before
        after = await pictured(writer.git)
        work = await self._work(after)
        looked, differences = await self._compared(after, work, compared)
        paths = [path for path, (old, new) in work.items() if old != new]
        consequence = await writer.consequences.of(
            self._snapshot, None if await has_hooks(writer.git) else sorted(paths)
        )
        for warning in consequence.warnings:
            self._call.warn(warning)
        mutation_id = await asyncio.to_thread(self._kept, after, work, undoes) if undoable else None
        files = await self._files(differences)
        moved = [
            Moved(ref=shown(ref), before=before.refs.get(ref), after=after.refs.get(ref))
            for ref in sorted(before.refs.keys() | after.refs.keys())
            if before.refs.get(ref) != after.refs.get(ref)
        ]
        delta = GitDelta(
            head_before=before.head,
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
            recovery=self._recovery,
        )
        self._tell(delta)
        return delta

    async def _differing(self, old: str | None, new: str) -> set[str]:
        git = self._writer.git
        if old is None:
            return set((await git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", new)).fields)
        return set((await git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new, "--")).fields)

    async def _work(self, after: Picture) -> dict[str, tuple[Entry, Entry]]:
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

    async def _compared(
        self, after: Picture, work: dict[str, tuple[Entry, Entry]], compared: Compared | None
    ) -> tuple[Compared, list[Difference]]:
        contents, before = self._writer.contents, self.before
        if compared in (None, "worktree"):
            changed = {path: sides for path, sides in work.items() if sides[0] != sides[1]}
            if changed:
                old = await contents.tree({path: sides[0] for path, sides in changed.items()})
                new = await contents.tree({path: sides[1] for path, sides in changed.items()})
                return "worktree", await contents.differences(old, new)
        if compared in (None, "commits") and before.head != after.head and after.head is not None:
            start = before.head or await contents.tree({})
            return "commits", await contents.differences(start, after.head)
        if compared in (None, "index") and before.index != after.index:
            were, are = before.entries(), after.entries()
            names = {path for path in were.keys() | are.keys() if were.get(path) != are.get(path)}
            old = await contents.tree({path: were.get(path) for path in names})
            new = await contents.tree({path: are.get(path) for path in names})
            return "index", await contents.differences(old, new)
        return compared or "worktree", []

    async def _files(self, differences: list[Difference]) -> tuple[FileDelta, ...]:
        some = differences[:MAX_FILES]
        hashes = await self._writer.contents.hashes(
            oid for one in some for oid in (one.before, one.after) if oid is not None
        )
        return tuple(file_delta(one, hashes) for one in some)

    def _kept(self, after: Picture, work: dict[str, tuple[Entry, Entry]], undoes: tuple[str, ...]) -> str | None:
        changed = {path: sides for path, sides in work.items() if sides[0] != sides[1]}
        if len(changed) > _MAX_KEPT:
            self._call.warn(f"it changed {len(changed)} files, too many to undo at once")
            return None
        if self.before.state not in ("none", after.state):
            return None
        reversible = Reversible.between(self.before, after, changed, undoes)
        if reversible.is_nothing:
            return None
        kept = Kept(
            mutation_id=self.mutation_id,
            kind="git",
            what=self._what,
            at_ns=self._writer.clock.now_ns(),
            session_id=self._call.task.session_id if self._call.task else None,
            state="applied",
            paths=tuple(sorted(changed)),
            details=reversible.to_json(),
        )
        try:
            self._writer.mutations.prune()
            self._writer.mutations.add(kept)
        except OSError as error:
            # It is done by now: to say otherwise would be wrong.
            self._call.warn(f"it cannot be undone, since that could not be kept: {error.strerror}")
            return None
        return self.mutation_id

    def _tell(self, delta: GitDelta) -> None:
        lines = [f"{one.action} {one.path}" for one in delta.files]
        told = "\n".join(f"{one.path}\0{one.new_hash}" for one in delta.files)
        self._call.changed(
            Effects(
                changed_paths=tuple(one.path for one in delta.files),
                files_changed_hash=digest(told.encode()) if lines else "",
                insertions=delta.insertions,
                deletions=delta.deletions,
                short_diff=tuple(lines[:20]),
                symbol_changes=delta.affected_symbols,
            )
        )


def file_delta(one: Difference, hashes: dict[str, str]) -> FileDelta:
    """A difference as answers carry it."""
    action: Literal["created", "updated", "deleted"] = (
        "created" if one.before is None else "deleted" if one.after is None else "updated"
    )
    return FileDelta(
        path=shown(one.path),
        action=action,
        old_hash=hashes.get(one.before or ""),
        new_hash=hashes.get(one.after or ""),
        diff_stats=DiffStats(insertions=one.insertions, deletions=one.deletions),
    )
