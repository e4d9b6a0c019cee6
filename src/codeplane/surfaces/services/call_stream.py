"""The items of a streaming call, until the server stops."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from codeplane.kernel.errors import ShuttingDown
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


async def _next_item(items: AsyncIterator[T]) -> T:
    return await anext(items)


async def _wait(stopping: asyncio.Event) -> None:
    await stopping.wait()
