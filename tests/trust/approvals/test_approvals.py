"""What a person decides: asked once, settled once, run once."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from codeplane.kernel.actor import Answer, AskPerson, Caller, Progress
from codeplane.kernel.call import Call
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.operation import Budget, Preview, Risk, operation, previews
from codeplane.ledger.projection import differences
from codeplane.trust.approvals.remembered_answer import RememberedAnswerTable
from codeplane.trust.approvals.table import ActionTable
from codeplane.trust.clients.registry import ClientTable
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, Answered, FixtureOps, ManualClock, Said, events, plane
from tests.trust.approvals.agent_calls import (
    action_of,
    asking,
    call,
    decide,
    executed,
    heard,
    items,
    key_of,
    refused,
    result,
    shown,
    soon,
)

pytestmark = requirement("TRUST-10")

SECRET = "cpl_client_" + "s" * 43


async def answering(opened: Plane, ask: AskPerson) -> Caller:
    """An agent in a client whose person may answer, as the owner said."""
    hashed = hashlib.sha256(SECRET.encode()).hexdigest()
    assert (await decide(opened, "client.allow", name="editor", secret_hash=hashed)).error is None
    return replace(AGENT, ask=ask, client_secret=SECRET)


GUARDED = ["fixture.destroy", "fixture.send", "fixture.shell"]


@requirement("TRUST-01")
@pytest.mark.parametrize("name", GUARDED)
async def test_an_agent_waits_for_a_person(tmp_path: Path, name: str) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        first = await call(opened, name, text="x")
        assert first.error is not None and first.error.retryable
        action = await shown(opened, action_of(first))
        assert (action["status"], action["actor"], action["identity"]) == ("PENDING", "agent:agent", "IDENTITY_BOT")
        assert ops.ran == []
        again = await call(opened, name, text="x", idempotency_key=key_of(first))
        assert action_of(again) == action_of(first)
        assert len(await events(opened, "action.created")) == 1


@pytest.mark.parametrize("name", ["fixture.read", "fixture.write"])
async def test_reads_and_changes_of_the_workspace_are_not_asked_about(tmp_path: Path, name: str) -> None:
    async with asking(tmp_path) as opened:
        assert (await call(opened, name)).error is None


async def test_approved_it_runs_once_and_the_same_key_gives_its_result(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        first = await call(opened, "fixture.send", text="x")
        action_id = action_of(first)
        approved = result(await decide(opened, "approval.approve", action_id=action_id))
        assert approved["decided_by"] == "owner:owner"
        done = await executed(opened, action_id)
        assert (done["status"], done["outcome"], ops.ran) == ("EXECUTED", "ok", ["fixture.send"])
        again = await call(opened, "fixture.send", text="x", idempotency_key=key_of(first))
        assert again.meta.replayed and result(again)["answer"] == "x1"
        assert ops.ran == ["fixture.send"]


async def test_a_call_that_waits_goes_on_by_itself_and_tells_how_to_decide(tmp_path: Path) -> None:
    ops, answer, spent = FixtureOps(), list[str](), list[float]()

    async def tell(progress: Progress) -> None:
        answer.append(progress.message or "")
        spent.append(progress.done)

    async with plane(tmp_path, "approvals.wait_sec=600", operations=[ops]) as opened:
        waiting = asyncio.ensure_future(opened.conveyor.call("fixture.destroy", {}, replace(AGENT, on_progress=tell)))
        created = await heard(opened, "action.created")
        action_id = str(created.payload["action_id"])
        assert refused(await decide(opened, "approval.approve", action_id="act_none")) == "APPROVAL_NOT_FOUND"
        await decide(opened, "approval.approve", action_id=action_id)
        assert (await waiting).error is None
        assert ops.ran == ["fixture.destroy"]
        assert answer and f"cpl approvals approve {action_id}" in answer[0]
        assert all(round(done, 1) == done for done in spent)
        assert (await shown(opened, action_id))["status"] == "EXECUTED"


@requirement("TRUST-61")
async def test_two_clients_have_two_secrets_so_that_revoking_one_ends_it(tmp_path: Path) -> None:
    async def approve(question: str) -> Answer:
        return Answer.APPROVE

    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        caller = await answering(opened, approve)
        hashed = hashlib.sha256(SECRET.encode()).hexdigest()
        assert refused(await decide(opened, "client.allow", name="other", secret_hash=hashed)) == "INVALID_ARGUMENT"
        assert (await decide(opened, "client.allow", name="editor", secret_hash=hashed)).error is None
        assert (await opened.conveyor.call("fixture.send", {"text": "1"}, caller)).error is None
        await decide(opened, "client.revoke", name="editor")
        assert refused(await opened.conveyor.call("fixture.send", {"text": "2"}, caller)) == "APPROVAL_PENDING"
        assert (await decide(opened, "client.allow", name="other", secret_hash=hashed)).error is None
    assert ops.ran == ["fixture.send"]


class SweptOps:
    """An operation that is swept between a person's answer and its start."""

    def __init__(self) -> None:
        self.sweeps: list[Callable[[], Awaitable[None]]] = []
        self.ran = 0

    @operation("fixture.swept", risk=Risk.DESTRUCTIVE, budget=Budget.MUTATION)
    async def swept(self, call: Call, request: Said) -> Answered:
        """Do it."""
        self.ran += 1
        return Answered(answer="done")

    @previews("fixture.swept")
    async def preview(self, request: Said) -> Preview:
        """Preview it, and sweep when it is looked at again."""
        if self.sweeps:
            await self.sweeps.pop()()
        return Preview(summary="swept", body="")


