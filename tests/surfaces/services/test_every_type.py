"""Fields of every type, from JSON to a message and back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.services.messages import fill_message, message_arguments
from tests.interaction.requirements import requirement
from tests.surfaces.services.every_type import every_type

pytestmark = requirement("RPC-10")

EVERY = every_type()
VALUES: JsonObject = {
    "a_double": 0.1,
    "a_float": 0.25,
    "an_int32": -7,
    "a_uint64": 2**64 - 1,
    "a_bool": True,
    "a_string": "größer",
    "some_bytes": "AP8=",
    "colour": "COLOUR_RED",
    "at": "2025-06-30T12:00:00.000000001Z",
    "facts": {"list": [1, {"deep": None}]},
    "inner": {"a_double": 2.5, "many_some_bytes": ["", "AA=="]},
    "many_a_double": [0.5, 1.5],
    "many_colour": ["COLOUR_RED", "COLOUR_GREEN"],
    "many_inner": [{"a_string": "one"}, {"a_string": "two"}],
    "many_at": ["2025-06-30T12:00:00.000000000Z"],
    "many_facts": [{"a": 1}, {"b": 2}],
    "numbers": {"pi": 3.5, "none": 0.0},
    "by_number": {"-5": "minus five", "9007199254740993": "large"},
    "by_flag": {"true": "AQ==", "false": ""},
    "nested": {"x": {"numbers": {"y": 1.0}}},
    "colours": {"sky": "COLOUR_GREEN"},
    "structs": {"s": {"deep": {"er": [1, "two"]}}},
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def test_what_goes_in_comes_out_again() -> None:
    assert message_arguments(fill_message(EVERY, VALUES)) == VALUES


def test_an_enum_is_known_by_its_last_word_in_maps_and_lists_too() -> None:
    message = fill_message(EVERY, {"many_colour": ["red"], "colours": {"sky": "green"}})
    assert message_arguments(message) == {"many_colour": ["COLOUR_RED"], "colours": {"sky": "COLOUR_GREEN"}}


@pytest.mark.parametrize(
    "values",
    [
        {"a_double": True},
        {"a_double": "0.5"},
        {"a_double": 10**400},
        {"a_float": 1e39},
        {"a_double": math.inf},
        {"some_bytes": "no base64!"},
        {"some_bytes": 7},
        {"by_number": {"seven": "x"}},
        {"by_flag": {"yes": "AA=="}},
        {"numbers": [1.0]},
        {"numbers": {"a": "b"}},
        {"nested": {"a": 1}},
        {"colours": {"a": "mauve"}},
    ],
)
def test_a_value_that_no_field_can_hold_is_left_out(values: JsonObject) -> None:
    assert message_arguments(fill_message(EVERY, values)) == {}


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_number_that_json_cannot_hold_is_refused(number: float) -> None:
    for field in ("a_double", "a_float"):
        with pytest.raises(InvalidArgument, match=field):
            message_arguments(EVERY(**{field: number}))
    with pytest.raises(InvalidArgument):
        message_arguments(EVERY(numbers={"x": number}))


def test_a_float_has_the_digits_that_were_sent() -> None:
    assert message_arguments(EVERY(a_float=0.1)) == {"a_float": 0.1}


@given(st.dictionaries(st.sampled_from([field.name for field in EVERY.DESCRIPTOR.fields]), ANYTHING))
def test_whatever_a_result_holds_there_is_a_message(values: dict[str, JsonValue]) -> None:
    message = fill_message(EVERY, values)
    assert EVERY.FromString(message.SerializeToString()) == message
    message_arguments(message)
