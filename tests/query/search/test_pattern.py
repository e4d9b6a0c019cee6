"""Expressions with a text that every match holds are matched as without it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.query.search.pattern import Regex
from codeplane.query.search.required_texts import required_texts
from tests.interaction.requirements import requirement

LINES = st.lists(st.sampled_from(["abc", "abcd", "xabcx", "ab", "", "abc def", "def", "a-b_c", "abcabc"]), max_size=12)


@requirement("SRC-11")
@pytest.mark.parametrize(
    ("text", "held"),
    [
        (r"def \w+_name\(", ((b"def ", b"_name("),)),
        (r"^class Foo", ((b"class Foo",),)),
        (r"colou?r_of", ((b"colo", b"r_of"),)),
        (r"abcd*e{2,3}fgh", ((b"abc", b"fgh"),)),
        (r"foo|foobar", ((b"foo",), (b"foobar",))),
        (r"foo|x", ()),
        (r"(get|set)_name", ((b"_name",),)),
        (r"(?:get|set)_name", ((b"_name",),)),
        (r"(?i)foobar", ()),
        (r"(foobar)?x", ()),
        (r"[abc]{3}\d+", ()),
        (r"\Qfoobar\E", ()),
        (r"ab+cdef", ((b"cdef",),)),
        (r"größe", ()),
        (r"self\.name", ((b"self.name",),)),
        (r"\x41bcd", ()),
        (r"\pNabcd", ()),
        (r"\101bcd", ()),
        (r"[^]abcd]", ()),
        (r"[\]abcd]xyz", ((b"xyz",),)),
        (r"[[:alpha:]]abcd]xyz", ((b"abcd", b"xyz"),)),
        (r"[a|b]xyz", ((b"xyz",),)),
    ],
)
def test_what_every_match_holds(text: str, held: tuple[tuple[bytes, ...], ...]) -> None:
    assert required_texts(text) == held


@requirement("SRC-11")
@given(
    lines=LINES,
    pattern=st.sampled_from(
        [
            *("abc$", "^abc", "abcd?", "abc.def", "x?abcx", "abc(abc)?", "^ab$", "abc", "c def"),
            *("abc|def", "def|xabcx|a-b", "(x|d)?abc", "(?:abc|abcd) ?d", r"a\-b_c", r"[^]abc\n]|abcd", "def|abc.?abc"),
        ]
    ),
)
def test_the_same_matches_as_one_sweep(lines: list[str], pattern: str) -> None:
    content = "\n".join(lines).encode() + b"\n"
    found, at = [], 0
    regex = Regex(pattern)
    while at <= len(content) and (match := regex.find(content, at, len(content))) is not None:
        found.append(match)
        at = max(match[1], match[0] + 1)
    assert found == [match.span() for match in re.finditer(b"(?m)" + pattern.encode(), content) if match.group()]
