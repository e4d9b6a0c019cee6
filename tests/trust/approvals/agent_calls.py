"""A plane whose agents are asked about, and what its people see."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from codeplane.kernel.clock import Clock
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.wiring.app import Plane
from tests.kernel.plane import AGENT, OWNER, FixtureOps, plane


@asynccontextmanager
async def asking(
    root: Path, *settings: str, operations: Sequence[object] | None = None, clock: Clock | None = None
) -> AsyncIterator[Plane]:
    """A plane in which a call does not wait for its answer."""
    async with plane(root, *settings, operations=operations or [FixtureOps()], clock=clock) as opened:
        yield opened


async def call(opened: Plane, name: str, /, **arguments: JsonValue) -> Outcome:
    """A call by an agent."""
    return await opened.conveyor.call(name, arguments, AGENT)


async def decide(opened: Plane, name: str, /, **arguments: JsonValue) -> Outcome:
    """A call by the owner."""
    return await opened.conveyor.call(name, arguments, OWNER)


def result(outcome: Outcome) -> JsonObject:
    """What a call that went well answered."""
    assert outcome.error is None, outcome.error
    assert outcome.result is not None
    wire: JsonObject = outcome.result.model_dump(mode="json")
    return wire


def items(outcome: Outcome) -> list[JsonObject]:
    """The items of a list that was answered."""
    found = result(outcome)["items"]
    assert isinstance(found, list)
    return [item for item in found if isinstance(item, dict)]


def refused(outcome: Outcome) -> str:
    """The name of the error that a call ended with."""
    assert outcome.error is not None
    return outcome.error.name


def action_of(outcome: Outcome) -> str:
    """The action that a pending answer names."""
    assert outcome.error is not None and outcome.error.name == "APPROVAL_PENDING", outcome.error
    return str(outcome.error.details["action_id"])


def key_of(outcome: Outcome) -> str:
    """The key that a pending answer names."""
    assert outcome.error is not None
    return str(outcome.error.details["idempotency_key"])


async def shown(opened: Plane, action_id: str) -> JsonObject:
    """An action as its owner sees it."""
    return result(await decide(opened, "approval.show", action_id=action_id))


async def heard(opened: Plane, kind: str, action_id: str | None = None) -> Event:
    """The first event of a kind, waited for."""
    stream = f"action/{action_id}" if action_id else None
    async for item in opened.log.follow(EventQuery(types=(kind,), stream=stream)):
        if isinstance(item, Event) and item.type == kind:
            return item
    raise AssertionError("the log ended")


async def executed(opened: Plane, action_id: str) -> JsonObject:
    """The action, once it has been carried out."""
    async for item in opened.log.follow(EventQuery(types=("call.finished",))):
        if isinstance(item, Event) and item.payload.get("action_id") == action_id:
            return await shown(opened, action_id)
    raise AssertionError("the log ended")


async def soon(opened: Plane, action_id: str, status: str) -> JsonObject:
    """The action, once it has that status."""
    while (found := await shown(opened, action_id))["status"] != status:
        await asyncio.sleep(0.01)
    return found
