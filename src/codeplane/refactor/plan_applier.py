"""Applying a plan: the edits that were chosen, the check that it still holds, and one mutation."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from codeplane.edit.batch import Change
from codeplane.edit.consequences import Consequence
from codeplane.edit.engine import AppliedChanges, Engine
from codeplane.edit.scope import Scope
from codeplane.index.files.paths import escape_bytes
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, InvalidArgument
from codeplane.kernel.operation import Assessment, Risk
from codeplane.refactor.draft import Edit
from codeplane.refactor.file_changes import describe_plan, file_changes, semantic_lines
from codeplane.refactor.plan import ListedEdit, Plan
from codeplane.refactor.plan_builder import PlanBuilder, PlanningResult
from codeplane.refactor.plan_store import PlanStore

_TIERS = {"anchored": "ANCHORED", "unknown": "UNKNOWN", "strong": "STRONG"}
_DOCUMENTS = "documents"
_MAX_EXPECTED = 100
# A candidate, and which edits are included and left out.
Choice = tuple[str, Sequence[str], Sequence[str]]


class PlanApplier:
    """Applies plans through the one engine that writes files."""

    def __init__(self, *, root: Path, scope: Scope, engine: Engine, builder: PlanBuilder) -> None:
        self._root = root
        self._scope = scope
        self._engine = engine
        self._builder = builder

    async def gate(self, plan: Plan, candidate: str | None) -> PlanningResult | None:
        """Plan again over the whole repository; return None if the plan still holds, else the new result."""
        now = await self._builder.rebuild(plan)
        if not now.behind and not now.stale and _is_same(plan, now.plan, candidate):
            return None
        if now.plan.draft.title == plan.draft.title:
            # A new plan to look at; there is none if something else is at the place now.
            await asyncio.to_thread(self._builder.plans.add, now.plan)
        return now

    async def apply(self, call: Call, plan: Plan, edits: Sequence[Edit]) -> AppliedChanges:
        """Apply these edits, with the plan's moves, as one mutation."""
        made = await asyncio.to_thread(self._safe_changes, plan, edits)
        if not made:
            raise InvalidArgument(
                "no edit of this plan would be applied", hint="include proposals, or look at the plan"
            )
        lines = await asyncio.to_thread(semantic_lines, plan, edits)
        return await self._engine.apply(call, made, what=f"refactor: {plan.draft.title}", semantic=lines)

    async def consequences(self, plan: Plan, candidate: str | None) -> Consequence:
        """Return the consequences of the plan's certain edits."""
        edits = [listed.edit for listed in plan.list_edits(candidate) if listed.applies]
        if len(plan.paths_of(edits)) > _MAX_EXPECTED:
            return Consequence(warnings=(f"symbols and tests are not listed for more than {_MAX_EXPECTED} files",))
        try:
            found = await asyncio.to_thread(describe_plan, plan, edits)
        except CodePlaneError as error:
            return Consequence(warnings=(error.message,))
        return (await self._engine.predict(found))[1]

    def _safe_changes(self, plan: Plan, edits: Sequence[Edit]) -> list[Change]:
        """Return the changes of edits; refuse one that goes through a link."""
        made = file_changes(self._root, plan, edits)
        for change in made:
            located = self._scope.locate(change.path)
            if located != change.path:
                raise InvalidArgument(f"{change.path} is reached through a link to {located}", hint="name that instead")
        return made


def chosen_edits(plan: Plan, candidate: str | None, include: Sequence[str], exclude: Sequence[str]) -> tuple[Edit, ...]:
    """Return the edits to apply: the certain ones, and those that were included; a number overrides a tier."""
    edits = plan.list_edits(candidate)
    numbers = frozenset(edit.number for edit in edits)
    added, left_out = _numbers(include, numbers), _numbers(exclude, numbers)
    return tuple(
        edit.edit
        for edit in edits
        if edit.number not in left_out
        and (
            edit.number in added
            or ((edit.applies or _is_named(edit.edit, include)) and not _is_named(edit.edit, exclude))
        )
    )


def undecided_places(
    plan: Plan, candidate: str | None, include: Sequence[str], exclude: Sequence[str], *, seen: bool
) -> tuple[ListedEdit, ...]:
    """Return the open places that were not decided: while there are any, nothing is applied.

    A caller who has `seen` the plan decides about all of them by naming any; otherwise each tier must be named.
    """
    if seen and (include or exclude):
        return ()
    found = plan.open_places(candidate)
    numbers = frozenset(place.number for place in found)
    spoken = _numbers([word for word in (*include, *exclude) if _number(word) in numbers], numbers)
    return tuple(
        place for place in found if place.number not in spoken and not _is_named(place.edit, (*include, *exclude))
    )


def assess_plan(plans: PlanStore, plan_id: str, choice: Choice) -> Assessment:
    """Assess applying a stored plan: the files that it would write."""
    plan = plans.get(plan_id)
    try:
        # A plan of another process is made again by the run; until then all files that it may write count.
        paths = plans.record(plan_id).paths if plan is None else _written_paths(plan, *choice)
    except CodePlaneError:
        # The run reports what is wrong with it, to callers who may call it.
        paths = ()
    return Assessment(risk=Risk.WRITE, paths=tuple(map(escape_bytes, paths)), whole=True)


def _written_paths(plan: Plan, candidate: str, include: Sequence[str], exclude: Sequence[str]) -> tuple[str, ...]:
    if plan.conflicts or (plan.undecided and not candidate):
        return ()
    if undecided_places(plan, candidate or None, include, exclude, seen=True):
        return ()
    return plan.paths_of(chosen_edits(plan, candidate or None, include, exclude))


def _is_named(edit: Edit, words: Sequence[str]) -> bool:
    for word in words:
        if word.lower() == _DOCUMENTS and not edit.semantic:
            return True
        if edit.semantic and _TIERS.get(word.lower()) == edit.tier:
            return True
    return False


def _number(word: str) -> int:
    """Return the number that a word names, or -1."""
    number = word.removeprefix("#")
    return int(number) if number.isascii() and number.isdigit() and len(number) <= 9 else -1


def _numbers(words: Sequence[str], known: frozenset[int]) -> frozenset[int]:
    found = set()
    for word in words:
        if word.lower() in _TIERS or word.lower() == _DOCUMENTS:
            continue
        number = _number(word)
        if number not in known:
            raise InvalidArgument(
                f"{word!r} names no edit of this plan",
                hint="send anchored, unknown, documents, or ids of edits as refactor_preview shows them",
            )
        found.add(number)
    return frozenset(found)


def _is_same(plan: Plan, now: Plan, candidate: str | None) -> bool:
    """Whether two plans are the same: the same edits of the same texts, and the same open question."""
    if now is plan:
        return True
    known = {candidate.id for candidate in now.draft.candidates}
    if known != {candidate.id for candidate in plan.draft.candidates}:
        return False
    if (plan.draft.moves, plan.draft.creates, plan.draft.removes) != (
        now.draft.moves,
        now.draft.creates,
        now.draft.removes,
    ):
        return False
    if plan.list_edits(candidate) != now.list_edits(candidate) or now.conflicts:
        return False
    touched = {listed.edit.path for listed in plan.list_edits(candidate)} | {move.path for move in plan.draft.moves}
    return all(now.texts.get(path) == plan.texts.get(path) for path in touched)
