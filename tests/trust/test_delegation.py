"""Work acts for somebody: it may do what both may, only proposes what reaches out, and ends with whom it acts for."""

from dataclasses import replace
from pathlib import Path

import pytest

from codeplane._gen import events_pb2
from codeplane.kernel.actor import Actor, ActorKind, Caller, Origin
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.services.events import event_message
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, FixtureOps, events, plane
from tests.trust.approvals.agent_calls import action_of, decide, executed, refused, result, shown

pytestmark = requirement("WORK-01")

OWNER = Actor(kind=ActorKind.OWNER, actor_id="owner")
JOB = Actor(kind=ActorKind.JOB, actor_id="wrk_1")
ASSISTANT = Actor(kind=ActorKind.ASSISTANT, actor_id="helper")
ALLOWING = 'package codeplane.policy\n\nimport rego.v1\n\nallow contains "all is well" if input.risk != "READ"\n'
EDIT: JsonObject = {"edits": [{"path": "src/a.txt", "content": "a\n"}]}


def acting(actor: Actor, delegator: Actor | None) -> Caller:
    origin = Origin(work_id=actor.actor_id, thread_id="thr_1", step=1, on_behalf_of=delegator)
    return Caller(surface="work", actor=actor, origin=origin)


async def step(opened: Plane, caller: Caller, name: str, /, **arguments: JsonValue) -> Outcome:
    return await opened.conveyor.call(name, arguments, caller)


async def agent_with(opened: Plane, *capabilities: str, **bounds: JsonValue) -> Actor:
    """An agent with a token of its own that holds no more than this."""
    issued = result(await decide(opened, "agent.token", agent="narrow", capabilities=[*capabilities], **bounds))
    return Actor(kind=ActorKind.AGENT, actor_id=str(issued["agent_id"]))


@pytest.mark.parametrize("actor", [JOB, ASSISTANT])
async def test_who_acts_for_nobody_may_nothing(tmp_path: Path, actor: Actor) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        for caller in (acting(actor, None), Caller(surface="work", actor=actor)):
            assert refused(await step(opened, caller, "status")) == "CAPABILITY_DENIED"
            assert refused(await step(opened, caller, "fixture.write")) == "CAPABILITY_DENIED"
        assert (await step(opened, acting(actor, OWNER), "fixture.write")).error is None


@pytest.mark.parametrize("actor", [JOB, ASSISTANT])
async def test_it_may_only_what_both_may(tmp_path: Path, actor: Actor) -> None:
    async with plane(tmp_path, 'trust.agent_capabilities=["read_files", "write_files"]') as opened:
        reader = await agent_with(opened, "read_files")
        assert (await step(opened, acting(actor, reader), "status")).error is None
        assert refused(await step(opened, acting(actor, reader), "write_files", **EDIT)) == "CAPABILITY_DENIED"
        assert (await step(opened, acting(actor, OWNER), "write_files", **EDIT)).error is None
        # What agents do not hold by the settings, work does not get from the owner either.
        denied = await step(opened, acting(actor, OWNER), "test_run")
        assert refused(denied) == "CAPABILITY_DENIED"


