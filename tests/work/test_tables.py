"""The tables that people see equal a rebuild from the log, whatever happened."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.actor import Caller
from codeplane.kernel.call_record import CALL_STARTED
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.ledger.models import VerifyResult
from codeplane.ledger.projection import rebuild
from codeplane.ledger.rows import Cell
from codeplane.ledger.transaction import WriteTransaction
from codeplane.wiring.app import Plane, tables
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, ManualClock, events, plane, run

TABLES = tuple(name for projection in tables() for name in projection.tables)
OTHER = Caller(surface="mcp", client="other", connection_id="c2")
SMALL = (
    "limits.max_mutations=3",
    "limits.max_test_runs=2",
    "retention.tasks_max=2",
    "retention.tasks_days=1",
    "retention.idempotency_days=2",
    "retention.audit_days=3",
    "sessions.max_open=2",
)
Act = Callable[[Plane, ManualClock], Awaitable[None]]


@pytest.fixture(scope="module", autouse=True)
def own_housekeeping() -> Iterator[None]:
    """Sweeps are acts here: one between two others, as soon as a test takes a second, would make another history."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("codeplane.wiring.app._TURN_SEC", 3600.0)
        yield


def call(name: str, caller: Caller = AGENT, **arguments: object) -> Act:
    async def act(opened: Plane, clock: ManualClock) -> None:
        given: JsonObject = dict(arguments)  # type: ignore[arg-type]  # plain JSON
        await opened.conveyor.call(name, given, caller)

    return act


def later(seconds: float) -> Act:
    async def act(opened: Plane, clock: ManualClock) -> None:
        clock.advance(seconds)

    return act


def jump(seconds: float) -> Act:
    async def act(opened: Plane, clock: ManualClock) -> None:
        clock.jump(seconds)

    return act


async def retain(opened: Plane, clock: ManualClock) -> None:
    await opened.retention.apply()


async def snapshot(opened: Plane, clock: ManualClock) -> None:
    await opened.retention.snapshot()


async def sweep(opened: Plane, clock: ManualClock) -> None:
    opened.sessions.sweep()


async def disconnect(opened: Plane, clock: ManualClock) -> None:
    opened.sessions.disconnect("c1")


async def crash_in_a_call(opened: Plane, clock: ManualClock) -> None:
    """An intent without an outcome, as a kill leaves it; the next start finds it."""
    outcome = await opened.conveyor.call("fixture.read", {}, AGENT)
    payload: JsonObject = {
        "operation": "fixture.write",
        "mutates": True,
        "budget": "mutation",
        "arguments_hash": "h",
        "idempotency_key": new_id("k"),
        "owner_id": "owner",
    }
    meta = outcome.meta
    ids = Correlation(call_id=new_id("call"), task_id=meta.task_id, session_id=meta.session_id)
    await opened.log.append([Draft(stream=f"task/{meta.task_id}", type=CALL_STARTED, payload=payload, correlation=ids)])


ACTS: dict[str, Act] = {
    "read": call("fixture.read", text="x"),
    "write": call("fixture.write", text="x", paths=["a"]),
    "write as the owner": call("fixture.write", OWNER, text="y"),
    "write in another session": call("fixture.write", OTHER, text="z"),
    "keyed write": call("fixture.write", text="k", idempotency_key="k1"),
    "conflicting write": call("fixture.write", text="other", idempotency_key="k1"),
    "keyed failure": call("fixture.fail", text="NOT_FOUND", idempotency_key="k2"),
    "keyed failure worth retrying": call("fixture.fail", text="OVERLOADED", idempotency_key="k3"),
    "keyed deadline": call("fixture.short", idempotency_key="k4"),
    "crash": call("fixture.crash"),
    "test that fails": call("fixture.test", text="boom", paths=["t"]),
    "test": call("fixture.test"),
    "refusal": call("fixture.destroy"),
    "invalid": call("fixture.read", nonsense=1),
    "create": call("session.create", description="d", limits={"max_mutations": 1}),
    "close": call("session.close", reason="success"),
    "close as failed": call("session.close", reason="failed"),
    "configure": call("session.configure", limits_delta={"add_mutations": 2, "add_test_runs": 1}),
    "less budget": call("session.configure", limits_delta={"add_mutations": -2, "add_test_runs": -1}),
    "disconnect": disconnect,
    "an hour": later(3700),
    "two days": later(2 * 86_400),
    "the clock goes back": jump(-86_400),
    "the clock goes forward": jump(86_400),
    "sweep": sweep,
    "snapshot": snapshot,
    "retain": retain,
    "rebuild": call("ledger.rebuild"),
    "cut off": crash_in_a_call,
}
EVERYTHING = [
    *(name for name in ACTS if name != "retain"),
    "restart", "write", "keyed write", "two days", "retain", "write", "an hour", "snapshot", "retain", "restart",
]  # fmt: skip


