"""What a git mutation changed in files: on disk, between commits, or in the index."""

from typing import Literal

from codeplane.edit.delta import DiffStats, FileDelta
from codeplane.git.safety.contents import Contents, Difference, Entry
from codeplane.git.write.git_delta import MAX_FILES
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.index.files.paths import shown

ComparedSide = Literal["worktree", "commits", "index"]
# Files before and after.
FileChanges = dict[str, tuple[Entry, Entry]]


async def compare_files(
    contents: Contents,
    before: GitSnapshot,
    after: GitSnapshot,
    work: FileChanges,
    *,
    wanted: ComparedSide | None,
    start: str | None,
) -> tuple[ComparedSide, list[Difference]]:
    """The first of these that differ, or the one that is wanted; `start` is the commit it all began with."""
    if start != before.head:
        wanted = "commits"
    if wanted in (None, "worktree"):
        changed = {path: sides for path, sides in work.items() if sides[0] != sides[1]}
        if changed:
            old = {path: sides[0] for path, sides in changed.items()}
            new = {path: sides[1] for path, sides in changed.items()}
            return "worktree", await contents.changes(old, new)
    if wanted in (None, "commits") and start != after.head and after.head is not None:
        return "commits", await contents.differences(start or await contents.tree({}), after.head)
    if wanted in (None, "index") and before.index != after.index:
        were, are = before.ours(), after.ours()
        names = {path for path in were.keys() | are.keys() if were.get(path) != are.get(path)}
        staged = {path: were.get(path) for path in names}
        return "index", await contents.changes(staged, {path: are.get(path) for path in names})
    return wanted or "worktree", []


async def file_deltas(contents: Contents, differences: list[Difference]) -> tuple[FileDelta, ...]:
    """Differences as answers carry them, as many as they carry."""
    some = differences[:MAX_FILES]
    hashes = await contents.hashes(oid for one in some for oid in (one.before, one.after) if oid is not None)
    return tuple(_file(one, hashes) for one in some)


def plain_deltas(differences: list[Difference]) -> tuple[FileDelta, ...]:
    """The same without hashes."""
    return tuple(_file(one, {}) for one in differences[:MAX_FILES])


def _file(one: Difference, hashes: dict[str, str]) -> FileDelta:
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
