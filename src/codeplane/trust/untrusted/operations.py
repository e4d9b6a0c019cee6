"""`untrusted.list` and `untrusted.clear`: which agents have read untrusted content, and the owner's all-clear."""

from pydantic import Field

from codeplane.kernel.actor import ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import NotFound, PolicyDenied
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.trust.people import person
from codeplane.trust.untrusted.marks import WITHOUT_TOKEN, UntrustedMarks
from codeplane.trust.untrusted.table import Mark

_CLEAR = "cpl approvals clear"


class ClearRequest(Request):
    """Whose mark is cleared."""

    agent: str | None = Field(
        None, max_length=200, description="as untrusted.list names it, such as agents-without-token; without it, all"
    )


class MarkView(Result):
    """That an agent has read untrusted content."""

    agent: str
    since: str
    actor: str = Field(description="who read it first, by the name it gave itself")
    operation: str
    source: str
    what: str

    @classmethod
    def of(cls, agent: str, mark: Mark) -> "MarkView":
        """What is shown of a mark."""
        return cls(
            agent=agent,
            since=rfc3339(mark.since_ns),
            actor=mark.actor,
            operation=mark.operation,
            source=mark.source,
            what=mark.what,
        )

    def line(self) -> str:
        """The mark in a line."""
        who = "all agents without a token" if self.agent == WITHOUT_TOKEN else self.agent
        return f"{who} since {self.since[:19]}Z: {self.operation} by {self.actor}, {self.what}"


class MarkList(Result):
    """The agents that have read untrusted content."""

    items: tuple[MarkView, ...]

    def text(self) -> str:
        if not self.items:
            return "no agent has read untrusted content"
        lines = [item.line() for item in self.items]
        return "\n".join([*lines, f"their outward calls are asked about each time; when all is well: {_CLEAR}"])


class Cleared(Result):
    """The agents whose marks were cleared."""

    agents: tuple[str, ...]

    def text(self) -> str:
        return f"cleared: {', '.join(self.agents)}" if self.agents else "no agent had read untrusted content"


class UntrustedOperations:
    """The owner looks at the marks, and clears them."""

    def __init__(self, marks: UntrustedMarks) -> None:
        self._marks = marks

    @operation("untrusted.list", risk=Risk.READ)
    async def list(self, call: Call, request: Request) -> MarkList:
        """Agents that have read untrusted content, since when, and what brought it: their outward calls always ask."""
        found = sorted(self._marks.identities().items(), key=lambda item: (item[1].since_ns, item[0]))
        return MarkList(items=tuple(MarkView.of(agent, mark) for agent, mark in found))

    @operation("untrusted.clear", risk=Risk.WRITE, people=True)
    async def clear(self, call: Call, request: ClearRequest) -> Cleared:
        """Let remembered answers and settings count again for agents that read untrusted content; for the owner."""
        person(call.actor)
        if call.actor.kind is not ActorKind.OWNER:
            raise PolicyDenied(
                f"{call.actor} is not the owner, and only the owner clears this mark",
                hint=f"on the owner's machine: {_CLEAR}; a device can approve each call",
            )
        known = self._marks.identities()
        if request.agent is not None and request.agent not in known:
            together = f"; those without a token are one: {_CLEAR} {WITHOUT_TOKEN}" if WITHOUT_TOKEN in known else ""
            raise NotFound(
                f"{request.agent!r} has read no untrusted content",
                hint=f"these have: {', '.join(sorted(known)) or 'none'}{together}",
            )
        await self._marks.clear(call.log, call.actor, request.agent)
        return Cleared(agents=tuple(sorted(known if request.agent is None else [request.agent])))
