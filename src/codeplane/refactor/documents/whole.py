"""Code that is shown is changed as a whole or not at all: half of it would be wrong for certain."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.refactor.documents.judged import Judgement, Meant
from codeplane.refactor.documents.markup import Setting
from codeplane.refactor.draft import Confidence

_LEVELS: tuple[Confidence, ...] = ("low", "medium", "high")
_REMARK = re.compile(r"(?:^|\s)(?:#|//)|/\*")
_GIVEN = re.compile(r"\s?=(?!=)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A place of a text that holds the name; `block` is the code block it is in, or -1."""

    start: int
    block: int
    setting: Setting
    judgement: Judgement
    before: str
    after: str
    """What stands on its line before and after it."""


def as_wholes(meant: Meant, places: Sequence[Found]) -> list[Judgement]:
    """The judgements of places, those of one block that mean one thing made alike."""
    found = [one.judgement for one in places]
    by_block: dict[int, list[int]] = {}
    for at, one in enumerate(places):
        if one.block >= 0 and _is_use(meant, one):
            by_block.setdefault(one.block, []).append(at)
    for together in by_block.values():
        if all(places[at].setting.kind == "import" for at in together):
            # Each of them says itself what it means.
            continue
        level = _level([places[at] for at in together])
        for at in together:
            if found[at][0] != level:
                raised = _LEVELS.index(level) > _LEVELS.index(found[at][0])
                why = "in code that speaks of it" if raised else "in code of which not all is as sure"
                found[at] = level, f"{found[at][1]}; {why}"
    return found


def _level(places: Sequence[Found]) -> Confidence:
    """How sure a block is: where it says of what module or class the name is, sure; else as sure as its least sure."""
    levels = [one.judgement[0] for one in places]
    least = min(levels, key=_LEVELS.index)
    imports = [one.judgement[0] for one in places if one.setting.kind == "import"]
    unknown = [one.judgement[0] for one in places if one.setting.before and one.judgement[0] != "high"]
    if unknown or any(level != "high" for level in imports):
        return least
    said = any(one.judgement[0] == "high" for one in places if one.setting.before or one.setting.kind == "import")
    return "high" if said else least


def _is_use(meant: Meant, one: Found) -> bool:
    """Whether a place may be the symbol itself: not a path, the member of something else, a remark or a text."""
    if one.setting.is_part or one.setting.kind not in ("code", "import"):
        return False
    if one.setting.before:
        last = one.setting.before.rpartition(".")[2]
        return one.judgement[0] == "high" or (meant.is_member and not last[:1].isupper() and last != "")
    if _REMARK.search(one.before):
        return False
    quoted = one.before[-1:] in ("'", '"') and one.after[:1] == one.before[-1:]
    argument = one.before.rstrip()[-1:] in ("(", ",") and _GIVEN.match(one.after) is not None
    return not quoted and not (argument and one.setting.kind == "code")
