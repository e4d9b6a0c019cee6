"""The repository as resolvers of members see it, with another text in one of its files."""

from collections.abc import Sequence

import tree_sitter

from codeplane.code.entity import Bound, Entity, Meaning
from codeplane.code.facts.extract import extractor
from codeplane.code.languages.language import Language
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.languages.modules import Modules
from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.syntax_trees import SyntaxTrees


class ReplacedFile:
    """A view in which one file has another text; places in that file are places of the new text."""

    def __init__(self, view: CodeView, path: str, text: bytes, language: Language, syntax: SyntaxTrees) -> None:
        self._view = view
        self._path = path
        self._text = text
        self._facts = extractor(language).facts(text, set())
        self._tree = syntax.parse(language, text)
        self._language = language
        self._syntax = syntax

    def facts(self, path: str) -> Facts | None:
        """Return a file's facts, or None if it has none."""
        return self._facts if path == self._path else self._view.facts(path)

    def text(self, path: str) -> bytes:
        """Return a file's bytes."""
        return self._text if path == self._path else self._view.text(path)

    def node(self, path: str, start: int, end: int) -> tree_sitter.Node | None:
        """Return the smallest syntax node around a span of a file."""
        if path != self._path:
            return self._view.node(path, start, end)
        return self._tree.root_node.descendant_for_byte_range(start, end)

    def resolve_plain_name(self, path: str, offset: int, name: str) -> Meaning:
        """Return what a plain name means; nothing is known of the replaced file."""
        unknown = Meaning(entities=(), certain=False, how="name")
        return self._view.resolve_plain_name(path, offset, name) if path != self._path else unknown

    def find_export(self, place: str, name: str) -> tuple[Entity, ...]:
        """Return what a module or package gives under a name."""
        return self._view.find_export(place, name)

    def definitions(self, bound: Bound) -> Sequence[tuple[int, Definition]]:
        """Return the definitions that share a binding, each with its index in the facts of its file."""
        if bound.file != self._path:
            return self._view.definitions(bound)
        there = self._facts.definitions_in(bound.scope, bound.name)
        return [(index, self._facts.definitions[index]) for index in there]

    def find_definitions(self, name: str) -> tuple[Sequence[tuple[str, int]], bool]:
        """Return every definition of a name (file and index), and whether these are all."""
        listed, whole = self._view.find_definitions(name)
        found = [(path, index) for path, index in listed if path != self._path]
        found += [
            (self._path, index) for index, definition in enumerate(self._facts.definitions) if definition.name == name
        ]
        return found, whole

    def files_with(self, name: str) -> Sequence[str]:
        """Return the files in which an identifier occurs."""
        found = list(self._view.files_with(name))
        return found if self._path in found or name.encode() not in self._text else [*found, self._path]

    def modules(self, path: str) -> Modules | None:
        """Return the modules of the language of a file."""
        return self._view.modules(path)

    def with_text(self, path: str, text: bytes) -> CodeView:
        """Return the repository as it would be if a file had another text."""
        return ReplacedFile(self, path, text, self._language, self._syntax)
