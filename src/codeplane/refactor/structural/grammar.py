"""Which languages have patterns, and how a fragment of one has to be surrounded to be read as what it is."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from codeplane.code.languages.registry import LANGUAGES
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.language_names import known_language

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Our name of a language, and the names of the grammars that read its files.
GRAMMARS = {name: language.patterns for name, language in sorted(LANGUAGES.items()) if language.patterns}


def known_grammar(language: str) -> str:
    """A language by one of its names; InvalidArgument for one that has no patterns."""
    name = known_language(language)
    if name not in GRAMMARS:
        raise InvalidArgument(
            f"there are no patterns for {name}", hint=f"languages with patterns: {', '.join(sorted(GRAMMARS))}"
        )
    return name


def surroundings(grammar: str) -> Iterator[tuple[str, str]]:
    """What to put around a fragment, the likeliest first; nothing is the last resort, or the only one."""
    yield from LANGUAGES[grammar].pattern_contexts
    yield "", ""


def tree(text: str, grammar: str) -> "SgNode":
    """The syntax tree of a text; what the grammar does not know of its language is blanked out, all places stay."""
    # A large extension, and only some calls need it.
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
    """A node and all below it, in the order of their text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children())


def faults(root: "SgNode") -> list[tuple[int, int]]:
    """The stretches of a tree that do not parse, and where Python lacks a block."""
    found = [extent(node) for node in root.find_all(kind="ERROR")]
    if root.kind() == "module":
        found += [place for node in root.find_all(kind="block") if (place := extent(node))[0] == place[1]]
    return found


def extent(node: "SgNode") -> tuple[int, int]:
    """Where a node begins and ends, in characters."""
    found = node.range()
    return found.start.index, found.end.index
