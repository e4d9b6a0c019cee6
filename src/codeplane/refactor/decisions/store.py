"""Decisions that were made before, found again by the question that they answer."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from codeplane.index.files.paths import written
from codeplane.kernel.call import Call
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Ledger
from codeplane.refactor.applying import Choice, chosen
from codeplane.refactor.decisions.table import COLUMNS, FORGOTTEN, MADE, STREAM, Decision
from codeplane.refactor.draft import Edit
from codeplane.refactor.plan import Plan


class Decisions:
    """The decisions of one root.

    They are read from the log's table before a plan is looked at, so that judging what a plan writes need not wait.
    """

    def __init__(self, *, log: Ledger, root: Path) -> None:
        self._log = log
        self._root = str(root)
        self._held: dict[str, Decision] = {}

    async def load(self) -> None:
        """Read all that count now: another session may have decided or forgotten."""
        await self._log.flush()
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM decisions WHERE root = ? ORDER BY at_ns DESC", (self._root,)
        )
        found = map(Decision.from_row, rows)
        self._held = {one.question: one for one in found}

    def all(self) -> tuple[Decision, ...]:
        """The decisions that were read last, newest first."""
        return tuple(self._held.values())

    def of(self, plan: Plan) -> Decision | None:
        """The decision for the question that a plan asks, if it was made and nothing that it is about has changed."""
        asks = plan.undecided or plan.open_places()
        return self._held.get(_question(plan, self._root)) if asks and self._held else None

    def completed(self, plan: Plan, choice: Choice) -> Choice:
        """What was chosen; where nothing was, what was decided before."""
        found = None if any(choice) else self.of(plan)
        if found is None:
            return choice
        edits = plan.listed(found.candidate or None)
        numbers = {(written(one.edit.path), one.edit.start): str(one.number) for one in edits}
        left = [one for one in plan.open_places(found.candidate or None) if _place(one.edit) not in found.included]
        exclude = [*(str(one.number) for one in left), *(numbers[one] for one in found.excluded if one in numbers)]
        include = [numbers[one] for one in found.included if one in numbers]
        return found.candidate, tuple(sorted(include)), tuple(sorted(exclude))

    async def remember(
        self, call: Call, plan: Plan, candidate: str, include: Sequence[str], exclude: Sequence[str]
    ) -> str:
        """Keep a decision for the next time the same question comes up; returns its id."""
        made = frozenset(map(_place, chosen(plan, candidate or None, include, exclude)))
        listed = [one for one in plan.listed(candidate or None) if one.edit.semantic]
        included = sorted({_place(one.edit) for one in listed if not one.applies} & made)
        excluded = sorted({_place(one.edit) for one in listed if one.applies} - made)
        decision_id = new_id("decision")
        payload: JsonObject = {
            "decision_id": decision_id,
            "question": _question(plan, self._root),
            "root": self._root,
            "title": plan.draft.title,
            "candidate": candidate,
            "included": [list[JsonValue](one) for one in included],
            "excluded": [list[JsonValue](one) for one in excluded],
        }
        await call.record([(STREAM, MADE, payload)])
        return decision_id

    async def forget(self, call: Call, ids: Sequence[str]) -> None:
        """Let decisions count no longer."""
        await call.record([(STREAM, FORGOTTEN, {"decision_ids": list(ids)})])


def _place(edit: Edit) -> tuple[str, int]:
    return written(edit.path), edit.start


def _question(plan: Plan, root: str) -> str:
    """Equal for plans about one symbol whose candidates, open places and all files that these are in are the same.

    The new name is no part of it: what a place means does not depend on that.
    """
    draft = plan.draft
    candidates = [(one.id, sorted(_place(edit) for edit in one.edits if edit.semantic)) for one in draft.candidates]
    places = sorted(_place(one.edit) for one in plan.open_places())
    defined = sorted(_place(edit) for edit in plan.every if edit.role == "DEFINITION" and edit.semantic)
    about = {edit.path for one in draft.candidates for edit in one.edits if edit.semantic}
    about |= {one.edit.path for one in plan.open_places()}
    about |= {edit.path for edit in plan.every if edit.role == "DEFINITION" and edit.semantic}
    texts = sorted((written(path), plan.digests[path]) for path in about if path in plan.digests)
    identity = repr((root, plan.asked.kind, draft.name, plan.asked.contexts, candidates, places, defined, texts))
    return sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()
