"""Refuses to write the placeholder for a secret into a file, which would lose the secret."""

from collections.abc import Sequence
from pathlib import Path

from codeplane.edit.batch import Change
from codeplane.edit.batch_delta import read_content
from codeplane.edit.line_diff import diff_lines
from codeplane.index.files.paths import path_text
from codeplane.kernel.actor import Actor
from codeplane.kernel.errors import PlaceholderWritten
from codeplane.kernel.redaction import MARK

_MARK = MARK.encode()


def refuse_placeholders(root: Path, actor: Actor, changes: Sequence[Change]) -> None:
    """Raise PlaceholderWritten when an agent's change adds the placeholder to lines that did not have it."""
    if actor.is_person:
        return
    for change in changes:
        if isinstance(change.content, bytes) and _MARK in change.content and not change.link:
            before = read_content(root, root / (change.moved_from or change.path))
            if before is None and change.before is not None:
                # Too large to compare.
                continue
            if (line := _first_new_placeholder(before or b"", change.content)) is not None:
                raise PlaceholderWritten(
                    f"line {line} of {path_text(change.path)} would hold {MARK}, "
                    "which stands in answers for a secret that you are not shown",
                    details={"path": path_text(change.path), "line": line},
                )


def _first_new_placeholder(before: bytes, after: bytes) -> int | None:
    """Return the first line, from 1, with more placeholders than the lines that it replaces."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for hunk in diff_lines(old, new):
        left = sum(line.count(_MARK) for line in old[hunk.start : hunk.end])
        for number in range(hunk.new_start, hunk.new_end):
            left -= new[number].count(_MARK)
            if left < 0:
                return number + 1
    return None
