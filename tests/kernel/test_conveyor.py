"""The door: every call passes the same stages in the same order, and a refusal keeps the handler from running."""

import asyncio
import math
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller, Progress
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Request, Result
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, Answered, FixtureOps, ManualClock, Said, events, of_call, plane
from tests.kernel.ports import Asking, Broken, Person, exchange, overhear

EARS = ("identity", "tasks", "authority", "idempotency", "approver", "log", "observer")


async def through(opened: Plane, surface: str, name: str, arguments: JsonObject, caller: Caller) -> Outcome:
    """The outcome of a call, made either way."""
    if surface == "call":
        return await opened.conveyor.call(name, arguments, caller)
    return await last(opened, name, arguments, caller)


async def last(opened: Plane, name: str, arguments: JsonObject, caller: Caller) -> Outcome:
    items = [item async for item in opened.conveyor.stream(name, arguments, caller)]
    assert isinstance(items[-1], Outcome)
    return items[-1]


@requirement("DOOR-01")
async def test_a_mutation_passes_all_stages_in_order(tmp_path: Path) -> None:
    heard: list[str] = []
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        person = Person(agrees=True)
        conveyor = overhear(opened, heard, only=EARS, authority=Asking(), approver=person)
        arguments: JsonObject = {"text": "x", "paths": ["a.txt"], "idempotency_key": "k"}
        outcome = await conveyor.call("fixture.push", arguments, AGENT)
        assert outcome.error is None
        assert [preview and preview.summary for preview in person.shown] == ["push x"]
    assert heard == [
        "identity.identify",
        "tasks.enter",
        "approver.recall",
        "authority.decide",
        "idempotency.claim",
        "approver.approve",
        "identity.identify",
        "authority.decide",
        "approver.confirm",
        "tasks.charge",
        "log.append",
        "tasks.settle",
        "log.append",
        "observer.call_finished",
    ]
    assert ops.ran == ["fixture.push"]


@requirement("DOOR-01")
@pytest.mark.parametrize("name", ["fixture.stream", "fixture.read"])
async def test_a_stream_passes_the_same_stages(tmp_path: Path, name: str) -> None:
    heard: list[str] = []
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        conveyor = overhear(opened, heard, only=EARS, approver=Person(agrees=True))
        items: list[Result | Outcome] = [item async for item in conveyor.stream(name, {}, AGENT)]
        assert isinstance(items[0], Answered)
        assert isinstance(items[1], Outcome)
        assert len(items) == 2
    assert heard == [
        "identity.identify",
        "tasks.enter",
        "authority.decide",
        "tasks.charge",
        "tasks.settle",
        "log.append_soon",
        "observer.call_finished",
    ]


REFUSALS: list[tuple[str, JsonObject, Caller, str]] = [
    ("fixture.raed", {}, AGENT, "UNKNOWN_OPERATION"),
    ("fixture.write", {"txet": 1}, AGENT, "INVALID_ARGUMENT"),
    ("fixture.write", {"text": "\ud800"}, AGENT, "MALFORMED_REQUEST"),
    ("fixture.write", {"times": math.nan}, AGENT, "MALFORMED_REQUEST"),
    ("fixture.write", {"idempotency_key": "\ud800"}, AGENT, "MALFORMED_REQUEST"),
    ("fixture.write", {"session_id": "\ud800"}, AGENT, "MALFORMED_REQUEST"),
    ("fixture.write", {"idempotency_key": ""}, AGENT, "INVALID_ARGUMENT"),
    ("fixture.write", {"idempotency_key": "k" * 201}, AGENT, "INVALID_ARGUMENT"),
    ("fixture.write", {"idempotency_key": 7}, AGENT, "INVALID_ARGUMENT"),
    ("fixture.write", {}, Caller(surface="connect"), "UNAUTHORIZED"),
    ("fixture.write", {}, Caller(surface="connect", token="wrong"), "UNAUTHORIZED"),
    ("fixture.write", {"session_id": "sess_none"}, AGENT, "SESSION_NOT_FOUND"),
    ("fixture.destroy", {}, AGENT, "APPROVAL_PENDING"),
    ("fixture.shell", {}, AGENT, "APPROVAL_PENDING"),
    ("fixture.send", {}, AGENT, "APPROVAL_PENDING"),
    ("fixture.push", {"text": "force"}, AGENT, "APPROVAL_PENDING"),
    ("fixture.push", {"paths": [".git/config"]}, AGENT, "PATH_DENIED"),
    ("fixture.push", {"text": "broken"}, AGENT, "INTERNAL"),
    ("fixture.misdeclared", {}, AGENT, "INTERNAL"),
]


