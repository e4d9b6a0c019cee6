"""Undo and redo of git mutations, while nothing has changed since."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from codeplane.edit.delta import Delta
from codeplane.edit.history.file_versions import MAX_SIDE
from codeplane.edit.history.mutation_record import FileVersions, MutationRecord
from codeplane.git.safety.recovery_refs import PREFIX
from codeplane.git.write.added_worktree import AddedWorktree
from codeplane.git.write.file_changes import file_deltas
from codeplane.git.write.git_delta import MAX_REFS
from codeplane.git.write.git_snapshot import GitSnapshot, take_snapshot
from codeplane.git.write.mutation_title import describe_moves
from codeplane.git.write.reversible_change import ReversibleChange, Side, entries_at
from codeplane.git.write.worktree_places import BESIDE
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import shown
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CannotUndo

_QUIT = {"merge": "merge", "cherrypick": "cherry-pick", "revert": "revert", "rebase": "rebase"}
_NAMED = 5
_FILE, _PROGRAM = 0o644, 0o755
_LINK = "120000"


class GitReversal:
    """Move head, refs, index and files to the other side of a mutation, and nothing else."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git

    async def undo(self, call: Call, record: MutationRecord) -> Delta:
        """Restore everything as it was before."""
        change = _read_change(record)
        return await self._cross(call, record, change, change.after, change.before, "undo")

    async def redo(self, call: Call, record: MutationRecord) -> Delta:
        """Do it again after an undo."""
        change = _read_change(record)
        if change.after.state != change.before.state:
            what = record.what.partition(" ")[0]
            raise CannotUndo(
                f"{what} stopped in the middle of a {change.after.state}, which cannot be had again",
                hint=f"call git_{what} anew",
            )
        return await self._cross(call, record, change, change.before, change.after, "redo")

    async def file_versions(self, record: MutationRecord, paths: Sequence[str]) -> list[FileVersions]:
        """Read some of its files before and after it, from git's objects."""
        change = _read_change(record)
        wanted = {path: (change.before.files.get(path), change.after.files.get(path)) for path in paths}
        oids = {entry.split(" ")[1] for both in wanted.values() for entry in both if entry is not None}
        contents = await self._writer.contents.small(oids, most=MAX_SIDE)
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

    async def _cross(
        self, call: Call, record: MutationRecord, change: ReversibleChange, start: Side, goal: Side, verb: str
    ) -> Delta:
        writer = self._writer
        for path in goal.files:
            call.may_write(path)
        async with writer.locks.hold_all():
            writer.undo_parts.pending.refuse_while_running()
            now = await take_snapshot(self._git)
            files = await writer.contents.capture(start.files, write=False)
            marker = f"{PREFIX}{record.mutation_id}/{verb}-begun"
            # After a crash or a lock in the way, each part may be on either side.
            allowed = (start, goal) if marker in now.recoveries else (start,)
            changes = _describe_changes(now, allowed, change, files)
            added = AddedWorktree.of(record)
            if added is not None and (changed := await added.describe_changes(self._git, there=verb == "undo")):
                changes.append(changed)
            if changes:
                raise CannotUndo(f"{verb} of {record.what}: {'; '.join(changes)}; nothing was changed")
            call.change_begins()
            await self._note(call, record, verb, done=False)
            old = await writer.contents.tree(start.files)
            commits, tags = await self._objects(start)
            await writer.recovery.keep(record.mutation_id, name=verb, what=verb, files=old, commits=commits, tags=tags)
            await self._git.run("update-ref", marker, f"{PREFIX}{record.mutation_id}/{verb}")
            differences = await writer.contents.changes(start.files, goal.files)
            await writer.contents.restore({path: entry for path, entry in goal.files.items() if entry != files[path]})
            if added is not None and verb == "undo":
                await added.remove(self._git)
            await self._quit(now, goal)
            await self._restore_index(change, goal)
            await self._restore_refs(now, goal, f"codeplane: {verb} of {record.what}")
            await self._restore_stashes(now, goal)
            await self._restore_settings(change.branches, goal)
            if added is not None and verb == "redo":
                await writer.permission.admit_tree(call, added.head, prefix=_prefix(self._git.root, added.path))
                await added.add(self._git)
            await self._git.run("update-index", "-q", "--refresh", check=False)
            await self._git.run("update-ref", "-d", marker)
            call.change_ended(done=True, mutation_id=record.mutation_id)
            await self._note(call, record, verb, done=True)
            deltas = await file_deltas(writer.contents, differences)
        return Delta(
            mutation_id=record.mutation_id,
            files_changed=len(differences),
            insertions=sum(difference.insertions for difference in differences),
            deletions=sum(difference.deletions for difference in differences),
            files=deltas,
            head_before=now.head,
            head=goal.head,
            branch=shown(goal.symbolic.removeprefix("refs/heads/")) if goal.symbolic else None,
            refs=(*_describe_result(now, change, goal), *_describe_worktree(added, verb)),
        )

    async def _note(self, call: Call, record: MutationRecord, verb: str, *, done: bool) -> None:
        pending = self._writer.undo_parts.pending
        await asyncio.to_thread(pending.note, call.call_id, what=verb, mutation_id=record.mutation_id, done=done)

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
    return (f"work tree {shown(str(added.path))} {'removed' if verb == 'undo' else 'added'}",)


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
        lines.append(f"index: {', '.join(map(shown, paths[:_NAMED]))}{more}")
    return tuple(lines[:MAX_REFS])


