"""JSON in and out."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.json import JsonValue, canonical, dumps, is_text
from tests.interaction.requirements import requirement

VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_goes_in_comes_out(value: JsonValue) -> None:
    assert json.loads(dumps(value)) == value
    assert json.loads(canonical(value)) == value


@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_equal_values_have_equal_bytes(value: dict[str, int]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@requirement("DOOR-10")
@given(st.text(alphabet=st.characters(categories=["Cs", "L", "N"])))
def test_what_is_dumped_can_be_written_as_utf8(text: str) -> None:
    assert json.loads(dumps([text]).encode()) == [text]


def test_half_a_character_is_not_text() -> None:
    assert is_text("grüße 🎉")
    assert not is_text("a\ud800")
    with pytest.raises(ValueError, match="surrogates"):
        canonical({"a": "\ud800"})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_has_no_word_for_is_refused(value: float) -> None:
    for write in (dumps, canonical):
        with pytest.raises(ValueError, match="JSON compliant"):
            write([value])
