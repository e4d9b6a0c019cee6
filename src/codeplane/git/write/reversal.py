"""Taking git mutations back, and doing them again, while things are as they left them."""

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
    """Moves head, refs, index and files to the other side of a mutation; what it did not touch stays."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git

    async def undo(self, call: Call, kept: MutationRecord) -> Delta:
        """Put everything back as it was before."""
        found = _reversible(kept)
        return await self._cross(call, kept, found, found.after, found.before, "undo")

    async def redo(self, call: Call, kept: MutationRecord) -> Delta:
        """Do it again after an undo."""
        found = _reversible(kept)
        if found.after.state != found.before.state:
            what = kept.what.partition(" ")[0]
            raise CannotUndo(
                f"{what} stopped in the middle of a {found.after.state}, which cannot be had again",
                hint=f"call git_{what} anew",
            )
        return await self._cross(call, kept, found, found.before, found.after, "redo")

    async def file_versions(self, kept: MutationRecord, paths: Sequence[str]) -> list[FileVersions]:
        """Some of its files as they were before it, and as it left them; git's store has both."""
        found = _reversible(kept)
        wanted = {path: (found.before.files.get(path), found.after.files.get(path)) for path in paths}
        oids = {entry.split(" ")[1] for both in wanted.values() for entry in both if entry is not None}
        contents = await self._writer.contents.small(oids, most=MAX_SIDE)
        gone = "git does not have one of its sides any more, or it is too large to show"

        def side(path: str, before: str | None, after: str | None) -> FileVersions:
            old, new = (contents.get(entry.split(" ")[1]) if entry else None for entry in (before, after))
            lost = (before is not None and old is None) or (after is not None and new is None)
            return FileVersions(
                path=path,
                before=old,
                after=new,
                was_there=before is not None,
                is_there=after is not None,
                note=gone if lost else "",
            )

        return [side(path, *both) for path, both in wanted.items()]

    def other_changes(self, kept: MutationRecord) -> tuple[str, ...]:
        """Head, refs, stashes and what is under way: from where each goes to where."""
        found = _reversible(kept)
        start, goal = (found.after, found.before) if kept.state == "applied" else (found.before, found.after)
        lines = _told_of(AddedWorktree.of(kept), "undo" if kept.state == "applied" else "redo")
        return (*_crossed(start, goal, found), *lines)

    async def _cross(
        self, call: Call, kept: MutationRecord, found: ReversibleChange, start: Side, goal: Side, verb: str
    ) -> Delta:
        writer = self._writer
        for path in goal.files:
            call.may_write(path)
        async with writer.locks.hold_all():
            writer.keeper.pending.refuse_while_running()
            now = await take_snapshot(self._git)
            files = await writer.contents.capture(start.files, write=False)
            begun = f"{PREFIX}{kept.mutation_id}/{verb}-begun"
            # What a crash, or a lock in the way, left half done is on either side: nothing of it is anybody's work.
            either = (start, goal) if begun in now.recoveries else (start,)
            moved = _moved(now, either, found, files)
            added = AddedWorktree.of(kept)
            if added is not None and (changed := await added.describe_changes(self._git, there=verb == "undo")):
                moved.append(changed)
            if moved:
                raise CannotUndo(f"{verb} of {kept.what}: {'; '.join(moved)}; nothing was changed")
            call.change_begins()
            await self._note(call, kept, verb, done=False)
            old = await writer.contents.tree(start.files)
            commits, tags = await self._objects(start)
            await writer.recovery.keep(kept.mutation_id, name=verb, what=verb, files=old, commits=commits, tags=tags)
            await self._git.run("update-ref", begun, f"{PREFIX}{kept.mutation_id}/{verb}")
            differences = await writer.contents.changes(start.files, goal.files)
            await writer.contents.restore({path: entry for path, entry in goal.files.items() if entry != files[path]})
            if added is not None and verb == "undo":
                await added.remove(self._git)
            await self._quit(now, goal)
            await self._index(found, goal)
            await self._refs(now, goal, f"codeplane: {verb} of {kept.what}")
            await self._stashes(now, goal)
            await self._settings(found.branches, goal)
            if added is not None and verb == "redo":
                await writer.may_write_tree(call, added.head, prefix=_prefix(self._git.root, added.path))
                await added.add(self._git)
            await self._git.run("update-index", "-q", "--refresh", check=False)
            await self._git.run("update-ref", "-d", begun)
            call.change_ended(done=True, mutation_id=kept.mutation_id)
            await self._note(call, kept, verb, done=True)
            told = await file_deltas(writer.contents, differences)
        return Delta(
            mutation_id=kept.mutation_id,
            files_changed=len(differences),
            insertions=sum(one.insertions for one in differences),
            deletions=sum(one.deletions for one in differences),
            files=told,
            head_before=now.head,
            head=goal.head,
            branch=shown(goal.symbolic.removeprefix("refs/heads/")) if goal.symbolic else None,
            refs=(*_told(now, found, goal), *_told_of(added, verb)),
        )

    async def _note(self, call: Call, kept: MutationRecord, verb: str, *, done: bool) -> None:
        pending = self._writer.keeper.pending
        await asyncio.to_thread(pending.note, call.call_id, what=verb, mutation_id=kept.mutation_id, done=done)

    async def _objects(self, side: Side) -> tuple[list[str], list[str]]:
        """Commits, and annotated tags, that only this side may reach."""
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

    async def _index(self, found: ReversibleChange, goal: Side) -> None:
        paths = sorted(found.index_paths)
        if not paths:
            return
        width = next(len(line.split(" ")[1]) for line in (*found.before.index, *found.after.index))
        gone = [f"0 {'0' * width}\t{path}" for path in paths]
        lines = "".join(f"{line}\0" for line in (*gone, *goal.index))
        await self._git.run("update-index", "-z", "--index-info", input=lines.encode("utf-8", "surrogateescape"))
        if goal.intended:
            await self._intend(goal)

    async def _intend(self, goal: Side) -> None:
        """Mark files as meant to be added, which git does only to files that it sees: here, to empty ones of the same
        kind, since those in the work tree may have become something else since, or be gone."""
        modes = {path: facts.split(" ")[0] for facts, _, path in (line.partition("\t") for line in goal.index)}
        with tempfile.TemporaryDirectory(prefix="codeplane-") as place:
            for path in goal.intended:
                _empty(Path(place) / path, modes.get(path, ""))
            env = {"GIT_DIR": str(self._git.folder), "GIT_WORK_TREE": place}
            await self._git.run("rm", "--cached", "--quiet", "--force", "--", *goal.intended)
            await self._git.run("-C", place, "add", "--intent-to-add", "--force", "--", *goal.intended, env=env)

    async def _refs(self, now: GitSnapshot, goal: Side, why: str) -> None:
        moving = {ref: oid for ref, oid in goal.refs.items() if now.refs.get(ref) != oid}
        gone = [f"delete {ref} {now.refs[ref]}" for ref, oid in moving.items() if oid is None]
        new = [f"create {ref} {oid}" for ref, oid in moving.items() if oid and ref not in now.refs]
        new += [f"update {ref} {oid} {now.refs[ref]}" for ref, oid in moving.items() if oid and ref in now.refs]
        # Git does not take a name away and put another below it in one go.
        for lines in (gone, new):
            if lines:
                given = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
                await self._git.run("update-ref", "-m", why, "--stdin", input=given)
        if goal.symbolic is not None:
            if goal.symbolic != now.symbolic:
                await self._git.run("symbolic-ref", "-m", why, "HEAD", goal.symbolic)
        elif goal.head is not None and (now.symbolic is not None or now.head != goal.head):
            await self._git.run("update-ref", "--no-deref", "-m", why, "HEAD", goal.head)

    async def _stashes(self, now: GitSnapshot, goal: Side) -> None:
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
        for oid, said in reversed(stored):
            await self._git.run("stash", "store", "--quiet", "--message", said, oid, literal=False)

    async def _settings(self, branches: tuple[str, ...], goal: Side) -> None:
        for branch in branches:
            await self._git.run("config", "--local", "--remove-section", f"branch.{branch}", check=False)
        for key, value in goal.settings:
            await self._git.run("config", "--local", "--add", key, value)


