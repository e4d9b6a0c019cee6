"""Where a name stands as a whole word."""

import re

from hypothesis import given
from hypothesis import strategies as st

from codeplane.code.resolve.occurrences import occurrences
from tests.interaction.requirements import requirement


@requirement("RES-04")
@given(text=st.text(alphabet="ab_$ .é1\n"), name=st.text(alphabet="ab_$é", min_size=1, max_size=3))
def test_a_name_is_found_wherever_no_letter_touches_it(text: str, name: str) -> None:
    whole = rb"(?<![\w$\x80-\xff])" + re.escape(name.encode()) + rb"(?![\w$\x80-\xff])"
    assert occurrences(text.encode(), name) == [match.start() for match in re.finditer(whole, text.encode())]