def rows(writing: WriteTransaction) -> dict[str, list[tuple[Cell, ...]]]:
    select = writing.connection.execute
    return {table: sorted(select(f"SELECT * FROM {table}").fetchall(), key=repr) for table in TABLES}


async def content(opened: Plane) -> dict[str, list[tuple[Cell, ...]]]:
    await opened.log.flush()
    return {table: sorted(await opened.log.select(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


async def check(opened: Plane) -> None:
    """What is live, what the verification finds, and what a rebuild makes are the same."""
    verified = (await opened.conveyor.call("ledger.verify", {}, OWNER)).result
    assert isinstance(verified, VerifyResult)
    assert verified.ok, verified
    projections = opened.log.projector.projections
    assert {table for projection in projections for table in projection.tables} == set(TABLES)
    seen: list[dict[str, list[tuple[Cell, ...]]]] = []

    def remake(writing: WriteTransaction) -> None:
        # In one transaction, with nothing between.
        seen.append(rows(writing))
        for projection in projections:
            rebuild(writing.connection, projection)
        seen.append(rows(writing))

    await opened.log.flush()
    await opened.log.command(remake)
    live, rebuilt = seen
    assert rebuilt == live


async def history(root: Path, acts: list[str]) -> set[str]:
    """Let it happen, check at the end of each run, and say which kinds of events there were."""
    clock, left, seen = ManualClock(), list(acts), set[str]()
    while True:
        async with plane(root, *SMALL, operations=[FixtureOps()], clock=clock) as opened:
            while left and left[0] != "restart":
                await ACTS[left.pop(0)](opened, clock)
            await check(opened)
            seen.update(event.type for event in await events(opened))
            if not left:
                return seen
            left.pop(0)


@requirement("LOG-04")
@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(sorted([*ACTS, "restart"])), min_size=5, max_size=50))
def test_live_tables_equal_rebuilt_ones(acts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        run(history(Path(folder), acts))


def test_all_kinds_of_events_make_the_same_tables_twice(tmp_path: Path) -> None:
    assert run(history(tmp_path, EVERYTHING)) >= {
        "session.opened", "session.closed", "task.opened", "task.closed", "task.configured", "call.started",
        "call.finished", "call.replayed", "call.refused", "idempotency.conflict", "retention.applied",
    }  # fmt: skip


@requirement("LOG-04")
async def test_retention_really_drops_and_the_tables_follow(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, *SMALL, operations=[FixtureOps()], clock=clock) as opened:
        for number in range(5):
            await opened.conveyor.call("session.create", {}, AGENT)
            await opened.conveyor.call("fixture.write", {"idempotency_key": f"k{number}"}, AGENT)
        assert len((await content(opened))["tasks"]) == 6
        clock.advance(3 * 3600)
        opened.sessions.sweep()
        clock.advance(3 * 3600)
        outcome = await opened.retention.apply()
        assert outcome["streams"] == 4
        tables = await content(opened)
        # Of the tasks two are left; the keys live longer than the tasks they were used in.
        assert (len(tasks := tables["tasks"]), len(tables["idempotency"])) == (2, 5)
        assert {row[2] for row in tables["operations"]} <= {row[0] for row in tasks}
        await check(opened)
        clock.advance(3 * 86_400)
        await opened.retention.apply()
        tables = await content(opened)
        assert tables["idempotency"] == []
        await check(opened)
