"""The last complete line that a program printed."""

_LONGEST = 8 * 1024


class LastLine:
    """Follows output; a line counts when it has ended, so that nothing in it is seen in halves."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self.text = ""

    def take(self, data: bytes) -> None:
        """Take in what was read."""
        *ended, rest = data.replace(b"\r", b"\n").split(b"\n")
        if ended:
            ended[0] = bytes(self._pending) + ended[0]
            self._pending.clear()
            last = next((line for line in reversed(ended) if line.strip()), b"")
            self.text = last[:_LONGEST].decode(errors="replace").strip() or self.text
        self._pending += rest[: _LONGEST - len(self._pending)]
