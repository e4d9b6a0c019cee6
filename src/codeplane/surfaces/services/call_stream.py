"""The items of a streaming call, until the server stops."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from codeplane.kernel.actor import Progress
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import ShuttingDown
from codeplane.kernel.operation import Result
from codeplane.surfaces.services.call_failure import CallFailed

T = TypeVar("T")


class CallStream(AsyncIterator[T]):
    """Iterates over a call's items; CallFailed with ShuttingDown when the server stops first."""

    def __init__(self, items: AsyncGenerator[T, None], stopping: asyncio.Event) -> None:
        self._items = items
        self._next: asyncio.Future[T] | None = None
        self._stopping: asyncio.Future[object] = asyncio.ensure_future(_wait(stopping))

    async def __anext__(self) -> T:
        following = self._soon()
        pending: set[asyncio.Future[object]] = {following, self._stopping}  # type: ignore[arg-type]  # only read here
        await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        if not following.done():
            raise CallFailed(ShuttingDown("the server is ending"))
        self._next = None
        return following.result()

    async def next_or(self, event: asyncio.Event) -> None:
        """Wait for the next item, the server's end or an event, whichever is first."""
        waiting = asyncio.ensure_future(event.wait())
        pending: set[asyncio.Future[object]] = {self._soon(), self._stopping, waiting}  # type: ignore[arg-type]  # read
        try:
            await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()

    @property
    def is_ready(self) -> bool:
        """Whether the next item, or the end, is there."""
        return self._soon().done() or self._stopping.done()

    async def is_quiet(self, wait_sec: float) -> bool:
        """Return whether no item comes within the time; an item that comes is kept."""
        await asyncio.wait({self._soon()}, timeout=wait_sec)
        return not self._soon().done()

    async def aclose(self) -> None:
        """Close the call, whether or not it was read to its end."""
        self._stopping.cancel()
        if self._next is not None:
            self._next.cancel()
            await asyncio.wait({self._next})
            if not self._next.cancelled():
                # Retrieve the exception, so that asyncio does not warn about it.
                self._next.exception()
        await self._items.aclose()

    def _soon(self) -> "asyncio.Future[T]":
        self._next = self._next or asyncio.ensure_future(_next_item(self._items))
        return self._next


class ProgressSlot:
    """The newest progress of a call that was not sent yet: what a slow reader misses is out of date anyway."""

    def __init__(self) -> None:
        self._newest: Progress | None = None
        self._there = asyncio.Event()

    async def put(self, progress: Progress) -> None:
        """Keep a progress in place of the one before."""
        self._newest = progress
        self._there.set()

    async def beside(self, stream: CallStream[Result | Outcome]) -> AsyncIterator[Result | Outcome | Progress]:
        """The items of a stream, with the progress that comes between them."""
        while True:
            await stream.next_or(self._there)
            if (newest := self._newest) is not None:
                self._newest = None
                self._there.clear()
                yield newest
            if stream.is_ready:
                try:
                    yield await anext(stream)
                except StopAsyncIteration:
                    return


async def _next_item(items: AsyncIterator[T]) -> T:
    return await anext(items)


async def _wait(stopping: asyncio.Event) -> None:
    await stopping.wait()
