"""The preview of a plan that a person is shown before it is applied."""

from collections.abc import Sequence

from codeplane.edit.batch_delta import compare_contents
from codeplane.edit.preview import preview_changes
from codeplane.index.files.paths import path_text
from codeplane.kernel.operation import Preview
from codeplane.kernel.plural import plural
from codeplane.refactor.file_changes import text_changes
from codeplane.refactor.plan import Plan
from codeplane.refactor.plan_applier import chosen_edits, undecided_places

_DIGITS = 24


def preview_planning(what: str) -> Preview:
    """Return the preview of a call that only plans."""
    return Preview(summary=f"plan: {path_text(what)}", body="Nothing is written.")


def preview_plan(plan: Plan, candidate: str, include: Sequence[str], exclude: Sequence[str], *, kept: bool) -> Preview:
    """Return the preview of what a plan would write; `kept`: whether its id outlives this call."""
    named = [f"plan {plan.plan_id}"] if kept else []
    if plan.conflicts or (plan.undecided and not candidate):
        why = "its contexts disagree" if plan.conflicts else "a candidate has to be chosen first"
        return Preview(summary=f"plan: {plan.draft.title}", body="\n".join([*named, f"Nothing is written: {why}."]))
    edits = chosen_edits(plan, candidate or None, include, exclude)
    if open_places := undecided_places(plan, candidate or None, include, exclude, seen=kept):
        what = f"{plural(len(open_places), 'place')} that may be uses are to be decided first"
        return Preview(summary=f"plan: {plan.draft.title}", body="\n".join([*named, f"Nothing is written: {what}."]))
    made, whole = text_changes(plan, edits)
    found = compare_contents(
        made, plan.texts, {change.path: change.content for change in made if isinstance(change.content, bytes)}
    )
    facts = [plan.draft.title, *named, *([f"candidate {candidate}"] if candidate else [])]
    left = sum(listed.edit.semantic for listed in plan.list_edits(candidate or None)) - sum(
        edit.semantic for edit in edits
    )
    files = plural(len({edit.path for edit in edits}), "file")
    facts += [f"{plural(len(edits), 'edit')} in {files}; proposals left out: {left}"]
    return preview_changes(
        made, found, verb="refactor:", facts=[*facts, *whole, f"of the texts {plan.digest[:_DIGITS]}"]
    )
