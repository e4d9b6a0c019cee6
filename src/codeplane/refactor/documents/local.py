"""Names that live in one function: what is said of them stands in its own texts."""

import re
from dataclasses import dataclass

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.refactor.documents.comments import Remark
from codeplane.refactor.documents.judged import Judgement, Meant
from codeplane.refactor.documents.markup import Setting

_MAX_NAMED = 1000
# How a parameter is introduced: `:param int name:`, `@param {T} name`, `name: what it is`, `name : int`.
_FIELD = re.compile(
    r":(?:param|parameter|arg|argument|keyword|type)\b[^:\n]*$|[@\\]param\s+(?:\{[^}\n]*\}\s*)?\[?$"
    r"|^[ \t*]*(?:[-*][ \t]+)?[`*]*$"
)
_HEAD = re.compile(rb"[\s\w@(]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """The function that a parameter or a local variable is of."""

    file: str
    start: int
    end: int

    def holds(self, remark: Remark, text: bytes) -> bool:
        """Whether a comment is inside the function, or right above it."""
        if self.start <= remark.start < self.end:
            return True
        between = text[remark.end : self.start] if remark.end <= self.start else b"-"
        return between.count(b"\n") <= 1 and _HEAD.fullmatch(between) is not None


def local(world: World, store: FactStore, qualified: str, near: frozenset[str]) -> Local | None:
    """The function a qualified name is inside of; None for what is reached from elsewhere."""
    parent = qualified.rpartition(".")[0]
    for one in store.named(parent.rpartition(".")[2], limit=_MAX_NAMED):
        if one.file not in near or not f".{parent}".endswith(f".{one.path}"):
            continue
        facts = world.facts(one.file)
        if facts is None or one.position >= len(facts.definitions):
            continue
        definition = facts.definitions[one.position]
        if definition.kind in ("function", "method", "constructor"):
            return Local(file=one.file, start=definition.start, end=definition.end)
    return None


def judged_inside(meant: Meant, setting: Setting, text: str, start: int, end: int) -> Judgement:
    """The confidence of a match in the texts of the function itself."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    after = text[end : end + 3]
    if setting.before or setting.is_part:
        return "low", "part of something longer"
    # At the beginning of a line it takes what follows to tell an entry from a sentence.
    if _FIELD.search(line) and (line.strip(" \t*-`") or re.match(r"[`*]*\s?[:(]", after)):
        return "high", "introduces the parameter"
    if setting.kind in ("name", "link", "code") and (meant.word != "common" or setting.kind != "code"):
        return "high", "marked as code, in the function's own text"
    if meant.word == "distinctive":
        return "medium", "in the function's own text"
    return "low", "may be an ordinary word"
