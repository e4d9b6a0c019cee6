"""Signals that end the demo, handled where nothing is left half done."""

import asyncio
import signal
from collections.abc import Coroutine
from types import FrameType
from typing import Self, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """A signal ended the demo."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number))
        self.exit_code = 128 + number


class SignalGuard:
    """Records signals while entered, so that a server that is starting is not orphaned."""

    def __init__(self) -> None:
        self._received: int | None = None
        self._playing: tuple[asyncio.AbstractEventLoop, asyncio.Task[object]] | None = None
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        # One that was started to ignore a signal, as nohup does, goes on ignoring it.
        handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._note) for number in handled}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise Interrupted if a signal was received."""
        if self._received is not None:
            raise Interrupted(self._received)

    def run(self, playing: Coroutine[object, object, T]) -> T:
        """Run a coroutine until it is done or a signal comes."""

        async def watch() -> T:
            task = asyncio.ensure_future(playing)
            self._playing = (asyncio.get_running_loop(), task)
            if self._received is not None:
                task.cancel()
            return await task

        try:
            return asyncio.run(watch())
        except BaseException:
            # A closing connection may raise its own error, such as for a late answer.
            self.check()
            raise
        finally:
            self._playing = None

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._received = number
        if self._playing is not None:
            loop, task = self._playing
            loop.call_soon_threadsafe(task.cancel)
