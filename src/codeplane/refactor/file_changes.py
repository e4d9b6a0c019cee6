"""The changes of files that a plan and its chosen edits make."""

import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from codeplane.edit.batch import Change
from codeplane.edit.batch_delta import BatchDelta, compare_contents
from codeplane.edit.delta import SemanticLines
from codeplane.edit.file_state import state_of
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import FileChanged, InvalidArgument
from codeplane.refactor.draft import Edit
from codeplane.refactor.plan import Plan


def file_changes(root: Path, plan: Plan, edits: Sequence[Edit]) -> list[Change]:
    """Return one change per file, each bound to the text it was planned from."""
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    moved = {move.path: move.new_path for move in plan.draft.moves}
    found: list[Change] = []
    for path in sorted({*by_path, *moved, *plan.draft.removes}):
        if path not in plan.texts:
            found += _whole_file_changes(root, path, moved.get(path))
            continue
        before = plan.digests[path]
        if path in plan.draft.removes:
            found.append(Change(path=path, content=None, before=before))
            continue
        content = splice(path, plan.texts[path], by_path.get(path, ()))
        if path in moved:
            found.append(Change(path=path, content=None, before=before))
            found.append(Change(path=moved[path], content=content, before=None, mode=plan.modes[path], moved_from=path))
        elif content != plan.texts[path]:
            found.append(Change(path=path, content=content, before=before, mode=plan.modes[path]))
    found += [Change(path=new.path, content=new.content.encode(), before=None) for new in plan.draft.creates]
    return found


def text_changes(plan: Plan, edits: Sequence[Edit]) -> tuple[list[Change], list[str]]:
    """Return the changes of texts, and in words what is moved or deleted unchanged."""
    moved = {move.path: move.new_path for move in plan.draft.moves}
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    found, whole = [], []
    for path in sorted({*by_path, *moved, *plan.draft.removes}):
        if path not in plan.texts:
            whole.append(
                f"{path_text(path)} {f'moves to {path_text(moved[path])}' if path in moved else 'is deleted'} as it is"
            )
            continue
        before = plan.digests[path]
        if path in plan.draft.removes or path in moved:
            found.append(Change(path=path, content=None, before=before))
        if path not in plan.draft.removes:
            content = splice(path, plan.texts[path], by_path.get(path, ()))
            new, origin = (moved[path], path) if path in moved else (path, None)
            if origin or content != plan.texts[path]:
                was = None if origin else before
                found.append(Change(path=new, content=content, before=was, moved_from=origin))
    found += [Change(path=new.path, content=new.content.encode(), before=None) for new in plan.draft.creates]
    return found, whole


def describe_plan(plan: Plan, edits: Sequence[Edit]) -> BatchDelta:
    """Compare the texts of a plan before and after some edits, without writing."""
    made, _ = text_changes(plan, edits)
    return compare_contents(
        made, plan.texts, {change.path: change.content for change in made if isinstance(change.content, bytes)}
    )


def semantic_lines(plan: Plan, edits: Sequence[Edit]) -> SemanticLines:
    """Return the lines that semantic edits change."""
    found: dict[str, set[int]] = {}
    for path, among in groupby((edit for edit in edits if edit.semantic), key=lambda edit: edit.path):
        text, lines, line, at = plan.texts.get(path, b""), found.setdefault(path_text(path), set()), 1, 0
        for edit in sorted(among, key=lambda edit: edit.start):
            line, at = line + text.count(b"\n", at, edit.start), edit.start
            lines.update(range(line, line + text.count(b"\n", edit.start, edit.end) + 1))
    return {path: frozenset(lines) for path, lines in found.items()}


def _whole_file_changes(root: Path, path: str, new_path: str | None) -> list[Change]:
    """Move or delete a link, or a file that is not text."""
    was = state_of(root, path)
    if was is None:
        raise FileChanged(f"{path_text(path)} is gone")
    found = [Change(path=path, content=None, before=was.sha256)]
    if new_path is not None:
        content = os.fsencode((root / path).readlink()) if was.link else root / path
        mode = None if was.link else was.mode
        found.append(Change(path=new_path, content=content, before=None, link=was.link, mode=mode, moved_from=path))
    return found


def splice(path: str, text: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply edits to a text, keeping its line endings."""
    ending = b"\r\n" if text.count(b"\r\n") * 2 > text.count(b"\n") else b"\n"
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at or edit.end > len(text):
            raise InvalidArgument(f"two edits of {path_text(path)} are about the same text", hint="choose one of them")
        parts += [text[at : edit.start], _encode(path, text, edit.new).replace(b"\n", ending)]
        at = edit.end
    return b"".join([*parts, text[at:]])


def _encode(path: str, text: bytes, new: str) -> bytes:
    if new.isascii():
        return new.encode()
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{path_text(path)} is not written in UTF-8, so {new!r} cannot be put into it",
            hint="choose an ASCII name",
        ) from error
    return new.encode()
