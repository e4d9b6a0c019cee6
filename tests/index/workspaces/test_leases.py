"""A workspace is closed when nobody is being answered, and answers nobody after that."""

import asyncio
from typing import cast

import pytest

from codeplane.index.workspaces.leases import Leases
from codeplane.kernel.call import Call
from codeplane.kernel.errors import NotFound
from codeplane.kernel.operation import Request, Result
from tests.interaction.requirements import requirement


@requirement("WSP-03")
async def test_closing_waits_for_calls_under_way_and_refuses_new_ones() -> None:
    release = asyncio.Event()

    async def handler(call: Call, request: Request) -> Result:
        await release.wait()
        return Result()

    leases = Leases()
    held = leases.around(handler)
    nobody = cast(Call, None)

    async def ask() -> Result:
        answer = held(nobody, Request())
        assert asyncio.iscoroutine(answer)
        return cast(Result, await answer)

    first, second = asyncio.create_task(ask()), asyncio.create_task(ask())
    await asyncio.sleep(0)
    closing = asyncio.create_task(leases.close())
    await asyncio.sleep(0)
    with pytest.raises(NotFound, match="detached meanwhile"):
        await ask()
    second.cancel()
    await asyncio.wait({second})
    assert not closing.done()
    release.set()
    assert await first == Result()
    await closing
