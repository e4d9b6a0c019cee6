"""A plan that can be shown, chosen from and applied: a draft over one state of the files, its edits in order."""

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


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What shall be planned, in words that outlive a process; `symbol` is how it was named."""

    kind: Kind = msgspec.field(name="kind")
    symbol: str = msgspec.field(default="", name="symbol")
    new_name: str = msgspec.field(default="", name="new_name")
    options: JsonObject = msgspec.field(default_factory=dict, name="options")
    contexts: tuple[str, ...] = msgspec.field(default=(), name="contexts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """An edit as it is listed: its number in the plan, and whether it is made unless somebody says otherwise."""

    number: int
    edit: Edit
    applies: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """All that a plan follows from, beside the question: equal ones give equal plans."""

    epoch: int
    contexts: object
    """What routes files to contexts; the same one while nothing about contexts changed."""
    indexes: tuple[tuple[str, int], ...]
    """The SCIP indexes that were taken in, and when."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What was planned, from which texts, and how to plan it again."""

    plan_id: str
    asked: Asked
    draft: Draft
    texts: Mapping[str, bytes]
    """The files that it would change or speaks of, as they were."""
    modes: Mapping[str, int]
    epoch: int
    commit: str | None
    contexts: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    expires_ns: int
    config: RefactorConfig
    basis: Basis | None = None
    """None where the index lagged, or files changed, while it was made."""

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """The SHA-256 of each file it would change."""
        return {path: sha256(text).hexdigest() for path, text in self.texts.items()}

    @cached_property
    def digest(self) -> str:
        """Equal for plans that would do the same to the same texts."""
        draft = self.draft
        choices = [(one.id, one.description, _said(one.edits)) for one in draft.candidates]
        said = repr((draft.title, _said(draft.edits), draft.moves, draft.creates, draft.removes, choices))
        return sha256(f"{said}\n{sorted(self.digests.items())}".encode("utf-8", "surrogateescape")).hexdigest()

    def listed(self, candidate: str | None = None) -> tuple[Listed, ...]:
        """Its edits, code before words; without a candidate those of all, of which the ones they share are made."""
        found = self._listings.get(candidate)
        if found is None:
            found = self._listings[candidate] = self._listed(candidate)
        return found

    @cached_property
    def _listings(self) -> dict[str | None, tuple[Listed, ...]]:
        return {}

    def _listed(self, candidate: str | None) -> tuple[Listed, ...]:
        if candidate is None and not self.draft.candidates:
            sure = self._sure
            return tuple(Listed(number=at, edit=edit, applies=sure(edit)) for at, edit in enumerate(self.every))
        shared = [{_key(edit) for edit in one.edits if self._sure(edit)} for one in self.draft.candidates]
        chosen = candidate is not None or not shared
        always = frozenset[_Key]()
        if not chosen:
            always = frozenset(map(_key, self.draft.edits)) | set.intersection(*shared)
        numbers = self._numbers
        return tuple(
            Listed(number=numbers[key], edit=edit, applies=self._sure(edit) and (chosen or key in always))
            for edit in self._edits(candidate)
            for key in (_key(edit),)
        )

    def _edits(self, candidate: str | None) -> tuple[Edit, ...]:
        if candidate is None:
            return self.every
        wanted = [one for one in self.draft.candidates if candidate == one.id]
        if not wanted:
            known = ", ".join(one.id for one in self.draft.candidates) or "this plan has none"
            raise InvalidArgument(f"there is no candidate {candidate!r}", hint=f"candidates: {known}")
        return ordered([*self.draft.edits, *(edit for one in wanted for edit in one.edits)])

    @cached_property
    def every(self) -> tuple[Edit, ...]:
        """All edits, those of all candidates among them."""
        return ordered([*self.draft.edits, *(edit for one in self.draft.candidates for edit in one.edits)])

    @cached_property
    def _numbers(self) -> Mapping[_Key, int]:
        """The number of each edit, the same whichever candidate is looked at."""
        keys = dict.fromkeys(map(_key, self.every))
        keys |= dict.fromkeys(_key(edit) for one in self.draft.candidates for edit in one.edits)
        return {key: number for number, key in enumerate(keys)}

    def open_places(self, candidate: str | None = None) -> tuple[Listed, ...]:
        """The edits that are only proposed, and without which a use may stay behind: somebody has to decide them."""
        return tuple(one for one in self.listed(candidate) if self.waits(one.edit))

    def waits(self, edit: Edit) -> bool:
        """Whether an edit is only proposed, and a use may stay behind without it."""
        return edit.semantic and edit.likely and not self._sure(edit)

    def _sure(self, edit: Edit) -> bool:
        if edit.semantic:
            return edit.tier in _APPLIED[self.config.auto_apply]
        sweep = self.config.doc_sweep
        level = _LEVELS.index(edit.confidence or "low")
        return sweep.auto_apply and level >= _LEVELS.index(sweep.min_confidence)

    def paths_of(self, edits: Iterable[Edit]) -> tuple[str, ...]:
        """The files that are written when these edits are made, with the moves, new files and removals of the plan."""
        draft = self.draft
        moved = [path for move in draft.moves for path in (move.path, move.new_path)]
        created = [new.path for new in draft.creates]
        return tuple(sorted({*(edit.path for edit in edits), *moved, *created, *draft.removes}))

    @property
    def undecided(self) -> bool:
        """Whether somebody has to choose a candidate first."""
        return bool(self.draft.candidates)


