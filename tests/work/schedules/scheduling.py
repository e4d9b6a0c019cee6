"""A plane whose clock tests move, and the schedules on it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.projection import differences
from codeplane.wiring.app import Plane
from codeplane.work.schedules.table import ScheduleTable
from tests.kernel.plane import OWNER, FixtureOps, ManualClock, plane
from tests.trust.approvals.agent_calls import result
from tests.work.turns.scripted_model import ScriptedModel

START = datetime(2026, 3, 2, 8, 0, 0, tzinfo=UTC)
QUIET = ("embeddings.model=none", "index.watch=false")


@dataclass
class Scheduling:
    """Schedules of a running plane, whose scheduler ticks when the test says so."""

    opened: Plane
    clock: ManualClock
    caller: Caller = field(default=OWNER)

    async def ask(self, operation: str, /, **arguments: JsonValue) -> Outcome:
        """A call by the person."""
        return await self.opened.conveyor.call(operation, arguments, self.caller)

    async def create(self, spec: str = "0 9 * * *", kind: str = "cron", **arguments: JsonValue) -> str:
        """A new schedule; returns its id."""
        asked: JsonObject = {
            "name": "nightly",
            "goal": "look",
            "trigger_kind": kind,
            "trigger_spec": spec,
            **arguments,
        }
        created = await self.opened.conveyor.call("schedule.create", asked, self.caller)
        return str(result(created)["schedule_id"])

    async def show(self, schedule_id: str) -> JsonObject:
        """A schedule as a person sees it."""
        return result(await self.ask("schedule.show", schedule_id=schedule_id))

    async def history(self, schedule_id: str) -> list[JsonObject]:
        """Its wake-ups, oldest first."""
        listed = (await self.show(schedule_id))["history"]
        assert isinstance(listed, list)
        return [wakeup for wakeup in reversed(listed) if isinstance(wakeup, dict)]

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, and the scheduler look at the clock."""
        self.clock.advance(seconds)
        await self.tick()

    async def tick(self) -> None:
        """Let the scheduler look at the clock."""
        await self.opened.work.schedules.scheduler.tick()

    async def events(self, *types: str) -> list[Event]:
        """Events of the whole log."""
        await self.opened.log.flush()
        return await self.opened.log.query(EventQuery(types=types, limit=1000))

    async def finish(self, job_id: JsonValue) -> None:
        """End a job."""
        result(await self.ask("job.cancel", job_id=job_id))

    async def is_rebuilt_equal(self) -> bool:
        """Whether the tables are the same when they are made again."""
        return await self.opened.log.readers.run(lambda connection: differences(connection, ScheduleTable())) == []


@asynccontextmanager
async def scheduling(
    root: Path,
    *settings: str,
    model: ScriptedModel | None = None,
    at: datetime = START,
    clock: ManualClock | None = None,
    operations: Sequence[object] = (),
) -> AsyncIterator[Scheduling]:
    """A plane on a folder; with a model its engine runs."""
    clock = clock or ManualClock(int(at.timestamp()) * SECOND_NS)
    models = {"scripted": model} if model is not None else {}
    async with plane(
        root, *QUIET, *settings, operations=[FixtureOps(), *operations], models=models, clock=clock
    ) as opened:
        if model is not None:
            opened.work.start_engine(opened.conveyor)
        yield Scheduling(opened, clock)
