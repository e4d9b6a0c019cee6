"""The one table of errors."""

from importlib import import_module
from pkgutil import iter_modules

import pytest

from codeplane.kernel import errors
from codeplane.kernel.errors import ERRORS, CodePlaneError, Internal, InvalidArgument, NotFound
from codeplane.kernel.json import dumps
from tests.interaction.requirements import requirement

RPC_CODES = {
    "canceled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists", "permission_denied",
    "resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented", "internal", "unavailable",
    "data_loss", "unauthenticated",
}  # fmt: skip


@requirement("DOOR-09")
def test_codes_and_names_are_unique() -> None:
    assert len({kind.code for kind in ERRORS}) == len(ERRORS)
    assert len({kind.name for kind in ERRORS}) == len(ERRORS)


def test_every_class_of_a_family_is_in_the_table_and_at_the_door() -> None:
    families = [import_module(f"{errors.__name__}.{module.name}") for module in iter_modules(errors.__path__)]
    classes = {
        value
        for family in families
        for value in vars(family).values()
        if isinstance(value, type) and issubclass(value, CodePlaneError)
    }
    assert set(ERRORS) == classes - {CodePlaneError}
    for kind in classes:
        assert getattr(errors, kind.__name__) is kind


@requirement("DOOR-09")
@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.name)
def test_every_error_says_what_to_do_next(kind: type[CodePlaneError]) -> None:
    assert kind.default_hint.strip()
    assert kind.__doc__
    assert 400 <= kind.http <= 599
    assert kind.rpc in RPC_CODES
    assert kind.name == kind.name.upper()
    assert 1000 <= kind.code <= 9999


def test_an_incomplete_error_cannot_be_defined() -> None:
    with pytest.raises(TypeError):

        class Nameless(CodePlaneError):  # type: ignore[call-arg]  # that it is refused is the point
            """No name, no code, no hint."""


def test_the_wire_form() -> None:
    error = NotFound("no such thing", hint="look elsewhere", details={"name": "x"}, source="test")
    assert error.to_wire() == {
        "code": 1009,
        "error": "NOT_FOUND",
        "message": "no such thing",
        "retryable": False,
        "hint": "look elsewhere",
        "source": "test",
        "details": {"name": "x"},
    }


def test_the_hint_of_the_table_stands_in() -> None:
    assert NotFound("x").to_wire()["hint"] == NotFound.default_hint
    assert NotFound("x", hint="").hint == NotFound.default_hint


@requirement("DOOR-09")
def test_causes_are_named_from_the_nearest_on() -> None:
    inner, middle, outer = ValueError("inner"), InvalidArgument("middle"), Internal("outer")
    middle.__cause__, outer.__cause__ = inner, middle
    assert outer.to_wire()["causes"] == [
        {"error": "INVALID_ARGUMENT", "message": "middle"},
        {"error": "ValueError", "message": "inner"},
    ]


def test_causes_end_even_in_a_circle() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    error = Internal("x")
    error.__cause__ = one
    causes = error.to_wire()["causes"]
    assert isinstance(causes, list)
    assert len(causes) == 8


def test_a_message_is_bounded_and_can_always_be_sent() -> None:
    error = NotFound("\ud800" + "x" * 100_000)
    error.__cause__ = ValueError("\udcff" * 10_000)
    wire = dumps(error.to_wire())
    assert len(wire.encode()) < 12_000
    assert str(error) == error.message
    assert error.message.startswith("\\ud800x")
