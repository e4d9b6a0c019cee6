"""The items of a streaming call, until the server stops."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.operation import Result

Item = Result | Outcome


class CallStream:
    """Iterates over a call's items until the server stops."""

    def __init__(self, items: AsyncIterator[Item], stopping: asyncio.Event) -> None:
        self._items = items
        self._stopping = stopping
        self._next: asyncio.Future[Item] | None = None

    async def first(self, wait_sec: float) -> Item | None:
        """Return the first item if it comes in time; `rest` yields it again."""
        self._next = asyncio.ensure_future(_next_item(self._items))
        await asyncio.wait({self._next}, timeout=wait_sec)
        return self._next.result() if self._next.done() and not self._next.exception() else None

    async def rest(self) -> AsyncGenerator[Item | None, None]:
        """Yield every item; a final None when the server stops first."""
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            while True:
                following = self._next = self._next or asyncio.ensure_future(_next_item(self._items))
                pending: set[asyncio.Future[object]] = {following, stopping}  # type: ignore[arg-type]  # futures are read here, so covariance is safe
                await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    yield None
                    return
                self._next = None
                try:
                    item = following.result()
                except StopAsyncIteration:
                    return
                yield item
        finally:
            stopping.cancel()
            await self.close()

    async def close(self) -> None:
        """Close the call, whether or not it was read to its end."""
        if self._next is not None and not self._next.done():
            self._next.cancel()
            await asyncio.wait({self._next})
        await self._items.aclose()  # type: ignore[attr-defined]  # the conveyor's stream is an async generator


async def _next_item(items: AsyncIterator[Item]) -> Item:
    return await anext(items)
