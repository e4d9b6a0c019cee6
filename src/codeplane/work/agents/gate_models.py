"""Requests and results of what an outside agent's turn passes the door with."""

from difflib import unified_diff
from typing import ClassVar

from pydantic import Field

from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.json import JsonValue, dumps
from codeplane.kernel.operation import Preview, Request, Result
from codeplane.kernel.outside_agent import AgentToolCall

MAX_BODY = 60_000
_MAX_TITLE = 300
_MAX_PATHS, _MAX_DIFFS = 20, 20


class EnterRequest(Request):
    """An outside agent that is to work on a turn."""

    agent: str = Field(max_length=32)
    network: bool = Field(False, description="whether it reaches other machines by itself")


class EnteredAgent(Result):
    """An outside agent that may start."""

    agent: str
    network: bool

    def text(self) -> str:
        return f"{self.agent} may work"

    def untrusted_source(self) -> tuple[str, str] | None:
        # What it reads out there nobody sees.
        return ("agent", self.agent) if self.network else None


class ToolPermitRequest(Request):
    """A tool that an outside agent wants to run itself, as it describes it."""

    prose: ClassVar[frozenset[str]] = frozenset({"tool_call_id"})
    agent: str = Field(max_length=32)
    tool_call_id: str = Field(max_length=200)
    title: str = Field(max_length=_MAX_TITLE)
    command: str = Field("", max_length=20_000)
    paths: tuple[str, ...] = Field((), max_length=_MAX_PATHS)
    details: str = Field("", max_length=MAX_BODY)
    network: bool = False

    @classmethod
    def of(cls, agent: str, call: AgentToolCall, *, network: bool, root: str) -> "ToolPermitRequest":
        """The question that an agent puts; paths are shown below its own work tree."""
        raw = call.raw_input or {}
        command = raw.get("command")
        diffs = (call.diffs or ())[:_MAX_DIFFS]
        paths = dict.fromkeys(_below(path, root) for path in (*(diff.path for diff in diffs), *(call.paths or ())))
        parts = [_diff_text(_below(diff.path, root), diff.old_text, diff.new_text) for diff in diffs]
        if call.text:
            parts.append(call.text)
        if raw and not diffs:
            parts.append(dumps(raw))
        return cls(
            agent=agent,
            tool_call_id=call.tool_call_id,
            # Files by their names in the repository: a tree has a folder that says nothing to a person.
            title=(call.title or call.kind or "a tool").replace(f"{root}/", "")[:_MAX_TITLE],
            command=_command_text(command)[:20_000],
            paths=tuple(paths)[:_MAX_PATHS],
            details="\n".join(parts)[:MAX_BODY],
            network=network,
        )

    def preview(self, verb: str) -> Preview:
        """What a person is shown."""
        reach = "with the network" if self.network else "without the network"
        title = escape_invisible(self.title, strict=True)
        lines = [
            f"agent: {self.agent}, in a sandbox of its own, {reach}",
            f"says: {title}",
            *([f"command: {escape_invisible(self.command, strict=True)}"] if self.command else []),
            *(f"file: {escape_invisible(path, strict=True)}" for path in self.paths),
            "reaches: its own work tree; your checkout changes only when you apply its diff",
            "",
            escape_invisible(self.details),
        ]
        return Preview(summary=f"{self.agent} wants to {verb}: {title[:120]}", body="\n".join(lines).rstrip())


class PermittedTool(Result):
    """A tool that an outside agent may run once."""

    agent: str
    tool_call_id: str

    def text(self) -> str:
        return f"{self.agent} may do it"


def _below(path: str, root: str) -> str:
    return path.removeprefix(f"{root}/")[:1000]


def _command_text(command: JsonValue) -> str:
    if isinstance(command, list):
        return " ".join(str(word) for word in command)
    return command if isinstance(command, str) else ""


def _diff_text(path: str, old: str | None, new: str) -> str:
    before, after = (old or "").splitlines(keepends=True), new.splitlines(keepends=True)
    source = f"a/{path}" if old is not None else "/dev/null"
    lines = unified_diff(before, after, source, f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
