"""What is asked and answered about outside tools."""

from pydantic import Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.config import ToolRisk
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.plural import plural
from codeplane.work.tools.declaration import ServedTool, own_words, plain_risk
from codeplane.work.tools.registry import Served

_MAX_WORDS = 160


class ServerRequest(Request):
    """A server by its name."""

    server: str = Field(min_length=1, max_length=64, description="its name in the settings")


class TrustRequest(ServerRequest):
    """Tools of a server."""

    tools: tuple[str, ...] = Field((), max_length=500, description="by the server's names; empty: all that it has now")
    risk: ToolRisk | None = Field(None, description="what a call can do; without it, what the server says of it")


class ToolView(Result):
    """A tool as it is offered."""

    operation: str
    tool: str
    risk: str
    basis: str
    identity: str
    description: str
    definition: str
    has_changed: bool = False
    problem: str | None = None

    @classmethod
    def of(cls, served: ServedTool) -> "ToolView":
        """The view of a tool."""
        return cls(
            operation=served.operation,
            tool=served.tool.name,
            risk=plain_risk(served.judged),
            basis=served.judged.basis,
            identity=served.identity,
            description=own_words(served.tool, _MAX_WORDS),
            definition=served.tool.fingerprint[:16],
            has_changed=served.judged.has_changed,
            problem=served.problem or None,
        )

    def text(self) -> str:
        state = f"not offered: {self.problem}" if self.problem else f"{self.risk}, as {self.identity}"
        changed = ", changed since you trusted it" if self.has_changed else ""
        return f"  {self.operation}  {state}{changed}"


class ServerView(Result):
    """A server and its tools."""

    name: str
    kind: str
    state: str
    address: str
    identity: str
    sandbox: str
    calls: int
    restarts: int
    problems: int
    last_error: str | None = None
    last_error_at: str | None = None
    tools: tuple[ToolView, ...] = ()
    toolset: str = Field("", description="how the toolset of a thread names its tools")

    @classmethod
    def of(cls, served: Served, *, is_started: bool) -> "ServerView":
        """The view of a server."""
        spec, facts = served.spec, served.server.facts
        state = "disabled" if spec.settings.disabled else facts.state if is_started else "not started here"
        return cls(
            name=spec.name,
            kind=spec.kind,
            state=state,
            address=spec.address,
            identity=spec.settings.identity,
            sandbox="remote" if spec.settings.url else "on" if spec.is_sandboxed else "off",
            calls=facts.calls,
            restarts=facts.restarts,
            problems=facts.problems,
            last_error=facts.error or None,
            last_error_at=rfc3339(facts.error_ns) if facts.error_ns else None,
            tools=tuple(map(ToolView.of, served.tools)),
            toolset=spec.name if spec.toolset == spec.name else f"ext.{spec.name}",
        )

    def text(self) -> str:
        asking = sum(tool.risk == "unknown" for tool in self.tools)
        unknown = f", {asking} of unknown risk: cpl tools trust {self.name}" if asking else ""
        head = f"{self.name}  {self.state}  {plural(len(self.tools), 'tool')}{unknown}  ({self.address})"
        error = [f"  last error: {self.last_error}"] if self.last_error else []
        taken = f"  in toolsets it is {self.toolset}: {self.name} is a family of CodePlane's own tools"
        note = [taken] if self.toolset != self.name else []
        return "\n".join([head, *error, *note, *(tool.text() for tool in self.tools)])


class ServerList(Result):
    """All servers of outside tools."""

    servers: tuple[ServerView, ...]

    def text(self) -> str:
        none = "no outside tools; add a server: cpl tools add NAME -- COMMAND, or cpl tools import CLIENT"
        return "\n".join(server.text() for server in self.servers) or none


class TrustResult(Result):
    """Tools that are, or are no longer, trusted."""

    server: str
    tools: tuple[ToolView, ...]

    def text(self) -> str:
        return "\n".join([f"{self.server}:", *(tool.text() for tool in self.tools)])
