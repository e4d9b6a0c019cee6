"""A pattern that was understood: what it looks for, and what it captures."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeplane.kernel.errors import InvalidArgument
from codeplane.refactor.structural.grammar import GRAMMARS, extent, known_grammar, nodes, surroundings, tree

if TYPE_CHECKING:
    from ast_grep_py import Pattern, Rule, SgNode

MAX_PATTERN = 4096
METAVARIABLE = re.compile(r"\$\$\$(?P<many>[A-Z_][A-Z0-9_]*)?|\$\$?(?P<one>[A-Z_][A-Z0-9_]*)")
_WORD = re.compile(r"[^\W\d]\w+")
_REMARK = re.compile(r"#|//|/\*|--")
# Where a grammar knows no such piece, that of any number of pieces still stands for them.
_PLACEHOLDER = re.compile(r"Zmetas[A-Z0-9_]*")
_REASON = re.compile(r"^\s*\d+: (.*)$", re.M)
_HINT = "write code of the language, with $NAME for one piece and $$$NAME for any number of them"


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuralPattern:
    """A pattern in a language; each grammar that reads files of the language has its rule."""

    text: str
    language: str
    rules: Mapping[str, "Rule"]
    left_out: tuple[str, ...]
    """The grammars in which the pattern means nothing."""
    ones: tuple[str, ...]
    lists: tuple[str, ...]
    """What it captures, one piece each or several, in its order."""
    words: tuple[bytes, ...]
    """What every file with a match holds, the longest first."""


def understood(text: str, language: str) -> StructuralPattern:
    """Read a pattern; InvalidArgument where it does not parse, or would match everything."""
    name, stripped = known_grammar(language), text.strip()
    if not stripped or len(stripped) > MAX_PATTERN:
        raise InvalidArgument("the pattern is empty" if not stripped else "the pattern is too long", hint=_HINT)
    if METAVARIABLE.fullmatch(stripped):
        raise InvalidArgument(f"{stripped} matches everything", hint="say what is around it, such as print($A)")
    rules: dict[str, Rule] = {}
    problem: InvalidArgument | None = None
    for grammar in GRAMMARS[name]:
        try:
            rules[grammar] = _rule(stripped, grammar)
        except InvalidArgument as error:
            problem = problem or error
    if not rules and problem is not None:
        raise problem
    found = list(METAVARIABLE.finditer(stripped))
    return StructuralPattern(
        text=stripped,
        language=name,
        rules=rules,
        left_out=tuple(grammar for grammar in GRAMMARS[name] if grammar not in rules),
        ones=_captured(one["one"] for one in found),
        lists=_captured(one["many"] for one in found),
        words=_words(stripped),
    )


def _rule(text: str, grammar: str) -> "Rule":
    """How a grammar finds the pattern: alone, or as a piece of something that makes it what it is."""
    plain = METAVARIABLE.sub(_named, text)
    for before, after in surroundings(grammar):
        root = tree(f"{before}{plain}{after}", grammar)
        meant = _meant(root, len(before), len(before) + len(plain))
        if meant is None or ((before or after) and _first(root, meant.kind()) != extent(meant)):
            continue
        if not before and not after:
            return _checked({"pattern": text}, text, grammar)
        context: Pattern = {"context": f"{before}{text}{after}", "selector": meant.kind(), "strictness": None}
        return _checked({"pattern": context}, text, grammar)
    raise InvalidArgument(f"the pattern does not parse as {grammar}: {text}", hint=_HINT)


def _checked(rule: "Rule", text: str, grammar: str) -> "Rule":
    """A rule that can be asked; its words of refusal become ours."""
    try:
        tree("", grammar).find(**rule)
    except RuntimeError as error:
        told = str(error).partition("Stack backtrace")[0]
        reasons = _REASON.findall(told)
        said = reasons[-1] if reasons else told.split("\n", 1)[0]
        raise InvalidArgument(f"this is no pattern of {grammar}: {said.replace('µ', '$')}", hint=_HINT) from error
    return rule


def _meant(root: "SgNode", start: int, end: int) -> "SgNode | None":
    """The innermost piece of a tree that is exactly a stretch of its text and parses; None if there is none."""
    found = None
    for node in nodes(root):
        begins, ends = extent(node)
        if begins == ends:
            # A statement may lack the mark of its end, nothing else.
            if start <= begins <= end and node.kind() != ";":
                return None
        elif begins >= end or ends <= start:
            continue
        elif node.kind() == "ERROR" and not _PLACEHOLDER.fullmatch(node.text()):
            return None
        elif (begins, ends) == (start, end) and node.is_named():
            found = node
    return found


def _first(root: "SgNode", kind: str) -> tuple[int, int]:
    return next(extent(node) for node in nodes(root) if node.kind() == kind)


def _captured(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name and not name.startswith("_")))


def _named(found: re.Match[str]) -> str:
    return f"Zmeta{found['one']}" if found["one"] else f"Zmetas{found['many'] or ''}"


def _words(text: str) -> tuple[bytes, ...]:
    """Words that stand in the pattern as they are; those of comments are not asked for."""
    if _REMARK.search(text):
        return ()
    found = set(_WORD.findall(METAVARIABLE.sub(" ", text)))
    return tuple(word.encode() for word in sorted(found, key=lambda one: (-len(one), one)))
