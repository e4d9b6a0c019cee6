"""Captures one output stream of a command: contiguous chunks from the start, and the tail, both bounded."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from codeplane.kernel.last_line import LastLine
from codeplane.kernel.secret_matcher import Spans

StreamName = Literal["STDOUT", "STDERR"]
# A byte can take six in JSON text and four thirds in base64; the smallest configurable event payload holds this many.
CHUNK_BYTES = 16 * 1024
TAIL_BYTES = 16 * 1024
# Kept before the tail, so that a secret that starts there is recognised.
_BEFORE_TAIL = 64 * 1024
# Of a long word, how much is recorded with what comes next, since it may be the beginning of a secret.
_HELD_BACK = 8 * 1024
# The share that stdout cannot use up: stderr tells why a command fails, often after a flood of output.
_RESERVED = 4


@dataclass(slots=True, kw_only=True)
class OutputQuota:
    """How much output of one command may still be kept, over both streams."""

    total: int
    used: int = 0

    def take(self, stream: StreamName, wanted: int) -> int:
        """Reserve room; returns how many of the bytes are kept."""
        most = self.total - (self.total // _RESERVED if stream == "STDOUT" else 0)
        taken = max(0, min(wanted, most - self.used))
        self.used += taken
        return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of output; `utf8` means that the text is exact."""

    stream: StreamName
    offset: int
    data: bytes
    text: str
    utf8: bool


def word_end(data: bytes) -> int:
    """Where the last word ends that is followed by white space, with that."""
    return max(data.rfind(sign) for sign in (b" ", b"\t", b"\r", b"\n")) + 1


class OutputCapture:
    """One output stream of a command; `secrets` finds those that no chunk may hold a part of.

    `settled_length` says how much can be recorded before it is known what comes next.
    """

    def __init__(
        self,
        stream: StreamName,
        room: OutputQuota,
        *,
        secrets: Callable[[bytes], Spans] = lambda data: [],
        settled_length: Callable[[bytes], int] = word_end,
    ) -> None:
        self._stream: StreamName = stream
        self._room = room
        self._secrets = secrets
        self._settled_length = settled_length
        self._pending = bytearray()
        self._tail = bytearray()
        self._emitted = 0
        self._full = False
        self.seen = 0
        self._line = LastLine()

    @property
    def kept_bytes(self) -> int:
        """How many bytes from the start are kept."""
        return self._emitted + len(self._pending)

    @property
    def dropped(self) -> int:
        """How many bytes are kept only in the tail."""
        return self.seen - self.kept_bytes

    def take(self, data: bytes) -> None:
        """Add what was read."""
        self.seen += len(data)
        # Once something was dropped nothing after it is kept, so that there is no hole.
        taken = 0 if self._full else self._room.take(self._stream, len(data))
        self._full = self._full or taken < len(data)
        self._pending += data[:taken]
        self._tail += data
        if len(self._tail) > 2 * (TAIL_BYTES + _BEFORE_TAIL):
            del self._tail[: -(TAIL_BYTES + _BEFORE_TAIL)]
        self._line.take(data)

    def chunks(self, *, final: bool) -> list[Chunk]:
        """The new chunks: whole lines or words, so that no secret is split; with `final`, everything.

        A word longer than a chunk is split, and a secret only if it is as long.
        """
        pending = bytes(self._pending)
        secrets = self._secrets(pending)
        end = len(pending)
        if not (final or self._full):
            end = self._whole_words(pending)
            if not end and len(pending) > CHUNK_BYTES:
                end = _complete_length(pending[:-_HELD_BACK])
            before = _before_secret(secrets, 0, end)
            # One that is longer than a chunk would never end.
            end = before if before or len(pending) <= CHUNK_BYTES else end
        chunks: list[Chunk] = []
        start = 0
        while start < end:
            stop = end
            if end - start > CHUNK_BYTES:
                piece = pending[start : start + CHUNK_BYTES]
                stop = start + (self._whole_words(piece) or _complete_length(piece) or CHUNK_BYTES)
                stop = _before_secret(secrets, start, stop) or stop
            chunks.append(self._chunk(pending[start:stop]))
            start = stop
        del self._pending[:end]
        return chunks

    @property
    def last_line(self) -> str:
        """The last complete line."""
        return self._line.text

    def tail(self, redacted: Callable[[bytes, int, int], bytes] = lambda data, begin, end: data[begin:end]) -> str:
        """The end of the output; `redacted` is called with what came before it, too."""
        data = bytes(self._tail)
        start = max(0, len(data) - TAIL_BYTES)
        if self.seen > TAIL_BYTES:
            # Do not start in the middle of a character.
            start += next((at for at, byte in enumerate(data[start : start + 4]) if byte & 0xC0 != 0x80), 0)
        return _text(redacted(data, start, len(data)))[0]

    @property
    def cut_bytes(self) -> int:
        """How many bytes come before the tail."""
        return max(0, self.seen - TAIL_BYTES)

    def _whole_words(self, data: bytes) -> int:
        """The length of the whole lines, or else words, that can be recorded by themselves."""
        settled = self._settled_length(data)
        return _line_end(data[:settled]) or settled

    def _chunk(self, data: bytes) -> Chunk:
        text, utf8 = _text(data)
        chunk = Chunk(stream=self._stream, offset=self._emitted, data=data, text=text, utf8=utf8)
        self._emitted += len(data)
        return chunk


def _text(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return data.decode(errors="backslashreplace"), False


def _before_secret(secrets: Spans, start: int, stop: int) -> int:
    """Where to cut instead of at `stop` so that no secret is split; 0 where that would leave nothing after `start`."""
    first = next((begin for begin, end in secrets if begin < stop < end), stop)
    return first if first > start else 0


def _line_end(data: bytes) -> int:
    return data.rfind(b"\n") + 1


def _complete_length(data: bytes) -> int:
    """The length without an incomplete UTF-8 character at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needs = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return len(data) - back if back < needs else len(data)
    return len(data)
