"""How the applying of a plan is answered."""

from collections.abc import Sequence

from codeplane.edit.engine import AppliedChanges
from codeplane.index.files.paths import shown
from codeplane.refactor.answers import AppliedInfo, RefactorResult
from codeplane.refactor.draft import Edit
from codeplane.refactor.plan import Plan, differing
from codeplane.refactor.planning import Planned
from codeplane.refactor.told import Told

_MAX_LEFT = 50
_MAX_WORDS = 200
_MAX_CHANGED = 50


def blocked_by(found: Planned, *, before: Plan | None = None) -> RefactorResult | None:
    """Why a plan may not be applied, `before` being the one that was to be; None when nothing stands against it."""
    moved_on = bool(found.stale) or before is not None
    failed = [name for name, holds in (("index_behind", found.behind), ("files_changed", moved_on)) if holds]
    if not failed:
        return None
    told = Told(found.plan)
    changed = [*found.stale, *(map(shown, differing(before, found.plan)) if before is not None else ())]
    changed = list(dict.fromkeys(changed))
    files = [path for path in map(shown, sorted(found.plan.texts)) if path not in set(changed)]
    return told.result("blocked", edits=found.plan.listed(), all_edits=False).model_copy(
        update={
            "preview": None,
            "witness": told.witness(*failed, first=changed),
            "suggested_refresh_scope": tuple(changed[:_MAX_CHANGED] or files[:_MAX_CHANGED]),
            "changed_count": len(changed),
            "unchanged_count": len(files),
        }
    )


def diverging(plan: Plan) -> RefactorResult:
    """Contexts disagree about what is meant."""
    told = Told(plan)
    return told.result("divergence", edits=plan.listed(), all_edits=False).model_copy(
        update={"preview": None, "divergence": told.divergence(), "witness": told.witness("contexts_disagree")}
    )


def made(plan: Plan, candidate: str | None, edits: Sequence[Edit], applied: AppliedChanges) -> RefactorResult:
    """What was written, and what was proposed and left."""
    consequence, told = applied.consequence, Told(plan)
    listed = plan.listed(candidate)
    # They are those that are listed, not others that are equal.
    written = frozenset(map(id, edits))
    done = [one for one in listed if id(one.edit) in written]
    left = [one for one in listed if one.edit.semantic and id(one.edit) not in written]
    words = [one for one in listed if not one.edit.semantic and id(one.edit) not in written]
    return RefactorResult(
        refactor_id=plan.plan_id,
        refactor=plan.asked.kind,
        status="applied",
        title=plan.draft.title,
        symbol=plan.asked.symbol,
        new_name=plan.asked.new_name,
        manifest=told.manifest(listed),
        applied=AppliedInfo(
            delta=applied.delta,
            validation=consequence.warnings,
            affected_symbols=consequence.symbols,
            affected_tests=consequence.tests,
            doc_updates_applied=told.documents(done[:_MAX_WORDS], done),
            doc_updates_left=told.documents(words[:_MAX_WORDS], words),
            not_applied=len(left),
            proposals=tuple(map(told.edit, left[:_MAX_LEFT])),
            repo_fingerprint=consequence.repo_fingerprint,
        ),
        epoch=consequence.epoch,
        commit=plan.commit,
    )
