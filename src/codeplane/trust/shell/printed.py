"""What a command printed, read back from the log."""

from codeplane.kernel.errors import NotFound
from codeplane.kernel.event import Event
from codeplane.kernel.ports import EventLog
from codeplane.trust.shell.answers import OutputRequest, OutputResult
from codeplane.trust.shell.execution import SHELL_FINISHED, SHELL_OUTPUT, SHELL_STARTED, execution_stream

_PAGE = 500


async def printed(log: EventLog, request: OutputRequest, *, running: bool) -> tuple[OutputResult, bool]:
    """A part of one stream, and whether the command could reach other machines.

    It begins earlier than asked where a chunk cannot be cut.
    """
    await log.flush()
    wanted, content, size, utf8, more = request.stream.upper(), "", 0, True, False
    offset: int | None = None
    finished: Event | None = None
    after, found, outside = 0, False, False
    while events := await log.read(stream=execution_stream(request.execution_id), after=after, limit=_PAGE):
        found, after = True, events[-1].sequence
        for event in events:
            payload = event.payload
            if event.type == SHELL_STARTED:
                outside = bool(payload.get("network")) or not payload.get("sandbox")
            if event.type == SHELL_FINISHED:
                finished = event
            if event.type != SHELL_OUTPUT or payload["stream"] != wanted:
                continue
            at, length, text = _number(payload["offset_bytes"]), _number(payload["bytes"]), str(payload["chunk"])
            if at + length <= request.offset:
                continue
            if size >= request.limit:
                more = True
                continue
            skip = max(0, request.offset - at)
            text, skip = _from(text, length, skip)
            text, length = _until(text, length - skip, request.limit - size)
            more = more or at + skip + length < at + _number(payload["bytes"])
            offset = at + skip if offset is None else offset
            content, size, utf8 = content + text, size + length, utf8 and bool(payload["utf8"])
    if not found:
        raise NotFound(f"there is no command {request.execution_id!r}", hint="execution_id is in run_bash's answer")
    start = request.offset if offset is None else offset
    end = finished.payload if finished is not None else {}
    result = OutputResult(
        execution_id=request.execution_id,
        stream=request.stream,
        offset=start,
        next_offset=start + size,
        content=content,
        utf8=utf8,
        more=more,
        running=running,
        exit_code=_number(end["exit_code"]) if end.get("exit_code") is not None else None,
        dropped=_number(end.get(f"{request.stream}_dropped", 0)),
    )
    return result, outside


def _from(text: str, length: int, skip: int) -> tuple[str, int]:
    """The text without its first bytes; whole where it is not what was printed, byte for byte."""
    data = text.encode()
    if skip == 0 or len(data) != length:
        return text, 0
    while skip < length and data[skip] & 0xC0 == 0x80:
        skip -= 1
    return data[skip:].decode(), skip


def _until(text: str, length: int, most: int) -> tuple[str, int]:
    data = text.encode()
    if length <= most or len(data) != length:
        return text, length
    while most < length and data[most] & 0xC0 == 0x80:
        most += 1
    return data[:most].decode(), most


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
