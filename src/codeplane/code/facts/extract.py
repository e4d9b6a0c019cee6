"""One parse of a file into its facts, by the language's query; the code knows captures, not languages.

A query names what it finds; where two patterns find the same name, the one that stands first decides.

- `definition.KIND` with `name`; `receiver` says the container by text, `bases` what it builds on, `unbound` that the
  name alone does not reach it. A `scope.KIND` beside it is the scope it opens.
- `scope.KIND`; `scope.name` beside it says by text whose members it holds. Names are defined around a
  `scope.template`, which holds parameters that stand before the name.
- `bind.HOW` on a name, or on a pattern whose names are each a `leaf`; a leaf outside such a pattern is none.
- `import.KIND` with `source` (parts are joined; or all that stands before `until`), `imported`, `alias`; `everything`
  stands for all names; `default` is the local name of what a module gives by default; `import.none` is no import.
- `given` with `source`: a statement whose source is that of every import and export in it that has none of its own;
  `given.KIND` also says what kind of import they are, and an `import.when_given` outside of one is none.
- `export.HOW` with `exported`, `alias`, `source`; `export.declared` gives away what is bound in its stretch.
- `top` beside any of them: the match counts only where this node stands in the file itself, in nothing else.
- `label`, `text` (with a `hole` where it holds code), `outer`, and `dynamic.PATTERN` with `key`.

Captures that begin with `_` serve predicates alone.
"""

import re
from collections.abc import Set
from functools import cache

import tree_sitter

from codeplane.code.facts.assembly import Assembly
from codeplane.code.facts.captures import FileMatches, patterns_of
from codeplane.code.facts.divided_query import DividedQuery
from codeplane.code.facts.macro_arguments import open_arguments
from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import LANGUAGES, query_of
from codeplane.code.model import Facts

MAX_PARSED = 4 * 1024 * 1024
# Longer lines are generated or hostile: they have no names to speak of, and some grammars take minutes.
MAX_LINE = 1024 * 1024


class Unparsable(Exception):
    """The file stays text: its facts cannot be had, and this says why."""


class Extractor:
    """Reads files of one language; not for several threads at once."""

    def __init__(self, language: Language) -> None:
        # Grammars load slowly: only a parse pays for it, not an import of the tables.
        from tree_sitter_language_pack import get_language

        self._language = language
        grammar = get_language(language.grammar)  # type: ignore[arg-type]  # the names are in our table, and tested
        self._parser = tree_sitter.Parser(grammar)
        self._embedded = re.compile(language.embedded.encode()) if language.embedded else None
        self._query = DividedQuery(grammar, query_of(language))
        self._patterns = patterns_of(self._query.patterns)
        other, sign = language.read_as
        self._other = (LANGUAGES[other], re.compile(sign.encode(), re.MULTILINE)) if other else None

    def facts(self, text: bytes, words: Set[bytes] | None = None) -> Facts:
        """The facts of a file's bytes; who knows all the words in them says so, which saves to look for some."""
        _refuse_large(text)
        if self._other is not None and self._other[1].search(text):
            return extractor(self._other[0]).facts(text, words)
        found = FileMatches()
        tree = self._parse(text if self._embedded is None else _only(text, self._embedded, found))
        root = tree.root_node
        found.take(self._query.matches(root, text, words), self._patterns, root)
        return Assembly(self._language, text, found).facts(errors=_errors(root, text))

    def check(self, text: bytes, *, limit: int) -> tuple[int, int, bool]:
        """How many nodes a file has, how many of them are errors, and whether one says something; up to a limit."""
        _refuse_large(text)
        if self._other is not None and self._other[1].search(text):
            return extractor(self._other[0]).check(text, limit=limit)
        root = self._parse(text if self._embedded is None else _only(text, self._embedded, FileMatches())).root_node
        nodes = errors = 0
        has_content = False
        waiting = [root]
        while waiting and nodes < limit:
            node = waiting.pop()
            nodes += 1
            broken = node.is_error or node.is_missing
            errors += broken
            has_content = has_content or (node != root and node.is_named and not node.is_extra and not broken)
            waiting += reversed(node.children)
        return nodes, errors, has_content

    def _parse(self, text: bytes) -> tree_sitter.Tree:
        return parse(self._parser, self._language, text)


def parse(parser: tree_sitter.Parser, language: Language, text: bytes) -> tree_sitter.Tree:
    """The tree of a text; where it has errors, that of another way to write it, if that has fewer."""
    # Known beforehand, as a parse that runs into what its grammar does not know takes twice as long.
    repair = language.source_repair
    written = repair.before_parsing(text) if repair is not None else text
    if language.expression_macros:
        written = open_arguments(text, language.expression_macros)
    tree = parser.parse(written)
    if not tree.root_node.has_error:
        return tree
    other = repair.after_errors(written) if repair is not None else text if written is not text else None
    second = parser.parse(other) if other is not None else None
    if second is None:
        return tree
    # What is missing may have no node of its own, so that no byte counts as broken.
    better = not second.root_node.has_error or _error_bytes(second.root_node) < _error_bytes(tree.root_node)
    return second if better else tree


def _refuse_large(text: bytes) -> None:
    """Raise Unparsable for files whose parse would take too long."""
    if len(text) > MAX_PARSED:
        raise Unparsable(f"larger than {MAX_PARSED} bytes")
    if len(text) > MAX_LINE and max(map(len, text.split(b"\n"))) > MAX_LINE:
        raise Unparsable(f"a line is longer than {MAX_LINE} bytes")


@cache
def extractor(language: Language) -> Extractor:
    """The extractor of a language, made once a process."""
    return Extractor(language)


def _only(text: bytes, embedded: re.Pattern[bytes], found: FileMatches) -> bytes:
    """The text with blanks for all that is not of the language; that is noted as text."""
    # Blanks keep the offsets; the ranges a parser can be given pass through Points, whose numbers are freed too early.
    masked = bytearray(b" " * len(text))
    done = 0
    for match in embedded.finditer(text):
        start, end = match.span(1)
        masked[start:end] = text[start:end]
        found.texts.append((done, start))
        done = end
    found.texts.append((done, len(text)))
    return bytes(masked)


def _error_bytes(root: tree_sitter.Node) -> int:
    """How many bytes of a text are in errors."""
    found, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            found += max(node.end_byte - node.start_byte, 1)
        else:
            waiting += [child for child in node.children if child.has_error or child.is_missing]
    return found


def _errors(root: tree_sitter.Node, text: bytes) -> int:
    """The line of the first syntax error, or 0."""
    if not root.has_error:
        return 0
    node = root
    while True:
        broken = next((child for child in node.children if child.has_error or child.is_missing), None)
        if broken is None or broken.is_error or broken.is_missing:
            return text.count(b"\n", 0, (broken or node).start_byte) + 1
        node = broken
