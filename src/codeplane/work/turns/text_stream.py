"""Text of a model on its way into a thread: without secrets, at most every 50 ms, the first words at once."""

import asyncio
from collections.abc import Callable

from codeplane.kernel.redaction import Redactor
from codeplane.kernel.stream_redaction import StreamRedaction

FLUSH_SEC = 0.05
_FLUSH_CHARACTERS = 1024
# A character can take six bytes in JSON; the smallest configurable event payload holds this many.
_MOST_CHARACTERS = 16 * 1024


class TextStream:
    """Gathers deltas, redacts them as one text, and emits what can be shown."""

    def __init__(self, emit: Callable[[str], bool], redactor: Redactor) -> None:
        """`emit` returns False when it cannot take more now; what it refuses is offered again."""
        self._emit = emit
        self._redaction = StreamRedaction(redactor)
        self._text = ""
        self._timer: asyncio.TimerHandle | None = None
        self._has_emitted = False

    def add(self, delta: str) -> None:
        """Take further text."""
        self._text += self._redaction.take(delta)
        if not self._has_emitted or len(self._text) >= _FLUSH_CHARACTERS:
            self._flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SEC, self._flush)

    def close(self) -> None:
        """Emit what is left."""
        self._text += self._redaction.finish()
        self._flush()

    def stop(self) -> None:
        """Emit nothing more."""
        self._text = ""
        self._stop_timer()

    def _flush(self) -> None:
        self._stop_timer()
        while self._text and self._emit(self._text[:_MOST_CHARACTERS]):
            self._text, self._has_emitted = self._text[_MOST_CHARACTERS:], True

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
