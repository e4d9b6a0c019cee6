"""Signals to `cpl demo`, whatever becomes of what they interrupt."""

import asyncio
import os
import signal

import pytest

from codeplane.surfaces.cli.demo.signals import Interrupted, SignalGuard
from tests.interaction.requirements import requirement

pytestmark = requirement("CLI-21")


def test_a_signal_is_why_it_ends_even_if_a_connection_fails_by_it() -> None:
    async def play() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ConnectionError("an answer came late") from None

    with SignalGuard() as ending, pytest.raises(Interrupted) as answer:
        ending.run(play())
    assert answer.value.exit_code == 128 + signal.SIGTERM


def test_without_a_signal_the_error_is_what_ends_it() -> None:
    async def play() -> None:
        raise ConnectionError("the server went away")

    with SignalGuard() as ending, pytest.raises(ConnectionError):
        ending.run(play())
