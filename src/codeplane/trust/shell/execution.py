"""The record of one command in the log: its start, its output and its end."""

from base64 import b64encode

from codeplane.kernel.call import Call
from codeplane.kernel.event import ContentTrust, Draft, Source
from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.json import JsonObject
from codeplane.kernel.redaction import MARK, Redactor
from codeplane.kernel.secret_matcher import Spans, merge_spans, splice
from codeplane.trust.shell.command import CheckedCommand
from codeplane.trust.shell.output_capture import Chunk, OutputCapture, OutputQuota

SHELL_STARTED = "shell.started"
SHELL_OUTPUT = "shell.output"
SHELL_FINISHED = "shell.finished"
_MAX_SHOWN = 4000
_MAX_LINE = 500


def execution_stream(execution_id: str) -> str:
    """The event stream of one command."""
    return f"execution/{execution_id}"


class Execution:
    """Records one command."""

    def __init__(self, *, call: Call, execution_id: str, output_bytes: int, redactor: Redactor) -> None:
        room = OutputQuota(total=output_bytes)
        self.execution_id = execution_id
        self._call = call
        self._redactor = redactor
        settled_length = redactor.settled_length
        self.out = OutputCapture("STDOUT", room, secrets=self._secrets_in, settled_length=settled_length)
        self.err = OutputCapture("STDERR", room, secrets=self._secrets_in, settled_length=settled_length)

    async def record_start(self, checked: CheckedCommand) -> None:
        """Record the start, durably."""
        origin = self._call.caller.origin
        await self._call.log.append(
            [
                self._draft(
                    SHELL_STARTED,
                    {
                        "execution_id": self.execution_id,
                        "tool_call_id": (origin.tool_call_id if origin else None) or self._call.call_id,
                        "tool_name": "run_bash",
                        "display_command": self._shown(checked.request.command)[:_MAX_SHOWN],
                        "folder": checked.folder,
                        "timeout_ms": checked.request.timeout_ms,
                        "sandbox": checked.enclosed,
                        "network": checked.network,
                        "action_id": self._call.action_id,
                    },
                )
            ]
        )

    async def tell(self, final: bool) -> None:
        """Record the output since the last time, and report the last line as progress."""
        chunks = [*self.out.chunks(final=final), *self.err.chunks(final=final)]
        if chunks:
            drafts = [self._output(chunk) for chunk in chunks]
            if not self._call.log.append_soon(drafts):
                await self._call.log.append(drafts)
        if chunks and not final:
            line = self.out.last_line or self.err.last_line
            await self._call.progress(
                self.out.seen + self.err.seen, None, self._call.redact(self._shown(line))[:_MAX_LINE]
            )

    def end_event(self, *, exit_code: int | None, duration_ms: int, timed_out: bool, stopped: str) -> Draft:
        """The event of the command's end."""
        return self._draft(
            SHELL_FINISHED,
            {
                "execution_id": self.execution_id,
                "exit_code": exit_code,
                "duration_ms": duration_ms,
                "timed_out": timed_out,
                "truncated": bool(self.out.dropped or self.err.dropped),
                "stopped": stopped,
                "stdout_bytes": self.out.seen,
                "stderr_bytes": self.err.seen,
                "stdout_dropped": self.out.dropped,
                "stderr_dropped": self.err.dropped,
            },
        )

    def tail(self, captured: OutputCapture) -> str:
        """The end of one stream, redacted."""
        return captured.tail(self._redacted_part)

    def _shown(self, text: str) -> str:
        return self._redactor.text(escape_invisible(text, strict=True))

    def _redacted_part(self, data: bytes, begin: int, end: int) -> bytes:
        """A part of the output, redacted as in the record and for the caller."""
        return splice(data, self._secrets_in(data), MARK.encode(), begin, end)

    def _secrets_in(self, data: bytes) -> Spans:
        """Where the output holds what neither the record nor the caller may see."""
        return merge_spans(self._redactor.spans(data) + self._call.secrets_in(data))

    def _output(self, chunk: Chunk) -> Draft:
        payload: JsonObject = {
            "execution_id": self.execution_id,
            "stream": chunk.stream,
            "offset_bytes": chunk.offset,
            "bytes": len(chunk.data),
            "chunk": self._redactor.text(chunk.text),
            "utf8": chunk.utf8,
        }
        if not chunk.utf8:
            # The text has escapes in place of some bytes: programs get those as they were printed.
            payload["raw"] = b64encode(self._redacted_part(chunk.data, 0, len(chunk.data))).decode()
        return self._draft(SHELL_OUTPUT, payload, trust=ContentTrust.UNTRUSTED_MODEL)

    def _draft(self, kind: str, payload: JsonObject, trust: ContentTrust = ContentTrust.TRUSTED_SYSTEM) -> Draft:
        return Draft(
            stream=execution_stream(self.execution_id),
            type=kind,
            payload=payload,
            actor=str(self._call.actor),
            source=Source.TOOL_EXECUTOR,
            content_trust=trust,
            correlation=self._call.correlation,
        )