@requirement("DOOR-02")
@pytest.mark.parametrize("surface", ["call", "stream"])
@pytest.mark.parametrize(("name", "arguments", "caller", "code"), REFUSALS, ids=[f"{r[0]}-{r[3]}" for r in REFUSALS])
async def test_a_refusal_is_recorded_and_nothing_runs(
    tmp_path: Path, surface: str, name: str, arguments: JsonObject, caller: Caller, code: str
) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        outcome = await through(opened, surface, name, arguments, caller)
        assert outcome.error is not None
        assert outcome.error.name == code
        assert outcome.result is None
        assert ops.ran == []
        event = (await of_call(opened, outcome))[-1]
        assert event.payload["status"] == code
        if event.type == "call.finished":
            assert event.payload["executed"] is False
            assert event.stream == f"task/{outcome.meta.task_id}"
        else:
            assert (event.type, event.stream) == ("call.refused", "audit")
            # Whoever is known is named, also where nothing could be run.
            assert (event.actor == "system:unidentified") is (code == "UNAUTHORIZED")
        assert await opened.log.select("SELECT 1 FROM operations WHERE status = 'running'") == []


async def test_the_same_calls_run_when_nothing_is_in_the_way(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "trust.mode=automatic", operations=[ops]) as opened:
        for name, arguments in (
            ("fixture.write", {"idempotency_key": "k" * 200}),
            ("fixture.destroy", {}),
            ("fixture.send", {}),
            ("fixture.push", {"text": "force", "paths": ["src/git/config"]}),
        ):
            assert (await opened.conveyor.call(name, arguments, AGENT)).error is None
        assert len(ops.ran) == 4


