"""Previews of a batch of changes for the person who approves it: the diff and what it cannot show."""

from collections.abc import Sequence
from hashlib import sha256

from codeplane.edit.batch import Change
from codeplane.edit.batch_delta import BatchDelta
from codeplane.edit.delta import FileDelta
from codeplane.edit.line_diff import unified_diff
from codeplane.edit.text import Text
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.operation import Preview

_MAX_DIFF = 64 * 1024
_MAX_SHOWN = 40_000
_NAMED = 10
_DIGITS = 24


def preview_changes(
    changes: Sequence[Change],
    delta: BatchDelta,
    *,
    verb: str = "change",
    facts: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Preview:
    """Preview the files, `facts`, the diff and `notes`; the preview is bound to the present state of the files."""
    if not changes:
        return Preview(summary=f"{verb} nothing: it is so already", body="\n".join([*facts, *notes]))
    by_path = {path_text(change.path): change for change in changes}
    named = [_describe_file(file, by_path[file.path], delta) for file in delta.files]
    count = len(named)
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    head = f"{verb} {count} file{'s' * (count != 1)}"
    body = [*facts]
    if more:
        # The summary names only some files, and the diff may be cut.
        body += [f"  {name}" for name in named]
    body += [diff_changes(changes, delta, limit=_MAX_SHOWN).rstrip("\n"), *notes]
    body.append(f"Bound to the state that is shown (fingerprint {_state(changes)}): when it changes, this is not run.")
    return Preview(summary=f"{head}: {', '.join(named[:_NAMED])}{more}", body="\n".join(filter(None, body)))


def diff_changes(changes: Sequence[Change], delta: BatchDelta, *, limit: int = _MAX_DIFF) -> str:
    """Return the unified diff of all files, with a note when it was cut."""
    before, after = delta.texts.before, delta.texts.after
    parts, size = [], 0
    moved = {change.moved_from for change in changes}
    for change in changes:
        if change.content is None and change.path in moved:
            continue
        part = _diff(change, before.get(change.path), after.get(change.path))
        size += len(part)
        if size > limit:
            parts.append(f"[the rest of the diff is left out: over {limit} characters]\n")
            break
        parts.append(part)
    return "".join(parts)


def _diff(change: Change, before: bytes | None, after: bytes | None) -> str:
    path = path_text(change.moved_from or change.path)
    if change.link and after is not None:
        replaced = "" if before is None else ", which takes the place of what is there"
        return f"link {path_text(change.path)} → {path_text(after.decode(errors='backslashreplace'))}{replaced}\n"
    if (before is None and change.before is not None) or (after is None and change.content is not None):
        moved = f" → {path_text(change.path)}" if change.moved_from else ""
        return f"{path}{moved}: too large to compare\n"
    try:
        old = Text.of(before, path).raw if before is not None else None
        new = Text.of(after, path).raw if after is not None else None
    except CodePlaneError:
        moved = f", and moves to {path_text(change.path)}" if change.moved_from else ""
        return f"Binary file {path} would change{moved}\n" if before != after else f"Binary file {path}{moved[1:]}\n"
    if change.moved_from:
        head = f"rename {path} → {path_text(change.path)}\n"
        return head + (unified_diff(path, old, new, new_path=path_text(change.path)) if old != new else "")
    if old == new and change.executable is not None:
        return f"mode of {path}: {_mode(change)}\n"
    return unified_diff(path, old, new)


def _describe_file(file: FileDelta, change: Change, delta: BatchDelta) -> str:
    """Describe one file in a few words."""
    before, after = delta.texts.before.get(change.path), delta.texts.after.get(change.path)
    counts = f"+{file.diff_stats.insertions} -{file.diff_stats.deletions}"
    action = {"created": "new", "deleted": "deleted", "moved": "moved", "updated": ""}[file.action]
    words = [action] if action else []
    if change.link:
        words.append("link")
    elif any(content is not None and not _is_text(content) for content in (before, after)):
        words.append("binary")
    elif file.action == "updated" or (file.action == "moved" and counts != "+0 -0"):
        words.append(counts)
    if change.executable is not None and file.action != "deleted":
        words.append(_mode(change))
    where = f"{file.old_path} → {file.path}" if file.old_path else file.path
    return f"{where} ({', '.join(words)})"


def _mode(change: Change) -> str:
    return "executable" if change.executable else "not executable"


def _is_text(content: bytes) -> bool:
    try:
        Text.of(content, "")
    except CodePlaneError:
        return False
    return True


def _state(changes: Sequence[Change]) -> str:
    """Return a fingerprint of both sides of every file, also of those that the diff does not show."""
    hashed = sha256()
    for change in changes:
        content = change.content
        after = sha256(content).hexdigest() if isinstance(content, bytes) else str(content)
        row = (change.path, change.moved_from, change.before, after, change.link, change.mode, change.executable)
        hashed.update(f"{row!r}\n".encode("utf-8", "backslashreplace"))
    return hashed.hexdigest()[:_DIGITS]
