"""Lines of a text by their numbers."""

from hypothesis import given
from hypothesis import strategies as st

from codeplane.query.search.hit import line_start
from tests.interaction.requirements import requirement


@requirement("SRC-21")
@given(st.lists(st.binary(max_size=5).map(lambda raw: raw.replace(b"\n", b"x")), min_size=1, max_size=8))
def test_a_line_begins_behind_the_lines_before_it(lines: list[bytes]) -> None:
    text = b"\n".join(lines)
    at = 0
    for number, line in enumerate(lines, 1):
        assert line_start(text, number) == at
        assert text[at : at + len(line)] == line
        at += len(line) + 1
    assert line_start(text, len(lines) + 1) == len(text)
