"""An outside tool as an operation: what agents read of it, what a person is shown, and how it is called."""

import asyncio
import math
from dataclasses import dataclass, field

from codeplane.kernel.arguments import normalise_arguments
from codeplane.kernel.call import Call, Operation
from codeplane.kernel.config import McpServerConfig, ToolIdentity
from codeplane.kernel.declared_operation import DeclaredResult, declare
from codeplane.kernel.external_tool import ExternalTool, ToolConnector
from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Preview, Request, Risk
from codeplane.kernel.preview import preview_of_arguments
from codeplane.work.tools.risk import JudgedRisk
from codeplane.work.tools.server import ToolServer

_MAX_DESCRIPTION = 1000
_MAX_LINE = 120
# The call itself gives up first, with an error that says more.
_MARGIN_SEC = 10.0
# How often the progress of a tool is passed on.
_PROGRESS_SEC = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """A server as the settings have it."""

    name: str
    kind: str
    connector: ToolConnector
    settings: McpServerConfig
    # The toolset that its tools are in; `ext.NAME` are always those of the server.
    toolset: str
    # Where it is, in words for people.
    address: str
    is_sandboxed: bool
    # Whatever else a server has to be restarted for.
    revision: str = ""
    # What callers need for a tool, where that is not `execute_tools`.
    capabilities: dict[str, str] = field(default_factory=dict)
    # The only thread that has its tools, where a client of that thread brought it along.
    thread_id: str | None = None
    # What trust in its tools is recorded under; empty: its name.
    trusted_as: str = ""

    @property
    def trust_name(self) -> str:
        """What trust in its tools is recorded under."""
        return self.trusted_as or self.name

    def identity(self, tool: str) -> ToolIdentity:
        """Whose account a tool acts with."""
        override = self.settings.tools.get(tool)
        return self.settings.identity if override is None or override.identity is None else override.identity


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTool:
    """A tool of a server as it is offered, or why it is not."""

    tool: ExternalTool
    operation: str
    judged: JudgedRisk
    identity: ToolIdentity
    problem: str = ""

    @property
    def is_offered(self) -> bool:
        """Whether it is among the operations."""
        return not self.problem


class ToolProgress:
    """Passes on how far a tool says that it is: not too often, and its words to people alone.

    What an agent reads of a server is marked as untrusted when the answer is given, and progress comes before that.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._last = -_PROGRESS_SEC

    async def __call__(self, done: float, total: float | None, message: str | None) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._last < _PROGRESS_SEC or not math.isfinite(done):
            return
        self._last = now
        words = escape_invisible(message)[:_MAX_LINE] if message and self._call.actor.is_person else None
        await self._call.progress(done, total if total is not None and math.isfinite(total) else None, words)


def declare_tool(spec: ServerSpec, server: ToolServer, served: ServedTool) -> Operation:
    """The operation of a tool; InvalidArgument or SchemaRefused when it cannot be one."""
    tool, judged = served.tool, served.judged
    assessment = judged.assessment(spec.name, tool.name, is_confined=spec.connector.is_confined)

    async def handle(call: Call, arguments: JsonObject) -> DeclaredResult:
        report = ToolProgress(call)
        answer = await server.call(tool.name, arguments, timeout_sec=spec.settings.timeout_sec, on_progress=report)
        return DeclaredResult(
            content=answer.text, source=spec.name, is_error=answer.is_error, cut_bytes=answer.cut_bytes
        )

    async def preview(call: Call, request: Request) -> Preview:
        return _preview(spec, served, call, request)

    return declare(
        served.operation,
        description=_description(spec, tool),
        schema=tool.schema,
        risk=judged.risk,
        handler=handle,
        capability=spec.capabilities.get(tool.name, "execute_tools"),
        timeout_sec=spec.settings.timeout_sec + _MARGIN_SEC,
        toolset=spec.toolset,
        identity=served.identity,
        assessment=assessment,
        preview=preview,
        thread_id=spec.thread_id,
    )


def plain_risk(judged: JudgedRisk) -> str:
    """The risk in a word or two."""
    return "unknown" if judged.basis == "unknown" else judged.risk.plain


def own_words(tool: ExternalTool, most: int = _MAX_DESCRIPTION) -> str:
    """What the server says of a tool, bounded and with nothing hidden in it."""
    text = escape_invisible(tool.description.strip())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _description(spec: ServerSpec, tool: ExternalTool) -> str:
    words = own_words(tool)
    head = f"{escape_invisible(tool.name)[:_MAX_LINE]}, a tool of the outside server {spec.name}"
    return f"{head}, which says: {words}" if words else f"{head}."


def _preview(spec: ServerSpec, served: ServedTool, call: Call, request: Request) -> Preview:
    arguments = preview_of_arguments(call.operation, normalise_arguments(request))
    account = {"user": "your account", "bot": "an account of its own", "none": "no account"}[served.identity]
    where = "in the sandbox" if spec.is_sandboxed else "with the rights of your account"
    place = f"{spec.address}, {where}" if spec.settings.command else spec.address
    words = own_words(served.tool)
    lines = [
        f"tool: {escape_invisible(served.tool.name)[:_MAX_LINE]} of {spec.name} ({place})",
        f"acts with: {account}",
        f"risk: {plain_risk(served.judged)}",
        f"definition: {served.tool.fingerprint[:16]}",
        "",
        *arguments.body.split("\n")[1:],
        *(
            ["", "what the server says of it, unchecked:", *(f"  | {line}" for line in words.split("\n"))]
            if words
            else []
        ),
    ]
    summary = arguments.summary if served.judged.risk is not Risk.READ else f"{arguments.summary} (reads)"
    if not normalise_arguments(request):
        summary = f"{call.operation.name}, without arguments"
    return Preview(summary=summary, body="\n".join(lines), pins={"definition": served.tool.fingerprint})
