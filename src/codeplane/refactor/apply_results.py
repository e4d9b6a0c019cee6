"""Results of applying a plan."""

from collections.abc import Sequence

from codeplane.edit.engine import AppliedChanges
from codeplane.index.files.paths import path_text
from codeplane.refactor.draft import Edit
from codeplane.refactor.plan import Plan, differing_files
from codeplane.refactor.plan_builder import PlanningResult
from codeplane.refactor.plan_info import AppliedInfo
from codeplane.refactor.plan_view import PlanView
from codeplane.refactor.results import RefactorResult

_MAX_LEFT = 50
_MAX_WORDS = 200
_MAX_CHANGED = 50


def blocked_result(found: PlanningResult, *, before: Plan | None = None) -> RefactorResult | None:
    """Return why a plan may not be applied, compared with the plan `before`; None if it may."""
    moved_on = bool(found.stale) or before is not None
    failed = [name for name, holds in (("index_behind", found.behind), ("files_changed", moved_on)) if holds]
    if not failed:
        return None
    view = PlanView(found.plan)
    changed = [*found.stale, *(map(path_text, differing_files(before, found.plan)) if before is not None else ())]
    changed = list(dict.fromkeys(changed))
    files = [path for path in map(path_text, sorted(found.plan.texts)) if path not in set(changed)]
    return view.result("blocked", edits=found.plan.list_edits(), all_edits=False).model_copy(
        update={
            "preview": None,
            "witness": view.witness(*failed, first=changed),
            "suggested_refresh_scope": tuple(changed[:_MAX_CHANGED] or files[:_MAX_CHANGED]),
            "changed_count": len(changed),
            "unchanged_count": len(files),
        }
    )


def divergence_result(plan: Plan) -> RefactorResult:
    """Return the result of a plan about whose places contexts disagree."""
    view = PlanView(plan)
    return view.result("divergence", edits=plan.list_edits(), all_edits=False).model_copy(
        update={"preview": None, "divergence": view.divergence(), "witness": view.witness("contexts_disagree")}
    )


def applied_result(plan: Plan, candidate: str | None, edits: Sequence[Edit], applied: AppliedChanges) -> RefactorResult:
    """Return what was written, and which proposals were not applied."""
    consequence, view = applied.consequence, PlanView(plan)
    listed = plan.list_edits(candidate)
    # Compared by identity: an equal edit need not be the same one.
    written = frozenset(map(id, edits))
    done = [edit for edit in listed if id(edit.edit) in written]
    left = [edit for edit in listed if edit.edit.semantic and id(edit.edit) not in written]
    words = [edit for edit in listed if not edit.edit.semantic and id(edit.edit) not in written]
    return RefactorResult(
        refactor_id=plan.plan_id,
        refactor=plan.spec.kind,
        status="applied",
        title=plan.draft.title,
        symbol=plan.spec.symbol,
        new_name=plan.spec.new_name,
        manifest=view.manifest(listed),
        applied=AppliedInfo(
            delta=applied.delta,
            validation=consequence.warnings,
            affected_symbols=consequence.symbols,
            affected_tests=consequence.tests,
            doc_updates_applied=view.documents(done[:_MAX_WORDS], done),
            doc_updates_left=view.documents(words[:_MAX_WORDS], words),
            not_applied=len(left),
            proposals=tuple(map(view.edit, left[:_MAX_LEFT])),
            repo_fingerprint=consequence.repo_fingerprint,
        ),
        epoch=consequence.epoch,
        commit=plan.commit,
    )
