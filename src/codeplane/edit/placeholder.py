"""Refuses to write back what stands in answers for a secret: the file would lose the secret for good."""

from collections.abc import Sequence
from pathlib import Path

from codeplane.edit.described import content_of
from codeplane.edit.entry import Change
from codeplane.edit.hunks import hunks
from codeplane.index.files.paths import shown
from codeplane.kernel.actor import Actor
from codeplane.kernel.errors import PlaceholderWritten
from codeplane.kernel.redaction import MARK

_MARK = MARK.encode()


def refuse_placeholders(root: Path, actor: Actor, changes: Sequence[Change]) -> None:
    """PlaceholderWritten where a change brings the placeholder to lines that did not have it; people are free to."""
    if actor.is_person:
        return
    for change in changes:
        if isinstance(change.content, bytes) and _MARK in change.content and not change.link:
            before = content_of(root, root / (change.moved_from or change.path))
            if before is None and change.before is not None:
                # Too large to be compared.
                continue
            if (line := _brought(before or b"", change.content)) is not None:
                raise PlaceholderWritten(
                    f"line {line} of {shown(change.path)} would hold {MARK}, "
                    "which stands in answers for a secret that you are not shown",
                    details={"path": shown(change.path), "line": line},
                )


def _brought(before: bytes, after: bytes) -> int | None:
    """The first line that has more placeholders than the lines it replaces, counted from 1."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for hunk in hunks(old, new):
        had = sum(line.count(_MARK) for line in old[hunk.start : hunk.end])
        for number in range(hunk.new_start, hunk.new_end):
            had -= new[number].count(_MARK)
            if had < 0:
                return number + 1
    return None
