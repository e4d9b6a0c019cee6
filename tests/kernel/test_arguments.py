"""Arguments that are forgiven, and what is said about those that are not."""

import json
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from codeplane.kernel.arguments import parse, usage
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Request, Risk, operation
from tests.interaction.requirements import requirement
from tests.kernel.plane import Answered


class Range(Request):
    """Lines of a file."""

    start: int
    end: int = 10


class Wanted(Request):
    """Arguments of every shape."""

    paths: tuple[str, ...]
    max_depth: int = Field(3, ge=0, le=100)
    mode: Literal["exact", "ranked"] = "exact"
    ranges: list[Range] = Field(default_factory=list)
    within: Range | None = None
    limits: dict[str, int] = Field(default_factory=dict)
    ratio: float = 1.0
    deep: bool = False
    words: list[str] | None = None
    class_: str = ""
    globs: tuple[Annotated[str, Field(max_length=9)], ...] | None = None
    since: Annotated[str, Field(max_length=9)] | None = None
    colours: tuple[Literal["red", "blue"], ...] = Field(("red",), min_length=1)


class Ops:
    @operation("find.things", risk=Risk.READ)
    async def find(self, call: Call, request: Wanted) -> Answered:
        """Find things."""
        return Answered(answer="")


OPERATION = Catalogue([Ops()]).get("find.things")


def understood(**arguments: JsonValue) -> Wanted:
    request = parse(OPERATION, arguments)
    assert isinstance(request, Wanted)
    return request


FORGIVEN: list[tuple[str, JsonObject, dict[str, object]]] = [
    ("as announced", {"paths": ["a", "b"], "max_depth": 1}, {"paths": ("a", "b"), "max_depth": 1}),
    ("a string for a list", {"paths": "a"}, {"paths": ("a",)}),
    ("one for many", {"path": "a"}, {"paths": ("a",)}),
    ("one for many, as a list", {"path": ["a", "b"]}, {"paths": ("a", "b")}),
    ("many for one", {"paths": "a", "modes": "ranked"}, {"mode": "ranked"}),
    ("camel case", {"paths": "a", "maxDepth": 1}, {"max_depth": 1}),
    ("pascal case", {"Paths": "a"}, {"paths": ("a",)}),
    ("dashes", {"paths": "a", "max-depth": 1}, {"max_depth": 1}),
    ("capitals", {"PATHS": "a"}, {"paths": ("a",)}),
    ("JSON text for a list", {"paths": '["a", "b"]'}, {"paths": ("a", "b")}),
    ("JSON text for an object", {"paths": "a", "within": '{"start": 2}'}, {"within": Range(start=2)}),
    ("JSON text for a list of objects", {"paths": "a", "ranges": '[{"start": 1}]'}, {"ranges": [Range(start=1)]}),
    ("an object for a list of objects", {"paths": "a", "ranges": {"start": 1}}, {"ranges": [Range(start=1)]}),
    ("JSON text for a mapping", {"paths": "a", "limits": '{"x": 1}'}, {"limits": {"x": 1}}),
    ("null for what has a default", {"paths": "a", "max_depth": None, "mode": None}, {"max_depth": 3, "mode": "exact"}),
    ("null for a list with a default", {"paths": "a", "ranges": None}, {"ranges": []}),
    ("a number as text", {"paths": "a", "max_depth": "7"}, {"max_depth": 7}),
    ("a flag as text", {"paths": "a", "deep": "true"}, {"deep": True}),
    ("a string for an optional list", {"paths": "a", "words": "x"}, {"words": ["x"]}),
    ("a bracket that is not JSON stays text", {"paths": "[draft] notes.md"}, {"paths": ("[draft] notes.md",)}),
    ("what decodes to no text stays as it is", {"paths": '["\\ud800"]'}, {"paths": ('["\\ud800"]',)}),
    ("an object around arguments", {"scope": {"paths": ["a"], "max_depth": 1}}, {"paths": ("a",), "max_depth": 1}),
    ("the same as JSON text", {"filters": '{"path": "a"}'}, {"paths": ("a",)}),
    ("a scope that is a path", {"scope": "a"}, {"paths": ("a",)}),
    ("a bracket in a text field stays text", {"paths": "a", "class_": "[x]"}, {"class_": "[x]"}),
]


