"""A divided query finds what the whole one does, wherever the words stand that a part of it needs."""

import pytest
import tree_sitter
from tree_sitter_language_pack import get_language

from codeplane.code.facts.divided_query import DividedQuery, Match
from codeplane.code.facts.extract import extractor
from codeplane.code.languages.registry import languages, query_of
from codeplane.index.words import Vocabulary
from tests.code.languages.test_registry import sampled
from tests.interaction.requirements import requirement

pytestmark = requirement("FCT-15")

PYTHON = b"""from importlib import import_module
__all__ = ["one", "two"]
__all__ += ["three"]
__all__.append("four")
outer = getattr(getattr(one, "name"), "other", executor)
found = wrapped(lambda: setattr(two, "key", hasattr(three, "key")))
module = import_module("package.part") or importlib.import_module("package.other")
"""
JAVASCRIPT = b"""const fs = require('fs'), { join, sep: cut } = require('path'), read = require('fs').readFile;
exports.one = exports.two = function both() {};
module.exports = { join, named: cut, run() {}, nested: { deep: () => 1 } };
module.exports.last = eval(require('last'));
Box.prototype.open = () => new Function('x');
"""


def found(matches: list[Match]) -> set[tuple[object, ...]]:
    """Matches, to be compared whatever their order."""
    return {
        (number, *((name, *(node.id for node in nodes)) for name, nodes in sorted(captures.items())))
        for number, captures in matches
    }


def of(language: str) -> tuple[DividedQuery, tree_sitter.Query, tree_sitter.Parser]:
    """A language's query, divided and whole, and its parser."""
    known = languages().by_name[language]
    grammar = get_language(known.grammar)  # type: ignore[arg-type]  # the names are in our table, and tested
    text = query_of(known)
    return DividedQuery(grammar, text), tree_sitter.Query(grammar, text), tree_sitter.Parser(grammar)


@pytest.mark.parametrize("name", sorted(languages().by_name))
def test_patterns_are_cut_where_the_grammar_cuts_them(name: str) -> None:
    query, whole, _ = of(name)
    text = query_of(languages().by_name[name]).encode()
    assert [one.encode() for one in query.patterns] == [
        text[whole.start_byte_for_pattern(number) : whole.end_byte_for_pattern(number)]
        for number in range(whole.pattern_count)
    ]


@pytest.mark.parametrize("name", sorted(languages().by_name))
def test_each_line_of_a_sample_gives_what_the_whole_query_gives(name: str) -> None:
    query, whole, parser = of(name)
    text = sampled()[name].read_bytes()
    # Line by line too: a whole sample has more places than are looked at one by one.
    for part in (text, *text.splitlines(keepends=True)):
        root = parser.parse(part).root_node
        wanted = tree_sitter.QueryCursor(whole).matches(root)
        assert found(query.matches(root, part)) == found(wanted)
        assert found(query.matches(root, part, Vocabulary().of(part)[0])) == found(wanted)


@pytest.mark.parametrize(("name", "text"), [("python", PYTHON), ("javascript", JAVASCRIPT), ("typescript", JAVASCRIPT)])
def test_a_match_is_found_once_however_many_of_its_words_stand_there(name: str, text: bytes) -> None:
    query, whole, parser = of(name)
    lines = text.splitlines(keepends=True)
    for first in range(len(lines)):
        for last in range(first + 1, len(lines) + 1):
            part = b"".join(lines[first:last])
            root = parser.parse(part).root_node
            matches = query.matches(root, part)
            wanted = tree_sitter.QueryCursor(whole).matches(root)
            assert found(matches) == found(wanted)
            assert len(matches) == len(wanted)


def test_facts_are_the_same_with_and_without_the_words() -> None:
    reader = extractor(languages().by_name["python"])
    facts = reader.facts(PYTHON)
    assert facts == reader.facts(PYTHON, Vocabulary().of(PYTHON)[0])
    assert [one.pattern for one in facts.dynamic] == ["getattr"] * 4 + ["import_module"]
    assert [one.name for one in facts.exports if one.evidence == "all"] == ["one", "two", "three", "four"]
