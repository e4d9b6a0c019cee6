"""Two planes of one machine on one shared log: neither ends the other's work, and what one decides holds for both."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call
from codeplane.kernel.errors import (
    ApprovalPending,
    ApprovalRejected,
    CapabilityDenied,
    ConfigInvalid,
    SharedLogMismatch,
    Unauthorized,
)
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.operation import Budget, Risk, operation
from codeplane.ledger.projection import differences
from codeplane.trust.capabilities.models import GrantView
from codeplane.trust.identity.agent_operations import AgentToken
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.wiring.app import Plane, tables
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, Answered, FixtureOps, Said, plane
from tests.shared_planes import AGENT, QUICK, level, sharing
from tests.shared_siege import rows_of
from tests.work.items.test_work import WRITE, reached, shown, started


async def states(opened: Plane) -> dict[str, str]:
    """The states of tasks, by task."""
    return {str(task): str(state) for task, state in await opened.log.select("SELECT task_id, state FROM tasks")}


@requirement("SHR-05")
async def test_a_start_ends_nothing_of_another_plane(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with sharing(tmp_path, "a", ops=ops) as a:
        running = asyncio.ensure_future(a.conveyor.call("fixture.slow", {}, AGENT))
        await ops.started.wait()
        await a.log.flush()
        before = await states(a)
        assert set(before.values()) == {"OPEN"}
        async with sharing(tmp_path, "b") as b:
            await level(a, b)
            assert await states(b) == await states(a) == before
            ((status,),) = await b.log.select("SELECT status FROM operations WHERE op_type = 'fixture.slow'")
            assert status == "running"
            ops.release.set()
            assert (await running).error is None
            await level(a, b)
            ((status,),) = await b.log.select("SELECT status FROM operations WHERE op_type = 'fixture.slow'")
            assert status == "ok"
            for opened in (a, b):
                assert (
                    await opened.log.readers.run(
                        lambda connection: [name for table in tables() for name in differences(connection, table)]
                    )
                    == []
                )
            await level(a, b)
    ledgers = [tmp_path / name / ".codeplane" / "ledger.db" for name in ("a", "b")]
    # A was the last to leave, and B applies that when it starts again.
    async with sharing(tmp_path, "b") as b:
        await b.log.catch_up()
        async with sharing(tmp_path, "a") as a:
            await level(a, b)
            assert rows_of(ledgers[0]) == rows_of(ledgers[1])


@requirement("SHR-05")
async def test_what_a_plane_itself_left_is_ended_by_its_next_start_alone(tmp_path: Path) -> None:
    async with sharing(tmp_path, "a") as a:
        await a.conveyor.call("fixture.read", {}, AGENT)
        await a.log.flush()
        ((task, session),) = await a.log.select("SELECT task_id, session_id FROM tasks")
        # As after kill -9: neither its task nor its session is closed.
        a.sessions._by_id.clear()
    async with sharing(tmp_path, "b") as b:
        assert await states(b) == {str(task): "OPEN"}
        async with sharing(tmp_path, "a") as a:
            assert await states(a) == {str(task): "CLOSED_INTERRUPTED"}
            await b.log.catch_up()
            assert await states(b) == {str(task): "CLOSED_INTERRUPTED"}
            closed = await b.log.select("SELECT reason FROM sessions WHERE session_id = ?", (session,))
            assert closed == [("crash-recover",)]


@requirement("SHR-04")
async def test_settings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="not an absolute path"):
        async with plane(tmp_path / "a", "ledger.shared=here"):
            pass
    async with sharing(tmp_path, "a") as a:
        assert (await a.conveyor.call("status", {}, OWNER)).error is None
    with pytest.raises(SharedLogMismatch):
        async with plane(tmp_path / "a"):
            pass
    async with sharing(tmp_path, "a"):
        pass


class Saves:
    """An operation that needs more than reading."""

    @operation("fixture.save", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files")
    async def save(self, call: Call, request: Said) -> Answered:
        """Save something."""
        return Answered(answer="saved")


async def granted(opened: Plane) -> str:
    """Let the agent write, and return the grant's id."""
    outcome = await opened.conveyor.call(
        "capability.grant", {"agent": "helper", "without_token": True, "capabilities": ["write_files"]}, OWNER
    )
    assert isinstance(outcome.result, GrantView), outcome.error
    return outcome.result.grant_id


