"""One parse of a file into its facts, by the language's query; the code knows captures, not languages.

A query names what it finds; where two patterns find the same name, the one that stands first decides.

- `definition.KIND` with `name`; `receiver` says the container by text, `bases` what it builds on, `unbound` that the
  name alone does not reach it. A `scope.KIND` beside it is the scope it opens.
- `scope.KIND`; `scope.name` beside it says by text whose members it holds. Names are defined around a
  `scope.template`, which holds parameters that stand before the name.
- `bind.HOW` on a name, or on a pattern whose names are each a `leaf`; a leaf outside such a pattern is none.
- `import.KIND` with `source` (parts are joined; or all that stands before `until`), `imported`, `alias`; `everything`
  stands for all names; `default` is the local name of what a module gives by default; `import.none` is no import.
- `export.HOW` with `exported`, `alias`, `source`; `export.declared` gives away what is bound in its stretch.
- `label`, `text`, `outer`, and `dynamic.PATTERN` with `key`.

Captures that begin with `_` serve predicates alone.
"""

from functools import cache

import tree_sitter

from codeplane.repo.facts.assembly import Assembly
from codeplane.repo.facts.found import Captures, Found
from codeplane.repo.facts.language import Language, query_of
from codeplane.repo.facts.model import Facts

MAX_PARSED = 4 * 1024 * 1024


class Unparsable(Exception):
    """The file stays text: its facts cannot be had, and this says why."""


class Extractor:
    """Reads files of one language; not for several threads at once."""

    def __init__(self, language: Language) -> None:
        # Loading a grammar is paid by whoever parses, not by whoever imports the tables.
        from tree_sitter_language_pack import get_language

        self._language = language
        grammar = get_language(language.grammar)  # type: ignore[arg-type]  # the names are in our table, and tested
        self._parser = tree_sitter.Parser(grammar)
        self._query = tree_sitter.Query(grammar, query_of(language))

    def facts(self, text: bytes) -> Facts:
        """The facts of a file's bytes."""
        if len(text) > MAX_PARSED:
            raise Unparsable(f"larger than {MAX_PARSED} bytes")
        tree = self._parser.parse(text)
        matches: dict[int, list[Captures]] = {}
        for pattern, captures in tree_sitter.QueryCursor(self._query).matches(tree.root_node):
            if (those := matches.get(pattern)) is None:
                matches[pattern] = [captures]
            else:
                those.append(captures)
        found = Found()
        for pattern in sorted(matches):
            found.note(matches[pattern])
        return Assembly(self._language, text, found).facts(errors=_errors(tree.root_node, text))


@cache
def extractor(language: Language) -> Extractor:
    """The extractor of a language, made once a process."""
    return Extractor(language)


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
