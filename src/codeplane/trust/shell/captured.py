"""What a command prints on one stream: contiguous chunks from the beginning, and the end, both bounded."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from codeplane.kernel.last_line import LastLine

StreamName = Literal["STDOUT", "STDERR"]
# As text in JSON a byte can take six; the smallest payload an event may be set to holds this many.
CHUNK_BYTES = 16 * 1024
TAIL_BYTES = 16 * 1024
# Known of what comes before the tail, so that no secret is seen by its end alone.
_BEFORE_TAIL = 64 * 1024
# What the other stream cannot use up: why a command fails is said on stderr, often after a flood.
_RESERVED = 4


@dataclass(slots=True, kw_only=True)
class Room:
    """How much output of one command is still kept, over both streams."""

    total: int
    used: int = 0

    def take(self, stream: StreamName, wanted: int) -> int:
        """How many of these bytes are kept."""
        most = self.total - (self.total // _RESERVED if stream == "STDOUT" else 0)
        taken = max(0, min(wanted, most - self.used))
        self.used += taken
        return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of output at its place; `size` is in bytes as printed, `utf8` says that the text is exact."""

    stream: StreamName
    offset: int
    size: int
    text: str
    utf8: bool


class Captured:
    """One stream of a command."""

    def __init__(self, stream: StreamName, room: Room) -> None:
        self._stream: StreamName = stream
        self._room = room
        self._pending = bytearray()
        self._tail = bytearray()
        self._told = 0
        self._full = False
        self.seen = 0
        self._line = LastLine()

    @property
    def kept(self) -> int:
        """How many bytes from the beginning are kept."""
        return self._told + len(self._pending)

    @property
    def dropped(self) -> int:
        """How many bytes are kept nowhere but in the tail."""
        return self.seen - self.kept

    def take(self, data: bytes) -> None:
        """Take in what was read."""
        self.seen += len(data)
        # Once something was dropped nothing after it is kept, or there would be a hole.
        taken = 0 if self._full else self._room.take(self._stream, len(data))
        self._full = self._full or taken < len(data)
        self._pending += data[:taken]
        self._tail += data
        if len(self._tail) > 2 * (TAIL_BYTES + _BEFORE_TAIL):
            del self._tail[: -(TAIL_BYTES + _BEFORE_TAIL)]
        self._line.take(data)

    def chunks(self, *, final: bool) -> list[Chunk]:
        """What can be told by now: whole lines, or whole words, so that nothing is seen in halves; at last all of it.

        A word that is longer than a chunk is cut all the same.
        """
        end = len(self._pending)
        if not (final or self._full):
            end = _line_end(self._pending) or _word_end(self._pending)
            end = end or (_whole(self._pending) if len(self._pending) > CHUNK_BYTES else 0)
        found: list[Chunk] = []
        while end > 0:
            size = end
            if end > CHUNK_BYTES:
                piece = self._pending[:CHUNK_BYTES]
                size = _line_end(piece) or _word_end(piece) or _whole(piece) or CHUNK_BYTES
            found.append(self._chunk(bytes(self._pending[:size])))
            del self._pending[:size]
            end -= size
        return found

    @property
    def last_line(self) -> str:
        """The last line that was printed whole."""
        return self._line.text

    def tail(self, redacted: Callable[[bytes, int, int], bytes] = lambda data, begin, end: data[begin:end]) -> str:
        """The end of everything that was printed; `redacted` is given it with what came before."""
        data = bytes(self._tail)
        start = max(0, len(data) - TAIL_BYTES)
        if self.seen > TAIL_BYTES:
            # Not from the middle of a character on.
            start += next((at for at, byte in enumerate(data[start : start + 4]) if byte & 0xC0 != 0x80), 0)
        return _text(redacted(data, start, len(data)))[0]

    @property
    def cut(self) -> int:
        """How many bytes come before the tail."""
        return max(0, self.seen - TAIL_BYTES)

    def _chunk(self, data: bytes) -> Chunk:
        text, utf8 = _text(data)
        chunk = Chunk(stream=self._stream, offset=self._told, size=len(data), text=text, utf8=utf8)
        self._told += len(data)
        return chunk


def _text(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return data.decode(errors="backslashreplace"), False


def _line_end(data: bytearray) -> int:
    return data.rfind(b"\n") + 1


def _word_end(data: bytearray) -> int:
    return max(data.rfind(sign) for sign in (b" ", b"\t", b"\r")) + 1


def _whole(data: bytearray) -> int:
    """How much of it does not end inside a UTF-8 character."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needs = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return len(data) - back if back < needs else len(data)
    return len(data)
