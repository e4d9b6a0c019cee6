"""Reads a command's output back from the log."""

from dataclasses import dataclass, field

from codeplane.kernel.call import Call
from codeplane.kernel.errors import NotFound
from codeplane.kernel.event import Event
from codeplane.trust.shell.execution import SHELL_FINISHED, SHELL_OUTPUT, SHELL_STARTED, execution_stream
from codeplane.trust.shell.models import OutputRequest, OutputResult

_PAGE = 500


@dataclass(kw_only=True)
class _Part:
    """The wanted part of a stream, with the text on both sides of it."""

    offset: int
    limit: int
    margin: int
    before: bytearray = field(default_factory=bytearray)
    content: bytearray = field(default_factory=bytearray)
    after: bytearray = field(default_factory=bytearray)
    start: int | None = None
    size: int = 0
    utf8: bool = True
    more: bool = False

    def take(self, at: int, length: int, text: str, *, utf8: bool) -> None:
        """Add a chunk of the stream; one that cannot be cut is taken whole."""
        if at + length <= self.offset:
            self.before = (self.before + text.encode())[-self.margin :] if self.margin else self.before
            return
        if self.size >= self.limit:
            self.more = True
            self.after += text.encode()[: self.margin - len(self.after)]
            return
        skipped, skip = _cut(text, length, max(0, self.offset - at))
        self.before += skipped.encode()
        text = text[len(skipped) :]
        taken, size = _cut(text, length - skip, self.limit - self.size, is_up=True)
        self.after += text[len(taken) :].encode()
        self.start = at + skip if self.start is None else self.start
        self.content += taken.encode()
        self.size, self.utf8, self.more = self.size + size, self.utf8 and utf8, self.more or skip + size < length

    def redact(self, call: Call) -> str:
        """The wanted part, redacted for the caller."""
        whole = bytes(self.before + self.content + self.after)
        return call.part(whole, len(self.before), len(self.before) + len(self.content)).decode(errors="replace")


async def read_output(call: Call, request: OutputRequest, *, running: bool) -> tuple[OutputResult, bool]:
    """Read a part of one stream; also returns whether the command could reach other machines.

    The part begins earlier than asked where a chunk cannot be cut.
    """
    log = call.log
    await log.flush()
    wanted = request.stream.upper()
    part = _Part(offset=request.offset, limit=request.limit, margin=call.secrets_margin())
    finished: Event | None = None
    after, is_known, outside = 0, False, False
    while events := await log.read(stream=execution_stream(request.execution_id), after=after, limit=_PAGE):
        is_known, after = True, events[-1].sequence
        for event in events:
            payload = event.payload
            if event.type == SHELL_STARTED:
                outside = bool(payload.get("network")) or not payload.get("sandbox")
            if event.type == SHELL_FINISHED:
                finished = event
            if event.type == SHELL_OUTPUT and payload["stream"] == wanted:
                at, length = _number(payload["offset_bytes"]), _number(payload["bytes"])
                part.take(at, length, str(payload["chunk"]), utf8=bool(payload["utf8"]))
    if not is_known:
        raise NotFound(f"there is no command {request.execution_id!r}", hint="execution_id is in run_bash's answer")
    start = request.offset if part.start is None else part.start
    end = finished.payload if finished is not None else {}
    result = OutputResult(
        execution_id=request.execution_id,
        stream=request.stream,
        offset=start,
        next_offset=start + part.size,
        content=part.redact(call),
        utf8=part.utf8,
        more=part.more,
        running=running,
        exit_code=_number(end["exit_code"]) if end.get("exit_code") is not None else None,
        dropped=_number(end.get(f"{request.stream}_dropped", 0)),
    )
    return result, outside


def _cut(text: str, length: int, size: int, *, is_up: bool = False) -> tuple[str, int]:
    """The first bytes of a text, up to a whole character; text that is not as printed is all or nothing."""
    data = text.encode()
    if len(data) != length or size >= length:
        return (text, length) if is_up else ("", 0)
    while 0 < size < length and data[size] & 0xC0 == 0x80:
        size += 1 if is_up else -1
    return data[:size].decode(), size


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
