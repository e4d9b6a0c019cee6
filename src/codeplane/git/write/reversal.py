"""Undo and redo of git mutations, while nothing has changed since."""

import asyncio
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeplane.edit.delta import Delta
from codeplane.edit.history.file_versions import MAX_SIDE
from codeplane.edit.history.mutation_record import FileVersions, MutationRecord, State
from codeplane.git.safety.command import INHERITED_DESCRIPTORS
from codeplane.git.safety.contents import Entry
from codeplane.git.safety.recovery_refs import PREFIX
from codeplane.git.write.added_worktree import AddedWorktree
from codeplane.git.write.file_changes import file_deltas
from codeplane.git.write.git_delta import MAX_REFS
from codeplane.git.write.git_snapshot import GitSnapshot, take_snapshot
from codeplane.git.write.mutation import run_to_end
from codeplane.git.write.mutation_title import describe_moves
from codeplane.git.write.pending_reversals import StartedReversal, Verb
from codeplane.git.write.reversible_change import ReversibleChange, Side, entries_at
from codeplane.git.write.worktree_places import BESIDE
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CannotUndo

_QUIT = {"merge": "merge", "cherrypick": "cherry-pick", "revert": "revert", "rebase": "rebase"}
_NAMED = 5
_FILE, _PROGRAM = 0o644, 0o755
_LINK = "120000"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crossing:
    """The way from one side of a mutation to the other."""

    record: MutationRecord
    verb: Verb
    change: ReversibleChange
    start: Side
    goal: Side
    added: AddedWorktree | None

    @classmethod
    def of(cls, record: MutationRecord, verb: Verb) -> "_Crossing":
        change = _read_change(record)
        start, goal = (change.after, change.before) if verb == "undo" else (change.before, change.after)
        added = AddedWorktree.of(record)
        return cls(record=record, verb=verb, change=change, start=start, goal=goal, added=added)

    @property
    def marker(self) -> str:
        """The ref that exists from before the first change until after the last."""
        return f"{PREFIX}{self.record.mutation_id}/{self.verb}-begun"

    @property
    def state(self) -> State:
        """The state of the mutation on the other side."""
        return "undone" if self.verb == "undo" else "applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What is found before a crossing: changes that forbid it, the files, and whether the added work tree exists."""

    changes: tuple[str, ...]
    files: Mapping[str, Entry]
    is_worktree_there: bool


