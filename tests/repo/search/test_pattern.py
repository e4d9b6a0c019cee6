"""Expressions with a text that every match holds are matched as without it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.repo.search.pattern import Regex, _required

LINES = st.lists(st.sampled_from(["abc", "abcd", "xabcx", "ab", "", "abc def", "def", "a-b_c", "abcabc"]), max_size=12)


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        (r"def \w+_name\(", b"_name"),
        (r"^class Foo", b"class Foo"),
        (r"colou?r_of", b"colo"),
        (r"abcd*e{2,3}fgh", b"abc"),
        (r"foo|foobar", None),
        (r"(?i)foobar", None),
        (r"(foobar)?x", None),
        (r"[abc]{3}\d+", None),
        (r"\Qfoobar\E", None),
        (r"ab+cdef", b"cdef"),
        (r"größe", None),
    ],
)
def test_what_every_match_holds(text: str, needle: bytes | None) -> None:
    assert _required(text) == needle


@given(
    lines=LINES,
    pattern=st.sampled_from(["abc$", "^abc", "abcd?", "abc.def", "x?abcx", "abc(abc)?", "^ab$", "abc", "c def"]),
)
def test_the_same_matches_as_one_sweep(lines: list[str], pattern: str) -> None:
    content = "\n".join(lines).encode() + b"\n"
    found, at = [], 0
    regex = Regex(pattern)
    while at <= len(content) and (match := regex.find(content, at, len(content))) is not None:
        found.append(match)
        at = max(match[1], match[0] + 1)
    assert found == [match.span() for match in re.finditer(b"(?m)" + pattern.encode(), content) if match.group()]