async def test_a_call_that_is_about_to_start_is_listed_once_when_the_sweep_finds_it(tmp_path: Path) -> None:
    ops = SweptOps()
    async with plane(tmp_path, "approvals.wait_sec=600", operations=[ops]) as opened:
        resuming = opened.trust.resuming

        async def sweep() -> None:
            await opened.trust.approvals.sweep()
            while not resuming._running:
                await asyncio.sleep(0)

        waiting = asyncio.ensure_future(opened.conveyor.call("fixture.swept", {}, AGENT))
        created = await heard(opened, "action.created")
        ops.sweeps.append(sweep)
        await decide(opened, "approval.approve", action_id=created.payload["action_id"])
        assert (await waiting).error is None and ops.sweeps == []
        while resuming._running:
            await asyncio.wait(resuming._running.values())
        assert ops.ran == 1
        listed = result(await decide(opened, "call.list", operation="fixture.swept"))["results"]
        assert isinstance(listed, list)
        assert [(row["operation"], row["status"]) for row in listed if isinstance(row, dict)] == [
            ("fixture.swept", "ok")
        ]


async def test_no_agent_approves_not_even_with_the_owners_token(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        first = await call(opened, "fixture.send")
        for caller in (AGENT, replace(AGENT, token=opened.token)):
            for name in ("approval.approve", "approval.reject"):
                outcome = await opened.conveyor.call(name, {"action_id": action_of(first)}, caller)
                assert refused(outcome) == "POLICY_DENIED"
        outcome = await opened.conveyor.call("approval.forget", {"answer_id": "ans_1"}, AGENT)
        assert refused(outcome) == "POLICY_DENIED"
        assert (await shown(opened, action_of(first)))["status"] == "PENDING"
        assert ops.ran == []


async def test_rejected_it_never_runs_and_the_agent_hears_why(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        first = await call(opened, "fixture.send", text="x")
        await decide(opened, "approval.reject", action_id=action_of(first), reason="not on a Friday")
        again = await call(opened, "fixture.send", text="x", idempotency_key=key_of(first))
        assert again.error is not None and again.error.name == "REJECTED"
        assert "not on a Friday" in again.error.message
        settled = await decide(opened, "approval.approve", action_id=action_of(first))
        assert settled.error is not None and settled.error.name == "APPROVAL_SETTLED"
        assert f"cpl approvals show {action_of(first)}" in settled.error.hint
        assert ops.ran == []


async def test_of_many_who_decide_at_once_one_does(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        action_id = action_of(await call(opened, "fixture.send"))
        names = ["approval.approve", "approval.reject"] * 5
        outcomes = await asyncio.gather(*(decide(opened, name, action_id=action_id) for name in names))
        settled = [outcome for outcome in outcomes if outcome.error is None]
        assert len(settled) == 1
        assert {refused(outcome) for outcome in outcomes if outcome.error} == {"APPROVAL_SETTLED"}
        if result(settled[0])["status"] == "APPROVED":
            await executed(opened, action_id)
        assert len(ops.ran) <= 1


async def test_what_nobody_answers_expires(tmp_path: Path) -> None:
    clock = ManualClock()
    async with asking(tmp_path, "approvals.expires_minutes=10", clock=clock) as opened:
        first = await call(opened, "fixture.send", text="x")
        clock.advance(601)
        assert refused(await decide(opened, "approval.approve", action_id=action_of(first))) == "EXPIRED"
        action = await shown(opened, action_of(first))
        assert (action["status"], action["reason"]) == ("REJECTED", "expired")
        again = await call(opened, "fixture.send", text="x", idempotency_key=key_of(first))
        assert refused(again) == "EXPIRED"


async def test_the_sweep_expires_and_reminds(tmp_path: Path) -> None:
    clock = ManualClock()
    async with asking(tmp_path, clock=clock) as opened:
        action_id = action_of(await call(opened, "fixture.send"))
        clock.advance(51 * 60)
        await opened.trust.approvals.sweep()
        await opened.trust.approvals.sweep()
        assert len(await events(opened, "action.expiring")) == 1
        clock.advance(10 * 60)
        await opened.trust.approvals.sweep()
        assert (await shown(opened, action_id))["reason"] == "expired"


async def test_an_approval_that_was_not_used_in_time_is_over(tmp_path: Path) -> None:
    clock, ops = ManualClock(), FixtureOps()
    async with asking(tmp_path, operations=[ops], clock=clock) as opened:
        first = await call(opened, "fixture.send", text="x")
        action = await opened.trust.approvals.get(action_of(first))
        await opened.trust.resuming.stop()
        await opened.trust.approvals.decide(action.action_id, approve=True, by="owner:owner")
        clock.advance(3601)
        again = await call(opened, "fixture.send", text="x", idempotency_key=key_of(first))
        assert refused(again) == "EXPIRED"
        assert ops.ran == []


async def test_one_key_is_one_question(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        await call(opened, "fixture.send", text="x", idempotency_key="k")
        other = await call(opened, "fixture.send", text="y", idempotency_key="k")
        assert refused(other) == "IDEMPOTENCY_CONFLICT"


@requirement("TRUST-02")
async def test_a_preview_that_changed_is_not_what_was_approved(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        await opened.trust.resuming.stop()
        first = await call(opened, "fixture.push", text="force")
        action = await shown(opened, action_of(first))
        wrong = await decide(opened, "approval.approve", action_id=action["action_id"], preview_hash="0" * 64)
        assert refused(wrong) == "INVALID_ARGUMENT"
        right = action["preview_hash"]
        assert (
            await decide(opened, "approval.approve", action_id=action["action_id"], preview_hash=right)
        ).error is None
        ops.pushed = "something else by now"
        again = await call(opened, "fixture.push", text="force", idempotency_key=key_of(first))
        assert refused(again) == "EXPIRED" and "has changed" in str(again.error)
        assert ops.ran == []


async def test_trust_covers_the_next_of_its_kind_by_the_same_agent_alone(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        first = await call(opened, "fixture.send", text="x")
        await decide(opened, "approval.approve", action_id=action_of(first), trust=True)
        await executed(opened, action_of(first))
        assert (await call(opened, "fixture.send", text="y")).error is None
        assert refused(await call(opened, "fixture.destroy")) == "APPROVAL_PENDING"
        other = await opened.conveyor.call("fixture.send", {}, replace(AGENT, client="other"))
        assert refused(other) == "APPROVAL_PENDING"
        (known,) = items(await decide(opened, "approval.trusted"))
        assert known["tool"] == "fixture.send" and known["by"] == "owner:owner"
        await decide(opened, "approval.forget", answer_id=known["answer_id"])
        assert refused(await call(opened, "fixture.send", text="z")) == "APPROVAL_PENDING"
        assert refused(await decide(opened, "approval.forget", answer_id="ans_none")) == "APPROVAL_NOT_FOUND"


async def test_a_trusted_command_is_that_command_and_no_other(tmp_path: Path) -> None:
    async with asking(tmp_path, "trust.mode=automatic") as opened:
        first = await call(opened, "fixture.shell", text="ls")
        await decide(opened, "approval.approve", action_id=action_of(first), trust=True)
        assert (await call(opened, "fixture.shell", text="ls")).error is None
        assert refused(await call(opened, "fixture.shell", text="ls /")) == "APPROVAL_PENDING"


async def test_trust_ends_by_itself(tmp_path: Path) -> None:
    clock = ManualClock()
    async with asking(tmp_path, "approvals.trust_days=1", clock=clock) as opened:
        await decide(opened, "approval.approve", action_id=action_of(await call(opened, "fixture.send")), trust=True)
        assert (await call(opened, "fixture.send", text="y")).error is None
        clock.advance(86_401)
        assert refused(await call(opened, "fixture.send", text="y")) == "APPROVAL_PENDING"


async def test_all_of_this_kind_in_this_task(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        first = await call(opened, "fixture.send")
        approved = await decide(opened, "approval.approve", action_id=action_of(first), for_task=True)
        assert approved.result is not None and "remembered until task_" in approved.result.text()
        (known,) = items(await decide(opened, "approval.trusted"))
        assert (await call(opened, "fixture.send", text="same task")).error is None
        elsewhere = replace(AGENT, connection_id="another")
        other = await opened.conveyor.call("fixture.send", {"text": "other task"}, elsewhere)
        assert refused(other) == "APPROVAL_PENDING"
        assert (await call(opened, "session.close")).error is None
        (closed,) = await events(opened, "task.closed")
        assert closed.correlation.task_id == known["task_id"]
        assert items(await decide(opened, "approval.trusted")) == []


@requirement("TRUST-61")
@pytest.mark.parametrize(("output", "error"), [(Answer.APPROVE, None), (Answer.REJECT, "REJECTED")])
async def test_the_client_can_ask_its_person(tmp_path: Path, output: Answer, error: str | None) -> None:
    asked: list[str] = []

    async def ask(question: str) -> Answer:
        asked.append(question)
        return output

    async with asking(tmp_path) as opened:
        outcome = await opened.conveyor.call("fixture.send", {}, await answering(opened, ask))
        assert (outcome.error.name if outcome.error else None) == error
        assert len(asked) == 1
        (action,) = items(await decide(opened, "approval.list"))
        assert action["decided_by"] == "client:editor"


@requirement("TRUST-61")
async def test_a_client_whose_person_puts_it_aside_leaves_it_open(tmp_path: Path) -> None:
    async def ask(question: str) -> None:
        return None

    async with asking(tmp_path) as opened:
        outcome = await opened.conveyor.call("fixture.send", {}, await answering(opened, ask))
        assert refused(outcome) == "APPROVAL_PENDING"
    async with asking(tmp_path, "approvals.elicit=false") as opened:
        outcome = await opened.conveyor.call("fixture.send", {}, await answering(opened, ask))
        assert refused(outcome) == "APPROVAL_PENDING"


async def test_the_inbox_is_full_at_some_point(tmp_path: Path) -> None:
    async with asking(tmp_path, "approvals.max_pending=2") as opened:
        for number in range(2):
            assert refused(await call(opened, "fixture.send", text=str(number))) == "APPROVAL_PENDING"
        assert refused(await call(opened, "fixture.send", text="2")) == "OVERLOADED"


async def test_pages_of_the_inbox(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        ids = [action_of(await call(opened, "fixture.send", text=str(n))) for n in range(5)]
        await decide(opened, "approval.reject", action_id=ids[0])
        seen: list[str] = []
        cursor = None
        while True:
            page = result(await decide(opened, "approval.list", status="PENDING", limit=2, cursor=cursor))
            assert page["pending"] == 4
            found, pagination = page["items"], page["pagination"]
            assert isinstance(found, list) and isinstance(pagination, dict)
            seen += [str(item["action_id"]) for item in found if isinstance(item, dict)]
            cursor = pagination["next_cursor"]
            if cursor is None:
                break
        assert seen == ids[:0:-1]


async def test_after_a_restart_what_was_approved_and_not_begun_runs(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        await opened.trust.resuming.stop()
        action_id = action_of(await call(opened, "fixture.send"))
        await decide(opened, "approval.approve", action_id=action_id)
        assert (await shown(opened, action_id))["status"] == "APPROVED"
    assert ops.ran == []
    async with asking(tmp_path, operations=[ops]) as opened:
        await opened.trust.approvals.sweep()
        assert (await soon(opened, action_id, "EXECUTED"))["outcome"] == "ok"
        await opened.trust.approvals.sweep()
    assert ops.ran == ["fixture.send"]


@pytest.mark.parametrize("earlier", [False, True])
async def test_what_a_waiting_call_was_made_with_is_sealed_until_it_ran(tmp_path: Path, earlier: bool) -> None:
    text = f"{'x ' * 4000}the-end-that-no-preview-shows"
    async with asking(tmp_path, operations=[FixtureOps()]) as opened:
        await opened.trust.resuming.stop()
        action_id = action_of(await call(opened, "fixture.send", text=text))
        action = await opened.trust.approvals.get(action_id)
        await decide(opened, "approval.approve", action_id=action_id)
        stored = await opened.log.select("SELECT data FROM payloads UNION ALL SELECT data FROM blobs")
        assert stored and not any(b"the-end" in data for (data,) in stored if isinstance(data, bytes))
        await opened.work.delete_orphaned_payloads()
        if earlier:
            # As an earlier version left it.
            await opened.log.command(lambda writing: writing.connection.execute("DELETE FROM payloads").rowcount)
            assert opened.log.put(canonical({"text": text})) == action.arguments_hash
    async with asking(tmp_path, operations=[FixtureOps()]) as opened:
        await opened.trust.approvals.sweep()
        assert (await soon(opened, action_id, "EXECUTED"))["outcome"] == "ok"
        await opened.work.delete_orphaned_payloads()
        assert await opened.log.select("SELECT 1 FROM payloads WHERE work_id = ?", (action_id,)) == []


async def test_after_a_restart_what_was_begun_is_unknown_and_never_runs_again(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        await opened.trust.resuming.stop()
        first = await call(opened, "fixture.send")
        action = await opened.trust.approvals.get(action_of(first))
        await decide(opened, "approval.approve", action_id=action.action_id)
        started: JsonObject = {
            "operation": "fixture.send", "mutates": True, "budget": "mutation", "owner_id": "owner",
            "arguments_hash": action.arguments_hash, "idempotency_key": action.key, "action_id": action.action_id,
        }  # fmt: skip
        correlation = structs.replace((await events(opened, "action.created"))[0].correlation, call_id="call_cut_off")
        draft = Draft(stream=f"task/{action.task_id}", type="call.started", payload=started, correlation=correlation)
        await opened.log.append([draft])
    async with asking(tmp_path, operations=[ops]) as opened:
        await opened.trust.approvals.sweep()
        seen = await shown(opened, action.action_id)
        assert (seen["status"], seen["outcome_unknown"]) == ("APPROVED", True)
        again = await call(opened, "fixture.send", idempotency_key=action.key)
        assert refused(again) == "OUTCOME_UNKNOWN"
        assert refused(await decide(opened, "approval.approve", action_id=action.action_id)) == "APPROVAL_SETTLED"
    assert ops.ran == []


async def test_what_cannot_run_any_more_is_withdrawn_with_the_reason(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        await opened.trust.resuming.stop()
        action_id = action_of(await call(opened, "fixture.send"))
        await decide(opened, "approval.approve", action_id=action_id)
    async with plane(tmp_path) as opened:
        await opened.trust.approvals.sweep()
        withdrawn = await soon(opened, action_id, "REJECTED")
        assert "UNKNOWN_OPERATION" in str(withdrawn["reason"])


async def test_nothing_runs_for_an_agent_whose_device_was_let_go(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        await opened.trust.resuming.stop()
        code = result(await decide(opened, "pairing.create"))["code"]
        bind: JsonObject = {"code": code, "device_name": "phone"}
        device = result(await opened.conveyor.call("pairing.bind", bind, Caller(surface="connect")))
        behind = replace(AGENT, token=str(device["token"]))
        action_id = action_of(await opened.conveyor.call("fixture.send", {}, behind))
        await decide(opened, "approval.approve", action_id=action_id)
        await decide(opened, "device.revoke", device_id=device["device_id"])
        opened.trust.resuming.start(opened.conveyor.call)
        await opened.trust.approvals.sweep()
        assert "no longer admitted" in str((await soon(opened, action_id, "REJECTED"))["reason"])
    assert ops.ran == []


async def test_the_tables_are_those_that_the_log_gives(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        for number in range(4):
            first = await call(opened, "fixture.send", text=str(number))
            if first.error is None:
                continue
            name = "approval.approve" if number % 2 else "approval.reject"
            extra = {"trust": True} if number % 2 else {}
            await decide(opened, name, action_id=action_of(first), **extra)
            if number % 2:
                await executed(opened, action_of(first))
        await opened.log.flush()
        for projection in (ActionTable(), RememberedAnswerTable(), ClientTable()):
            assert await opened.log.readers.run(lambda connection: differences(connection, projection)) == []  # noqa: B023  # used at once


async def test_the_owner_is_not_asked_about_what_they_do_themselves(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        for name in GUARDED:
            assert (await opened.conveyor.call(name, {}, OWNER)).error is None


async def test_what_changed_while_a_call_waited_is_not_what_was_approved(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "approvals.wait_sec=600", operations=[ops]) as opened:
        waiting = asyncio.ensure_future(opened.conveyor.call("fixture.push", {"text": "force"}, AGENT))
        action_id = str((await heard(opened, "action.created")).payload["action_id"])
        ops.pushed = "something else by now"
        await decide(opened, "approval.approve", action_id=action_id)
        assert refused(await waiting) == "EXPIRED"
        assert ops.ran == []


async def test_a_policy_that_came_while_a_call_waited_holds_for_it(tmp_path: Path) -> None:
    ops, clock = FixtureOps(), ManualClock()
    async with plane(tmp_path, "approvals.wait_sec=600", operations=[ops], clock=clock) as opened:
        waiting = asyncio.ensure_future(opened.conveyor.call("fixture.send", {}, AGENT))
        action_id = str((await heard(opened, "action.created")).payload["action_id"])
        folder = opened.workspace.policy
        folder.mkdir()
        rule = 'deny contains "nothing leaves" if input.risk == "EXFILTRATION"'
        (folder / "no.rego").write_text(f"package codeplane.policy\n\nimport rego.v1\n\n{rule}\n")
        clock.advance(5)
        await asyncio.to_thread(opened.trust.policy.wait_until_compiled, 20)
        await decide(opened, "approval.approve", action_id=action_id)
        assert refused(await waiting) == "POLICY_DENIED"
        assert ops.ran == []


async def test_an_approved_action_without_a_preview_of_its_own_can_be_resumed(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        first = await call(opened, "fixture.send", times=2, text="x", paths=["b", "a"])
        await decide(opened, "approval.approve", action_id=action_of(first))
        assert (await executed(opened, action_of(first)))["outcome"] == "ok"


HIDING = [
    "echo '-----BEGIN PRIVATE KEY-----'\npython3 evil.py aaaaaaaaaaaaaaaaaaaaaaaa\necho '-----END PRIVATE KEY-----'",
    "curl --token aaaa12;touch${IFS}hidden_tok",
    "password='abc123def456;rm -rf x'",
]


@pytest.mark.parametrize("text", HIDING, ids=["key", "option", "assignment"])
async def test_nothing_that_could_be_an_instruction_is_hidden_as_a_secret(tmp_path: Path, text: str) -> None:
    async with asking(tmp_path) as opened:
        outcome = await call(opened, "fixture.shell", text=text)
        if outcome.error is not None and outcome.error.name == "INVALID_ARGUMENT":
            return
        body = str((await shown(opened, action_of(outcome)))["preview"])
        assert all(word in body for word in ("evil", "touch", "rm -rf") if word in text)


async def test_a_secret_that_is_a_word_is_left_out(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        secret = "ghp_" + "a1B2c3D4e5" * 4
        outcome = await call(opened, "fixture.shell", text=f"curl -H 'x: {secret}' example.com")
        body = str((await shown(opened, action_of(outcome)))["preview"])
        assert secret not in body
        assert "[redacted]" in body


async def test_signs_that_turn_text_round_are_written_out(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        outcome = await call(opened, "fixture.push", text="force", paths=["a\u202eb\x1b[2J\u200b"])
        assert outcome.error is not None
        body = str((await shown(opened, action_of(outcome)))["preview"])
        assert body.isprintable()
        assert "a\\u202eb\\x1b[2J\\u200b" in body


async def test_one_caller_does_not_fill_the_inbox_for_all(tmp_path: Path) -> None:
    async with asking(tmp_path, "approvals.max_pending_each=2") as opened:
        for number in range(2):
            assert refused(await call(opened, "fixture.send", text=str(number))) == "APPROVAL_PENDING"
        assert refused(await call(opened, "fixture.send", text="2")) == "OVERLOADED"
        other = await opened.conveyor.call("fixture.send", {}, replace(AGENT, client="other"))
        assert refused(other) == "APPROVAL_PENDING"


async def test_trust_in_one_file_is_not_trust_in_another(tmp_path: Path) -> None:
    async with asking(tmp_path, "trust.mode=always") as opened:
        first = await call(opened, "fixture.push", paths=["doc.txt"])
        await decide(opened, "approval.approve", action_id=action_of(first), trust=True)
        assert (await call(opened, "fixture.push", paths=["doc.txt"], text="again")).error is None
        assert refused(await call(opened, "fixture.push", paths=["a.py"])) == "APPROVAL_PENDING"


async def test_an_approval_is_for_who_asked(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        await opened.trust.resuming.stop()
        first = await call(opened, "fixture.send", text="x", idempotency_key="k")
        await decide(opened, "approval.approve", action_id=action_of(first))
        other = replace(AGENT, client="other")
        stolen = await opened.conveyor.call("fixture.send", {"text": "x", "idempotency_key": "k"}, other)
        assert refused(stolen) == "IDEMPOTENCY_CONFLICT"
        assert ops.ran == []
        assert (await call(opened, "fixture.send", text="x", idempotency_key="k")).error is None


@requirement("TRUST-61")
async def test_a_client_that_cannot_show_the_question_leaves_it_to_others(tmp_path: Path) -> None:
    async def ask(question: str) -> Answer:
        raise ConnectionError("the window is closed")

    async with asking(tmp_path) as opened:
        outcome = await opened.conveyor.call("fixture.send", {}, await answering(opened, ask))
        assert refused(outcome) == "APPROVAL_PENDING"


@requirement("TRUST-61")
@pytest.mark.parametrize("name", ["fixture.destroy", "fixture.shell"])
async def test_a_clients_own_word_is_not_enough_for_what_destroys_or_is_a_command(tmp_path: Path, name: str) -> None:
    async def ask(question: str) -> Answer:
        return Answer.APPROVE

    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        client = await answering(opened, ask)
        outcome = await opened.conveyor.call(name, {}, client)
        assert refused(outcome) == "APPROVAL_PENDING" and outcome.error is not None
        assert "question" not in outcome.error.details, "it is not asked in the client's next round either"
        assert ops.ran == []
        assert (await opened.conveyor.call("fixture.send", {}, client)).error is None


@requirement("TRUST-61")
async def test_what_is_too_long_to_be_shown_in_a_client_is_left_to_others(tmp_path: Path) -> None:
    async def ask(question: str) -> Answer:
        raise AssertionError("it is shown in part")

    async with asking(tmp_path) as opened:
        client = await answering(opened, ask)
        outcome = await opened.conveyor.call("fixture.send", {"text": "#" * 20_000}, client)
        assert refused(outcome) == "APPROVAL_PENDING"
        assert outcome.error is not None and "question" not in outcome.error.details


@requirement("TRUST-61")
async def test_whoever_asks_for_more_rights_does_not_answer(tmp_path: Path) -> None:
    asked: list[str] = []

    async def ask(question: str) -> Answer:
        asked.append(question)
        return Answer.APPROVE

    # Also where the client is trusted with other questions.
    async with asking(tmp_path) as opened:
        wanted: JsonObject = {"capabilities": ["spawn_agents"]}
        outcome = await opened.conveyor.call("capability.request", wanted, await answering(opened, ask))
        assert refused(outcome) == "APPROVAL_PENDING" and outcome.error is not None
        assert asked == [] and "question" not in outcome.error.details
        assert result(await decide(opened, "approval.approve", action_id=action_of(outcome)))["status"]


@requirement("TRUST-61")
async def test_the_client_of_an_agent_with_a_token_of_its_own_is_not_asked(tmp_path: Path) -> None:
    asked: list[str] = []

    async def ask(question: str) -> Answer:
        asked.append(question)
        return Answer.APPROVE

    async with asking(tmp_path) as opened:
        able = ["read_files", "write_files", "execute_tools"]
        issued = result(await decide(opened, "agent.token", agent="far", capabilities=[*able]))
        trusted = await answering(opened, ask)
        caller = replace(trusted, token=str(issued["token"]))
        outcome = await opened.conveyor.call("fixture.send", {}, caller)
        assert refused(outcome) == "APPROVAL_PENDING" and outcome.error is not None
        assert asked == [] and "question" not in outcome.error.details
        assert (await opened.conveyor.call("fixture.send", {}, trusted)).error is None
        assert len(asked) == 1


async def test_an_id_is_named_by_a_beginning_or_an_end_that_only_it_has(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        ids = [action_of(await call(opened, "fixture.send", text=str(number))) for number in range(7)]
        several = await decide(opened, "approval.show", action_id="act_")
        assert several.error is not None and several.error.name == "APPROVAL_NOT_FOUND"
        assert "fits 7 actions" in several.error.message and "and 2 more" in several.error.message
        assert sum(one in several.error.message for one in ids) == 5
        for one in ids:
            for short in (one[-8:], f"act_{one[-8:]}", f"act_…{one[-8:]}", one[:-1], one):
                assert (await shown(opened, short))["action_id"] == one
        assert refused(await decide(opened, "approval.show", action_id=f"ans_{ids[0][-8:]}")) == "APPROVAL_NOT_FOUND"
        await decide(opened, "approval.approve", action_id=ids[0][-8:], trust=True)
        (known,) = items(await decide(opened, "approval.trusted"))
        forgotten = result(await decide(opened, "approval.forget", answer_id=str(known["answer_id"])[-8:]))
        assert forgotten["answer_id"] == known["answer_id"]
        audited = await decide(opened, "audit.list", action_id=ids[1][-8:])
        assert {entry["action_id"] for entry in result(audited)["results"]} == {ids[1]}  # type: ignore[union-attr, index, call-overload]  # as it is answered


async def test_a_list_says_how_old_a_question_is_and_when_it_expires(tmp_path: Path) -> None:
    clock = ManualClock()
    async with asking(tmp_path, clock=clock) as opened:
        await call(opened, "fixture.send")
        clock.advance(125)
        listed = await decide(opened, "approval.list")
        assert listed.result is not None
        assert "(asked 2 min ago, expires in 57 min)" in listed.result.text()


async def test_what_is_answered_from_memory_is_no_news(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        first = await call(opened, "fixture.send")
        assert result(await decide(opened, "notification.list"))["unread"] == 1
        approved = await decide(opened, "approval.approve", action_id=action_of(first), trust=True)
        assert approved.result is not None and ": every fixture.send; take it back: " in approved.result.text()
        assert (await call(opened, "fixture.send", text="again")).error is None
        answer = result(await decide(opened, "notification.list"))
        assert answer["unread"] == 0, "what is decided waits for nobody"
        assert isinstance(answer["results"], list) and len(answer["results"]) == 1


class TestPatience:
    """How long a call waits is the caller's to say, and its deadline ends the wait with the action's id."""

    @requirement("TRUST-10")
    async def test_a_caller_that_does_not_wait_is_told_at_once_whatever_the_settings_say(self, tmp_path: Path) -> None:
        async with plane(tmp_path, "approvals.wait_sec=3600", operations=[FixtureOps()]) as opened:
            outcome = await opened.conveyor.call("fixture.send", {"text": "x"}, replace(AGENT, wait_sec=0))
            assert action_of(outcome)

    @requirement("TRUST-10")
    async def test_a_caller_may_wait_longer_than_the_settings_say(self, tmp_path: Path) -> None:
        ops = FixtureOps()
        async with asking(tmp_path, operations=[ops]) as opened:
            patient = replace(AGENT, wait_sec=600)
            waiting = asyncio.create_task(opened.conveyor.call("fixture.send", {"text": "x"}, patient))
            created = await heard(opened, "action.created")
            assert not waiting.done()
            await decide(opened, "approval.approve", action_id=created.payload["action_id"])
            assert (await waiting).error is None and ops.ran == ["fixture.send"]

    @requirement("TRUST-10")
    async def test_a_deadline_while_waiting_answers_pending_with_the_action(self, tmp_path: Path) -> None:
        async with plane(tmp_path, "approvals.wait_sec=3600", operations=[FixtureOps()]) as opened:
            outcome = await opened.conveyor.call("fixture.send", {"text": "x"}, replace(AGENT, timeout_sec=0.5))
            action_id = action_of(outcome)
            assert (await shown(opened, action_id))["status"] == "PENDING"
            await decide(opened, "approval.approve", action_id=action_id)
            assert (await executed(opened, action_id))["status"] == "EXECUTED"
