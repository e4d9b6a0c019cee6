"""Bindings looked for name by name are those of the whole file, and single numbers those of the table."""

from tests.code.facts.reading import facts_of
from tests.interaction.requirements import requirement

pytestmark = requirement("RES-40")

SOURCE = """
import os
a = b = c = 1
a = 2
def f(a, b, *c, d=1, **e):
    a = b
    global g
    g = [x for x in c if x]
    def h(x, y, z): return x, y, z, os
class K:
    a = 1
    def m(self, a): self.a = a
"""


def test_name_by_name_and_all_at_once() -> None:
    whole = facts_of("python", SOURCE).rows_by_binding
    facts = facts_of("python", SOURCE)
    for name in (*dict.fromkeys(facts.bind_names), "absent"):
        for scope in range(len(facts.scopes)):
            assert list(facts.rows(scope, name)) == whole.get((scope, name), [])
        assert facts.rows_by_scope(name) == {scope: rows for (scope, one), rows in whole.items() if one == name}


def test_definitions_name_by_name() -> None:
    source = SOURCE + "".join(f"def n{number}(): pass\ndef n{number}(): return n{number}\n" for number in range(3))
    facts = facts_of("python", source)
    names = [*dict.fromkeys(one.name for one in facts.definitions), "absent"]
    for scope in range(len(facts.scopes)):
        found = {name: list(facts.definitions_in(scope, name)) for name in names}
        assert found == {name: facts.definitions_by_binding.get((scope, name), []) for name in names}


def test_labels_and_texts_place_by_place() -> None:
    source = "f(a=1, b='x = 1')  # a=2\nf(a=a)\n"
    facts = facts_of("python", source)
    places = range(len(source))
    assert [at for at in places if facts.is_label(at)] == sorted(facts.labels) == [2, 7, 27]
    inside = [at for at in places if facts.in_text(at)]
    assert inside == [at for start, end in facts.texts.tolist() for at in range(start, end)] != []


def test_the_numbers_of_a_row() -> None:
    facts = facts_of("python", SOURCE)
    assert facts.bind_names
    for row in range(len(facts.bind_names)):
        row_of_numbers = [facts.bind_scope(row), facts.bind_at(row), facts.bind_reason(row), facts.bind_target(row)]
        assert row_of_numbers == facts.binds[row].tolist()


def test_the_strings_and_comments_of_a_stretch() -> None:
    facts = facts_of("python", "a = 'x'\n# one\nb = 'y'\n")
    assert facts.text_spans(0, 24) == list(map(tuple, facts.texts.tolist())) != []
    assert facts.text_spans(5, 14) == facts.text_spans(0, 24)[1:2]
    assert facts.text_spans(1, 2) == []
    for start, end in facts.text_spans(0, 24):
        assert facts.text_span(start) == facts.text_span(end) == (start, end)
    assert facts.text_span(0) == (0, 0)


def test_nothing_is_bound_in_an_empty_file() -> None:
    facts = facts_of("python", "")
    assert (facts.rows(0, "a"), facts.rows_by_scope("a"), facts.first_parameters) == ((), {}, {})
    assert not facts.reaches_out


def test_first_parameters() -> None:
    facts = facts_of("python", SOURCE)
    text = SOURCE.encode()
    found = {facts.definitions[facts.scopes[scope].definition].name: at for scope, at in facts.first_parameters.items()}
    assert {name: text[at : at + 1] for name, at in found.items()} == {"f": b"a", "h": b"x", "m": b"s"}
    assert found["m"] == text.index(b"self, a")


def test_who_reaches_out() -> None:
    assert facts_of("python", SOURCE).reaches_out
    assert facts_of("python", "def f():\n    a = 1\n    def g():\n        nonlocal a\n").reaches_out
    assert not facts_of("python", SOURCE.replace("    global g\n", "")).reaches_out
