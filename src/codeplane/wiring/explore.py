"""Explorations: what runs them, and their operations."""

from dataclasses import dataclass

from codeplane.kernel.actor import Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.ports import Payloads
from codeplane.wiring.foundation import Foundation
from codeplane.wiring.job_trees import JobWorkspaces
from codeplane.wiring.work_scope import work_scope
from codeplane.work.explore.access import ExploreAccess
from codeplane.work.explore.concurrency import ConcurrencySettings
from codeplane.work.explore.exploration import Exploration
from codeplane.work.explore.kind import ExploreKind
from codeplane.work.explore.model_planner import ModelPlanner
from codeplane.work.explore.operations import ExploreOperations
from codeplane.work.explore.planner import Planner, RulesOnly
from codeplane.work.explore.preflight import Preflight
from codeplane.work.explore.replay import ReplayOperations
from codeplane.work.explore.rule_planner import RulePlanner
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.kind import Door
from codeplane.work.turns.turn_run import Models


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorations:
    """The parts of explorations that need no conveyor."""

    foundation: Foundation
    payloads: Payloads
    kind: ExploreKind

    @classmethod
    def of(cls, foundation: Foundation, payloads: Payloads, models: Models) -> "Explorations":
        """Build what runs explorations."""
        config = foundation.config.explore

        def planner_of(exploration: Exploration, door: Door, caller: Caller) -> Planner:
            rules = RulePlanner(exploration.target, exploration.goals)
            if exploration.planner == "rules":
                return RulesOnly(rules)
            if not models.is_configured(exploration.model):
                wanted = exploration.planner == "model"
                return RulesOnly(rules, "the rules planned alone: no model is configured" if wanted else "")
            return ModelPlanner(
                rules=rules, exploration=exploration, door=door, caller=caller, redactor=foundation.outward
            )

        kind = ExploreKind(
            max_running=config.max_running,
            max_seconds=config.max_seconds,
            log=foundation.log,
            payloads=payloads,
            clock=foundation.clock,
            redactor=foundation.redactor,
            settings=ConcurrencySettings(),
            planner_of=planner_of,
        )
        return cls(foundation=foundation, payloads=payloads, kind=kind)

    def operations(self, conveyor: Conveyor, engine: WorkEngine, trees: JobWorkspaces) -> tuple[object, ...]:
        """The operations on explorations."""
        foundation = self.foundation
        access = ExploreAccess(
            log=foundation.log,
            store=engine.store,
            scope_of=work_scope(conveyor.ports.authority.event_scope),
            readable=conveyor.ports.authority.readable,
        )
        return (
            ExploreOperations(
                engine=engine,
                kind=self.kind,
                log=foundation.log,
                payloads=self.payloads,
                access=access,
                preflight=Preflight(root=foundation.workspace.root, door=conveyor),
                cursors=foundation.cursors,
                # Goals may leave for models, perhaps on other machines.
                redactor=foundation.outward,
                max_seconds=foundation.config.explore.max_seconds,
                pass_marks=foundation.untrusted.pass_to_work,
            ),
            ReplayOperations(
                log=foundation.log,
                payloads=self.payloads,
                access=access,
                door=conveyor,
                redactor=foundation.redactor,
                open_tree=trees.open_commit,
                close_tree=trees.remove_commit,
            ),
        )
