"""Mentions of names that are local to one function, in the comments and docstring of that function."""

import re
from dataclasses import dataclass

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.refactor.documents.comments import Comment
from codeplane.refactor.documents.confidence import DocumentedSymbol, Judgement
from codeplane.refactor.documents.markup import Surroundings

_MAX_NAMED = 1000
# How a parameter is introduced: `:param int name:`, `@param {T} name`, `name: what it is`, `name : int`.
_FIELD = re.compile(
    r":(?:param|parameter|arg|argument|keyword|type)\b[^:\n]*$|[@\\]param\s+(?:\{[^}\n]*\}\s*)?\[?$"
    r"|^[ \t*]*(?:[-*][ \t]+)?[`*]*$"
)
_HEAD = re.compile(rb"[\s\w@(]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnclosingFunction:
    """The function that a parameter or local variable belongs to."""

    file: str
    start: int
    end: int

    def holds(self, remark: Comment, text: bytes) -> bool:
        """Whether a comment is inside the function, or right above it."""
        if self.start <= remark.start < self.end:
            return True
        between = text[remark.end : self.start] if remark.end <= self.start else b"-"
        return between.count(b"\n") <= 1 and _HEAD.fullmatch(between) is not None


def enclosing_function(
    world: World, store: FactStore, qualified: str, near: frozenset[str]
) -> EnclosingFunction | None:
    """Return the function around a qualified name; None for a name that is visible elsewhere."""
    parent = qualified.rpartition(".")[0]
    for symbol in store.find_symbols(parent.rpartition(".")[2], limit=_MAX_NAMED):
        if symbol.file not in near or not f".{parent}".endswith(f".{symbol.path}"):
            continue
        facts = world.facts(symbol.file)
        if facts is None or symbol.position >= len(facts.definitions):
            continue
        definition = facts.definitions[symbol.position]
        if definition.kind in ("function", "method", "constructor"):
            return EnclosingFunction(file=symbol.file, start=definition.start, end=definition.end)
    return None


def judge_local_mention(meant: DocumentedSymbol, setting: Surroundings, text: str, start: int, end: int) -> Judgement:
    """Return the confidence of a match in the texts of the function itself."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    after = text[end : end + 3]
    if setting.before or setting.is_part:
        return "low", "part of something longer"
    # At the start of a line, what follows tells an entry from a sentence.
    if _FIELD.search(line) and (line.strip(" \t*-`") or re.match(r"[`*]*\s?[:(]", after)):
        return "high", "introduces the parameter"
    if setting.kind in ("name", "link", "code") and (meant.word != "common" or setting.kind != "code"):
        return "high", "marked as code, in the function's own text"
    if meant.word == "distinctive":
        return "medium", "in the function's own text"
    return "low", "may be an ordinary word"
