"""Cursors: opaque, signed, bound to their scope, short-lived."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.cursor import LIFETIME_SEC, Cursors
from codeplane.kernel.errors import CursorExpired, CursorInvalid
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock


@given(st.text(), st.dictionaries(st.text(), st.integers() | st.text(), max_size=4))
def test_the_state_comes_back_for_the_same_scope(scope: str, state: dict[str, int | str]) -> None:
    cursors = Cursors(clock=ManualClock())
    assert cursors.open(cursors.issue(scope=scope, state={**state}), scope=scope) == state


def test_it_is_one_word_that_a_url_can_hold() -> None:
    token = Cursors(clock=ManualClock()).issue(scope="x", state={"after": 12})
    assert token.replace("-", "").replace("_", "").isalnum()


@requirement("DOOR-11")
def test_another_scope_is_refused() -> None:
    cursors = Cursors(clock=ManualClock())
    token = cursors.issue(scope="ledger.events:a", state={})
    with pytest.raises(CursorInvalid):
        cursors.open(token, scope="ledger.events:b")


def test_another_servers_cursor_is_refused() -> None:
    token = Cursors(clock=ManualClock()).issue(scope="x", state={})
    with pytest.raises(CursorInvalid):
        Cursors(clock=ManualClock()).open(token, scope="x")


@requirement("DOOR-11")
def test_every_forged_byte_is_noticed() -> None:
    cursors = Cursors(clock=ManualClock(), secret=b"s" * 32)
    token = cursors.issue(scope="x", state={"after": 12})
    raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    for index in range(len(raw)):
        forged = raw[:index] + bytes([raw[index] ^ 1]) + raw[index + 1 :]
        with pytest.raises(CursorInvalid):
            cursors.open(base64.urlsafe_b64encode(forged).decode(), scope="x")


@pytest.mark.parametrize("token", ["", "x", "!!!!", "ü", "\ud800", "=" * 8, "A" * 1000, "null", "a b c"])
def test_garbage_is_refused(token: str) -> None:
    with pytest.raises(CursorInvalid):
        Cursors(clock=ManualClock()).open(token, scope="x")


@requirement("DOOR-11")
def test_it_lives_for_its_time_and_no_longer() -> None:
    clock = ManualClock()
    cursors = Cursors(clock=clock)
    token = cursors.issue(scope="x", state={})
    clock.advance(LIFETIME_SEC)
    assert cursors.open(token, scope="x") == {}
    clock.advance(1)
    with pytest.raises(CursorExpired):
        cursors.open(token, scope="x")


def test_setting_the_clock_does_not_end_it() -> None:
    clock = ManualClock()
    cursors = Cursors(clock=clock)
    token = cursors.issue(scope="x", state={})
    clock.jump(365 * 86_400)
    assert cursors.open(token, scope="x") == {}
