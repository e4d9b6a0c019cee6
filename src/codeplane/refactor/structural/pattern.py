"""Structural patterns: parsed, with the rules that find matches and the names they capture."""

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
# The placeholder of several pieces is accepted even where the grammar does not allow it.
_PLACEHOLDER = re.compile(r"Zmetas[A-Z0-9_]*")
_REASON = re.compile(r"^\s*\d+: (.*)$", re.M)
_HINT = "write code of the language, with $NAME for one piece and $$$NAME for any number of them"


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuralPattern:
    """A pattern in a language, with a rule for each grammar of the language's files."""

    text: str
    language: str
    rules: Mapping[str, "Rule"]
    left_out: tuple[str, ...]
    """The grammars in which the pattern does not parse."""
    ones: tuple[str, ...]
    lists: tuple[str, ...]
    """The names that it captures, of one piece or of several, in their order."""
    words: tuple[bytes, ...]
    """The words that every file with a match contains, the longest first."""


def parse_pattern(text: str, language: str) -> StructuralPattern:
    """Parse a pattern; InvalidArgument if it does not parse, or would match everything."""
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
        ones=_capture_names(match["one"] for match in found),
        lists=_capture_names(match["many"] for match in found),
        words=_words(stripped),
    )


def _rule(text: str, grammar: str) -> "Rule":
    """Return the rule that finds the pattern: alone, or inside code that makes it parse as what it is."""
    plain = METAVARIABLE.sub(_placeholder, text)
    for before, after in surroundings(grammar):
        root = tree(f"{before}{plain}{after}", grammar)
        meant = _node_of_span(root, len(before), len(before) + len(plain))
        if meant is None or ((before or after) and _first(root, meant.kind()) != extent(meant)):
            continue
        if not before and not after:
            return _check_rule({"pattern": text}, text, grammar)
        context: Pattern = {"context": f"{before}{text}{after}", "selector": meant.kind(), "strictness": None}
        return _check_rule({"pattern": context}, text, grammar)
    raise InvalidArgument(f"the pattern does not parse as {grammar}: {text}", hint=_HINT)


def _check_rule(rule: "Rule", text: str, grammar: str) -> "Rule":
    """Check a rule; its error becomes an InvalidArgument."""
    try:
        tree("", grammar).find(**rule)
    except RuntimeError as error:
        message = str(error).partition("Stack backtrace")[0]
        reasons = _REASON.findall(message)
        reason = reasons[-1] if reasons else message.split("\n", 1)[0]
        raise InvalidArgument(f"this is no pattern of {grammar}: {reason.replace('µ', '$')}", hint=_HINT) from error
    return rule


def _node_of_span(root: "SgNode", start: int, end: int) -> "SgNode | None":
    """Return the innermost node that is exactly a span of the text and parses; None if there is none."""
    found = None
    for node in nodes(root):
        begins, ends = extent(node)
        if begins == ends:
            # Only the mark at the end of a statement may be missing.
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


def _capture_names(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name and not name.startswith("_")))


def _placeholder(found: re.Match[str]) -> str:
    return f"Zmeta{found['one']}" if found["one"] else f"Zmetas{found['many'] or ''}"


def _words(text: str) -> tuple[bytes, ...]:
    """Return the literal words of the pattern; none if it has comments."""
    if _REMARK.search(text):
        return ()
    found = set(_WORD.findall(METAVARIABLE.sub(" ", text)))
    return tuple(word.encode() for word in sorted(found, key=lambda match: (-len(match), match)))
