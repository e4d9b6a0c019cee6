"""One confidence per code block: a block is changed as a whole or not at all, since half of it would be wrong."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.refactor.documents.confidence import DocumentedSymbol, Judgement
from codeplane.refactor.documents.markup import Surroundings
from codeplane.refactor.draft import Confidence

_LEVELS: tuple[Confidence, ...] = ("low", "medium", "high")
_REMARK = re.compile(r"(?:^|\s)(?:#|//)|/\*")
_GIVEN = re.compile(r"\s?=(?!=)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A place in a text that contains the name; `block`: the code block around it, or -1."""

    start: int
    block: int
    setting: Surroundings
    judgement: Judgement
    before: str
    after: str
    """The text on its line before and after it."""


def level_blocks(meant: DocumentedSymbol, places: Sequence[Mention]) -> list[Judgement]:
    """Return the judgements of places, with one confidence for all uses in a code block."""
    found = [place.judgement for place in places]
    by_block: dict[int, list[int]] = {}
    for at, mention in enumerate(places):
        if mention.block >= 0 and _is_use(meant, mention):
            by_block.setdefault(mention.block, []).append(at)
    for together in by_block.values():
        if all(places[at].setting.kind == "import" for at in together):
            # Each import tells its own meaning.
            continue
        level = _level([places[at] for at in together])
        for at in together:
            if found[at][0] != level:
                raised = _LEVELS.index(level) > _LEVELS.index(found[at][0])
                why = "in code that speaks of it" if raised else "in code of which not all is as sure"
                found[at] = level, f"{found[at][1]}; {why}"
    return found


def _level(places: Sequence[Mention]) -> Confidence:
    """Return the confidence of a block: high if it names the module or class, else that of its least certain place."""
    levels = [place.judgement[0] for place in places]
    least = min(levels, key=_LEVELS.index)
    imports = [place.judgement[0] for place in places if place.setting.kind == "import"]
    unknown = [place.judgement[0] for place in places if place.setting.before and place.judgement[0] != "high"]
    if unknown or any(level != "high" for level in imports):
        return least
    is_named = any(
        place.judgement[0] == "high" for place in places if place.setting.before or place.setting.kind == "import"
    )
    return "high" if is_named else least


def _is_use(meant: DocumentedSymbol, mention: Mention) -> bool:
    """Whether a place may be the symbol: not a path, a member of something else, a comment or a string."""
    if mention.setting.is_part or mention.setting.kind not in ("code", "import"):
        return False
    if mention.setting.before:
        last = mention.setting.before.rpartition(".")[2]
        return mention.judgement[0] == "high" or (meant.is_member and not last[:1].isupper() and last != "")
    if _REMARK.search(mention.before):
        return False
    quoted = mention.before[-1:] in ("'", '"') and mention.after[:1] == mention.before[-1:]
    argument = mention.before.rstrip()[-1:] in ("(", ",") and _GIVEN.match(mention.after) is not None
    return not quoted and not (argument and mention.setting.kind == "code")
