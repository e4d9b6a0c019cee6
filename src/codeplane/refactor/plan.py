"""A plan that can be shown, chosen from and applied: a draft over one state of the files, with its edits in order."""

import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal

import msgspec

from codeplane.code.resolve.tier import SURE, TIERS, Tier
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.kernel.config import RefactorConfig
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.refactor.divergence import Conflict
from codeplane.refactor.draft import Draft, Edit

Kind = Literal["rename", "move", "delete", "replace"]
Planner = Callable[[World, FactStore, float], Draft]
_APPLIED: Mapping[str, frozenset[Tier]] = {"strong": SURE, "proven": frozenset({"PROVEN"})}
_LEVELS = ("low", "medium", "high")
_ORDER: Mapping[str, int] = {tier: place for place, tier in enumerate(TIERS)}
_Key = tuple[str, int, int, str]
_Rank = tuple[bool, int]


class RefactorSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What to plan, in a form that outlives the process; `symbol` is as the caller wrote it."""

    kind: Kind = msgspec.field(name="kind")
    symbol: str = msgspec.field(default="", name="symbol")
    new_name: str = msgspec.field(default="", name="new_name")
    options: JsonObject = msgspec.field(default_factory=dict, name="options")
    contexts: tuple[str, ...] = msgspec.field(default=(), name="contexts")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEdit:
    """An edit with its number in the plan, and whether it is applied unless it is excluded."""

    number: int
    edit: Edit
    applies: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """Everything a plan depends on besides the request: an equal basis gives an equal plan."""

    epoch: int
    contexts: object
    """The router of files to contexts; the same object while nothing about contexts changes."""
    indexes: tuple[tuple[str, int], ...]
    """The imported SCIP indexes, and when each was imported."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A draft, the texts it was made from, and the request to make it again."""

    plan_id: str
    spec: RefactorSpec
    draft: Draft
    texts: Mapping[str, bytes]
    """The texts of the files that it would change or refers to."""
    modes: Mapping[str, int]
    epoch: int
    commit: str | None
    contexts: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    expires_ns: int
    config: RefactorConfig
    basis: Basis | None = None
    """None if the index lagged, or files changed, while the plan was made."""

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """The SHA-256 of each file it would change."""
        return {path: sha256(text).hexdigest() for path, text in self.texts.items()}

    @cached_property
    def digest(self) -> str:
        """A value that is equal for plans that would do the same to the same texts."""
        draft = self.draft
        choices = [(candidate.id, candidate.description, _edit_rows(candidate.edits)) for candidate in draft.candidates]
        content = repr((draft.title, _edit_rows(draft.edits), draft.moves, draft.creates, draft.removes, choices))
        return sha256(f"{content}\n{sorted(self.digests.items())}".encode("utf-8", "surrogateescape")).hexdigest()

    def list_edits(self, candidate: str | None = None) -> tuple[ListedEdit, ...]:
        """Return the edits, code before words; without a candidate those of all, where only shared ones apply."""
        found = self._listings.get(candidate)
        if found is None:
            found = self._listings[candidate] = self._list_edits(candidate)
        return found

    @cached_property
    def _listings(self) -> dict[str | None, tuple[ListedEdit, ...]]:
        return {}

    def _list_edits(self, candidate: str | None) -> tuple[ListedEdit, ...]:
        if candidate is None and not self.draft.candidates:
            sure = self._is_sure
            return tuple(ListedEdit(number=at, edit=edit, applies=sure(edit)) for at, edit in enumerate(self.every))
        shared = [
            {_key(edit) for edit in candidate.edits if self._is_sure(edit)} for candidate in self.draft.candidates
        ]
        chosen = candidate is not None or not shared
        always = frozenset[_Key]()
        if not chosen:
            always = frozenset(map(_key, self.draft.edits)) | set.intersection(*shared)
        numbers = self._numbers
        return tuple(
            ListedEdit(number=numbers[key], edit=edit, applies=self._is_sure(edit) and (chosen or key in always))
            for edit in self._edits(candidate)
            for key in (_key(edit),)
        )

    def _edits(self, candidate: str | None) -> tuple[Edit, ...]:
        if candidate is None:
            return self.every
        wanted = [selection for selection in self.draft.candidates if candidate == selection.id]
        if not wanted:
            known = ", ".join(candidate.id for candidate in self.draft.candidates) or "this plan has none"
            raise InvalidArgument(f"there is no candidate {candidate!r}", hint=f"candidates: {known}")
        return sort_edits([*self.draft.edits, *(edit for selection in wanted for edit in selection.edits)])

    @cached_property
    def every(self) -> tuple[Edit, ...]:
        """All edits, those of all candidates among them."""
        return sort_edits(
            [*self.draft.edits, *(edit for candidate in self.draft.candidates for edit in candidate.edits)]
        )

    @cached_property
    def _numbers(self) -> Mapping[_Key, int]:
        """The number of each edit, the same for every candidate."""
        keys = dict.fromkeys(map(_key, self.every))
        keys |= dict.fromkeys(_key(edit) for candidate in self.draft.candidates for edit in candidate.edits)
        return {key: number for number, key in enumerate(keys)}

    def open_places(self, candidate: str | None = None) -> tuple[ListedEdit, ...]:
        """Return the proposed edits that may be uses, which need a decision."""
        return tuple(listed for listed in self.list_edits(candidate) if self.waits(listed.edit))

    def waits(self, edit: Edit) -> bool:
        """Whether an edit is only proposed, and leaving it out may leave a use behind."""
        return edit.semantic and edit.likely and not self._is_sure(edit)

    def _is_sure(self, edit: Edit) -> bool:
        if edit.semantic:
            return edit.tier in _APPLIED[self.config.auto_apply]
        sweep = self.config.doc_sweep
        level = _LEVELS.index(edit.confidence or "low")
        return sweep.auto_apply and level >= _LEVELS.index(sweep.min_confidence)

    def paths_of(self, edits: Iterable[Edit]) -> tuple[str, ...]:
        """Return the files that these edits write, with the moves, new files and removals of the plan."""
        draft = self.draft
        moved = [path for move in draft.moves for path in (move.path, move.new_path)]
        created = [new.path for new in draft.creates]
        return tuple(sorted({*(edit.path for edit in edits), *moved, *created, *draft.removes}))

    @property
    def undecided(self) -> bool:
        """Whether a candidate must be chosen first."""
        return bool(self.draft.candidates)


