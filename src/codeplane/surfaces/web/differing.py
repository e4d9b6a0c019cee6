"""Text with changes in it, line by line or side by side."""

from collections.abc import Iterable
from dataclasses import dataclass

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import rows, text

_HEADS = ("diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "rename ", "similarity ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line and what it is: added, removed, a place, a head, or nothing of the kind."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One row of two columns; a place heads what follows."""

    kind: str
    left_number: int | None = None
    left: str = ""
    right_number: int | None = None
    right: str = ""


def lines_of(preview: str) -> list[Line]:
    """A preview as lines; if it holds a unified diff, its lines are told apart."""
    lines = preview.splitlines()
    is_diff = any(line.startswith("@@") for line in lines)
    return [Line(kind=_kind(line) if is_diff else "", text=line) for line in lines]


def _kind(line: str) -> str:
    if line.startswith("@@"):
        return "place"
    if line.startswith(_HEADS):
        return "head"
    return {"+": "added", "-": "removed"}.get(line[:1], "")


def side_by_side(hunks: Iterable[JsonObject]) -> list[Pair]:
    """Hunks as `git.diff` gives them, in two columns: what was on the left, what is on the right."""
    pairs: list[Pair] = []
    for hunk in hunks:
        pairs.append(Pair(kind="place", left=text(hunk, "header")))
        removed: list[JsonObject] = []
        added: list[JsonObject] = []
        for line in rows(hunk, "lines"):
            origin = text(line, "origin")
            if origin == "-":
                removed.append(line)
            elif origin == "+":
                added.append(line)
            else:
                pairs += _changed(removed, added)
                removed, added = [], []
                pairs.append(
                    Pair(
                        kind="same",
                        left_number=_number(line, "old_lineno"),
                        left=_content(line),
                        right_number=_number(line, "new_lineno"),
                        right=_content(line),
                    )
                )
        pairs += _changed(removed, added)
    return pairs


def _changed(removed: list[JsonObject], added: list[JsonObject]) -> list[Pair]:
    pairs = []
    for at in range(max(len(removed), len(added))):
        left = removed[at] if at < len(removed) else None
        right = added[at] if at < len(added) else None
        pairs.append(
            Pair(
                kind="changed" if left and right else "removed" if left else "added",
                left_number=_number(left, "old_lineno") if left else None,
                left=_content(left) if left else "",
                right_number=_number(right, "new_lineno") if right else None,
                right=_content(right) if right else "",
            )
        )
    return pairs


def _content(line: JsonObject) -> str:
    return text(line, "content").rstrip("\n")


def _number(line: JsonObject, name: str) -> int | None:
    value = line.get(name)
    return value if isinstance(value, int) else None
