"""A plan that can be shown, chosen from and applied: a draft over one state of the files, its edits in order."""

import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Literal

from codeplane.kernel.config import RefactorConfig
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.repo.index.facts import FactStore
from codeplane.repo.refactor.divergence import Conflict
from codeplane.repo.refactor.draft import Draft, Edit
from codeplane.repo.resolve.world import World

Kind = Literal["rename", "move", "delete", "replace"]
Planner = Callable[[World, FactStore, float], Draft]
_SURE: Mapping[str, frozenset[str]] = {"strong": frozenset({"PROVEN", "STRONG"}), "proven": frozenset({"PROVEN"})}
_LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What shall be planned, in words that outlive a process; `symbol` is how it was named."""

    kind: Kind
    symbol: str = ""
    new_name: str = ""
    options: JsonObject = field(default_factory=dict)
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """An edit as it is listed: its number in the plan, and whether it is made unless somebody says otherwise."""

    number: int
    edit: Edit
    applies: bool


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

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """The SHA-256 of each file it would change."""
        return {path: sha256(text).hexdigest() for path, text in self.texts.items()}

    @cached_property
    def digest(self) -> str:
        """Equal for plans that would do the same to the same texts."""
        draft = self.draft
        said = repr((draft.title, draft.edits, draft.moves, draft.creates, draft.removes, draft.candidates))
        return sha256(f"{said}\n{sorted(self.digests.items())}".encode("utf-8", "surrogateescape")).hexdigest()

    def listed(self, candidate: str | None = None) -> tuple[Listed, ...]:
        """Its edits, code before words; without a candidate those of all, of which the ones they share are made."""
        shared = [{_key(edit) for edit in one.edits if self._sure(edit)} for one in self.draft.candidates]
        chosen = candidate is not None or not shared
        always = {_key(edit) for edit in self.draft.edits}.union(set.intersection(*shared) if shared else ())
        return tuple(
            Listed(
                number=self._numbers[_key(edit)],
                edit=edit,
                applies=self._sure(edit) and (chosen or _key(edit) in always),
            )
            for edit in self._edits(candidate)
        )

    def _edits(self, candidate: str | None) -> tuple[Edit, ...]:
        wanted = [one for one in self.draft.candidates if candidate in (None, one.id)]
        if candidate is not None and not wanted:
            known = ", ".join(one.id for one in self.draft.candidates) or "this plan has none"
            raise InvalidArgument(f"there is no candidate {candidate!r}", hint=f"candidates: {known}")
        return ordered([*self.draft.edits, *(edit for one in wanted for edit in one.edits)])

    @cached_property
    def _numbers(self) -> Mapping[tuple[str, int, int, str], int]:
        """The number of each edit, the same whichever candidate is looked at."""
        keys = dict.fromkeys(map(_key, self._edits(None)))
        keys |= dict.fromkeys(_key(edit) for one in self.draft.candidates for edit in one.edits)
        return {key: number for number, key in enumerate(keys)}

    def _sure(self, edit: Edit) -> bool:
        if edit.semantic:
            return edit.tier in _SURE[self.config.auto_apply]
        sweep = self.config.doc_sweep
        level = _LEVELS.index(edit.confidence or "low")
        return sweep.auto_apply and level >= _LEVELS.index(sweep.min_confidence)

    @property
    def undecided(self) -> bool:
        """Whether somebody has to choose a candidate first."""
        return bool(self.draft.candidates)


def ordered(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Code, then words; each in the order of files and places, and once: of two about one place the surer one stays."""
    found: dict[tuple[str, int, int, str], Edit] = {}
    for edit in edits:
        held = found.get(_key(edit))
        if held is None or _rank(edit) < _rank(held):
            found[_key(edit)] = edit
    # Of two edits at one place the one that facts know of comes first.
    listed = sorted(found.values(), key=lambda edit: (edit.path, edit.start, edit.end, _rank(edit)))
    kept: list[Edit] = []
    for edit in listed:
        before = kept[-1] if kept else None
        if before is not None and before.path == edit.path and _meet(before, edit):
            # Two planners about one place: the surer one knows better.
            if _rank(edit) < _rank(before):
                kept[-1] = edit
            continue
        kept.append(edit)
    return tuple(sorted(kept, key=lambda edit: not edit.semantic))


def texts_of(world: World, paths: Iterable[str]) -> tuple[dict[str, bytes], dict[str, int]]:
    """The texts and modes of files; a link has no text of its own, and what is not text is left out too."""
    texts, modes = {}, {}
    for path in paths:
        known = world.snapshot.files.get(path)
        if known is None or known.skipped is not None or stat.S_ISLNK(known.stamp.mode):
            continue
        texts[path], modes[path] = world.text(path), stat.S_IMODE(known.stamp.mode)
    return texts, modes


def _key(edit: Edit) -> tuple[str, int, int, str]:
    return edit.path, edit.start, edit.end, edit.new


def _rank(edit: Edit) -> tuple[bool, int]:
    return not edit.semantic, ("PROVEN", "STRONG", "ANCHORED", "UNKNOWN").index(edit.tier)


def _meet(one: Edit, other: Edit) -> bool:
    """Whether two edits are about the same text; two insertions at one place both stay."""
    if one.start == one.end and other.start == other.end:
        return False
    return other.start < one.end or (one.start, one.end) == (other.start, other.end)
