"""The refactor operations over one root, when the owner wants them."""

from pathlib import Path

from codeplane.edit.engine import Engine
from codeplane.edit.scope import Scope
from codeplane.index.contexts.operations import ContextOperations
from codeplane.kernel.catalogue import Disabled
from codeplane.query.knowledge import Knowledge
from codeplane.refactor.decisions.operations import DecisionOperations
from codeplane.refactor.decisions.store import Decisions
from codeplane.refactor.operations import RefactorOperations
from codeplane.refactor.plan_applier import PlanApplier
from codeplane.refactor.plan_builder import PlanBuilder
from codeplane.refactor.plan_store import PlanStore
from codeplane.refactor.planners import Planners
from codeplane.refactor.scip.operations import ScipOperations
from codeplane.refactor.scip.store import ScipStore
from codeplane.wiring.foundation import Foundation


def refactor_operations(
    foundation: Foundation,
    *,
    root: Path,
    home: Path,
    knowledge: Knowledge,
    contexts: ContextOperations,
    scope: Scope,
    engine: Engine,
    scip: ScipStore,
) -> tuple[object, ...]:
    """Build the operations, or with `refactor.enabled` off their stand-ins, which answer that they are disabled."""
    config = foundation.config.refactor
    if not config.enabled:
        kinds = (RefactorOperations, DecisionOperations, ScipOperations)
        return tuple(Disabled(owner=kind, setting="refactor.enabled") for kind in kinds)
    builder = PlanBuilder(
        knowledge=knowledge,
        planners=Planners(root=root, config=config, scip=scip),
        contexts=contexts,
        config=config,
        clock=foundation.clock,
        plans=PlanStore(home / "plans", foundation.clock),
    )
    applier = PlanApplier(root=root, scope=scope, engine=engine, builder=builder)
    decisions = Decisions(log=foundation.log, root=root)
    return (
        RefactorOperations(builder=builder, applier=applier, decisions=decisions, cursors=foundation.cursors),
        DecisionOperations(decisions),
        ScipOperations(
            root=root,
            knowledge=knowledge,
            store=scip,
            clock=foundation.clock,
            secrets=foundation.secrets.rules_of(root),
        ),
    )
