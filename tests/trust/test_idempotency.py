"""Keys: the first result again, a conflict for other arguments, and never a second run of what may have been done."""

import asyncio
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.call_record import CALL_FINISHED, CALL_STARTED
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import ERRORS
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, Answered, FixtureOps, Said, events, of_call, plane
from tests.kernel.ports import exchange

KEYED: JsonObject = {"text": "x", "idempotency_key": "k"}


async def error_of(opened: Plane, name: str, arguments: JsonObject) -> str | None:
    outcome = await opened.conveyor.call(name, arguments, AGENT)
    return outcome.error.name if outcome.error else None


async def streamed(opened: Plane, name: str, arguments: JsonObject) -> list[Result | Outcome]:
    return [item async for item in opened.conveyor.stream(name, arguments, AGENT)]


@requirement("KEY-01")
async def test_the_same_call_gives_the_first_result_and_runs_once(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        first = await opened.conveyor.call("fixture.write", KEYED, AGENT)
        again = await opened.conveyor.call("fixture.write", KEYED, AGENT)
        assert (first.meta.replayed, again.meta.replayed) == (False, True)
        assert again.result == first.result
        assert again.result_json == first.result_json
        assert ops.ran == ["fixture.write"]
        assert [event.type for event in await of_call(opened, again)] == ["call.replayed"]


@requirement("LOG-54")
async def test_answers_are_not_legible_in_the_ledgers_file(tmp_path: Path) -> None:
    arguments: JsonObject = {"text": "an answer that is nobody's business", "idempotency_key": "k"}
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        first = await opened.conveyor.call("fixture.write", arguments, AGENT)
        assert "nobody's business" in first.result_json
        assert await opened.log.select("SELECT 1 FROM blobs WHERE instr(data, 'business')") == []
        assert await opened.log.select("SELECT count(*) FROM blobs") == [(1,)]
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        again = await opened.conveyor.call("fixture.write", arguments, AGENT)
        assert again.meta.replayed and again.result_json == first.result_json
    # With another key it is gone, and the call is not made a second time.
    (tmp_path / ".codeplane" / "server.key").unlink()
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        assert await error_of(opened, "fixture.write", arguments) == "RESULT_GONE"
        assert ops.ran == []


@requirement("KEY-01")
async def test_a_key_that_is_said_to_be_new_runs_once_all_the_same(tmp_path: Path) -> None:
    """As two holders of one work item would use it, of whom the older one does not know that it lost its lease."""
    ops, step = FixtureOps(), replace(AGENT, key_is_new=True)
    async with plane(tmp_path, operations=[ops]) as opened:
        assert not (await opened.conveyor.call("fixture.write", KEYED, step)).meta.replayed
        for caller in (step, AGENT, step):
            assert (await opened.conveyor.call("fixture.write", KEYED, caller)).meta.replayed
        other: JsonObject = {**KEYED, "text": "y"}
        conflict = await opened.conveyor.call("fixture.write", other, step)
        assert conflict.error is not None and conflict.error.name == "IDEMPOTENCY_CONFLICT"
        assert ops.ran == ["fixture.write"]


@requirement("KEY-01")
async def test_a_new_key_that_somebody_was_asked_about_is_theirs_to_decide(tmp_path: Path) -> None:
    step = replace(AGENT, key_is_new=True, wait_sec=0)
    sent: JsonObject = {"text": "x", "idempotency_key": "k"}
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        actions = [await opened.conveyor.call("fixture.send", sent, step) for _ in range(2)]
        ids = {str(outcome.error.details["action_id"]) for outcome in actions if outcome.error is not None}
        assert len(ids) == 1 and len(await events(opened, "action.created")) == 1


async def test_what_has_no_key_or_another_one_runs_each_time(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        for arguments in ({}, {}, {"idempotency_key": "a"}, {"idempotency_key": "b"}):
            assert await error_of(opened, "fixture.write", {"text": "x", **arguments}) is None
        # A key belongs to one operation, and reads have none.
        assert await error_of(opened, "fixture.plan", {"text": "x", "idempotency_key": "a"}) is None
        for _ in range(2):
            assert await error_of(opened, "fixture.read", KEYED) is None
        assert len(ops.ran) == 7


@requirement("TRUST-47")
async def test_a_key_belongs_to_who_used_it(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        first = await opened.conveyor.call("fixture.write", KEYED, AGENT)
        for other in (OWNER, replace(AGENT, client="other"), replace(AGENT, client="agent_1")):
            own = await opened.conveyor.call("fixture.write", KEYED, other)
            assert own.error is None and not own.meta.replayed
            assert own.result_json != first.result_json, "nobody is given another's answer"
            # Nor is a conflict of theirs told by it.
            assert (await opened.conveyor.call("fixture.write", KEYED, other)).meta.replayed
        assert len(ops.ran) == 4
        # The same agent on another connection is the same.
        again = await opened.conveyor.call("fixture.write", KEYED, replace(AGENT, connection_id="c2"))
        assert again.meta.replayed and again.result_json == first.result_json
    async with plane(tmp_path, operations=[ops]) as opened:
        again = await opened.conveyor.call("fixture.write", KEYED, AGENT)
        assert again.meta.replayed and again.result_json == first.result_json
        assert len(ops.ran) == 4


async def test_a_key_belongs_to_its_owner(tmp_path: Path) -> None:
    class Somebody:
        def identify(self, caller: object, operation: str = "") -> Actor:
            return Actor(kind=ActorKind.AGENT, actor_id="agent", owner_id="somebody")

    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        assert (await opened.conveyor.call("fixture.write", KEYED, AGENT)).error is None
        other = await exchange(opened, identity=Somebody()).call("fixture.write", KEYED, AGENT)
        assert not other.meta.replayed
        assert len(ops.ran) == 2


@requirement("TRUST-47")
@pytest.mark.parametrize("kept", [True, False], ids=["with its events", "its events gone"])
async def test_a_key_of_an_older_log_is_still_its_actors(tmp_path: Path, kept: bool) -> None:
    """Before keys were an actor's own they were recorded for everyone of an owner."""
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        first = await opened.conveyor.call("fixture.write", {"text": "x"}, AGENT)
        opened.log.put(first.result_json.encode())
        intent: JsonObject = {
            "operation": "fixture.write",
            "mutates": True,
            "budget": "mutation",
            "arguments_hash": digest(canonical({"text": "x"})),
            "idempotency_key": "k",
            "owner_id": "owner",
        }
        done: JsonObject = {
            **intent,
            "executed": True,
            "duration_us": 0,
            "status": "ok",
            "result_hash": digest(first.result_json.encode()),
        }
        ids = Correlation(call_id="call_old", task_id="task_old", session_id="sess_old")
        reported = [(CALL_STARTED, intent)] if kept else []
        if not kept:
            # What a snapshot has of a call whose events were dropped.
            row = "('owner','fixture.write','k',?,'call_old','ok',?,NULL,1)"
            hashes = (str(intent["arguments_hash"]), str(done["result_hash"]))
            connection = sqlite3.connect(tmp_path / ".codeplane" / "ledger.db")
            connection.execute(f"INSERT INTO idempotency VALUES {row}", hashes)
            connection.commit()
            connection.close()
        else:
            reported.append((CALL_FINISHED, done))
        await opened.log.append(
            [
                Draft(stream="task/task_old", type=kind, payload=fact, actor="agent:agent", correlation=ids)
                for kind, fact in reported
            ]
        )
        again = await opened.conveyor.call("fixture.write", KEYED, AGENT)
        assert again.meta.replayed and again.result_json == first.result_json
        assert await error_of(opened, "fixture.write", {**KEYED, "text": "y"}) == "IDEMPOTENCY_CONFLICT"
        assert len(ops.ran) == 1
        if kept:
            other = await opened.conveyor.call("fixture.write", KEYED, OWNER)
            assert other.error is None and not other.meta.replayed and len(ops.ran) == 2


@requirement("KEY-01")
@pytest.mark.parametrize("name", ["fixture.slow", "fixture.write"])
async def test_ten_at_once_run_once(tmp_path: Path, name: str) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        calls = [asyncio.ensure_future(opened.conveyor.call(name, KEYED, AGENT)) for _ in range(10)]
        if name == "fixture.slow":
            await ops.started.wait()
            ops.release.set()
        outcomes = await asyncio.gather(*calls)
        assert ops.ran == [name]
        assert {outcome.result_json for outcome in outcomes} == {outcomes[0].result_json}
        assert sum(outcome.meta.replayed for outcome in outcomes) == 9


@requirement("KEY-02")
async def test_other_arguments_are_a_conflict_and_an_audit_event(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        await opened.conveyor.call("fixture.write", KEYED, AGENT)
        assert await error_of(opened, "fixture.write", {**KEYED, "text": "y"}) == "IDEMPOTENCY_CONFLICT"
        assert ops.ran == ["fixture.write"]
        (event,) = await events(opened, "idempotency.conflict")
        assert event.stream == "audit"
        assert event.payload == {
            "owner_id": "owner",
            "operation": "fixture.write",
            "key": "k",
            "arguments_hash": digest(canonical({"text": "y"})),
            "first_arguments_hash": digest(canonical({"text": "x"})),
        }
        # The conflict did not take the key away from the first.
        assert (await opened.conveyor.call("fixture.write", KEYED, AGENT)).meta.replayed


async def test_it_survives_a_restart(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        first = await opened.conveyor.call("fixture.write", KEYED, AGENT)
    async with plane(tmp_path, operations=[ops]) as opened:
        again = await opened.conveyor.call("fixture.write", KEYED, AGENT)
        assert again.result_json == first.result_json
        assert again.meta.replayed
        assert ops.ran == ["fixture.write"]


@requirement("KEY-03")
async def test_what_was_cut_off_by_a_crash_is_unknown_and_not_run_again(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        intent: JsonObject = {
            "operation": "fixture.write",
            "mutates": True,
            "budget": "mutation",
            "arguments_hash": digest(canonical({"text": "x"})),
            "idempotency_key": "k",
            "owner_id": "owner",
        }
        ids = Correlation(call_id="call_cut", task_id="task_cut", session_id="sess_cut")
        cut = Draft(stream="task/task_cut", type=CALL_STARTED, payload=intent, actor="agent:agent", correlation=ids)
        await opened.log.append([cut])
        assert await error_of(opened, "fixture.write", KEYED) == "OUTCOME_UNKNOWN"
    async with plane(tmp_path, operations=[ops]) as opened:
        for _ in range(2):
            assert await error_of(opened, "fixture.write", KEYED) == "OUTCOME_UNKNOWN"
        assert await error_of(opened, "fixture.write", {**KEYED, "text": "y"}) == "IDEMPOTENCY_CONFLICT"
        assert ops.ran == []
        assert await error_of(opened, "fixture.write", {**KEYED, "idempotency_key": "new"}) is None


async def test_what_was_cancelled_is_unknown(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        running = asyncio.ensure_future(opened.conveyor.call("fixture.slow", KEYED, AGENT))
        await ops.started.wait()
        running.cancel()
        await asyncio.wait({running})
        assert await error_of(opened, "fixture.slow", KEYED) == "OUTCOME_UNKNOWN"
        assert ops.ran == ["fixture.slow"]


async def test_what_ran_out_of_time_is_unknown_though_the_error_may_be_retried(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        assert await error_of(opened, "fixture.short", KEYED) == "DEADLINE_EXCEEDED"
        assert await error_of(opened, "fixture.short", KEYED) == "OUTCOME_UNKNOWN"
        assert ops.ran == ["fixture.short"]


async def test_what_was_cancelled_before_it_ran_leaves_the_key_free(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        await opened.conveyor.call("fixture.read", {}, AGENT)
        intent = asyncio.Event()

        class Log:
            async def append(self, drafts: list[Draft]) -> object:
                writing = asyncio.ensure_future(opened.log.append(drafts))
                intent.set()
                return await asyncio.shield(writing)

            def __getattr__(self, name: str) -> object:
                return getattr(opened.log, name)

        running = asyncio.ensure_future(exchange(opened, log=Log()).call("fixture.write", KEYED, AGENT))
        await intent.wait()
        running.cancel()
        await asyncio.wait({running})
        await opened.log.flush()
        assert len(await events(opened, "call.started")) == 1
        assert ops.ran == ["fixture.read"]
        assert await error_of(opened, "fixture.write", KEYED) is None
        assert ops.ran == ["fixture.read", "fixture.write"]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.name)
async def test_a_failure_is_given_again_unless_it_is_worth_retrying(tmp_path: Path, kind: type[Exception]) -> None:
    ops = FixtureOps()
    error = next(found for found in ERRORS if found is kind)
    unknown = error.name in ("OUTCOME_UNKNOWN", "CANCELLED", "DEADLINE_EXCEEDED")
    async with plane(tmp_path, operations=[ops]) as opened:
        arguments: JsonObject = {"text": error.name, "idempotency_key": "k"}
        first = await opened.conveyor.call("fixture.fail", arguments, AGENT)
        again = await opened.conveyor.call("fixture.fail", arguments, AGENT)
        assert first.error is not None
        assert again.error is not None
        assert first.error.name == error.name
        assert again.error.name == ("OUTCOME_UNKNOWN" if unknown else error.name)
        free = error.retryable and not unknown
        assert len(ops.ran) == (2 if free else 1)
        if not free and not unknown:
            assert again.meta.replayed
            assert (again.error.message, again.error.hint) == (first.error.message, first.error.hint)


async def test_a_refusal_uses_up_no_key(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "limits.max_mutations=0", operations=[ops]) as opened:
        assert await error_of(opened, "fixture.write", KEYED) == "TASK_BUDGET_EXCEEDED"
        refused = await opened.conveyor.call("fixture.write", KEYED, AGENT)
        assert refused.error is not None and refused.error.name == "TASK_BUDGET_EXCEEDED"
        more: JsonObject = {"session_id": refused.meta.session_id, "limits_delta": {"add_mutations": 5}}
        assert (await opened.conveyor.call("session.configure", more, OWNER)).error is None
        assert await error_of(opened, "fixture.write", KEYED) is None


async def test_a_result_that_was_dropped_is_gone_and_not_made_anew(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "ledger.blob_bytes=1024", operations=[ops]) as opened:
        for key in "abcdefgh":
            arguments: JsonObject = {"text": key * 200, "idempotency_key": key}
            assert await error_of(opened, "fixture.write", arguments) is None
        assert await error_of(opened, "fixture.write", {"text": "a" * 200, "idempotency_key": "a"}) == "RESULT_GONE"
        assert await error_of(opened, "fixture.write", {"text": "h" * 200, "idempotency_key": "h"}) is None
        too_large: JsonObject = {"text": "l" * 2000, "idempotency_key": "l"}
        assert await error_of(opened, "fixture.write", too_large) is None
        assert await error_of(opened, "fixture.write", too_large) == "RESULT_GONE"
        assert len(ops.ran) == 9


async def test_a_result_of_another_version_is_gone_and_not_made_anew(tmp_path: Path) -> None:
    class Other(Result):
        """What a later version answers with."""

        other: int

    class Later:
        ran = 0

        @operation("fixture.write", risk=Risk.WRITE)
        async def write(self, call: Call, request: Said) -> Other:
            """Change something and say it in another way."""
            self.ran += 1
            return Other(other=self.ran)

    later = Later()
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        assert await error_of(opened, "fixture.write", KEYED) is None
    async with plane(tmp_path, operations=[later]) as opened:
        assert await error_of(opened, "fixture.write", KEYED) == "RESULT_GONE"
        assert later.ran == 0


async def test_a_key_holds_when_the_call_is_made_as_a_stream(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "limits.max_mutations=1", operations=[ops]) as opened:
        first = await streamed(opened, "fixture.write", KEYED)
        again = await streamed(opened, "fixture.write", KEYED)
        assert first[0] == again[0] == Answered(answer="x1")
        ending = again[1]
        assert isinstance(ending, Outcome)
        assert ending.meta.replayed
        assert ops.ran == ["fixture.write"]


async def test_a_stream_with_a_key_runs_once(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        first = await streamed(opened, "fixture.stream_write", KEYED)
        assert len(first) == 2
        *items, ending = await streamed(opened, "fixture.stream_write", KEYED)
        assert isinstance(ending, Outcome) and ending.error is None and ending.meta.replayed
        assert items == first[:-1] and len(items) == 1
        assert ops.ran == ["fixture.stream_write"]
    async with plane(tmp_path, operations=[ops]) as opened:
        assert (await streamed(opened, "fixture.stream_write", KEYED))[:-1] == items
        (conflict,) = await streamed(opened, "fixture.stream_write", {**KEYED, "times": 2})
        assert isinstance(conflict, Outcome) and conflict.error is not None
        assert conflict.error.name == "IDEMPOTENCY_CONFLICT" and ops.ran == ["fixture.stream_write"]


async def test_a_stream_of_more_than_is_kept_runs_once_and_says_so(tmp_path: Path) -> None:
    ops = FixtureOps()
    arguments: JsonObject = {**KEYED, "times": 1001}
    async with plane(tmp_path, operations=[ops]) as opened:
        assert len(await streamed(opened, "fixture.stream_write", arguments)) == 1002
        (ending,) = await streamed(opened, "fixture.stream_write", arguments)
        assert isinstance(ending, Outcome) and ending.error is not None
        assert ending.error.name == "RESULT_GONE" and ops.ran == ["fixture.stream_write"]


class TestAttaching:
    ARGUMENTS: ClassVar[JsonObject] = {"text": "wait", "times": 2, "idempotency_key": "k"}

    async def test_an_equal_call_gets_the_items_from_the_first_on_while_it_runs(self, tmp_path: Path) -> None:
        ops = FixtureOps()
        async with plane(tmp_path, operations=[ops]) as opened:
            first = asyncio.create_task(streamed(opened, "fixture.stream_slow", self.ARGUMENTS))
            await ops.started.wait()
            second = opened.conveyor.stream("fixture.stream_slow", self.ARGUMENTS, AGENT)
            seen = [await anext(second), await anext(second)]
            ops.release.set()
            ending = await anext(second)
            assert isinstance(ending, Outcome) and ending.error is None and ending.meta.replayed
            assert seen == (await first)[:-1] and ops.ran == ["fixture.stream_slow"]

    async def test_another_with_the_key_and_other_arguments_is_a_conflict(self, tmp_path: Path) -> None:
        ops = FixtureOps()
        async with plane(tmp_path, operations=[ops]) as opened:
            first = asyncio.create_task(streamed(opened, "fixture.stream_slow", self.ARGUMENTS))
            await ops.started.wait()
            other = asyncio.create_task(streamed(opened, "fixture.stream_slow", {**self.ARGUMENTS, "times": 3}))
            ops.release.set()
            (ending,) = await other
            assert isinstance(ending, Outcome) and ending.error is not None
            assert ending.error.name == "IDEMPOTENCY_CONFLICT"
            await first

    async def test_an_attached_call_ends_with_the_one_that_is_cancelled(self, tmp_path: Path) -> None:
        ops = FixtureOps()
        async with plane(tmp_path, operations=[ops]) as opened:
            first = asyncio.create_task(streamed(opened, "fixture.stream_slow", self.ARGUMENTS))
            await ops.started.wait()
            second = opened.conveyor.stream("fixture.stream_slow", self.ARGUMENTS, AGENT)
            await anext(second)
            first.cancel()
            *_, ending = [item async for item in second]
            assert isinstance(ending, Outcome) and ending.error is not None and ending.error.name == "CANCELLED"
            (later,) = await streamed(opened, "fixture.stream_slow", self.ARGUMENTS)
            assert isinstance(later, Outcome) and later.error is not None
            assert later.error.name == "OUTCOME_UNKNOWN" and ops.ran == ["fixture.stream_slow"]


@pytest.mark.parametrize(
    ("text", "codes"), [("wait", ("DEADLINE_EXCEEDED", "OUTCOME_UNKNOWN")), ("fail", ("NOT_FOUND", "NOT_FOUND"))]
)
async def test_a_failed_stream_with_a_key_is_not_run_again(tmp_path: Path, text: str, codes: tuple[str, str]) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        arguments: JsonObject = {"text": text, "idempotency_key": "k"}
        for code in codes:
            ending = (await streamed(opened, "fixture.stream_write", arguments))[-1]
            assert isinstance(ending, Outcome)
            assert ending.error is not None
            assert ending.error.name == code
        assert ops.ran == ["fixture.stream_write"]


async def test_a_call_that_ended_its_own_session_is_answered_again(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        made = await opened.conveyor.call("session.create", {}, OWNER)
        assert made.meta.session_id is not None
        session_id = json.loads(made.result_json)["session_id"]
        closing: JsonObject = {"session_id": session_id, "idempotency_key": "once"}
        first = await opened.conveyor.call("session.close", closing, OWNER)
        again = await opened.conveyor.call("session.close", closing, OWNER)
        assert first.error is None and again.error is None
        assert again.meta.replayed and again.result_json == first.result_json
        other = await opened.conveyor.call("session.close", {**closing, "idempotency_key": "twice"}, OWNER)
        assert other.error is not None and other.error.name == "SESSION_CLOSED"
