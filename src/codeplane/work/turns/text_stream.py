"""Text of a model on its way into a thread: whole words, at most every 50 ms, the first at once."""

import asyncio
from collections.abc import Callable

FLUSH_SEC = 0.05
_FLUSH_CHARACTERS = 1024
# A word this long is passed on in parts.
_MAX_WORD = 4096


class TextStream:
    """Gathers deltas and emits them; the last word is held back until it has ended, so that redaction sees it whole."""

    def __init__(self, emit: Callable[[str], bool]) -> None:
        """`emit` returns False when it cannot take more now; what it refuses is offered again."""
        self._emit = emit
        self._text = ""
        self._timer: asyncio.TimerHandle | None = None
        self._has_emitted = False

    def add(self, delta: str) -> None:
        """Take further text."""
        self._text += delta
        if not self._has_emitted or len(self._text) >= _FLUSH_CHARACTERS:
            self._flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SEC, self._flush)

    def close(self) -> None:
        """Emit what is left."""
        self._stop_timer()
        if self._text and self._emit(self._text):
            self._text = ""

    def drop(self) -> None:
        """Forget what was not emitted."""
        self._stop_timer()
        self._text = ""

    def _flush(self) -> None:
        self._stop_timer()
        end = _last_word_end(self._text)
        if end and self._emit(self._text[:end]):
            self._text, self._has_emitted = self._text[end:], True

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _last_word_end(text: str) -> int:
    """How much of the text ends with a whole word."""
    end = max(text.rfind(" "), text.rfind("\n"), text.rfind("\t")) + 1
    return end if end or len(text) < _MAX_WORD else len(text)
