"""Who plans an exploration: the rules, and a model beside them where one may be asked."""

from typing import Protocol

from codeplane.work.explore.agent_op import AgentOp
from codeplane.work.explore.facts import Facts
from codeplane.work.explore.plan import ExplorePlan
from codeplane.work.explore.rule_planner import PlanStep, RulePlanner
from codeplane.work.explore.typed_result import TypedResult


class Planner(Protocol):
    """Adds to a plan as results come in."""

    async def begin(self, plan: ExplorePlan) -> PlanStep:
        """What is added right after the first snapshot."""
        ...

    async def observe(self, plan: ExplorePlan, op: AgentOp, result: TypedResult, facts: Facts) -> PlanStep:
        """What follows from a result."""
        ...

    async def finish(self, plan: ExplorePlan, facts: Facts) -> PlanStep:
        """What is added when everything planned has ended; nothing to sum up."""
        ...


class RulesOnly:
    """Plans by the rules alone."""

    def __init__(self, rules: RulePlanner) -> None:
        self._rules = rules

    async def begin(self, plan: ExplorePlan) -> PlanStep:
        """Nothing: the first snapshot has it all."""
        return PlanStep()

    async def observe(self, plan: ExplorePlan, op: AgentOp, result: TypedResult, facts: Facts) -> PlanStep:
        """What the rules say."""
        return self._rules.observe(plan, op, result)

    async def finish(self, plan: ExplorePlan, facts: Facts) -> PlanStep:
        """Nothing."""
        return PlanStep()