def _told_of(added: AddedWorktree | None, verb: str) -> tuple[str, ...]:
    if added is None:
        return ()
    return (f"work tree {shown(str(added.path))} {'removed' if verb == 'undo' else 'added'}",)


def _prefix(root: Path, place: Path) -> str:
    return f"{place.relative_to(root)}/" if root in place.parents else f"{BESIDE}/{place.name}/"


def _empty(path: Path, mode: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == _LINK:
        path.symlink_to("nothing")
    else:
        path.touch(_PROGRAM if mode == f"100{_PROGRAM:o}" else _FILE)


def _told(now: GitSnapshot, found: ReversibleChange, goal: Side) -> tuple[str, ...]:
    """What moves beside files, a line each."""
    lines = describe_moves(now, goal.symbolic, goal.head, goal.refs.items())
    if goal.stashes is not None and goal.stashes != now.stashes:
        lines.append(f"stashes {len(now.stashes)} → {len(goal.stashes)}")
    if now.state != goal.state:
        lines.append(f"the {now.state} is given up")
    if (paths := sorted(found.index_paths)) and not found.before.files and found.before.head == found.after.head:
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        lines.append(f"index: {', '.join(map(shown, paths[:_NAMED]))}{more}")
    return tuple(lines[:MAX_REFS])


def _crossed(start: Side, goal: Side, found: ReversibleChange) -> tuple[str, ...]:
    """What differs between two sides beside files, with ids in full: whoever decides can look at them."""
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
    lines += [f"settings of branch {shown(branch)}" for branch in found.branches]
    if paths := sorted(found.index_paths):
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        lines.append(f"index: {', '.join(map(shown, paths[:_NAMED]))}{more}")
    left = len(lines) - MAX_REFS
    return (*lines[:MAX_REFS], *([f"and {left} more"] if left > 0 else []))


def _reversible(kept: MutationRecord) -> ReversibleChange:
    try:
        return ReversibleChange.of_json(kept.details)
    except (KeyError, TypeError, ValueError) as error:
        raise CannotUndo(f"{kept.mutation_id} was kept in a form that is no longer known") from error


def _moved(
    now: GitSnapshot, sides: tuple[Side, ...], found: ReversibleChange, files: dict[str, str | None]
) -> list[str]:
    """What is as none of the sides has it, in words."""
    moved = []
    if now.state not in {side.state for side in sides}:
        moved.append(f"a {now.state} is under way" if now.state != "none" else f"the {sides[0].state} has ended")
    if now.symbolic not in {side.symbolic for side in sides}:
        moved.append(f"HEAD is on {shown(now.branch) if now.branch else 'no branch'} now")
    elif now.head not in {side.head for side in sides}:
        moved.append(f"HEAD moved to {(now.head or 'nothing')[:9]}")
    for ref in sides[0].refs:
        if now.refs.get(ref) not in {side.refs[ref] for side in sides} and ref != now.symbolic:
            moved.append(f"{shown(ref)} moved")
    # Stashes are put back one by one: half done, they can be any of those that are kept.
    if len(sides) == 1 and sides[0].stashes is not None and now.stashes != sides[0].stashes:
        moved.append("the stashes changed")
    if entries_at(now, found.index_paths) not in {side.index for side in sides}:
        moved.append("the index changed")
    edited = sorted(shown(path) for path, entry in files.items() if entry not in {side.files[path] for side in sides})
    if edited:
        more = f" and {len(edited) - _NAMED} more" if len(edited) > _NAMED else ""
        moved.append(f"changed since: {', '.join(edited[:_NAMED])}{more}")
    return moved
