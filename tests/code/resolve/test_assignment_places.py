"""Where members are assigned, and where they are set by their names in quotes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.code.resolve.assignment_places import members_given, set_by_name
from tests.interaction.requirements import requirement

pytestmark = requirement("REF-32")

PIECES = (
    "setattr(",
    "setattr",
    "(",
    ")",
    ",",
    " ",
    "\n",
    "'name'",
    '"name"',
    "'names'",
    "self",
    ".",
    "x",
    "_",
    "delattr(",
)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("x.name = 1", True),
        ("x.name += 1", True),
        ("x.name: int", True),
        ("x.name, y = z", True),
        ("for x.name in z:", True),
        ("for y, x.name in z:", True),
        ("[x.name for y in z for x.name in y]", True),
        ("with a as x.name:", True),
        ("++x.name", True),
        ("x.name == 1", False),
        ("x.names = 1", False),
        ("x.name", False),
        ("x.name.other = 1", False),
        ("x.name(1).other = 2", False),
        ("x.name.other, y = z", False),
        ("for y in x.name.all():", False),
        ("[y for y in (x.name.all(z) for z in w)]", False),
        ("[y for y in x.name.all() if y in z]", False),
        ("any(x.name.all(y) for y in z if y in x)", False),
        ("has = x.name(1)", False),
        ("format(x.name.other)", False),
    ],
)
def test_which_members_are_assigned(text: str, given: bool) -> None:
    assert list(members_given(text.encode(), "name")) == ([text.rindex(".name") + 1] if given else [])


def test_only_a_call_of_setattr_itself_that_names_the_member_sets_it() -> None:
    text = b"setattr(self, 'name', 1)\nx.setattr(self, 'name', 1)\nsetattr(f(), 'name', 1)\nsetattr(a,\n 'name', 2)"
    assert list(set_by_name(text, "name")) == [15, text.rindex(b"name")]
    assert list(set_by_name(text, "nam")) == []
    assert list(set_by_name(b"name = 1", "name")) == []


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_the_places_are_those_of_a_pattern_over_all_of_the_text(pieces: list[str]) -> None:
    text = "".join(pieces).encode()
    pattern = re.compile(rb"(?<![.\w])setattr\(\s*[^,()]{1,200},\s*[\"'](name)[\"']")
    assert list(set_by_name(text, "name")) == [found.start(1) for found in pattern.finditer(text)]
