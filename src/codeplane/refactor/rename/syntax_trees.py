"""Syntax trees for renames, and the text that keeps a place's meaning where the new name alone does not."""

import re

import tree_sitter

from codeplane.code.languages.expression import is_short
from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Facts, Import
from codeplane.code.resolve.world import World

_SHORT = frozenset({"shorthand_property_identifier", "shorthand_property_identifier_pattern"})


class SyntaxTrees:
    """The syntax trees of files, each parsed when it is first needed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._trees: dict[str, tree_sitter.Tree] = {}
        self._parsers: dict[str, tree_sitter.Parser] = {}

    def node(self, path: str, start: int, end: int) -> tree_sitter.Node | None:
        """Return the smallest node around a span of a file."""
        facts = self._world.facts(path)
        if facts is None:
            return None
        tree = self._trees.get(path)
        if tree is None:
            language, text = self._world.language(facts), self._world.text(path)
            if language.embedded:
                text = _mask_except(text, language.embedded)
            tree = self._trees[path] = self._parser(language.grammar).parse(text)
        return tree.root_node.descendant_for_byte_range(start, end)

    def _parser(self, grammar: str) -> tree_sitter.Parser:
        found = self._parsers.get(grammar)
        if found is None:
            # Grammars load slowly, so only on use; a parser is not safe for several threads.
            from tree_sitter_language_pack import get_language

            language = get_language(grammar)  # type: ignore[arg-type]  # the names are in our table, and tested
            found = self._parsers[grammar] = tree_sitter.Parser(language)
        return found


def is_shorthand(syntax: SyntaxTrees, facts: Facts, text: bytes, path: str, start: int, end: int) -> bool:
    """Whether a name is a shorthand for a property and a variable, not a block that looks like one."""
    if not LANGUAGES[facts.language].names.shorthand_properties or not is_short(text, start, end):
        return False
    node = syntax.node(path, start, end)
    return node is not None and node.type in _SHORT


def import_under_new_name(language: Language, import_: Import, name: str, new: str, *, short: bool) -> str | None:
    """Return an import of something else under the new name; None if it cannot be written that way."""
    if language.import_binds == "first":
        return f"{name} as {new}" if import_.imported or import_.source == name else None
    if import_.imported in ("", "default"):
        return new
    return f"{name}: {new}" if short else f"{name} as {new}"


def _mask_except(text: bytes, embedded: str) -> bytes:
    masked = bytearray(b" " * len(text))
    for match in re.finditer(embedded.encode(), text):
        start, end = match.span(1)
        masked[start:end] = text[start:end]
    return bytes(masked)