class GitReversal:
    """Move head, refs, index and files to the other side of a mutation, and nothing else."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git

    async def undo(self, call: Call, record: MutationRecord) -> Delta:
        """Restore everything as it was before."""
        return await self._cross(call, _Crossing.of(record, "undo"))

    async def redo(self, call: Call, record: MutationRecord) -> Delta:
        """Do it again after an undo."""
        change = _read_change(record)
        if change.after.state != change.before.state:
            what = record.what.partition(" ")[0]
            raise CannotUndo(
                f"{what} stopped in the middle of a {change.after.state}, which cannot be had again",
                hint=f"call git_{what} again",
            )
        return await self._cross(call, _Crossing.of(record, "redo"))

    async def file_versions(self, record: MutationRecord, paths: Sequence[str]) -> list[FileVersions]:
        """Read some of its files before and after it, from git's objects."""
        change = _read_change(record)
        wanted = {path: (change.before.files.get(path), change.after.files.get(path)) for path in paths}
        oids = {entry.split(" ")[1] for both in wanted.values() for entry in both if entry is not None}
        contents = await self._writer.contents.read_small(oids, most=MAX_SIDE)
        missing = "git does not have one of its sides any more, or it is too large to show"

        def versions(path: str, before: str | None, after: str | None) -> FileVersions:
            old, new = (contents.get(entry.split(" ")[1]) if entry else None for entry in (before, after))
            lost = (before is not None and old is None) or (after is not None and new is None)
            return FileVersions(
                path=path,
                before=old,
                after=new,
                was_there=before is not None,
                is_there=after is not None,
                note=missing if lost else "",
            )

        return [versions(path, *both) for path, both in wanted.items()]

    def other_changes(self, record: MutationRecord) -> tuple[str, ...]:
        """Describe how head, refs, stashes and the state move."""
        change = _read_change(record)
        start, goal = (change.after, change.before) if record.state == "applied" else (change.before, change.after)
        lines = _describe_worktree(AddedWorktree.of(record), "undo" if record.state == "applied" else "redo")
        return (*_describe_sides(start, goal, change), *lines)

    async def complete(self, record: MutationRecord, verb: Verb) -> bool:
        """Finish an undo or redo that the last run began; return whether it had changed anything.

        Raises CannotUndo, changing nothing, when something is on neither side by now.
        """
        crossing = _Crossing.of(record, verb)
        now = await take_snapshot(self._git)
        if crossing.marker not in now.recoveries:
            return False
        await asyncio.to_thread(self._writer.contents.remove_parts, crossing.goal.files)
        found = await self._look(crossing, now)
        if found.changes:
            raise CannotUndo("; ".join(found.changes))
        await self._move(crossing, now, found)
        await self._forget_marker(crossing)
        return True

    async def _cross(self, call: Call, crossing: "_Crossing") -> Delta:
        writer, record, verb, goal = self._writer, crossing.record, crossing.verb, crossing.goal
        for path in goal.files:
            call.may_write(path)
        async with writer.locks.hold_all():
            pending, added = writer.undo_parts.pending, crossing.added
            pending.refuse_while_running()
            now = await take_snapshot(self._git)
            found = await self._look(crossing, now)
            if found.changes:
                raise CannotUndo(f"{verb} of {record.what}: {'; '.join(found.changes)}; nothing was changed")
            if added is not None and verb == "redo":
                await writer.permission.admit_tree(call, added.head, prefix=_prefix(self._git.root, added.path))
            started = StartedReversal(mutation_id=record.mutation_id, verb=verb, call_id=call.call_id)
            token = INHERITED_DESCRIPTORS.set(())
            try:
                await run_to_end(self._begin(started))
                INHERITED_DESCRIPTORS.set(pending.reversals.inherited_descriptors(record.mutation_id))
                call.change_begins()
                await self._keep(crossing)
                differences = await writer.contents.changes(crossing.start.files, goal.files)
                await self._move(crossing, now, found)
                await self._forget_marker(crossing)
                call.change_ended(done=True, mutation_id=record.mutation_id)
            finally:
                INHERITED_DESCRIPTORS.reset(token)
                await run_to_end(self._end(started, done=call.change == "done"))
            deltas = await file_deltas(writer.contents, differences)
        return Delta(
            mutation_id=record.mutation_id,
            files_changed=len(differences),
            insertions=sum(difference.insertions for difference in differences),
            deletions=sum(difference.deletions for difference in differences),
            files=deltas,
            head_before=now.head,
            head=goal.head,
            branch=path_text(goal.symbolic.removeprefix("refs/heads/")) if goal.symbolic else None,
            refs=(*_describe_result(now, crossing.change, goal), *_describe_worktree(added, verb)),
        )

    async def _keep(self, crossing: "_Crossing") -> None:
        """Keep the side that is left, and mark that the crossing has started."""
        writer, start, verb = self._writer, crossing.start, crossing.verb
        old = await writer.contents.tree(start.files)
        commits, tags = await self._objects(start)
        ref = await writer.recovery.keep(
            crossing.record.mutation_id, name=verb, what=verb, files=old, commits=commits, tags=tags
        )
        await self._git.run("update-ref", crossing.marker, ref)

    async def _look(self, crossing: "_Crossing", now: GitSnapshot) -> "_Found":
        """Find what has changed since; when it was started before, each part may be on either side."""
        is_between, added = crossing.marker in now.recoveries, crossing.added
        files = await self._writer.contents.capture(crossing.start.files, write=False)
        allowed = (crossing.start, crossing.goal) if is_between else (crossing.start,)
        changes = _describe_changes(now, allowed, crossing.change, files)
        is_there = False
        if added is not None:
            is_there = await asyncio.to_thread(added.exists, self._git) if is_between else crossing.verb == "undo"
            if changed := await added.describe_changes(self._git, there=is_there):
                changes.append(changed)
        return _Found(changes=tuple(changes), files=files, is_worktree_there=is_there)

    async def _move(self, crossing: "_Crossing", now: GitSnapshot, found: "_Found") -> None:
        """Move everything that is not there yet to the other side."""
        writer, goal, added = self._writer, crossing.goal, crossing.added
        await writer.contents.restore({path: entry for path, entry in goal.files.items() if entry != found.files[path]})
        writer.undo_parts.pending.reversals.step("files restored")
        if added is not None and crossing.verb == "undo" and found.is_worktree_there:
            await added.remove(self._git)
        await self._quit(now, goal)
        await self._restore_index(crossing.change, goal)
        await self._restore_refs(now, goal, f"codeplane: {crossing.verb} of {crossing.record.what}")
        await self._restore_stashes(now, goal)
        await self._restore_settings(crossing.change.branches, goal)
        if added is not None and crossing.verb == "redo" and not found.is_worktree_there:
            await added.add(self._git)
        await self._git.run("update-index", "-q", "--refresh", check=False)

    async def _forget_marker(self, crossing: "_Crossing") -> None:
        """Record the new state, and after that drop the mark of the crossing."""
        mutations = self._writer.undo_parts.mutations
        await asyncio.to_thread(mutations.mark, crossing.record.mutation_id, crossing.state)
        await self._git.run("update-ref", "-d", crossing.marker)

    async def _begin(self, started: StartedReversal) -> None:
        try:
            await asyncio.to_thread(self._writer.undo_parts.pending.reversals.begin, started)
        except OSError as error:
            raise CannotUndo(f"its start cannot be recorded: {error.strerror}; nothing was changed") from error

    async def _end(self, started: StartedReversal, *, done: bool) -> None:
        pending = self._writer.undo_parts.pending
        verb, mutation_id = started.verb, started.mutation_id
        await asyncio.to_thread(pending.note, started.call_id, what=verb, mutation_id=mutation_id, done=done)
        await asyncio.to_thread(pending.reversals.end, mutation_id)

    async def _objects(self, side: Side) -> tuple[list[str], list[str]]:
        """Return the commits and annotated tags that only this side may reach."""
        named = [oid for oid in (side.head, *side.refs.values()) if oid is not None]
        named += [oid for oid, _ in side.stashes or ()]
        if not named:
            return [], []
        given = "".join(f"{oid}\n" for oid in dict.fromkeys(named)).encode()
        done = await self._git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", input=given)
        kinds = [line.split(" ") for line in done.line.splitlines()]
        commits = [oid for oid, kind in kinds if kind == "commit"]
        return commits, [oid for oid, kind in kinds if kind != "commit"]

    async def _quit(self, now: GitSnapshot, goal: Side) -> None:
        if now.state != goal.state:
            await self._git.run(_QUIT[now.state], "--quit")

    async def _restore_index(self, change: ReversibleChange, goal: Side) -> None:
        paths = sorted(change.index_paths)
        if not paths:
            return
        width = next(len(line.split(" ")[1]) for line in (*change.before.index, *change.after.index))
        removals = [f"0 {'0' * width}\t{path}" for path in paths]
        lines = "".join(f"{line}\0" for line in (*removals, *goal.index))
        await self._git.run("update-index", "-z", "--index-info", input=lines.encode("utf-8", "surrogateescape"))
        if goal.intended:
            await self._intend(goal)

    async def _intend(self, goal: Side) -> None:
        """Mark files with `git add --intent-to-add`.

        Git needs files for that: empty ones of the same kind, since those in the work tree may have changed or be gone.
        """
        modes = {path: facts.split(" ")[0] for facts, _, path in (line.partition("\t") for line in goal.index)}
        with tempfile.TemporaryDirectory(prefix="codeplane-") as place:
            for path in goal.intended:
                _create_empty(Path(place) / path, modes.get(path, ""))
            env = {"GIT_DIR": str(self._git.folder), "GIT_WORK_TREE": place}
            await self._git.run("rm", "--cached", "--quiet", "--force", "--", *goal.intended)
            await self._git.run("-C", place, "add", "--intent-to-add", "--force", "--", *goal.intended, env=env)

    async def _restore_refs(self, now: GitSnapshot, goal: Side, why: str) -> None:
        moving = {ref: oid for ref, oid in goal.refs.items() if now.refs.get(ref) != oid}
        deletions = [f"delete {ref} {now.refs[ref]}" for ref, oid in moving.items() if oid is None]
        updates = [f"create {ref} {oid}" for ref, oid in moving.items() if oid and ref not in now.refs]
        updates += [f"update {ref} {oid} {now.refs[ref]}" for ref, oid in moving.items() if oid and ref in now.refs]
        # Git cannot delete a name and create another below it in one transaction.
        for lines in (deletions, updates):
            if lines:
                given = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
                await self._git.run("update-ref", "-m", why, "--stdin", input=given)
        if goal.symbolic is not None:
            if goal.symbolic != now.symbolic:
                await self._git.run("symbolic-ref", "-m", why, "HEAD", goal.symbolic)
        elif goal.head is not None and (now.symbolic is not None or now.head != goal.head):
            await self._git.run("update-ref", "--no-deref", "-m", why, "HEAD", goal.head)

    async def _restore_stashes(self, now: GitSnapshot, goal: Side) -> None:
        if goal.stashes is None or goal.stashes == now.stashes:
            return
        if goal.stashes == now.stashes[1:]:
            await self._git.run("stash", "drop", "--quiet", "stash@{0}", literal=False)
            return
        stored = goal.stashes
        if goal.stashes[1:] == now.stashes:
            stored = goal.stashes[:1]
        elif now.stashes:
            await self._git.run("stash", "clear", literal=False)
        for oid, message in reversed(stored):
            await self._git.run("stash", "store", "--quiet", "--message", message, oid, literal=False)

    async def _restore_settings(self, branches: tuple[str, ...], goal: Side) -> None:
        for branch in branches:
            await self._git.run("config", "--local", "--remove-section", f"branch.{branch}", check=False)
        for key, value in goal.settings:
            await self._git.run("config", "--local", "--add", key, value)


