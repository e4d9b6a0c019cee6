"""The operations on marks: `untrusted.list` and `untrusted.clear`."""

from collections.abc import Collection

from pydantic import Field

from codeplane.kernel.actor import ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import NotFound, PolicyDenied
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.trust.identity.identities import AGENT_PREFIX
from codeplane.trust.people import require_person
from codeplane.trust.untrusted.marks import WITHOUT_TOKEN, UntrustedMarks
from codeplane.trust.untrusted.table import Mark

_CLEAR = "cpl approvals clear"


class ClearRequest(Request):
    """The agent whose mark to clear."""

    agent: str | None = Field(
        None,
        max_length=200,
        description="an agent with a token by its name; agents-without-token: all others, together; without it, all",
    )


class MarkView(Result):
    """The mark of an agent."""

    agent: str
    since: str
    actor: str = Field(description="who read it first, by the name it gave itself")
    operation: str
    source: str
    what: str

    @classmethod
    def of(cls, agent: str, mark: Mark) -> "MarkView":
        """The view of a mark."""
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
        who = f"all agents without a token ({WITHOUT_TOKEN})" if self.agent == WITHOUT_TOKEN else self.agent
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
    left: tuple[str, ...] = Field((), description="those that still have one")
    all_asked: bool = Field(False, description="whether every agent is asked about still, as some come without a token")

    def text(self) -> str:
        if not self.agents:
            return "no agent had read untrusted content"
        lines = [f"cleared: {', '.join(self.agents)}"]
        lines += [f"not cleared: {', '.join(self.left)}"] if self.left else []
        if self.all_asked:
            lines.append(
                f"all agents are asked about until those without a token are cleared: {_CLEAR} {WITHOUT_TOKEN}"
            )
        return "\n".join(lines)


class UntrustedOperations:
    """Lists and clears marks."""

    def __init__(self, marks: UntrustedMarks) -> None:
        self._marks = marks

    @operation("untrusted.list", risk=Risk.READ)
    async def list(self, call: Call, request: Request) -> MarkList:
        """Agents that have read untrusted content, since when, and what brought it: their outward calls always ask."""
        marks = sorted(self._marks.identities().items(), key=lambda item: (item[1].since_ns, item[0]))
        return MarkList(items=tuple(MarkView.of(agent, mark) for agent, mark in marks))

    @operation("untrusted.clear", risk=Risk.WRITE, people=True)
    async def clear(self, call: Call, request: ClearRequest) -> Cleared:
        """Let remembered answers and settings count again for agents that read untrusted content; for the owner."""
        require_person(call.actor)
        if call.actor.kind is not ActorKind.OWNER:
            raise PolicyDenied(
                f"{call.actor} is not the owner, and only the owner clears this mark",
                hint=f"on the owner's machine: {_CLEAR}; a device can approve each call",
            )
        known = self._marks.identities()
        agent = None if request.agent is None else _identity(request.agent, known)
        await self._marks.clear(call.log, call.actor, agent)
        left = self._marks.identities()
        return Cleared(
            agents=tuple(sorted(known if agent is None else [agent])),
            left=tuple(sorted(left)),
            all_asked=self._marks.covers_every_agent,
        )


def _identity(name: str, known: Collection[str]) -> str:
    """The marked identity that a name means, also without its prefixes."""
    short = name.removeprefix(f"{ActorKind.AGENT.value}:")
    for identity in (name, short, f"{AGENT_PREFIX}{short}"):
        if identity in known:
            return identity
    if WITHOUT_TOKEN in known and not short.startswith(AGENT_PREFIX):
        raise NotFound(
            f"no agent with a token is called {name!r}, and those without one have a mark together",
            hint=f"clear it for all of them: {_CLEAR} {WITHOUT_TOKEN}",
        )
    raise NotFound(
        f"{name!r} has read no untrusted content",
        hint=f"these have: {', '.join(sorted(known)) or 'none'}; clear one, as in: {_CLEAR} {WITHOUT_TOKEN}",
    )