@requirement("SHR-06", "LOG-18")
async def test_a_grant_that_is_revoked_in_one_plane_is_refused_in_the_other(tmp_path: Path) -> None:
    settings = 'trust.agent_capabilities=["read_files"]'
    async with sharing(tmp_path, "a", settings, ops=Saves()) as a, sharing(tmp_path, "b", settings, ops=Saves()) as b:
        refused = await b.conveyor.call("fixture.save", {}, AGENT)
        assert isinstance(refused.error, CapabilityDenied)
        grant_id = await granted(a)
        await b.log.catch_up()
        assert (await b.conveyor.call("fixture.save", {}, AGENT)).error is None
        assert (await a.conveyor.call("capability.revoke", {"grant_id": grant_id}, OWNER)).error is None
        await b.log.catch_up()
        refused = await b.conveyor.call("fixture.save", {}, AGENT)
        assert isinstance(refused.error, CapabilityDenied)
        # One that expires is ended once, though both planes see it expire.
        await granted(b)
        await level(a, b)
        for opened in (a, b):
            for live in opened.trust.grants._live.values():
                object.__setattr__(live, "until_ns", 0)
        await asyncio.gather(a.trust.grants.sweep(), b.trust.grants.sweep())
        await level(a, b)
        assert len(await a.log.query(EventQuery(types=("capability.expired",)))) == 1


@requirement("SHR-06", "LOG-18")
async def test_a_token_that_is_revoked_in_one_plane_is_refused_in_the_other(tmp_path: Path) -> None:
    async with sharing(tmp_path, "a") as a:
        issued = (await a.conveyor.call("agent.token", {"agent": "x"}, OWNER)).result
        assert isinstance(issued, AgentToken)
        (tmp_path / "b" / ".codeplane").mkdir(parents=True)
        keys = tmp_path / "b" / ".codeplane" / "agent.keys"
        keys.write_bytes(a.workspace.agent_keys.read_bytes())
        keys.chmod(0o600)
        async with sharing(tmp_path, "b") as b:
            holder = Caller(surface="mcp", client="x", token=issued.token)
            assert (await b.conveyor.call("fixture.read", {}, holder)).error is None
            ended = asyncio.ensure_future(b.conveyor.ports.identity.wait_for_end(holder))
            assert (await a.conveyor.call("agent.revoke", {"agent": "agent_x"}, OWNER)).error is None
            await b.log.catch_up()
            refused = await b.conveyor.call("fixture.read", {}, holder)
            assert isinstance(refused.error, Unauthorized)
            assert isinstance(await ended, Unauthorized)
            # One that is issued in B is known to A.
            other = (await b.conveyor.call("agent.token", {"agent": "y"}, OWNER)).result
            assert isinstance(other, AgentToken)
            await a.log.catch_up()
            assert (
                await a.conveyor.call("fixture.read", {}, Caller(surface="mcp", client="y", token=other.token))
            ).error is None


