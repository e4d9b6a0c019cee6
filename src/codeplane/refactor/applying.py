"""Making a plan real: what was chosen, the gate, and one mutation."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from codeplane.edit.batch import Change
from codeplane.edit.consequences import Consequence
from codeplane.edit.engine import AppliedChanges, Engine
from codeplane.edit.scope import Scope
from codeplane.index.files.paths import written
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, InvalidArgument
from codeplane.kernel.operation import Assessment, Risk
from codeplane.refactor.draft import Edit
from codeplane.refactor.plan import Listed, Plan
from codeplane.refactor.planning import Planned, Planning
from codeplane.refactor.plans import Plans
from codeplane.refactor.spliced import changes, described_plan, semantic_lines

_TIERS = {"anchored": "ANCHORED", "unknown": "UNKNOWN", "strong": "STRONG"}
_DOCUMENTS = "documents"
_MAX_EXPECTED = 100
# A candidate, and which edits are included and left out.
Choice = tuple[str, Sequence[str], Sequence[str]]


class Applying:
    """Applies plans through the one engine that writes files."""

    def __init__(self, *, root: Path, scope: Scope, engine: Engine, planning: Planning) -> None:
        self._root = root
        self._scope = scope
        self._engine = engine
        self._planning = planning

    async def gate(self, plan: Plan, candidate: str | None) -> Planned | None:
        """None when the plan still holds: the whole repository looked at again, planned again, nothing else found."""
        now = await self._planning.again(plan)
        if not now.behind and not now.stale and _same(plan, now.plan, candidate):
            return None
        if now.plan.draft.title == plan.draft.title:
            # Another one to look at; where something else stands now, there is none.
            await asyncio.to_thread(self._planning.plans.add, now.plan)
        return now

    async def apply(self, call: Call, plan: Plan, edits: Sequence[Edit]) -> AppliedChanges:
        """Make these edits, with the plan's moves, as one mutation."""
        made = await asyncio.to_thread(self._located, plan, edits)
        if not made:
            raise InvalidArgument(
                "no edit of this plan would be applied", hint="include proposals, or look at the plan"
            )
        lines = await asyncio.to_thread(semantic_lines, plan, edits)
        return await self._engine.apply(call, made, what=f"refactor: {plan.draft.title}", semantic=lines)

    async def expected(self, plan: Plan, candidate: str | None) -> Consequence:
        """What the plan would mean if its sure edits were made."""
        edits = [one.edit for one in plan.listed(candidate) if one.applies]
        if len(plan.paths_of(edits)) > _MAX_EXPECTED:
            return Consequence(warnings=(f"symbols and tests are not told of more than {_MAX_EXPECTED} files",))
        try:
            found = await asyncio.to_thread(described_plan, plan, edits)
        except CodePlaneError as error:
            return Consequence(warnings=(error.message,))
        return (await self._engine.predict(found))[1]

    def _located(self, plan: Plan, edits: Sequence[Edit]) -> list[Change]:
        """The changes that edits come to, none of them through a link."""
        made = changes(self._root, plan, edits)
        for change in made:
            located = self._scope.locate(change.path)
            if located != change.path:
                raise InvalidArgument(f"{change.path} is reached through a link to {located}", hint="name that instead")
        return made


def chosen(plan: Plan, candidate: str | None, include: Sequence[str], exclude: Sequence[str]) -> tuple[Edit, ...]:
    """The edits to make: those that apply by themselves, and those that somebody chose; a number beats a tier."""
    edits = plan.listed(candidate)
    numbers = frozenset(one.number for one in edits)
    added, left_out = _numbers(include, numbers), _numbers(exclude, numbers)
    return tuple(
        one.edit
        for one in edits
        if one.number not in left_out
        and (one.number in added or ((one.applies or _named(one.edit, include)) and not _named(one.edit, exclude)))
    )


def undecided(
    plan: Plan, candidate: str | None, include: Sequence[str], exclude: Sequence[str], *, seen: bool
) -> tuple[Listed, ...]:
    """The places that may be uses and that nobody decided about: while there are some, nothing is applied.

    Whoever has seen the plan decides about all of them by naming any; without it each has to be named, by its tier.
    """
    if seen and (include or exclude):
        return ()
    found = plan.open_places(candidate)
    numbers = frozenset(one.number for one in found)
    spoken = _numbers([word for word in (*include, *exclude) if _number(word) in numbers], numbers)
    return tuple(one for one in found if one.number not in spoken and not _named(one.edit, (*include, *exclude)))


def assessed(plans: Plans, plan_id: str, choice: Choice) -> Assessment:
    """Applying a kept plan: the files that it would write."""
    plan = plans.get(plan_id)
    try:
        # One that another process made is made again by the run; until then all that it may come to is judged.
        paths = plans.record(plan_id).paths if plan is None else _written(plan, *choice)
    except CodePlaneError:
        # What is wrong with it is told by the run, to those who may call it.
        paths = ()
    return Assessment(risk=Risk.WRITE, paths=tuple(map(written, paths)), whole=True)


def _written(plan: Plan, candidate: str, include: Sequence[str], exclude: Sequence[str]) -> tuple[str, ...]:
    if plan.conflicts or (plan.undecided and not candidate):
        return ()
    if undecided(plan, candidate or None, include, exclude, seen=True):
        return ()
    return plan.paths_of(chosen(plan, candidate or None, include, exclude))


def _named(edit: Edit, words: Sequence[str]) -> bool:
    for word in words:
        if word.lower() == _DOCUMENTS and not edit.semantic:
            return True
        if edit.semantic and _TIERS.get(word.lower()) == edit.tier:
            return True
    return False


def _number(word: str) -> int:
    """The number that a word names, or -1."""
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


def _same(plan: Plan, now: Plan, candidate: str | None) -> bool:
    """Whether two plans are one: the same edits of the same texts, and the same question left open."""
    if now is plan:
        return True
    known = {one.id for one in now.draft.candidates}
    if known != {one.id for one in plan.draft.candidates}:
        return False
    if (plan.draft.moves, plan.draft.creates, plan.draft.removes) != (
        now.draft.moves,
        now.draft.creates,
        now.draft.removes,
    ):
        return False
    if plan.listed(candidate) != now.listed(candidate) or now.conflicts:
        return False
    touched = {one.edit.path for one in plan.listed(candidate)} | {move.path for move in plan.draft.moves}
    return all(now.texts.get(path) == plan.texts.get(path) for path in touched)
