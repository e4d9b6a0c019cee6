"""Redacts text that arrives in pieces of any size as if it had come whole."""

from codeplane.kernel.redaction import MARK, Redactor

_KEY_BEGIN, _KEY_END = b"-----BEGIN", b"-----END"
_WHITESPACE = b" \t\r\n\x0b\x0c"


class StreamRedaction:
    """Passes text on up to the last place that no secret can reach over, whatever comes next; mostly a word's end.

    What is held back is bounded: in the place of a word, or of an unfinished key, that is longer comes a mark.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._max_held = redactor.margin
        self._held = bytearray()
        # What ends the text that is left out; empty while nothing is.
        self._until = b""

    def take(self, text: str) -> str:
        """Add a piece; returns what can be shown by now, redacted."""
        data, shown = memoryview(text.encode("utf-8", "surrogatepass")), list[bytes]()
        # Never more than the bound at once, so that the result does not depend on the pieces.
        while data:
            room = self._max_held - len(self._held)
            self._held += data[:room]
            data = data[room:]
            shown.append(self._release())
        return b"".join(shown).decode("utf-8", "surrogatepass")

    def finish(self) -> str:
        """The rest, redacted; nothing comes any more."""
        rest = b"" if self._until else bytes(self._held)
        self._held.clear()
        return self._redactor.text(rest.decode("utf-8", "surrogatepass"))

    def _release(self) -> bytes:
        if self._until and not self._skip():
            return b""
        settled = self._redactor.settled_length(bytes(self._held))
        shown = self._redactor.text(self._held[:settled].decode("utf-8", "surrogatepass")).encode(
            "utf-8", "surrogatepass"
        )
        del self._held[:settled]
        if len(self._held) >= self._max_held:
            self._until = _KEY_END if self._held.startswith(_KEY_BEGIN) else _WHITESPACE
            shown += MARK.encode()
            self._skip()
        return shown

    def _skip(self) -> bool:
        """Skip text up to its end marker; False when that has not come yet."""
        if self._until == _KEY_END:
            end = self._held.find(_KEY_END)
            # The end may come in two pieces.
            left = end if end >= 0 else max(0, len(self._held) - len(_KEY_END) + 1)
        else:
            end = next((at for at, byte in enumerate(self._held) if byte in _WHITESPACE), -1)
            left = end if end >= 0 else len(self._held)
        del self._held[:left]
        if end >= 0:
            self._until = b""
        return end >= 0
