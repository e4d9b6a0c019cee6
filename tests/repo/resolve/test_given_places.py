"""Where members are set by their names in quotes."""

import re

from hypothesis import given
from hypothesis import strategies as st

from codeplane.repo.resolve.given_places import set_by_name

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
