"""The grammars of structural patterns, and the code that a fragment needs around it to be parsed as what it is."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from codeplane.code.languages.registry import LANGUAGES
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.language_names import known_language

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Our name of a language, and the names of the grammars for its files.
GRAMMARS = {name: language.patterns for name, language in sorted(LANGUAGES.items()) if language.patterns}


def known_grammar(language: str) -> str:
    """Return a language by one of its names; InvalidArgument if it has no patterns."""
    name = known_language(language)
    if name not in GRAMMARS:
        raise InvalidArgument(
            f"there are no patterns for {name}", hint=f"languages with patterns: {', '.join(sorted(GRAMMARS))}"
        )
    return name


def surroundings(grammar: str) -> Iterator[tuple[str, str]]:
    """Yield what to put around a fragment, the likeliest first; nothing comes last."""
    yield from LANGUAGES[grammar].pattern_contexts
    yield "", ""


def tree(text: str, grammar: str) -> "SgNode":
    """Return the syntax tree of a text; syntax that the grammar does not know is blanked out, offsets stay."""
    # A large extension that only some calls need.
    from ast_grep_py import SgRoot

    repair = LANGUAGES[grammar].source_repair
    if repair is None:
        return SgRoot(text, grammar).root()
    raw = repair.before_parsing(text.encode(errors="replace"))
    root = SgRoot(raw.decode(), grammar).root()
    broken = len(faults(root))
    if broken and (other := repair.after_errors(raw)) is not None:
        second = SgRoot(other.decode(), grammar).root()
        return second if len(faults(second)) < broken else root
    return root


def nodes(root: "SgNode") -> Iterator["SgNode"]:
    """Yield a node and all below it, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children())


def faults(root: "SgNode") -> list[tuple[int, int]]:
    """Return the spans of a tree that do not parse, and where Python lacks a block."""
    found = [extent(node) for node in root.find_all(kind="ERROR")]
    if root.kind() == "module":
        found += [place for node in root.find_all(kind="block") if (place := extent(node))[0] == place[1]]
    return found


def extent(node: "SgNode") -> tuple[int, int]:
    """Return where a node begins and ends, in characters."""
    found = node.range()
    return found.start.index, found.end.index