@requirement("SHR-06", "LOG-18")
async def test_an_answer_in_one_plane_lets_the_caller_in_the_other_go_on(tmp_path: Path) -> None:
    first, second = FixtureOps(), FixtureOps()
    patient = "approvals.wait_sec=60"
    async with sharing(tmp_path, "a", patient, ops=first) as a, sharing(tmp_path, "b", patient, ops=second) as b:
        for answer, error in (("approval.approve", None), ("approval.reject", ApprovalRejected)):
            waiting = asyncio.ensure_future(a.conveyor.call("fixture.destroy", {"text": answer}, AGENT))
            action_id = await proposed(a)
            await b.log.catch_up()
            arguments = {"action_id": action_id}
            assert (await b.conveyor.call(answer, arguments, OWNER)).error is None
            outcome = await waiting
            assert outcome.error is None if error is None else isinstance(outcome.error, error)
        assert (first.ran, second.ran) == (["fixture.destroy"], [])
        # Without a caller that waits, it runs where it was proposed.
        impatient = replace(AGENT, wait_sec=0.0)
        outcome = await a.conveyor.call("fixture.destroy", {"text": "later"}, impatient)
        assert isinstance(outcome.error, ApprovalPending)
        action_id = await proposed(a)
        await b.log.catch_up()
        assert (await b.conveyor.call("approval.approve", {"action_id": action_id}, OWNER)).error is None
        async for event in a.log.watch(streams={f"action/{action_id}": 0}):
            if isinstance(event, Event) and event.type == "action.executed":
                break
        await asyncio.gather(a.trust.approvals.sweep(), b.trust.approvals.sweep())
        assert (first.ran, second.ran) == (["fixture.destroy"] * 2, [])


async def proposed(opened: Plane) -> str:
    """The action that waits for an answer, once there is one."""
    async for event in opened.log.follow(EventQuery(types=("action.created",))):
        rows = await opened.log.select("SELECT action_id FROM actions WHERE status = 'PENDING'")
        if isinstance(event, Event) and rows:
            return str(rows[0][0])
    raise AssertionError("the log ended")


class Reads:
    """An operation that brings untrusted content in."""

    def __init__(self) -> None:
        self.marks: UntrustedMarks | None = None

    @operation("fixture.ingest", risk=Risk.READ)
    async def ingest(self, call: Call, request: Said) -> Answered:
        """Read a page."""
        assert self.marks is not None
        await self.marks.mark(call, "web", "a page")
        return Answered(answer="read")


@requirement("SHR-06", "LOG-18")
async def test_untrusted_content_that_was_read_in_one_plane_counts_in_the_other(tmp_path: Path) -> None:
    readers = {name: Reads() for name in ("a", "b")}
    shared = f"ledger.shared={tmp_path / 'shared'}"
    async with (
        plane(tmp_path / "a", shared, *QUICK, operations=[readers["a"]]) as a,
        plane(tmp_path / "b", shared, *QUICK, operations=[readers["b"]]) as b,
    ):
        for name, opened in (("a", a), ("b", b)):
            readers[name].marks = opened.trust.untrusted
        assert not b.trust.untrusted.has_marks
        assert (await a.conveyor.call("fixture.ingest", {}, AGENT)).error is None
        await b.log.catch_up()
        assert b.trust.untrusted.identities() == a.trust.untrusted.identities() != {}
        assert (await b.conveyor.call("untrusted.clear", {}, OWNER)).error is None
        # A has not applied that yet, or just has: what is read now is marked again either way.
        assert (await a.conveyor.call("fixture.ingest", {}, AGENT)).error is None
        await level(a, b)
        assert b.trust.untrusted.identities() == a.trust.untrusted.identities() != {}
        assert (await b.conveyor.call("untrusted.clear", {}, OWNER)).error is None
        await level(a, b)
        assert not a.trust.untrusted.has_marks


@requirement("SHR-05")
async def test_work_runs_on_the_plane_it_was_created_on(tmp_path: Path) -> None:
    first, second = FixtureOps(), FixtureOps()
    async with sharing(tmp_path, "a", ops=first) as a, sharing(tmp_path, "b", ops=second) as b:
        b.work.start_engine(b.conveyor)
        work_id = await started(a, WRITE)
        await b.log.catch_up()
        await b.work.engine.sweep()
        others = await started(b, WRITE)
        await reached(b, others, "COMPLETED")
        # B ran its own, and left the other item alone, whose payloads and repository it does not have.
        assert (await shown(b, work_id))["state"] == "QUEUED"
        a.work.start_engine(a.conveyor)
        await reached(a, work_id, "COMPLETED")
        assert (len(first.ran), len(second.ran)) == (1, 1)