async def test_the_delegators_paths_bound_it(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        writer = await agent_with(opened, "read_files", "write_files", allowed_paths=["docs/"])
        caller = acting(JOB, writer)
        assert refused(await step(opened, caller, "write_files", **EDIT)) == "PATH_DENIED"
        inside: JsonObject = {"edits": [{"path": "docs/a.txt", "content": "a\n"}]}
        assert (await step(opened, caller, "write_files", **inside)).error is None


async def test_the_delegators_mode_counts_where_it_is_stricter(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        careful = await agent_with(opened, "read_files", "write_files", approval_mode="always")
        assert refused(await step(opened, acting(JOB, careful), "write_files", **EDIT)) == "APPROVAL_PENDING"
        assert (await step(opened, acting(JOB, OWNER), "write_files", **EDIT)).error is None


async def test_it_ends_with_whom_it_acts_for(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        agent = await agent_with(opened, "read_files", "write_files")
        caller = acting(JOB, agent)
        assert (await step(opened, caller, "write_files", **EDIT)).error is None
        await decide(opened, "agent.revoke", agent=agent.actor_id)
        denied = await step(opened, caller, "write_files", **EDIT)
        assert refused(denied) == "CAPABILITY_DENIED"
        assert denied.error is not None and "no longer admitted" in denied.error.message


LIFTING = {
    "mode": (("trust.mode=automatic",), ""),
    "allow": (('trust.allow=["fixture.send"]',), ""),
    "rule": ((), ALLOWING),
}


@requirement("TRUST-01")
@pytest.mark.parametrize("lifting", LIFTING)
async def test_no_mode_list_or_rule_lets_a_job_reach_out(tmp_path: Path, lifting: str) -> None:
    settings, rules = LIFTING[lifting]
    if rules:
        (tmp_path / ".codeplane" / "policy").mkdir(parents=True)
        (tmp_path / ".codeplane" / "policy" / "own.rego").write_text(rules)
    ops = FixtureOps()
    async with plane(tmp_path, *settings, operations=[ops]) as opened:
        asked = await step(opened, acting(JOB, OWNER), "fixture.send", text="x")
        assert refused(asked) == "APPROVAL_PENDING" and ops.ran == []
        assert "only proposes what reaches other machines" in str((await shown(opened, action_of(asked)))["reasons"])
        # A turn that nobody sent, such as a heartbeat, is held like a job.
        attended = acting(ASSISTANT, OWNER)
        assert attended.origin is not None
        unattended = replace(attended, origin=replace(attended.origin, is_unattended=True))
        assert refused(await step(opened, unattended, "fixture.send", text="y")) == "APPROVAL_PENDING" and ops.ran == []
        # The twin: an assistant that acts for the same person is let through by it.
        assert (await step(opened, acting(ASSISTANT, OWNER), "fixture.send", text="x")).error is None
        explained = await decide(opened, "policy.explain", operation="fixture.send", actor="job")
        assert result(explained)["verdict"] == "ask"


@requirement("TRUST-01")
async def test_a_remembered_answer_does_not_count_for_a_job(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        for _ in range(2):
            ran = len(ops.ran)
            asked = await step(opened, acting(JOB, OWNER), "fixture.send", text="x")
            assert refused(asked) == "APPROVAL_PENDING" and len(ops.ran) == ran
            await decide(opened, "approval.approve", action_id=action_of(asked), trust=True)
            await executed(opened, action_of(asked))


async def test_the_origin_is_in_every_record_of_a_call_and_of_its_action(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        asked = await step(opened, acting(JOB, OWNER), "fixture.send", text="x")
        await decide(opened, "approval.approve", action_id=action_of(asked))
        await executed(opened, action_of(asked))
        found = await events(opened, "action.created", "action.approved", "action.executed", "call.started")
        named = [event for event in found if event.payload["operation"] == "fixture.send"]
        assert {event.type for event in named} == {
            "action.created",
            "action.approved",
            "action.executed",
            "call.started",
        }
        assert {(event.correlation.work_id, event.correlation.thread_id) for event in named} == {("wrk_1", "thr_1")}
        started = next(event for event in named if event.type == "call.started")
        assert started.payload["origin"] == acting(JOB, OWNER).origin.to_json()  # type: ignore[union-attr]  # set above
        await opened.log.flush()
        rows = await opened.log.select("SELECT count(*) FROM events WHERE work_id = 'wrk_1'")
        assert rows[0][0] == len(await opened.log.query(EventQuery(work_id="wrk_1", limit=100)))


async def test_a_surface_cannot_claim_an_origin(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        claiming = Caller(surface="mcp", client="agent", origin=Origin(on_behalf_of=OWNER))
        assert refused(await step(opened, claiming, "status")) == "INTERNAL"
        assert (await step(opened, replace(claiming, origin=None), "status")).error is None


@requirement("WORK-04")
async def test_what_was_decided_about_a_step_is_in_the_log(tmp_path: Path) -> None:
    async with plane(
        tmp_path, 'trust.agent_capabilities=["read_files", "write_files"]', operations=[FixtureOps()]
    ) as opened:
        await step(opened, acting(JOB, OWNER), "fixture.write")
        await step(opened, acting(JOB, OWNER), "fixture.send", text="x")
        await step(opened, acting(JOB, OWNER), "test_run")
        # Calls of others are recorded as calls, and as questions where they are asked about.
        await decide(opened, "fixture.write")
        decided = {
            event.payload["operation"]: (event.payload["decision"], event.payload["code"])
            for event in await events(opened, "policy.decided")
        }
        assert decided == {
            "fixture.write": ("ALLOW_INTERNAL", "allowed"),
            "fixture.send": ("REQUIRE_APPROVAL", "requires_approval"),
            "test.run": ("BLOCKED", "capability_denied"),
        }
        versions = {event.payload["policy_id"] for event in await events(opened, "policy.decided")}
        assert len(versions) == 2 and "" in versions


@requirement("WORK-04")
async def test_a_question_carries_the_rules_version_and_why_it_was_asked(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.conveyor.call("run_bash", {"command": "true", "justification": "to see it run"}, AGENT)
        (created,) = await events(opened, "action.created")
        (decided,) = await events(opened, "policy.decided")
        assert created.payload["justification"] == "to see it run"
        assert decided.payload["policy_id"] and decided.payload["code"] == "requires_approval"
        shown_as = event_message(events_pb2.Event, created.to_wire()).proposed_action_created
        assert shown_as.justification == "to see it run"
        message = event_message(events_pb2.Event, decided.to_wire()).policy_decision_made
        assert (message.policy_id, message.reason) == (decided.payload["policy_id"], "requires_approval")