def _describe_sides(start: Side, goal: Side, change: ReversibleChange) -> tuple[str, ...]:
    """Describe what differs between two sides besides files, with full ids for the person who approves it."""
    lines = []
    if start.symbolic != goal.symbolic:
        lines.append(f"HEAD {shown(start.symbolic or 'no branch')} → {shown(goal.symbolic or 'no branch')}")
    if start.head != goal.head:
        lines.append(f"HEAD {start.head or 'no commit'} → {goal.head or 'no commit'}")
    lines += [f"{shown(ref)} {start.refs[ref] or 'none'} → {oid or 'none'}" for ref, oid in goal.refs.items()]
    if goal.stashes is not None:
        lines.append(f"stashes {len(start.stashes or ())} → {len(goal.stashes)}")
    if start.state != goal.state:
        lines.append(f"{start.state} → {goal.state}")
    lines += [f"settings of branch {shown(branch)}" for branch in change.branches]
    if paths := sorted(change.index_paths):
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        lines.append(f"index: {', '.join(map(shown, paths[:_NAMED]))}{more}")
    left = len(lines) - MAX_REFS
    return (*lines[:MAX_REFS], *([f"and {left} more"] if left > 0 else []))


def _read_change(record: MutationRecord) -> ReversibleChange:
    try:
        return ReversibleChange.of_json(record.details)
    except (KeyError, TypeError, ValueError) as error:
        raise CannotUndo(f"{record.mutation_id} was kept in a form that is no longer known") from error


def _describe_changes(
    now: GitSnapshot, sides: tuple[Side, ...], change: ReversibleChange, files: dict[str, str | None]
) -> list[str]:
    """Describe what equals none of the sides, in words."""
    changes = []
    if now.state not in {side.state for side in sides}:
        changes.append(f"a {now.state} is under way" if now.state != "none" else f"the {sides[0].state} has ended")
    if now.symbolic not in {side.symbolic for side in sides}:
        changes.append(f"HEAD is on {shown(now.branch) if now.branch else 'no branch'} now")
    elif now.head not in {side.head for side in sides}:
        changes.append(f"HEAD moved to {(now.head or 'nothing')[:9]}")
    for ref in sides[0].refs:
        if now.refs.get(ref) not in {side.refs[ref] for side in sides} and ref != now.symbolic:
            changes.append(f"{shown(ref)} moved")
    # Stashes are restored one by one, so after a crash any of them may be missing.
    if len(sides) == 1 and sides[0].stashes is not None and now.stashes != sides[0].stashes:
        changes.append("the stashes changed")
    if entries_at(now, change.index_paths) not in {side.index for side in sides}:
        changes.append("the index changed")
    edited = sorted(shown(path) for path, entry in files.items() if entry not in {side.files[path] for side in sides})
    if edited:
        more = f" and {len(edited) - _NAMED} more" if len(edited) > _NAMED else ""
        changes.append(f"changed since: {', '.join(edited[:_NAMED])}{more}")
    return changes
