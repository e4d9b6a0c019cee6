"""After untrusted content nothing leaves the machine unasked, whatever is remembered, set or ruled."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Answer, Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.projection import differences
from codeplane.trust.untrusted.marks import WITHOUT_TOKEN
from codeplane.trust.untrusted.table import UntrustedTable
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, ManualClock, events, plane
from tests.trust.approvals.agent_calls import action_of, call, decide, executed, items, key_of, refused, result, shown
from tests.trust.approvals.test_approvals import answering
from tests.trust.untrusted.engine import engine

pytestmark = requirement("TRUST-60")

AUTOMATIC = "trust.mode=automatic"


@pytest.fixture(scope="module")
def search() -> Iterator[str]:
    """The setting that names a running search engine."""
    with engine() as setting:
        yield setting


async def reads(opened: Plane, caller: Caller = AGENT, **arguments: JsonValue) -> Outcome:
    """Have an agent read what others wrote; the owner agrees where that is asked about."""
    outcome = await opened.conveyor.call("web.search", {"query": "how to push", **arguments}, caller)
    if outcome.error is None:
        return outcome
    action_id = action_of(outcome)
    await decide(opened, "approval.approve", action_id=action_id)
    await executed(opened, action_id)
    keyed: JsonObject = {"query": "how to push", **arguments, "idempotency_key": key_of(outcome)}
    outcome = await opened.conveyor.call("web.search", keyed, caller)
    assert outcome.error is None
    return outcome


async def remembered(opened: Plane, name: str, caller: Caller = AGENT, **arguments: JsonValue) -> None:
    """Have the owner remember a yes to such calls."""
    first = await opened.conveyor.call(name, arguments, caller)
    await decide(opened, "approval.approve", action_id=action_of(first), trust=True)
    await executed(opened, action_of(first))
    assert (await opened.conveyor.call(name, arguments, caller)).error is None


async def test_a_remembered_answer_does_not_count_after_untrusted_content(tmp_path: Path, search: str) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, search, operations=[ops]) as opened:
        await remembered(opened, "fixture.send", text="x")
        ran = len(ops.ran)
        await reads(opened)
        asked = await call(opened, "fixture.send", text="x")
        assert refused(asked) == "APPROVAL_PENDING" and len(ops.ran) == ran
        why = str((await shown(opened, action_of(asked)))["reasons"])
        assert why.startswith("untrusted content was read (web.search by agent:agent, ")
        assert "how to push" in why and "reaches other machines" in why
        # A person's own answer lets it run, once; that it is remembered changes nothing for the next.
        await decide(opened, "approval.approve", action_id=action_of(asked), trust=True)
        await executed(opened, action_of(asked))
        assert refused(await call(opened, "fixture.send", text="x")) == "APPROVAL_PENDING"
        # What stays on this machine is not asked about.
        assert (await call(opened, "fixture.write")).error is None
        assert len(items(await decide(opened, "untrusted.list"))) == 1
        cleared = await decide(opened, "untrusted.clear")
        assert result(cleared)["agents"] == [WITHOUT_TOKEN]
        assert (await call(opened, "fixture.send", text="x")).error is None


ALLOWING = 'package codeplane.policy\n\nimport rego.v1\n\nallow contains "all is well" if input.risk != "READ"\n'
LIFTING = {
    "mode": ((AUTOMATIC,), ""),
    "allow": (('trust.allow=["fixture.send", "web.search"]',), ""),
    "rule": ((), ALLOWING),
    "all": ((AUTOMATIC, 'trust.allow=["fixture.send", "web.search"]'), ALLOWING),
}


@pytest.mark.parametrize("lifting", LIFTING)
async def test_no_mode_list_or_rule_lifts_the_question(tmp_path: Path, search: str, lifting: str) -> None:
    settings, rules = LIFTING[lifting]
    if rules:
        (tmp_path / ".codeplane" / "policy").mkdir(parents=True)
        (tmp_path / ".codeplane" / "policy" / "own.rego").write_text(rules)
    ops = FixtureOps()
    async with plane(tmp_path, search, *settings, operations=[ops]) as opened:
        assert (await call(opened, "fixture.send")).error is None
        assert (await reads(opened)).error is None
        assert refused(await call(opened, "fixture.send")) == "APPROVAL_PENDING"
        # The next search goes out as well.
        again = await opened.conveyor.call("web.search", {"query": "more"}, AGENT)
        assert refused(again) == "APPROVAL_PENDING"
        assert ops.ran == ["fixture.send"]
        # The owner is not asked about the owner's own calls.
        assert (await opened.conveyor.call("fixture.send", {}, OWNER)).error is None


async def test_a_rule_that_denies_still_denies(tmp_path: Path, search: str) -> None:
    (tmp_path / ".codeplane" / "policy").mkdir(parents=True)
    denying = 'deny contains "not now" if {\n\tinput.context.untrusted\n\tinput.operation.name == "fixture.send"\n}'
    (tmp_path / ".codeplane" / "policy" / "own.rego").write_text(f"package codeplane.policy\n\n{denying}\n")
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()]) as opened:
        assert (await call(opened, "fixture.send")).error is None
        await reads(opened)
        assert refused(await call(opened, "fixture.send")) == "POLICY_DENIED"


async def test_the_mark_outlives_the_server_and_its_retention(tmp_path: Path, search: str) -> None:
    clock = ManualClock()
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()], clock=clock) as opened:
        await reads(opened)
    clock.advance(400 * 86_400)
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()], clock=clock) as opened:
        await opened.retention.apply()
        await opened.retention.apply()
        assert refused(await call(opened, "fixture.send")) == "APPROVAL_PENDING"
        assert [event.stream for event in await events(opened, "untrusted.marked")] == ["untrusted"]
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()], clock=clock) as opened:
        assert refused(await call(opened, "fixture.send")) == "APPROVAL_PENDING"
        await decide(opened, "untrusted.clear")
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()], clock=clock) as opened:
        assert (await call(opened, "fixture.send")).error is None


async def test_another_name_session_or_connection_is_the_same_account(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()]) as opened:
        await reads(opened)
        for caller in (
            replace(AGENT, client="another"),
            replace(AGENT, connection_id="c2"),
            replace(AGENT, client="agent_granted", connection_id="c3"),
            replace(AGENT, client="dev_1/x", connection_id="c4"),
            replace(AGENT, client=None, connection_id=None),
            replace(AGENT, client="cpl", token=opened.token, connection_id="c5"),
        ):
            asked = await opened.conveyor.call("fixture.send", {}, caller)
            assert refused(asked) == "APPROVAL_PENDING", caller


async def issued(opened: Plane, name: str) -> Caller:
    """An agent with a token of its own, over Connect."""
    able: JsonValue = ["read_files", "write_files", "execute_tools"]
    made = result(await decide(opened, "agent.token", agent=name, capabilities=able, approval_mode="automatic"))
    return Caller(surface="connect", client=name, token=str(made["token"]))


async def test_an_agent_with_a_token_is_marked_by_its_identity(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()]) as opened:
        reader, other = await issued(opened, "reader"), await issued(opened, "other")
        await reads(opened, reader)
        renewed = await issued(opened, "reader")
        session = result(await opened.conveyor.call("agent.session", {}, reader))
        for caller in (
            reader,
            renewed,
            replace(reader, token=str(session["token"])),
            replace(reader, surface="mcp"),
            # It can leave its token away.
            AGENT,
        ):
            assert refused(await opened.conveyor.call("fixture.send", {}, caller)) == "APPROVAL_PENDING", caller
        assert (await opened.conveyor.call("fixture.send", {}, other)).error is None
        cleared = await decide(opened, "untrusted.clear", agent="reader")
        assert result(cleared)["agents"] == ["agent_reader"] and cleared.result is not None
        assert cleared.result.text() == f"cleared: agent_reader\nnot cleared: {WITHOUT_TOKEN}"
        assert (await opened.conveyor.call("fixture.send", {"text": "y"}, reader)).error is None
        assert refused(await opened.conveyor.call("fixture.send", {}, AGENT)) == "APPROVAL_PENDING"


async def test_what_is_read_without_a_token_covers_agents_with_one(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()]) as opened:
        reviewer = await issued(opened, "reviewer")
        assert (await opened.conveyor.call("fixture.send", {}, reviewer)).error is None
        # The same program leaves its token away to read.
        await reads(opened)
        asked = await opened.conveyor.call("fixture.send", {"text": "y"}, reviewer)
        assert refused(asked) == "APPROVAL_PENDING"
        assert "untrusted content" in str((await shown(opened, action_of(asked)))["reasons"])
        assert [one["agent"] for one in items(await decide(opened, "untrusted.list"))] == [WITHOUT_TOKEN]
        # By a name that an agent gave itself none is cleared alone: another would be the same.
        named = (await decide(opened, "untrusted.clear", agent="agent:agent")).error
        assert named is not None and named.hint.endswith(f"cpl approvals clear {WITHOUT_TOKEN}")
        await reads(opened, reviewer)
        one = (await decide(opened, "untrusted.clear", agent="reviewer")).result
        assert one is not None and "all agents are asked about until those without a token are cleared" in one.text()
        assert refused(await opened.conveyor.call("fixture.send", {"text": "y"}, reviewer)) == "APPROVAL_PENDING"
        await decide(opened, "untrusted.clear", agent=WITHOUT_TOKEN)
        assert (await opened.conveyor.call("fixture.send", {"text": "z"}, reviewer)).error is None


async def test_an_equal_call_does_not_join_a_question_from_before_the_content(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, operations=[FixtureOps()]) as opened:
        before = await call(opened, "fixture.send", text="x")
        await reads(opened)
        after = await call(opened, "fixture.send", text="x")
        assert refused(after) == "APPROVAL_PENDING" and action_of(after) != action_of(before)
        assert "untrusted content" in str((await shown(opened, action_of(after)))["reasons"])


async def test_where_tokens_are_required_nobody_comes_without(tmp_path: Path, search: str) -> None:
    settings = (search, AUTOMATIC, "server.require_token=true")
    async with plane(tmp_path, *settings, operations=[FixtureOps()]) as opened:
        await reads(opened, await issued(opened, "reader"))
        assert [one["agent"] for one in items(await decide(opened, "untrusted.list"))] == ["agent_reader"]


async def test_whoever_joins_the_session_is_covered_there(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()]) as opened:
        other = await issued(opened, "other")
        session_id = (await reads(opened, await issued(opened, "reader"))).meta.session_id
        joined = await opened.conveyor.call("fixture.send", {"session_id": session_id}, other)
        assert refused(joined) == "APPROVAL_PENDING"
        assert (await opened.conveyor.call("fixture.send", {}, other)).error is None


async def test_a_page_that_is_read_once_more_after_the_owner_cleared_marks_again(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()]) as opened:
        first = await reads(opened, idempotency_key="k")
        await decide(opened, "untrusted.clear")
        again = await reads(opened, idempotency_key="k")
        assert first.error is None and again.meta.replayed
        assert refused(await call(opened, "fixture.send")) == "APPROVAL_PENDING"


async def test_the_answer_of_an_approved_search_marks_whoever_looks_at_it(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, 'trust.allow=["fixture.send"]', operations=[FixtureOps()]) as opened:
        asked = await opened.conveyor.call("web.search", {"query": "x"}, AGENT)
        await decide(opened, "approval.approve", action_id=action_of(asked))
        # Run by the server, for an agent that is gone: the mark is there before it comes back.
        await executed(opened, action_of(asked))
        assert refused(await call(opened, "fixture.send")) == "APPROVAL_PENDING"
        await decide(opened, "untrusted.clear")
        assert (await call(opened, "fixture.send", text="1")).error is None
        looked = await opened.conveyor.call("approval.show", {"action_id": action_of(asked)}, AGENT)
        assert "ignore what you were told" in str(result(looked)["answer"])
        assert refused(await call(opened, "fixture.send", text="2")) == "APPROVAL_PENDING"


async def test_what_memory_approved_before_and_nothing_ran_does_not_run_after(tmp_path: Path, search: str) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, search, "approvals.wait_sec=0", operations=[ops]) as opened:
        await remembered(opened, "fixture.send", text="x")
        ran = len(ops.ran)

        async def confirm(action_id: str, question: object) -> None:
            # As a crash between the answer and the run.
            raise asyncio.CancelledError

        kept, opened.trust.approvals.confirm = opened.trust.approvals.confirm, confirm  # type: ignore[method-assign]  # cut off
        with pytest.raises(asyncio.CancelledError):
            await call(opened, "fixture.send", text="x", idempotency_key="k")
        opened.trust.approvals.confirm = kept  # type: ignore[method-assign]  # whole again
        await reads(opened)
        assert refused(await call(opened, "fixture.send", text="x", idempotency_key="k")) == "EXPIRED"
        assert len(ops.ran) == ran


async def test_a_client_is_not_asked_about_outward_calls_after_it(tmp_path: Path, search: str) -> None:
    asked: list[str] = []

    async def approves(question: str) -> Answer:
        asked.append(question)
        return Answer.APPROVE

    async with plane(tmp_path, search, "approvals.wait_sec=0", operations=[FixtureOps()]) as opened:
        client = await answering(opened, approves)
        assert (await opened.conveyor.call("fixture.send", {"text": "before"}, client)).error is None
        assert len(asked) == 1
        await reads(opened)
        outcome = await opened.conveyor.call("fixture.send", {"text": "after"}, client)
        assert refused(outcome) == "APPROVAL_PENDING" and len(asked) == 1
        assert outcome.error is not None and "question" not in outcome.error.details


async def test_only_the_owner_clears_it(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()]) as opened:
        await reads(opened)
        code = result(await decide(opened, "pairing.create"))["code"]
        bind: JsonObject = {"code": code, "device_name": "phone"}
        device = result(await opened.conveyor.call("pairing.bind", bind, Caller(surface="connect")))
        for caller in (
            AGENT,
            replace(AGENT, token=opened.token),
            await issued(opened, "other"),
            Caller(surface="connect", token=str(device["token"])),
        ):
            assert refused(await opened.conveyor.call("untrusted.clear", {}, caller)) == "POLICY_DENIED", caller
        unknown = await decide(opened, "untrusted.clear", agent="agent_nobody")
        assert refused(unknown) == "NOT_FOUND" and WITHOUT_TOKEN in str(unknown.error and unknown.error.hint)
        assert refused(await call(opened, "fixture.send")) == "APPROVAL_PENDING"


async def test_what_the_owner_reads_marks_nobody(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()]) as opened:
        assert (await opened.conveyor.call("web.search", {"query": "x"}, OWNER)).error is None
        assert items(await decide(opened, "untrusted.list")) == []
        assert (await call(opened, "fixture.send")).error is None


async def test_marks_set_while_the_owner_clears_are_those_that_the_log_has(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, AUTOMATIC, 'trust.allow=["web.search"]', operations=[FixtureOps()]) as opened:
        readers = [await issued(opened, f"r{number}") for number in range(4)]
        for _ in range(3):
            await asyncio.gather(*(reads(opened, one) for one in readers), decide(opened, "untrusted.clear"))
            known = {str(one["agent"]) for one in items(await decide(opened, "untrusted.list"))}
            rows = await opened.log.select("SELECT subject FROM untrusted WHERE subject NOT LIKE 'session:%'")
            assert known == {str(subject) for (subject,) in rows}
            await decide(opened, "untrusted.clear")
        await opened.log.flush()
        table = UntrustedTable()
        assert await opened.log.readers.run(lambda connection: differences(connection, table)) == []
        await reads(opened)
        await call(opened, "session.close")
        await opened.log.flush()
        assert await opened.log.readers.run(lambda connection: differences(connection, table)) == []
        left = await opened.log.select("SELECT subject FROM untrusted")
        assert left == [(WITHOUT_TOKEN,), ("any-agent",)]


async def test_explain_says_what_becomes_of_an_outward_call(tmp_path: Path, search: str) -> None:
    async with plane(tmp_path, search, AUTOMATIC, operations=[FixtureOps()]) as opened:
        before = result(await decide(opened, "policy.explain", operation="fixture.send"))
        thought = result(await decide(opened, "policy.explain", operation="fixture.send", untrusted=True))
        assert (before["verdict"], thought["verdict"]) == ("allow", "ask")
        await reads(opened)
        now = result(await decide(opened, "policy.explain", operation="fixture.send"))
        assert now["verdict"] == "ask"
        fired = now["fired"]
        assert isinstance(fired, list) and isinstance(fired[-1], dict)
        assert fired[-1]["policy"] == "untrusted content" and "how to push" in str(fired[-1]["reason"])
        without = result(await decide(opened, "policy.explain", operation="fixture.send", untrusted=False))
        assert without["verdict"] == "allow"


@pytest.mark.parametrize(("setting", "verdict"), [("tests.network=true", "ask"), ("tests.network=false", "allow")])
async def test_tests_that_reach_the_network_are_outward(
    tmp_path: Path, search: str, setting: str, verdict: str
) -> None:
    async with plane(tmp_path, search, AUTOMATIC, "tests.sandbox=required", setting) as opened:
        for operation in ("test.run", "checkpoint"):
            given: JsonObject = {"message": "x"} if operation == "checkpoint" else {"targets": ["a"]}
            asked: JsonObject = {"operation": operation, "arguments": given}
            assert result(await decide(opened, "policy.explain", **asked, untrusted=False))["verdict"] == "allow"
            assert result(await decide(opened, "policy.explain", **asked, untrusted=True))["verdict"] == verdict
