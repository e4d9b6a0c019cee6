"""A query in two parts: what has to be looked for everywhere, and what can only be where one of a few words stands.

`getattr` is called in few places and something is called in many: to ask of each call whether it is the one takes as
long as a quarter of all that is found. So the words are looked for first, and the patterns that need them are tried
there and nowhere else.
"""

import re
from collections.abc import Iterable, Iterator, Set
from functools import cached_property
from itertools import pairwise

import tree_sitter

from codeplane.code.facts.captures import Captures

# A capture that serves predicates alone, and is one of these words.
_NEEDED = re.compile(r'\(#(?:eq|any-of)\? @_[\w.-]+((?: "\w+")+)\)')
_WORD = re.compile(r'"(\w+)"')
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|;[^\n]*|[()\[\]]')
# So many places are worth a walk of their own; beyond them one walk through the file takes less time.
_FEW = 24

Match = tuple[int, Captures]


class DividedQuery:
    """The query of a language; not for several threads at once."""

    def __init__(self, grammar: tree_sitter.Language, query: str) -> None:
        self._grammar = grammar
        # Cut here: the grammar's own reading of all of them would take longer than that of the two parts.
        self.patterns = patterns_in(query)
        needed = {
            number: found[1] for number, pattern in enumerate(self.patterns) if (found := _NEEDED.search(pattern))
        }
        self._rare = list(needed)
        self._common = [number for number in range(len(self.patterns)) if number not in needed]
        self._words = frozenset(word.encode() for words in needed.values() for word in _WORD.findall(words))

    def matches(self, root: tree_sitter.Node, text: bytes, words: Set[bytes] | None = None) -> list[Match]:
        """What the query matches in the tree of a text; `words` are the identifiers in it, where they are known."""
        known = [word for word in self._words if word in text] if words is None else self._words & words
        places = sorted(place for word in known for place in _places(word, text))
        common, rare = self._common, self._rare
        found = [(common[number], captures) for number, captures in self._common_cursor.matches(root)]
        if len(places) > _FEW:
            found += [(rare[number], captures) for number, captures in self._rare_cursor.matches(root)]
        elif places:
            found += self._match_around(root, places)
        return found

    def _match_around(self, root: tree_sitter.Node, places: Iterable[tuple[int, int]]) -> Iterator[Match]:
        """What the patterns that need a word match where one stands."""
        seen: set[tuple[int, ...]] = set()
        for start, end in places:
            cursor = tree_sitter.QueryCursor(self._rare_query)
            cursor.set_byte_range(start, end)
            for number, captures in cursor.matches(root):
                # Two words of one match find it twice.
                key = (number, *(node.id for nodes in captures.values() for node in nodes))
                if key not in seen:
                    seen.add(key)
                    yield self._rare[number], captures

    @cached_property
    def _common_cursor(self) -> tree_sitter.QueryCursor:
        return tree_sitter.QueryCursor(self._of(self._common))

    @cached_property
    def _rare_cursor(self) -> tree_sitter.QueryCursor:
        return tree_sitter.QueryCursor(self._rare_query)

    @cached_property
    def _rare_query(self) -> tree_sitter.Query:
        return self._of(self._rare)

    def _of(self, numbers: Iterable[int]) -> tree_sitter.Query:
        return tree_sitter.Query(self._grammar, "\n".join(self.patterns[number] for number in numbers))


def patterns_in(query: str) -> list[str]:
    """The patterns of a query's text, each with the captures behind it."""
    starts: list[int] = []
    depth = 0
    for token in _TOKEN.finditer(query):
        kind = token[0][0]
        if not depth and kind in '(["':
            starts.append(token.start())
        depth += (kind in "([") - (kind in ")]")
    return [query[start:end] for start, end in pairwise([*starts, len(query)])]


def _places(word: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    """Where a word stands, alone or as part of another; one more than are of use is enough."""
    at = -1
    for _ in range(_FEW + 1):
        if (at := text.find(word, at + 1)) < 0:
            return
        yield at, at + len(word)
