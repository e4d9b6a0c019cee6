"""What the log keeps of one command: that it began, what it printed, how it ended."""

from codeplane.kernel.call import Call
from codeplane.kernel.event import ContentTrust, Draft, Source
from codeplane.kernel.json import JsonObject
from codeplane.kernel.redaction import MARK, Redactor
from codeplane.kernel.secret_values import merged, spliced
from codeplane.trust.shell.captured import Captured, Chunk, Room
from codeplane.trust.shell.command import Checked
from codeplane.trust.shell.looks import visible

SHELL_STARTED = "shell.started"
SHELL_OUTPUT = "shell.output"
SHELL_FINISHED = "shell.finished"
_MAX_SHOWN = 4000
_MAX_LINE = 500


def execution_stream(execution_id: str) -> str:
    """The stream of one command."""
    return f"execution/{execution_id}"


class Execution:
    """One command's record."""

    def __init__(self, *, call: Call, execution_id: str, output_bytes: int, redactor: Redactor) -> None:
        room = Room(total=output_bytes)
        self.execution_id = execution_id
        self.out = Captured("STDOUT", room)
        self.err = Captured("STDERR", room)
        self._call = call
        self._redactor = redactor

    async def started(self, checked: Checked) -> None:
        """State that it begins, durably."""
        await self._call.log.append(
            [
                self._draft(
                    SHELL_STARTED,
                    {
                        "execution_id": self.execution_id,
                        "tool_call_id": self._call.call_id,
                        "tool_name": "run_bash",
                        "display_command": self._redactor.text(visible(checked.request.command))[:_MAX_SHOWN],
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
        """Record what was printed since the last time, and say the last line to the caller."""
        chunks = [*self.out.chunks(final=final), *self.err.chunks(final=final)]
        if chunks:
            drafts = [self._output(chunk) for chunk in chunks]
            if not self._call.log.append_soon(drafts):
                await self._call.log.append(drafts)
        if chunks and not final:
            said = self.out.last_line or self.err.last_line
            shown = self._call.redact(self._redactor.text(visible(said)))
            await self._call.progress(self.out.seen + self.err.seen, None, shown[:_MAX_LINE])

    def finished(self, *, exit_code: int | None, duration_ms: int, timed_out: bool, stopped: str) -> Draft:
        """How it ended."""
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

    def tail(self, captured: Captured) -> str:
        """The end of one stream, fit to be shown."""
        return captured.tail(self._shown)

    def _shown(self, data: bytes, begin: int, end: int) -> bytes:
        """A part of the output as the record has it and the caller may see it."""
        spans = self._redactor.spans(data) + self._call.secrets_in(data)
        return spliced(data, merged(spans), MARK.encode(), begin, end)

    def _output(self, chunk: Chunk) -> Draft:
        payload: JsonObject = {
            "execution_id": self.execution_id,
            "stream": chunk.stream,
            "offset_bytes": chunk.offset,
            "bytes": chunk.size,
            "chunk": self._redactor.text(chunk.text),
            "utf8": chunk.utf8,
        }
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
