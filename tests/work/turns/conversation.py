"""A plane with a scripted model, and a thread to talk in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.clock import Clock
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.projection import differences
from codeplane.wiring.app import Plane
from codeplane.work.threads.table import ThreadTable
from tests.kernel.plane import OWNER, FixtureOps, plane
from tests.trust.approvals.agent_calls import result
from tests.work.turns.scripted_model import ScriptedModel


@dataclass
class Conversation:
    """A thread of a running plane."""

    opened: Plane
    thread_id: str
    caller: Caller = OWNER

    async def ask(self, operation: str, /, **arguments: JsonValue) -> Outcome:
        """A call by the person."""
        return await self.opened.conveyor.call(operation, arguments, self.caller)

    async def send(self, text: str, **arguments: JsonValue) -> JsonObject:
        """Send a message and wait for the end of its turn, or its pause."""
        wanted: JsonObject = {"thread_id": self.thread_id, "user_text": text, "wait_sec": 20, **arguments}
        return result(await self.opened.conveyor.call("turn.send", wanted, self.caller))

    async def events(self, *types: str) -> list[Event]:
        """The events of the thread."""
        await self.opened.log.flush()
        found = await self.opened.log.read(stream=f"thread/{self.thread_id}", limit=10_000)
        assert [event.sequence for event in found] == [*range(1, len(found) + 1)]
        return [event for event in found if not types or event.type in types]

    async def reached(self, turn_id: str, *states: str) -> JsonObject:
        """The turn once it is in one of the states."""
        async for _ in self.opened.log.watch(streams={f"thread/{self.thread_id}": 0}, heartbeat_sec=60):
            turn = result(await self.ask("turn.show", turn_id=turn_id))
            if turn["status"] in states:
                return turn
        raise AssertionError("the log ended")

    async def is_rebuilt_equal(self) -> bool:
        """Whether the tables are the same when they are made again."""
        return await self.opened.log.readers.run(lambda connection: differences(connection, ThreadTable())) == []


@asynccontextmanager
async def conversing(
    root: Path,
    model: ScriptedModel | None,
    *settings: str,
    ops: FixtureOps | None = None,
    toolset: str = "fixture",
    clock: Clock | None = None,
) -> AsyncIterator[Conversation]:
    """A plane whose engine runs, with a thread."""
    models = {"scripted": model} if model is not None else {}
    async with plane(root, *settings, operations=[ops or FixtureOps()], models=models, clock=clock) as opened:
        opened.work.start_engine(opened.conveyor)
        created = await opened.conveyor.call("thread.create", {"toolset": toolset}, OWNER)
        yield Conversation(opened, str(result(created)["thread_id"]))