def sort_edits(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Sort edits, code before words, by file and place; of two edits of one place keep the surer one."""
    edits = tuple(edits)
    if _is_ordered(edits):
        return edits
    found: dict[_Key, tuple[_Rank, Edit]] = {}
    for edit in edits:
        key, rank = _key(edit), _rank(edit)
        present = found.get(key)
        if present is None or rank < present[0]:
            found[key] = rank, edit
    # Of two edits at one place the semantic one comes first.
    listed = sorted((*key[:3], rank, at) for at, (key, (rank, _)) in enumerate(found.items()))
    by_place = [edit for _, edit in found.values()]
    result: list[Edit] = []
    ranks: list[_Rank] = []
    for path, _, _, rank, at in listed:
        edit = by_place[at]
        if result and result[-1].path == path and _meet(result[-1], edit):
            # Two planners found one place: the surer one wins.
            if rank < ranks[-1]:
                result[-1], ranks[-1] = edit, rank
            continue
        result.append(edit)
        ranks.append(rank)
    return (*(edit for edit in result if edit.semantic), *(edit for edit in result if not edit.semantic))


def differing_files(plan: Plan, now: Plan) -> list[str]:
    """Return the files in which two plans differ: first those with another text, then those with other edits."""
    texts = {path for path in plan.texts.keys() | now.texts.keys() if plan.texts.get(path) != now.texts.get(path)}
    edits = {edit.path for edit in set(plan.every) ^ set(now.every)}
    return [*sorted(texts), *sorted(edits - texts)]


def texts_of(world: World, paths: Iterable[str]) -> tuple[dict[str, bytes], dict[str, int]]:
    """Return the texts and modes of files, without links and files that are not text."""
    texts, modes = {}, {}
    for path in paths:
        known = world.snapshot.files.get(path)
        if known is None or known.skipped is not None or stat.S_ISLNK(known.stamp.mode):
            continue
        texts[path], modes[path] = world.text(path), stat.S_IMODE(known.stamp.mode)
    return texts, modes


def _is_ordered(edits: Sequence[Edit]) -> bool:
    """Whether edits are sorted already: only code, place after place, none overlapping."""
    path, end = "", -1
    for edit in edits:
        if not edit.semantic or edit.path < path or (edit.path == path and edit.start <= end):
            return False
        path, end = edit.path, edit.end
    return True


def _edit_rows(edits: Iterable[Edit]) -> list[tuple[object, ...]]:
    return [
        (edit.path, edit.start, edit.end, edit.new, edit.tier, edit.role, edit.semantic, edit.confidence, edit.why)
        for edit in edits
    ]


def _key(edit: Edit) -> _Key:
    return edit.path, edit.start, edit.end, edit.new


def _rank(edit: Edit) -> _Rank:
    return not edit.semantic, _ORDER[edit.tier]


def _meet(edit: Edit, other: Edit) -> bool:
    """Whether two edits overlap; two insertions at one place do not."""
    if edit.start == edit.end and other.start == other.end:
        return False
    return other.start < edit.end or (edit.start, edit.end) == (other.start, other.end)
