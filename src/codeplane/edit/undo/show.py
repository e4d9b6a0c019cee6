"""The operation `mutation.show`: one mutation with the diffs of its files."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from codeplane.edit.history.mutation_record import FileVersions, MutationStats, Reversal
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.line_diff import diff_lines, split_lines, unified_diff
from codeplane.edit.text import Text
from codeplane.edit.undo.visibility import require_visible
from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import NotFound, NotText
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules

_MAX_DIFF = 60_000
_MAX_IN_ALL = 200_000


class ShowRequest(PageRequest):
    """Which mutation."""

    mutation_id: str = Field(min_length=1, max_length=100, description="as mutation_list names it")


class FileSide(Result):
    """One file of a mutation, and how it differs."""

    path: str
    action: Literal["created", "updated", "deleted", "moved"]
    old_path: str | None = None
    insertions: int | None = Field(None, description="lines that came; missing where that is not known")
    deletions: int | None = Field(None, description="lines that went; missing where that is not known")
    diff: str = Field("", description="unified; empty when nothing can be shown, and then `note` says why")
    note: str = ""

    def text(self) -> str:
        sign = {"created": "A", "updated": "M", "deleted": "D", "moved": "R"}[self.action]
        where = f"{self.old_path} → {self.path}" if self.old_path else self.path
        head = f"{sign} {where}" + (f" [{self.note}]" if self.note else "")
        return f"{head}\n{self.diff}".rstrip()


class MutationView(Result):
    """A mutation and a page of its files."""

    mutation_id: str
    kind: Literal["files", "git"]
    what: str
    at: str
    state: Literal["applied", "undone"]
    session_id: str | None
    actor: str | None = Field(None, description="who made it; missing where that was not kept")
    file_count: int
    files: tuple[FileSide, ...]
    pagination: Pagination

    def text(self) -> str:
        head = f"{self.mutation_id} {self.at[:19]} {self.state} {self.what}"
        return "\n".join([head, *(file.text() for file in self.files)]) + self.pagination.line()


class ShowOperations:
    """Show mutation records, and say what is no longer stored."""

    def __init__(
        self,
        *,
        root: Path,
        mutations: MutationStore,
        reversals: Mapping[str, Reversal],
        cursors: Cursors,
        secrets: SecretRules = NOTHING_SHOWN,
    ) -> None:
        self._root = root
        self._secrets = secrets
        self._mutations = mutations
        self._reversals = reversals
        self._cursors = cursors

    @operation("mutation.show", risk=Risk.READ)
    async def show(self, call: Call, request: ShowRequest) -> MutationView:
        """One mutation: what it did to each file, as a diff of before and after it, while that is kept; agents see
        their own."""
        record = await asyncio.to_thread(self._mutations.find, request.mutation_id, NotFound)
        await require_visible(call, record, NotFound, self._mutations.retention)
        scope = f"mutation.show:{record.mutation_id}"
        start = int(str(self._cursors.open(request.cursor, scope=scope)["start"])) if request.cursor else 0
        paths = record.paths[start : start + request.limit]
        following = start + len(paths)
        cursor = None
        if following < len(record.paths):
            cursor = self._cursors.issue(scope=scope, state={"start": following})
        reversal = self._reversals.get(record.kind)
        versions = await reversal.file_versions(record, paths) if reversal is not None else []
        return MutationView(
            mutation_id=record.mutation_id,
            kind=record.kind,
            what=record.what,
            at=rfc3339(record.at_ns),
            state=record.state,
            session_id=record.session_id,
            actor=MutationStats.of(record).actor,
            file_count=len(record.paths),
            files=await asyncio.to_thread(self._files, versions),
            pagination=Pagination(next_cursor=cursor, total_estimate=len(record.paths)),
        )

    def _files(self, versions: list[FileVersions]) -> tuple[FileSide, ...]:
        hidden_paths, room = HiddenPaths(self._root, self._secrets), _MAX_IN_ALL
        files: list[FileSide] = []
        for version in versions:
            hidden = any(hidden_paths.covers(path) for path in (version.path, version.old_path) if path)
            file = file_change(version, hidden=hidden, room=room)
            room -= len(file.diff)
            files.append(file)
        return tuple(files)


def file_change(file: FileVersions, *, hidden: bool, room: int) -> FileSide:
    """Show one file with its diff, or why there is none; `room` limits the characters of the diff."""
    action: Literal["created", "updated", "deleted", "moved"] = (
        "moved" if file.old_path else "created" if not file.was_there else "updated" if file.is_there else "deleted"
    )
    plain = FileSide(
        path=path_text(file.path), action=action, old_path=path_text(file.old_path) if file.old_path else None
    )
    if hidden:
        return plain.model_copy(update={"note": "its content is left out by the rules for secrets or by .cplignore"})
    if file.note:
        return plain.model_copy(update={"note": file.note})
    try:
        before, after = (
            Text.of(content, file.path).raw if content is not None else None for content in (file.before, file.after)
        )
    except NotText:
        return plain.model_copy(update={"note": "a binary file"})
    text = unified_diff(file.old_path or file.path, before, after, new_path=file.path)
    # Not counted in the diff, which leaves out large changes.
    changed = diff_lines(split_lines(before or ""), split_lines(after or ""))
    counts = {
        "insertions": sum(hunk.insertions for hunk in changed),
        "deletions": sum(hunk.deletions for hunk in changed),
    }
    if len(text) > min(_MAX_DIFF, room):
        return plain.model_copy(update={**counts, "note": "the difference is too large to show here"})
    return plain.model_copy(update={**counts, "diff": text, "note": "" if text else _unchanged_note(file)})


def _unchanged_note(file: FileVersions) -> str:
    if file.before is None and file.after is None:
        return "there was no file on either side"
    return (
        "moved as it was" if file.old_path else "empty" if not (file.before or file.after) else "the text is the same"
    )
