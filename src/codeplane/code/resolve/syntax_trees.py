"""Syntax trees of files, parsed when an answer needs more than their facts say."""

import re

import tree_sitter

from codeplane.code.facts.extract import parse
from codeplane.code.languages.language import Language
from codeplane.code.resolve.world import World


class SyntaxTrees:
    """The syntax trees of files, each parsed when it is first needed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._trees: dict[str, tree_sitter.Tree] = {}
        self._parsers: dict[str, tree_sitter.Parser] = {}

    def node(self, path: str, start: int, end: int) -> tree_sitter.Node | None:
        """Return the smallest node around a span of a file."""
        root = self.root(path)
        return root.descendant_for_byte_range(start, end) if root is not None else None

    def root(self, path: str) -> tree_sitter.Node | None:
        """Return the root of a file's tree; None for a file without facts."""
        facts = self._world.facts(path)
        if facts is None:
            return None
        tree = self._trees.get(path)
        if tree is None:
            language, text = self._world.language(facts), self._world.text(path)
            if language.embedded:
                text = _mask_except(text, language.embedded)
            tree = self._trees[path] = self.parse(language, text)
        return tree.root_node

    def parse(self, language: Language, text: bytes) -> tree_sitter.Tree:
        """Return the tree of a text."""
        return parse(self._parser(language.grammar), language, text)

    def _parser(self, grammar: str) -> tree_sitter.Parser:
        found = self._parsers.get(grammar)
        if found is None:
            # Grammars load slowly, so only on use; a parser is not safe for several threads.
            from tree_sitter_language_pack import get_language

            language = get_language(grammar)  # type: ignore[arg-type]  # the names are in our table, and tested
            found = self._parsers[grammar] = tree_sitter.Parser(language)
        return found


def _mask_except(text: bytes, embedded: str) -> bytes:
    masked = bytearray(b" " * len(text))
    for match in re.finditer(embedded.encode(), text):
        start, end = match.span(1)
        masked[start:end] = text[start:end]
    return bytes(masked)
