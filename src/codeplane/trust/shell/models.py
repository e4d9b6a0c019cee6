"""Requests and results of the shell operations."""

from typing import Literal

from pydantic import Field

from codeplane.kernel.operation import Request, Result

MAX_OUTPUT = 65_536
MAX_MASKED = 3


class BashResult(Result):
    """How a command ended, and the end of its output."""

    execution_id: str
    exit_code: int
    duration_ms: int
    timed_out: bool = False
    truncated: bool = Field(False, description="more was printed than is kept; the end is here all the same")
    stopped: str = Field("", description="why it was ended")
    sandbox: bool = True
    network: bool = False
    stdout: str = ""
    stderr: str = ""
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    stdout_cut: int = Field(0, description="bytes before the part shown")
    stderr_cut: int = Field(0, description="bytes before the part shown")
    masked: tuple[str, ...] = Field(
        (), description="some secrets files that were empty in the sandbox, of a command that names them or fails"
    )
    masked_total: int = Field(0, description="how many those are")

    def unmet(self) -> str | None:
        if self.stopped:
            return f"the command was ended: {self.stopped}"
        return f"the command exited with {self.exit_code}" if self.exit_code else None

    def untrusted_source(self) -> tuple[str, str] | None:
        return ("shell", self.execution_id) if self.network or not self.sandbox else None

    def text(self) -> str:
        why = f", ended: {self.stopped}" if self.stopped else ""
        lines = [f"exit {self.exit_code} after {self.duration_ms / 1000:.1f} s{why}"]
        for name, output, cut in (("stdout", self.stdout, self.stdout_cut), ("stderr", self.stderr, self.stderr_cut)):
            if not output and not cut:
                continue
            lines += ["--- stderr"] if name == "stderr" else []
            if cut:
                rest = f"; from the start: shell_output execution_id={self.execution_id} stream={name}"
                lines.append(f"[… {cut:,} bytes before this{rest}]")
            lines.append(output.rstrip("\n"))
        if self.masked:
            more = self.masked_total - len(self.masked)
            names = f"{', '.join(self.masked)}{f' and {more} more' if more else ''}"
            lines.append(f"[empty in the sandbox, like all secrets files that index.secrets does not show: {names}]")
        return "\n".join(lines)


class OutputRequest(Request):
    """A part of a command's output."""

    execution_id: str = Field(min_length=1, max_length=100)
    stream: Literal["stdout", "stderr"] = "stdout"
    offset: int = Field(0, ge=0, description="in bytes as printed; next_offset of the part before")
    limit: int = Field(16_384, ge=1, le=MAX_OUTPUT, description="bytes, about")


class OutputResult(Result):
    """A part of a command's output, and where the next one starts."""

    execution_id: str
    stream: str
    offset: int
    next_offset: int
    content: str
    utf8: bool
    more: bool
    running: bool
    exit_code: int | None = None
    dropped: int = Field(0, description="bytes of this stream that were not kept")

    def text(self) -> str:
        lines = [self.content.rstrip("\n")] if self.content else []
        if self.more:
            lines.append(f"[more: offset={self.next_offset}]")
        elif self.running:
            lines.append(f"[still running: offset={self.next_offset}]")
        elif self.exit_code is None:
            lines.append("[CodePlane ended before the command did: how it ended is not known]")
        elif self.dropped:
            lines.append(f"[{self.dropped:,} bytes after this were not kept]")
        return "\n".join(lines) or "[nothing]"


class CancelRequest(Request):
    """The command to cancel."""

    execution_id: str = Field(min_length=1, max_length=100)


class CancelResult(Result):
    """Whether the command was still running."""

    execution_id: str
    cancelled: bool

    def text(self) -> str:
        return f"{self.execution_id} {'is being ended' if self.cancelled else 'has ended already'}"