def ordered(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Code, then words; each in the order of files and places, and once: of two about one place the surer one stays."""
    edits = tuple(edits)
    if _is_ordered(edits):
        return edits
    found: dict[_Key, tuple[_Rank, Edit]] = {}
    for edit in edits:
        key, rank = _key(edit), _rank(edit)
        held = found.get(key)
        if held is None or rank < held[0]:
            found[key] = rank, edit
    # Of two edits at one place the one that facts know of comes first.
    listed = sorted((*key[:3], rank, at) for at, (key, (rank, _)) in enumerate(found.items()))
    by_place = [edit for _, edit in found.values()]
    kept: list[Edit] = []
    ranks: list[_Rank] = []
    for path, _, _, rank, at in listed:
        edit = by_place[at]
        if kept and kept[-1].path == path and _meet(kept[-1], edit):
            # Two planners about one place: the surer one knows better.
            if rank < ranks[-1]:
                kept[-1], ranks[-1] = edit, rank
            continue
        kept.append(edit)
        ranks.append(rank)
    return (*(edit for edit in kept if edit.semantic), *(edit for edit in kept if not edit.semantic))


def differing(plan: Plan, now: Plan) -> list[str]:
    """The files about which two plans differ: those with another text first, then those with other edits."""
    texts = {path for path in plan.texts.keys() | now.texts.keys() if plan.texts.get(path) != now.texts.get(path)}
    edits = {edit.path for edit in set(plan.every) ^ set(now.every)}
    return [*sorted(texts), *sorted(edits - texts)]


def texts_of(world: World, paths: Iterable[str]) -> tuple[dict[str, bytes], dict[str, int]]:
    """The texts and modes of files; a link has no text of its own, and what is not text is left out too."""
    texts, modes = {}, {}
    for path in paths:
        known = world.snapshot.files.get(path)
        if known is None or known.skipped is not None or stat.S_ISLNK(known.stamp.mode):
            continue
        texts[path], modes[path] = world.text(path), stat.S_IMODE(known.stamp.mode)
    return texts, modes


def _is_ordered(edits: Sequence[Edit]) -> bool:
    """Whether edits are as they shall be already: code alone, place after place, none about the same text."""
    path, end = "", -1
    for edit in edits:
        if not edit.semantic or edit.path < path or (edit.path == path and edit.start <= end):
            return False
        path, end = edit.path, edit.end
    return True


def _said(edits: Iterable[Edit]) -> list[tuple[object, ...]]:
    return [
        (one.path, one.start, one.end, one.new, one.tier, one.role, one.semantic, one.confidence, one.why)
        for one in edits
    ]


def _key(edit: Edit) -> _Key:
    return edit.path, edit.start, edit.end, edit.new


def _rank(edit: Edit) -> _Rank:
    return not edit.semantic, _ORDER[edit.tier]


def _meet(one: Edit, other: Edit) -> bool:
    """Whether two edits are about the same text; two insertions at one place both stay."""
    if one.start == one.end and other.start == other.end:
        return False
    return other.start < one.end or (one.start, one.end) == (other.start, other.end)
