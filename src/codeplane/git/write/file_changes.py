"""Compares files before and after a git mutation: on disk, between commits, or in the index."""

from typing import Literal

from codeplane.edit.delta import DiffStats, FileDelta
from codeplane.git.safety.contents import Contents, Difference, Entry
from codeplane.git.write.git_delta import MAX_FILES
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.index.files.paths import path_text

ComparedSide = Literal["worktree", "commits", "index"]
# The entry of each file before and after.
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
    """Compare the wanted side, or the first that differs; `start` is the commit before the mutation."""
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
        old_entries, new_entries = before.ours(), after.ours()
        paths = old_entries.keys() | new_entries.keys()
        paths = {path for path in paths if old_entries.get(path) != new_entries.get(path)}
        old_side = {path: old_entries.get(path) for path in paths}
        return "index", await contents.changes(old_side, {path: new_entries.get(path) for path in paths})
    return wanted or "worktree", []


async def file_deltas(contents: Contents, differences: list[Difference]) -> tuple[FileDelta, ...]:
    """Return the first differences as file deltas with hashes."""
    first = differences[:MAX_FILES]
    oids = (oid for difference in first for oid in (difference.before, difference.after) if oid is not None)
    hashes = await contents.hashes(oids)
    return tuple(_file_delta(difference, hashes) for difference in first)


def plain_deltas(differences: list[Difference]) -> tuple[FileDelta, ...]:
    """Return the first differences as file deltas without hashes."""
    return tuple(_file_delta(difference, {}) for difference in differences[:MAX_FILES])


def _file_delta(difference: Difference, hashes: dict[str, str]) -> FileDelta:
    action: Literal["created", "updated", "deleted"] = (
        "created" if difference.before is None else "deleted" if difference.after is None else "updated"
    )
    return FileDelta(
        path=path_text(difference.path),
        action=action,
        old_hash=hashes.get(difference.before or ""),
        new_hash=hashes.get(difference.after or ""),
        diff_stats=DiffStats(insertions=difference.insertions, deletions=difference.deletions),
    )
