"""`decision.list` and `decision.forget`: the decisions that count again for the same question."""

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.plural import plural
from codeplane.refactor.decisions.store import Decisions
from codeplane.refactor.decisions.table import Decision

_SHOWN = 50


class ForgetRequest(Request):
    """Which decisions shall count no longer."""

    ids: tuple[str, ...] = Field((), max_length=1000, description="as decision.list gives them")
    all: bool = False


class DecisionView(Result):
    """A decision that was made with proof."""

    id: str
    title: str
    candidate: str
    included: int = Field(description="how many places that might be uses were changed")
    by: str
    at: str

    @classmethod
    def of(cls, decision: Decision) -> "DecisionView":
        """Build the view of a decision."""
        return cls(
            id=decision.decision_id,
            title=decision.title,
            candidate=decision.candidate,
            included=len(decision.included),
            by=decision.actor,
            at=rfc3339(decision.at_ns),
        )

    def text(self) -> str:
        chosen = [f"candidate {self.candidate}"] if self.candidate else []
        chosen.append(f"{plural(self.included, 'place')} included")
        return f"{self.id} {self.title}: {', '.join(chosen)}, by {self.by} {self.at[:19]}Z"


class DecisionList(Result):
    """The decisions that count, newest first."""

    decisions: tuple[DecisionView, ...]

    def text(self) -> str:
        more = len(self.decisions) - _SHOWN
        lines = [decision.text() for decision in self.decisions[:_SHOWN]] + ([f"and {more} more"] if more > 0 else [])
        return "\n".join(lines) if lines else "no decision is remembered"


class Forgotten(Result):
    """How many count no longer."""

    forgotten: int

    def text(self) -> str:
        return f"forgot {plural(self.forgotten, 'decision')}"


class DecisionOperations:
    """Lists and forgets decisions."""

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions

    @operation("decision.list", risk=Risk.READ)
    async def list(self, call: Call, request: Request) -> DecisionList:
        """The decisions about refactorings that count again while the symbol, the candidates and the files stay as
        they were."""
        await self._decisions.load()
        return DecisionList(decisions=tuple(map(DecisionView.of, self._decisions.all())))

    @operation("decision.forget", risk=Risk.WRITE, capability="write_files")
    async def forget(self, call: Call, request: ForgetRequest) -> Forgotten:
        """Let decisions count no longer: the same question is asked again."""
        if bool(request.ids) == request.all:
            raise InvalidArgument("name either ids or all", hint="decision_list gives the ids")
        await self._decisions.load()
        known = [decision.decision_id for decision in self._decisions.all()]
        ids = known if request.all else list(dict.fromkeys(request.ids))
        if missing := sorted(set(ids) - set(known)):
            raise NotFound(f"there is no decision {missing[0]!r}", hint="decision_list gives the ids")
        if ids:
            await self._decisions.forget(call, ids)
            await self._decisions.load()
        return Forgotten(forgotten=len(ids))