def nested(depth: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(depth):
        value = [value]
    return value


async def test_arguments_nested_too_deep_are_malformed(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        outcome = await opened.conveyor.call("fixture.read", {"text": nested(100_000)}, AGENT)
        assert outcome.error is not None
        assert outcome.error.name == "MALFORMED_REQUEST"
        outcome = await opened.conveyor.call("fixture.read", {"text": nested(10)}, AGENT)
        assert outcome.error is not None
        assert outcome.error.name == "INVALID_ARGUMENT"


async def test_a_call_cannot_take_a_stream_and_costs_nothing(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        outcome = await opened.conveyor.call("fixture.stream_write", {}, AGENT)
        assert outcome.error is not None
        assert outcome.error.name == "INVALID_ARGUMENT"
        assert "--follow" in outcome.error.hint
        assert ops.ran == []
        assert await events(opened, "call.started") == []


@requirement("DOOR-08")
@pytest.mark.parametrize("agrees", [True, False])
async def test_a_person_decides_after_seeing_the_preview(tmp_path: Path, agrees: bool) -> None:
    ops, person = FixtureOps(), Person(agrees=agrees)
    async with plane(tmp_path, operations=[ops]) as opened:
        conveyor = exchange(opened, authority=Asking(), approver=person)
        outcome = await conveyor.call("fixture.push", {"text": "x"}, AGENT)
        assert (outcome.error is None) is agrees
        assert ops.ran == (["fixture.push"] if agrees else [])
        assert len(person.shown) == 1
        assert (await events(opened, "call.started") != []) is agrees


@requirement("DOOR-08")
async def test_where_nobody_can_be_asked_it_is_a_no(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        outcome = await exchange(opened, authority=Asking(), approver=None).call("fixture.read", {}, OWNER)
        assert outcome.error is not None
        assert outcome.error.name == "POLICY_DENIED"
        assert outcome.error.details["reasons"] == ["somebody should look at this"]
        assert ops.ran == []


@requirement("DOOR-02")
async def test_an_error_in_the_policy_denies(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        conveyor = exchange(opened, authority=Broken())
        for name in ("fixture.read", "fixture.write"):
            outcome = await conveyor.call(name, {}, OWNER)
            assert outcome.error is not None
            assert outcome.error.name == "INTERNAL"
        assert ops.ran == []


async def test_a_handler_asks_for_paths_it_learns_of(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        refused = await opened.conveyor.call("fixture.plan", {"paths": ["ok.txt", ".codeplane/config.yaml"]}, OWNER)
        assert refused.error is not None
        assert refused.error.name == "PATH_DENIED"
        assert ops.ran == []
        allowed = await opened.conveyor.call("fixture.plan", {"paths": ["ok.txt"]}, OWNER)
        assert allowed.error is None


async def test_what_reaches_other_machines_always_has_a_key(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "trust.allow=[fixture.send]", operations=[ops]) as opened:
        first = await opened.conveyor.call("fixture.send", {}, AGENT)
        key = first.meta.idempotency_key
        assert key is not None
        again = await opened.conveyor.call("fixture.send", {"idempotency_key": key}, AGENT)
        assert again.meta.replayed
        assert again.result_json == first.result_json
        assert len(ops.ran) == 1
        assert (await opened.conveyor.call("fixture.write", {}, AGENT)).meta.idempotency_key is None


async def test_the_answer_says_which_call_and_task_it_belongs_to(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, operations=[FixtureOps()], clock=clock) as opened:
        caller = Caller(surface="mcp", client="agent", request_id="r-7")
        outcome = await opened.conveyor.call("fixture.old", {"text": "x"}, caller)
        meta = outcome.meta
        assert outcome.result == Answered(answer="x1")
        assert outcome.result_json == '{"answer":"x1"}'
        assert meta.request_id == "r-7"
        assert meta.timestamp_ms == clock.now_ns() // 1_000_000
        assert meta.task_state == "OPEN"
        assert meta.session_id is not None
        assert meta.warnings == ("it is getting late", "fixture_old is deprecated: use fixture_read")


async def test_progress_reaches_the_caller(tmp_path: Path) -> None:
    seen: list[Progress] = []

    async def listen(progress: Progress) -> None:
        seen.append(progress)

    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        arguments: JsonObject = {"times": 2, "text": "busy"}
        for caller in (OWNER, Caller(surface="embedded", on_progress=listen)):
            assert (await opened.conveyor.call("fixture.progress", arguments, caller)).error is None
    assert seen == [Progress(done=0, total=2, message="busy"), Progress(done=1, total=2, message="busy")]


async def test_a_server_that_ends_takes_no_new_calls_and_waits_for_the_old(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        under_way = asyncio.ensure_future(opened.conveyor.call("fixture.slow", {"text": "x"}, AGENT))
        await ops.started.wait()
        assert opened.conveyor.running == 1
        assert await opened.conveyor.drain(0.01) == 1
        for surface in ("call", "stream"):
            refused = await through(opened, surface, "fixture.read", {}, AGENT)
            assert refused.error is not None
            assert refused.error.name == "SHUTTING_DOWN"
            assert refused.error.retryable
        draining = asyncio.ensure_future(opened.conveyor.drain(30))
        ops.release.set()
        assert await draining == 0
        assert (await under_way).error is None


@requirement("DOOR-01")
async def test_a_request_that_a_part_of_the_process_made_is_recorded_as_its_arguments_would_be(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        plain = await opened.conveyor.call("fixture.read", {"text": "hi"}, AGENT)
        whole = await opened.conveyor.call("fixture.read", Said(text="hi"), AGENT)
        assert (plain.error, whole.error) == (None, None)
        records = [(await of_call(opened, outcome))[-1].payload for outcome in (plain, whole)]
        for name in ("arguments", "arguments_hash", "operation", "status"):
            assert records[0][name] == records[1][name]
        wrong = await opened.conveyor.call("fixture.read", Request(), AGENT)
        assert wrong.error is not None and wrong.error.name == "INTERNAL"
