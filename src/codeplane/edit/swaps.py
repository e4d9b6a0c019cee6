"""Replacing text by text, many times in one file: one after another, but found in the file as it was where that is the
same, so that thousands of them do not rewrite it thousands of times."""

from bisect import bisect_left
from collections.abc import Sequence

from codeplane.edit.matching import spans_for
from codeplane.edit.request import Replacement
from codeplane.edit.text import Span, Text
from codeplane.kernel.errors import EditMismatch, TooLarge

# Texts longer than this are looked for by themselves.
_LONG = 2_000
MAX_READ = 4_000_000_000
_REWRITTEN = 6
# Stands in no text that is edited.
_BETWEEN = "\0"


def swapped(text: Text, swaps: Sequence[Replacement], *, path: str, most: int = MAX_READ) -> Text:
    """The text after all replacements; TooLarge when that would read more than so many characters, over and over."""
    batch = _Batch(text, max((len(swap.old) for swap in swaps if len(swap.old) <= _LONG), default=0))
    read = 0
    for number, swap in enumerate(swaps):
        read += len(batch.text.raw)
        if swap.old == swap.new and swap.old:
            raise EditMismatch(
                f"{path}: old_text and new_text are the same",
                hint="send the new text as new_text, or leave this edit out; nothing was written",
            )
        if not batch.takes(swap):
            now = batch.now()
            read += _REWRITTEN * len(now.raw)
            if not swap.old and not now.plain:
                now = Text(raw=swap.new, encoding=now.encoding, mark=now.mark)
            else:
                now = now.replaced(spans_for(now.plain, swap.old, swap.new, every=swap.all, path=path))
            batch = _Batch(now, batch.reach)
        if read > most and number + 1 < len(swaps):
            raise TooLarge(
                f"{path}: {len(swaps)} replacements are more than a file of its size takes at once",
                hint=f"send at most {number + 1} at once, patches by line number, or the whole content; "
                "nothing was written",
                details={"limit_replacements": number + 1},
            )
    return batch.now()


class _Batch:
    """Replacements in a text that have nothing to do with each other, to be made all at once."""

    def __init__(self, text: Text, reach: int) -> None:
        """`reach` is how far from another one nothing can be that touches both."""
        self.text = text
        self.reach = reach
        self._spans: list[Span] = []
        self._starts: list[int] = []
        # What there is now around the places that changed, where something may be found that was nowhere before.
        self._around = ""

    def takes(self, swap: Replacement) -> bool:
        """Whether it is one of them: its text is there once, and neither is it at nor came it by one of the others."""
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

    def now(self) -> Text:
        """The text with all of them made."""
        return self.text.replaced(self._spans) if self._spans else self.text
