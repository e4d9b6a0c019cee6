"""The changed lines of a definition."""

import difflib
import re
from dataclasses import dataclass

_MOST = 1500
_SHOWN = 6
_WIDE = 120
_WORD = re.compile(r"[A-Za-z_]\w*|[=!<>]=|&&|\|\||[!<>]")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChange:
    """The number of changed lines, a preview, and all words on them."""

    count: int
    preview: str
    words: frozenset[str]


def line_change(before: bytes, after: bytes) -> LineChange:
    """Compare two texts by lines; of very long ones everything between equal ends counts as changed."""
    old, new = _lines(before), _lines(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    blocks: list[tuple[list[str], list[str]]] = []
    if max(len(old), len(new)) > _MOST:
        blocks.append((old, new))
    else:
        for tag, old_start, old_end, new_start, new_end in difflib.SequenceMatcher(None, old, new).get_opcodes():
            if tag != "equal":
                blocks.append((old[old_start:old_end], new[new_start:new_end]))
    shown: list[str] = []
    count = 0
    for gone, come in blocks:
        count += max(len(gone), len(come))
        shown += [f"-{_cut(line)}" for line in gone] + [f"+{_cut(line)}" for line in come]
    more = f"\n… {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    words = frozenset(word for line in shown for word in _WORD.findall(line))
    return LineChange(count=count, preview="\n".join(shown[:_SHOWN]) + more, words=words)


def _lines(text: bytes) -> list[str]:
    decoded = text.replace(b"\0", b"\n").decode("utf-8", "replace")
    return [line.rstrip() for line in decoded.split("\n") if line.strip()]


def _cut(line: str) -> str:
    return line if len(line) <= _WIDE else f"{line[:_WIDE]}…"
