"""A plane with a scripted model on which jobs run."""

from collections.abc import AsyncIterator, Mapping
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
from codeplane.work.items.table import WorkTable
from codeplane.work.jobs.table import JobTable
from codeplane.work.threads.table import ThreadTable
from tests.harness import make_repo
from tests.kernel.plane import OWNER, FixtureOps, plane
from tests.trust.approvals.agent_calls import result
from tests.work.turns.scripted_model import ScriptedModel

# What agents hold by default, and the right to start work.
MAY_SPAWN = 'trust.agent_capabilities=["read_files", "write_files", "execute_tools", "streaming_tasks", "spawn_agents"]'
ENDED = ("JOB_COMPLETED", "JOB_FAILED", "JOB_CANCELLED")


@dataclass
class JobPlane:
    """A running plane, and what is asked of its jobs."""

    opened: Plane
    caller: Caller = OWNER

    async def ask(self, operation: str, /, **arguments: JsonValue) -> Outcome:
        """A call by the person."""
        return await self.opened.conveyor.call(operation, arguments, self.caller)

    async def create(self, goal: str, **arguments: JsonValue) -> JsonObject:
        """Queue a job with the tools of the fixture."""
        return result(await self.ask("job.create", **{"goal": goal, "toolset": "fixture", **arguments}))

    async def show(self, job_id: JsonValue) -> JsonObject:
        """The job as it is now."""
        return result(await self.ask("job.show", job_id=job_id))

    async def reached(self, job_id: JsonValue, *statuses: str) -> JsonObject:
        """The job once it is in one of the states."""
        job = await self.show(job_id)
        stream = f"thread/{job['thread_id']}"
        async for _ in self.opened.log.watch(streams={stream: 0}, heartbeat_sec=60):
            job = await self.show(job_id)
            if job["status"] in (statuses or ENDED):
                return job
            assert job["status"] not in ENDED, job
        raise AssertionError("the log ended")

    async def running(self, job: JsonObject) -> None:
        """Wait until a job has left the queue."""
        async for item in self.opened.log.watch(streams={f"thread/{job['thread_id']}": 0}, heartbeat_sec=60):
            if isinstance(item, Event) and item.type == "turn.started":
                return

    async def happened(self, job_id: JsonValue, *types: str) -> Event:
        """The event of one of the types in the job's own stream, once it is there."""
        async for item in self.opened.log.watch(streams={f"job/{job_id}": 0}, heartbeat_sec=60):
            if isinstance(item, Event) and item.type in types:
                return item
        raise AssertionError("the log ended")

    async def events(self, stream: str, *types: str) -> list[Event]:
        """The events of a stream."""
        await self.opened.log.flush()
        found = await self.opened.log.read(stream=stream, limit=10_000)
        assert [event.sequence for event in found] == [*range(1, len(found) + 1)]
        return [event for event in found if not types or event.type in types]

    async def statuses(self, job: JsonObject) -> list[str]:
        """The states that the job's thread shows, in their order."""
        shown = await self.events(f"thread/{job['thread_id']}", "job.status_changed")
        return [str(event.payload["status"]) for event in shown]

    async def is_rebuilt_equal(self) -> bool:
        """Whether the tables are the same when they are made again."""
        for table in (WorkTable(), ThreadTable(), JobTable()):
            if await self.opened.log.readers.run(lambda connection, table=table: differences(connection, table)):  # type: ignore[misc]  # called at once
                return False
        return True


@asynccontextmanager
async def job_plane(
    root: Path,
    model: ScriptedModel | None,
    *settings: str,
    ops: FixtureOps | None = None,
    clock: Clock | None = None,
    starts: bool = True,
) -> AsyncIterator[JobPlane]:
    """A plane whose engine runs, unless it `starts` not."""
    models = {"scripted": model} if model is not None else {}
    async with plane(root, *settings, operations=[ops or FixtureOps()], models=models, clock=clock) as opened:
        if starts:
            opened.work.start_engine(opened.conveyor)
        yield JobPlane(opened)


@asynccontextmanager
async def job_repository(
    folder: Path, files: Mapping[str, str], model: ScriptedModel, *settings: str
) -> AsyncIterator[tuple[JobPlane, Path, Path]]:
    """A plane on a repository whose jobs change files, with the checkout and the folder of the work trees."""
    repo, trees = make_repo(folder / "shop", files), folder / "trees"
    async with job_plane(repo, model, f"jobs.trees={trees}", *settings) as jobs:
        yield jobs, repo, trees


def folders_of(trees: Path) -> list[str]:
    """The folders that jobs have left below the folder of their work trees."""
    return sorted(path.name for path in trees.glob("*/*"))