def _describe_worktree(added: AddedWorktree | None, verb: str) -> tuple[str, ...]:
    if added is None:
        return ()
    return (f"work tree {path_text(str(added.path))} {'removed' if verb == 'undo' else 'added'}",)


def _prefix(root: Path, place: Path) -> str:
    return f"{place.relative_to(root)}/" if root in place.parents else f"{BESIDE}/{place.name}/"


def _create_empty(path: Path, mode: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == _LINK:
        path.symlink_to("nothing")
    else:
        path.touch(_PROGRAM if mode == f"100{_PROGRAM:o}" else _FILE)


def _describe_result(now: GitSnapshot, change: ReversibleChange, goal: Side) -> tuple[str, ...]:
    """Describe what moves besides files, one line each."""
    lines = describe_moves(now, goal.symbolic, goal.head, goal.refs.items())
    if goal.stashes is not None and goal.stashes != now.stashes:
        lines.append(f"stashes {len(now.stashes)} → {len(goal.stashes)}")
    if now.state != goal.state:
        lines.append(f"the {now.state} is given up")
    only_index = not change.before.files and change.before.head == change.after.head
    if (paths := sorted(change.index_paths)) and only_index:
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        lines.append(f"index: {', '.join(map(path_text, paths[:_NAMED]))}{more}")
    return tuple(lines[:MAX_REFS])


def _describe_sides(start: Side, goal: Side, change: ReversibleChange) -> tuple[str, ...]:
    """Describe what differs between two sides besides files, with full ids for the person who approves it."""
    lines = []
    if start.symbolic != goal.symbolic:
        lines.append(f"HEAD {path_text(start.symbolic or 'no branch')} → {path_text(goal.symbolic or 'no branch')}")
    if start.head != goal.head:
        lines.append(f"HEAD {start.head or 'no commit'} → {goal.head or 'no commit'}")
    lines += [f"{path_text(ref)} {start.refs[ref] or 'none'} → {oid or 'none'}" for ref, oid in goal.refs.items()]
    if goal.stashes is not None:
        lines.append(f"stashes {len(start.stashes or ())} → {len(goal.stashes)}")
    if start.state != goal.state:
        lines.append(f"{start.state} → {goal.state}")
    lines += [f"settings of branch {path_text(branch)}" for branch in change.branches]
    if paths := sorted(change.index_paths):
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        lines.append(f"index: {', '.join(map(path_text, paths[:_NAMED]))}{more}")
    left = len(lines) - MAX_REFS
    return (*lines[:MAX_REFS], *([f"and {left} more"] if left > 0 else []))


def _read_change(record: MutationRecord) -> ReversibleChange:
    try:
        return ReversibleChange.of_json(record.details)
    except (KeyError, TypeError, ValueError) as error:
        raise CannotUndo(f"{record.mutation_id} was kept in a form that is no longer known") from error


def _describe_changes(
    now: GitSnapshot, sides: tuple[Side, ...], change: ReversibleChange, files: Mapping[str, Entry]
) -> list[str]:
    """Describe what equals none of the sides, in words; between two sides, each part may be on either."""
    changes, is_between = [], len(sides) > 1
    if now.state not in {side.state for side in sides}:
        changes.append(f"a {now.state} is under way" if now.state != "none" else f"the {sides[0].state} has ended")
    # Between the sides HEAD may name a branch that is deleted already or not created yet.
    moves_with_branch = is_between and now.symbolic in sides[0].refs
    if now.symbolic not in {side.symbolic for side in sides}:
        changes.append(f"HEAD is on {path_text(now.branch) if now.branch else 'no branch'} now")
    elif now.head not in {side.head for side in sides} and not moves_with_branch:
        changes.append(f"HEAD moved to {(now.head or 'nothing')[:9]}")
    for ref in sides[0].refs:
        if now.refs.get(ref) not in {side.refs[ref] for side in sides} and (moves_with_branch or ref != now.symbolic):
            changes.append(f"{path_text(ref)} moved")
    # Stashes are restored one by one, so after a crash any of them may be missing.
    if not is_between and sides[0].stashes is not None and now.stashes != sides[0].stashes:
        changes.append("the stashes changed")
    if _is_index_elsewhere(entries_at(now, change.index_paths), [side.index for side in sides]):
        changes.append("the index changed")
    edited = sorted(
        path_text(path) for path, entry in files.items() if entry not in {side.files[path] for side in sides}
    )
    if edited:
        more = f" and {len(edited) - _NAMED} more" if len(edited) > _NAMED else ""
        changes.append(f"changed since: {', '.join(edited[:_NAMED])}{more}")
    return changes


def _is_index_elsewhere(now: tuple[str, ...], sides: Sequence[tuple[str, ...]]) -> bool:
    """Whether the index is on no side; between two sides, entries of each path may be on either, or removed."""
    if now in sides:
        return False
    allowed = [_by_path(side) for side in sides]
    return len(sides) == 1 or any(
        lines not in [side.get(path) for side in allowed] for path, lines in _by_path(now).items()
    )


def _by_path(lines: Iterable[str]) -> dict[str, list[str]]:
    by_path: dict[str, list[str]] = {}
    for line in lines:
        by_path.setdefault(line.partition("\t")[2], []).append(line)
    return by_path
