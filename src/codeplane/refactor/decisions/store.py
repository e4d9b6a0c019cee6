"""Stored decisions, found by the question that they answer."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from codeplane.index.files.paths import escape_bytes
from codeplane.kernel.call import Call
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Ledger
from codeplane.refactor.decisions.table import COLUMNS, FORGOTTEN, MADE, STREAM, Decision
from codeplane.refactor.draft import Edit
from codeplane.refactor.plan import Plan
from codeplane.refactor.plan_applier import Choice, chosen_edits


class Decisions:
    """The decisions of one root.

    They are read from the log's table before a plan is used, so that assessing a plan does not wait.
    """

    def __init__(self, *, log: Ledger, root: Path) -> None:
        self._log = log
        self._root = str(root)
        self._by_question: dict[str, Decision] = {}

    async def load(self) -> None:
        """Read all valid decisions: another session may have decided or forgotten some."""
        await self._log.flush()
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM decisions WHERE root = ? ORDER BY at_ns DESC", (self._root,)
        )
        found = map(Decision.from_row, rows)
        self._by_question = {decision.question: decision for decision in found}

    def all(self) -> tuple[Decision, ...]:
        """Return the decisions that were read last, newest first."""
        return tuple(self._by_question.values())

    def of(self, plan: Plan) -> Decision | None:
        """Return the decision for a plan's question, if one was made and nothing that it is about has changed."""
        asks = plan.undecided or plan.open_places()
        return self._by_question.get(_question(plan, self._root)) if asks and self._by_question else None

    def complete_choice(self, plan: Plan, choice: Choice) -> Choice:
        """Return the choice, or the earlier decision if nothing was chosen."""
        found = None if any(choice) else self.of(plan)
        if found is None:
            return choice
        edits = plan.list_edits(found.candidate or None)
        numbers = {(escape_bytes(edit.edit.path), edit.edit.start): str(edit.number) for edit in edits}
        left = [
            place for place in plan.open_places(found.candidate or None) if _place(place.edit) not in found.included
        ]
        exclude = [
            *(str(place.number) for place in left),
            *(numbers[place] for place in found.excluded if place in numbers),
        ]
        include = [numbers[place] for place in found.included if place in numbers]
        return found.candidate, tuple(sorted(include)), tuple(sorted(exclude))

    async def remember(
        self, call: Call, plan: Plan, candidate: str, include: Sequence[str], exclude: Sequence[str]
    ) -> str:
        """Record a decision for the next time the same question comes up; return its id."""
        made = frozenset(map(_place, chosen_edits(plan, candidate or None, include, exclude)))
        listed = [listed for listed in plan.list_edits(candidate or None) if listed.edit.semantic]
        included = sorted({_place(edit.edit) for edit in listed if not edit.applies} & made)
        excluded = sorted({_place(edit.edit) for edit in listed if edit.applies} - made)
        decision_id = new_id("decision")
        payload: JsonObject = {
            "decision_id": decision_id,
            "question": _question(plan, self._root),
            "root": self._root,
            "title": plan.draft.title,
            "candidate": candidate,
            "included": [list[JsonValue](place) for place in included],
            "excluded": [list[JsonValue](place) for place in excluded],
        }
        await call.record([(STREAM, MADE, payload)])
        return decision_id

    async def forget(self, call: Call, ids: Sequence[str]) -> None:
        """Forget decisions."""
        await call.record([(STREAM, FORGOTTEN, {"decision_ids": list(ids)})])


def _place(edit: Edit) -> tuple[str, int]:
    return escape_bytes(edit.path), edit.start


def _question(plan: Plan, root: str) -> str:
    """Return a value that is equal for plans about one symbol with the same candidates, open places and files.

    The new name is not part of it: what a place means does not depend on that.
    """
    draft = plan.draft
    candidates = [
        (candidate.id, sorted(_place(edit) for edit in candidate.edits if edit.semantic))
        for candidate in draft.candidates
    ]
    places = sorted(_place(place.edit) for place in plan.open_places())
    defined = sorted(_place(edit) for edit in plan.every if edit.role == "DEFINITION" and edit.semantic)
    about = {edit.path for candidate in draft.candidates for edit in candidate.edits if edit.semantic}
    about |= {place.edit.path for place in plan.open_places()}
    about |= {edit.path for edit in plan.every if edit.role == "DEFINITION" and edit.semantic}
    texts = sorted((escape_bytes(path), plan.digests[path]) for path in about if path in plan.digests)
    identity = repr((root, plan.spec.kind, draft.name, plan.spec.contexts, candidates, places, defined, texts))
    return sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()
