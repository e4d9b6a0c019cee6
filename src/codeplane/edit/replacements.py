"""Replacements in the text of a file: of old text by new, in order, and of lines by their numbers.

Replacements that do not affect each other are made together, so that thousands do not rewrite the text as often.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from codeplane.edit.line_diff import split_lines
from codeplane.edit.request import Replacement
from codeplane.edit.text import Span, Text
from codeplane.edit.text_match import match_spans
from codeplane.kernel.errors import EditMismatch, TooLarge
from codeplane.kernel.plural import plural

# Longer texts are replaced one by one.
_LONG = 2_000
MAX_READ = 4_000_000_000
_REWRITTEN = 6
# Occurs in no text that is edited.
_BETWEEN = "\0"


def apply_replacements(text: Text, swaps: Sequence[Replacement], *, path: str, most: int = MAX_READ) -> Text:
    """Return the text after all replacements; TooLarge when that would read more than `most` characters."""
    batch = _Batch(text, max((len(swap.old) for swap in swaps if len(swap.old) <= _LONG), default=0))
    read = 0
    for number, swap in enumerate(swaps):
        read += len(batch.text.raw)
        if swap.old == swap.new and swap.old:
            raise EditMismatch(
                f"{path}: old_text and new_text are the same",
                hint="send the new text as new_text, or leave this edit out; nothing was written",
            )
        if not batch.add(swap):
            now = batch.apply()
            read += _REWRITTEN * len(now.raw)
            if not swap.old and not now.plain:
                now = Text(raw=swap.new, encoding=now.encoding, mark=now.mark)
            else:
                now = now.replace_spans(match_spans(now.plain, swap.old, swap.new, every=swap.all, path=path))
            batch = _Batch(now, batch.reach)
        if read > most and number + 1 < len(swaps):
            raise TooLarge(
                f"{path}: {len(swaps)} replacements are more than a file of its size takes at once",
                hint=f"send at most {number + 1} at once, patches by line number, or the whole content; "
                "nothing was written",
                details={"limit_replacements": number + 1},
            )
    return batch.apply()


class _Batch:
    """Replacements in a text that do not affect each other, to be made together."""

    def __init__(self, text: Text, reach: int) -> None:
        """`reach` is the distance beyond which two replacements cannot affect each other."""
        self.text = text
        self.reach = reach
        self._spans: list[Span] = []
        self._starts: list[int] = []
        # The new text around each replacement, where a later `old` may occur that was nowhere before.
        self._around = ""

    def add(self, swap: Replacement) -> bool:
        """Add a replacement whose text occurs once and away from the others; False when it does not fit."""
        old, plain = swap.old.replace("\r\n", "\n"), self.text.plain
        if swap.all or not old or len(old) > self.reach:
            return False
        start = plain.find(old)
        if start < 0 or plain.find(old, start + len(old)) >= 0 or old in self._around:
            return False
        end = start + len(old)
        at = bisect_left(self._starts, start)
        if at and self._spans[at - 1].end + self.reach > start:
            return False
        if at < len(self._spans) and end + self.reach > self._spans[at].start:
            return False
        new = swap.new.replace("\r\n", "\n")
        self._spans.insert(at, Span(start=start, end=end, text=new))
        self._starts.insert(at, start)
        self._around += _BETWEEN + plain[max(0, start - self.reach) : start] + new + plain[end : end + self.reach]
        return True

    def apply(self) -> Text:
        """Return the text with all replacements made."""
        return self.text.replace_spans(self._spans) if self._spans else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class LineReplacement:
    """Lines `start` to `end`, from 1 and both included, and their new text; `start` = `end` + 1 inserts."""

    start: int
    end: int
    text: str


def line_spans(plain: str, wanted: Sequence[LineReplacement], *, path: str) -> list[Span]:
    """Return the spans of these lines; EditMismatch when they do not exist or overlap."""
    lines = split_lines(plain)
    starts = list(accumulate(map(len, lines), initial=0))
    ordered = sorted(wanted, key=lambda item: (item.start, item.end))
    for item, following in pairwise(ordered):
        if following.start <= item.end or (item.start, item.end) == (following.start, following.end):
            raise EditMismatch(
                f"{path}: lines {item.start}-{item.end} and {following.start}-{following.end} overlap",
                hint="make one range of them; nothing was written",
            )
    return [_line_span(item, lines, starts, plain, path) for item in ordered]


def _line_span(item: LineReplacement, lines: Sequence[str], starts: Sequence[int], plain: str, path: str) -> Span:
    if not 1 <= item.start <= len(lines) + 1 or not item.start - 1 <= item.end <= len(lines):
        raise EditMismatch(
            f"{path} has {plural(len(lines), 'line')}; {item.start}-{item.end} is no range of them",
            hint="lines count from 1; start = end + 1 inserts before start; nothing was written",
        )
    start, end = starts[item.start - 1], starts[item.end]
    text = item.text.replace("\r\n", "\n")
    if not text:
        return Span(start=start, end=end, text="")
    unended = bool(plain) and not plain.endswith("\n")
    if unended and end == len(plain):
        # A file without a final newline stays so.
        text = text.removesuffix("\n")
        if start == len(plain):
            text = f"\n{text}"
    elif not text.endswith("\n"):
        text += "\n"
    return Span(start=start, end=end, text=text)