@requirement("DOOR-03")
@pytest.mark.parametrize(("arguments", "expected"), [row[1:] for row in FORGIVEN], ids=[row[0] for row in FORGIVEN])
def test_what_is_plain_is_forgiven(arguments: JsonObject, expected: dict[str, object]) -> None:
    request = understood(**arguments)
    assert {name: getattr(request, name) for name in expected} == expected


REFUSED: list[tuple[str, JsonObject, list[str]]] = [
    ("missing", {}, ["'paths' is required"]),
    ("null for what is required", {"paths": None}, ["paths"]),
    ("misspelt", {"paths": "a", "max_dept": 1}, ["unknown argument 'max_dept'", "did you mean 'max_depth'?"]),
    ("like nothing", {"paths": "a", "zzzzzz": 1}, ["unknown argument 'zzzzzz'", "it takes paths, max_depth"]),
    ("two spellings", {"paths": ["a"], "path": "b"}, ["unknown argument 'path'", "did you mean 'paths'?"]),
    ("twice, inside and outside", {"paths": "a", "scope": {"path": "b"}}, ["unknown argument 'scope'"]),
    ("two wrong spellings", {"path": "a", "Path": "b"}, ["unknown argument 'Path'"]),
    ("out of range", {"paths": "a", "max_depth": 101}, ["max_depth: Input should be less than or equal to 100"]),
    ("not one of the words", {"paths": "a", "mode": "fuzzy"}, ["mode: Input should be 'exact' or 'ranked'"]),
    ("of another kind", {"paths": "a", "max_depth": "many"}, ["max_depth: Input should be a valid integer"]),
    ("wrong inside", {"paths": "a", "within": {"star": 1}}, ["within.start", "within.star"]),
    ("too few", {"paths": "a", "colours": []}, ["colours: the list should have at least 1 item, not 0"]),
    ("NaN in JSON text", {"paths": "a", "limits": '{"x": NaN}'}, ["limits"]),
    ("half a character in JSON text", {"paths": "a", "ranges": '[{"start": "\\ud800"}]'}, ["ranges"]),
]


@requirement("DOOR-03")
@pytest.mark.parametrize(("arguments", "output"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_not_plain_is_refused_with_advice(arguments: JsonObject, output: list[str]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        understood(**arguments)
    error = caught.value
    assert error.message.startswith("find.things: ")
    for part in output:
        assert part in error.message
    assert error.hint == f"send: {usage(OPERATION)}"
    problems = error.details["problems"]
    assert isinstance(problems, list)
    assert problems


def test_brackets_without_end_are_text_and_not_a_crash() -> None:
    assert understood(paths="[" * 100_000).paths == ("[" * 100_000,)


def test_what_is_said_is_bounded() -> None:
    unknown: JsonObject = {f"{'x' * 10_000}{number}": 1 for number in range(50)}
    with pytest.raises(InvalidArgument) as caught:
        understood(paths="a", **unknown)
    assert len(caught.value.message) < 3000
    problems = caught.value.details["problems"]
    assert isinstance(problems, list)
    assert len(problems) == 8


@given(st.lists(st.text(min_size=1), min_size=1), st.integers(0, 100))
def test_forgiveness_never_changes_what_was_right(paths: list[str], depth: int) -> None:
    exact = understood(paths=paths, max_depth=depth)
    assert exact.paths == tuple(paths)
    assert understood(path=paths, maxDepth=str(depth)) == exact
    assert understood(paths=json.dumps(paths), max_depth=depth) == exact


def test_usage_is_one_line_with_what_is_optional_marked() -> None:
    text = usage(OPERATION)
    assert text.startswith("find.things(paths: ")
    for part in ("max_depth?: int", "mode?: exact|ranked", "deep?: bool", "words?: [str]"):
        assert part in text
    assert "globs?: [str]" in text and "since?: str" in text
    assert "\n" not in text
    assert "None" not in text


def test_that_a_list_is_too_short_is_not_said_of_one_whose_items_are_wrong() -> None:
    with pytest.raises(InvalidArgument) as caught:
        understood(paths="a", colours=["green"])
    assert "colours.0: Input should be 'red' or 'blue'" in caught.value.message
    assert "at least" not in caught.value.message
