"""A client whose connection is lost again and again while turns run, and what it has seen in the end."""

import asyncio
import random
from typing import Any

from tests.harness import Server
from tests.surfaces.acp.client import HELLO, acp_client

WORDS = " ".join(f"word{number}" for number in range(40))


Updates = list[dict[str, Any]]


async def follow_with_losses(server: Server, losses: int, seed: int) -> tuple[Updates, Updates]:
    """The updates that came over connections lost at random, and those of one connection that was never lost."""
    chance = random.Random(seed)
    seen: list[dict[str, Any]] = []
    async with acp_client(server) as driver:
        session = await driver.open(server.repo)
        done = asyncio.Event()
        driving = asyncio.ensure_future(_drive(driver, session, done))
        opening: dict[str, Any] = {"sessionId": session, "cwd": str(server.repo), "mcpServers": []}
        cursor = "1.0"
        try:
            for _ in range(losses):
                async with acp_client(server) as client:
                    await client.call("initialize", HELLO)
                    await client.call("session/resume", {**opening, "_meta": {"codeplane": {"cursor": cursor}}})
                    wanted = chance.choice((0, 1, 1, 2, 3, 5, 8))
                    await client.until(lambda client=client, wanted=wanted: len(_said(client)) >= wanted)  # type: ignore[misc]  # bound here
                    await client.drop()
                    seen += _said(client)
                    cursor = seen[-1]["_meta"]["codeplane"]["cursor"] if seen else cursor
        finally:
            done.set()
        await driving
        async with acp_client(server) as last:
            await last.call("initialize", HELLO)
            await last.call("session/load", {**opening, "_meta": {"codeplane": {"cursor": cursor}}})
            seen += _said(last)
        async with acp_client(server) as whole:
            await whole.call("initialize", HELLO)
            await whole.call("session/load", opening)
            return seen, _said(whole)


async def _drive(driver: Any, session: str, done: asyncio.Event) -> None:
    while not done.is_set():
        assert (await driver.prompt(session, f"slowly {WORDS}"))["stopReason"] == "end_turn"
        assert (await driver.prompt(session, "read greeting.py"))["stopReason"] == "end_turn"


def _said(client: Any) -> list[dict[str, Any]]:
    """Everything but the commands, which a session has and not its thread."""
    return [one for one in client.notices if one["update"]["sessionUpdate"] != "available_commands_update"]
