"""Who plans an exploration: the rules, and a model beside them where one may be asked."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from codeplane.kernel.json import JsonObject
from codeplane.work.explore.agent_op import AgentOp
from codeplane.work.explore.facts import Facts
from codeplane.work.explore.plan import ExplorePlan
from codeplane.work.explore.rule_planner import PlanStep, RulePlanner
from codeplane.work.explore.typed_result import TypedResult

# Records an event of the exploration, of a command with its case and of others with what caused it; returns its id.
Record: TypeAlias = Callable[[str, JsonObject, str | None, str | None], Awaitable[str]]


class Planner(Protocol):
    """Adds steps to a plan, as results come in or on its own."""

    def start(self, facts: Facts, record: Record) -> None:
        """Start to plan on its own; `facts` are those of the exploration, as they come in."""
        ...

    def observe(self, plan: ExplorePlan, op: AgentOp, result: TypedResult) -> PlanStep:
        """What follows from a result at once."""
        ...

    def hurry(self) -> None:
        """Everything planned so far has ended: plan with what is known."""
        ...

    async def next_step(self) -> PlanStep | None:
        """The next step planned on its own; None when there are no more."""
        ...

    async def close(self) -> None:
        """Stop planning."""
        ...


class RulesOnly:
    """Plans by the rules alone; `note` is what the summary says of that."""

    def __init__(self, rules: RulePlanner, note: str = "") -> None:
        self._rules = rules
        self._note = note

    def start(self, facts: Facts, record: Record) -> None:
        """Say why no model plans, where one was asked for."""
        facts.note(self._note)

    def observe(self, plan: ExplorePlan, op: AgentOp, result: TypedResult) -> PlanStep:
        """What the rules say."""
        return self._rules.observe(plan, op, result)

    def hurry(self) -> None:
        """Plan nothing on its own."""

    async def next_step(self) -> PlanStep | None:
        """Nothing."""
        return None

    async def close(self) -> None:
        """Nothing runs."""
