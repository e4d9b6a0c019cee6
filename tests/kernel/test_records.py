"""What the ledger keeps of a call, and when it is there."""

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.call import Call, Effects, Failure
from codeplane.kernel.call_record import MAX_RECORDED_ARGUMENTS
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import StorageFull
from codeplane.kernel.event import Draft, Event, Source
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, canonical, dumps
from codeplane.kernel.operation import Budget, Result, Risk, operation
from codeplane.wiring.app import Plane
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, Answered, FixtureOps, Said, events, of_call, plane
from tests.kernel.ports import Asking, Person, exchange, ports_of


def on_disk(path: Path, call_id: str) -> list[str]:
    """The types of a call's events, as another process sees them."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = connection.execute("SELECT type FROM events WHERE call_id = ? ORDER BY position", (call_id,))
        return [kind for (kind,) in rows]
    finally:
        connection.close()


class Witness:
    """Looks at the disk from inside its own handler."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self.seen: list[str] = []

    @operation("fixture.witness", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def witness(self, call: Call, request: Said) -> Answered:
        """Look whether its intent is on disk."""
        self.seen = on_disk(self._ledger, call.call_id)
        return Answered(answer="")

    @operation("fixture.record", risk=Risk.WRITE)
    async def record(self, call: Call, request: Said) -> Answered:
        """Record facts of its own."""
        await call.record([(f"artifact/{request.text}", "artifact.made", {"name": request.text})])
        return Answered(answer="")


@requirement("DOOR-06")
async def test_the_intent_is_durable_before_the_handler_runs_and_the_outcome_before_the_answer(tmp_path: Path) -> None:
    ledger = tmp_path / ".codeplane" / "ledger.db"
    witness = Witness(ledger)
    async with plane(tmp_path, operations=[witness]) as opened:
        outcome = await opened.conveyor.call("fixture.witness", {}, AGENT)
        assert on_disk(ledger, outcome.meta.call_id) == ["call.started", "call.finished"]
        assert witness.seen == ["call.started"]


@pytest.mark.parametrize("name", ["fixture.write", "fixture.stream_write"])
async def test_the_outcome_is_durable_before_a_stream_says_how_it_ended(tmp_path: Path, name: str) -> None:
    ledger = tmp_path / ".codeplane" / "ledger.db"
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        kept: list[list[str]] = []
        call_id = ""
        items: list[Result | Outcome] = []
        async for item in opened.conveyor.stream(name, {}, AGENT):
            items.append(item)
            if not call_id:
                (started,) = await events(opened, "call.started")
                call_id = str(started.correlation.call_id)
            kept.append(on_disk(ledger, call_id))
        assert isinstance(items[-1], Outcome)
        assert kept[-1] == ["call.started", "call.finished"]
        assert kept[0] == (kept[-1] if name == "fixture.write" else ["call.started"])


@requirement("DOOR-06")
async def test_a_read_is_recorded_without_waiting(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        heard: list[str] = []

        class Log:
            def __getattr__(self, name: str) -> object:
                heard.append(name)
                return getattr(ports_of(opened).log, name)

        outcome = await exchange(opened, log=Log()).call("fixture.read", {"text": "x"}, AGENT)
        assert heard == ["append_soon"]
        (event,) = await of_call(opened, outcome)
        assert event.type == "call.finished"
        assert event.payload["arguments"] == {"text": "x"}


@requirement("DOOR-06")
@pytest.mark.parametrize(("text", "awaited"), [("x", False), ("force", True)])
async def test_work_may_wait_for_a_record_later_unless_nothing_takes_the_effect_back(
    tmp_path: Path, text: str, awaited: bool
) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        heard: list[str] = []

        class Log:
            def __getattr__(self, name: str) -> object:
                heard.append(name)
                return getattr(ports_of(opened).log, name)

        door = exchange(opened, log=Log(), authority=Asking(), approver=Person(agrees=True))
        outcome = await door.call("fixture.push", {"text": text}, replace(AGENT, record_wait="next_change"))
        assert outcome.error is None
        assert heard == ["append", "append" if awaited else "append_later"]
        recorded = [event.type for event in await of_call(opened, outcome)]
        assert recorded == ["call.started", "call.finished", "action.executed"]


async def test_a_read_waits_when_the_queue_is_half_full(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:

        class Log:
            def append_soon(self, drafts: list[Draft]) -> bool:
                return False

            def __getattr__(self, name: str) -> object:
                return getattr(ports_of(opened).log, name)

        outcome = await exchange(opened, log=Log()).call("fixture.read", {}, AGENT)
        assert outcome.error is None
        assert [event.type for event in await of_call(opened, outcome)] == ["call.finished"]


async def finished(opened: Plane, name: str, **arguments: object) -> Event:
    outcome = await opened.conveyor.call(name, arguments, AGENT)  # type: ignore[arg-type]  # plain JSON
    (event,) = [event for event in await of_call(opened, outcome) if event.type == "call.finished"]
    return event


async def test_what_an_outcome_holds(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    async with plane(repo, operations=[FixtureOps()]) as opened:
        head = git(repo, "rev-parse", "HEAD").strip()
        event = await finished(opened, "fixture.write", text="t", paths=["a", "b"])
        payload = event.payload
        assert event.source is Source.TOOL_EXECUTOR
        assert event.actor == "agent:agent"
        assert event.correlation.task_id is not None
        assert event.correlation.session_id is not None
        assert payload["operation"] == "fixture.write"
        assert payload["status"] == "ok"
        assert payload["executed"] is True
        assert payload["budget"] == "mutation"
        assert payload["arguments_hash"] == digest(canonical({"text": "t", "paths": ["a", "b"]}))
        assert "arguments" not in payload
        assert payload["result_hash"] == digest(b'{"answer":"t1"}')
        assert payload["result_bytes"] == len(b'{"answer":"t1"}')
        assert payload["changed_paths"] == ["a", "b"]
        assert payload["diff_stats"] == {"files_changed": 2, "insertions": 1, "deletions": 0}
        assert payload["commit_before"] == payload["commit_after"] == head
        assert payload["repo_before"] == payload["repo_after"]
        assert isinstance(payload["mutation_fingerprint"], str)
        failed = (await finished(opened, "fixture.test", text="boom", paths=["test_x"])).payload
        assert failed["status"] == "ok"
        assert failed["failure_class"] == "AssertionError"
        assert failed["failing_tests"] == ["test_x"]


async def test_long_arguments_of_a_read_are_only_counted(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        for text in ("x" * MAX_RECORDED_ARGUMENTS, "ü" * (MAX_RECORDED_ARGUMENTS // 2)):
            payload = (await finished(opened, "fixture.read", text=text)).payload
            assert "arguments" not in payload
            assert payload["arguments_bytes"] == len(dumps({"text": text}).encode())
        assert "arguments" in (await finished(opened, "fixture.read", text="x" * 1000)).payload


class Large:
    """Changes more than any event can hold."""

    @operation("fixture.large", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def large(self, call: Call, request: Said) -> Answered:
        """Change very many files with very long names that are not even text."""
        call.report_change(
            Effects(
                changed_paths=tuple(f"{number}/{'ü' * 3000}\udcff" for number in range(5000)),
                short_diff=("x" * 100_000,) * 200,
            )
        )
        call.report_failure(Failure(kind="K" * 10_000, failing_tests=tuple(f"t{n}" + "y" * 5000 for n in range(500))))
        return Answered(answer="")


async def test_an_outcome_is_never_too_large_to_be_recorded(tmp_path: Path) -> None:
    async with plane(tmp_path, "ledger.max_payload_bytes=131072", operations=[Large()]) as opened:
        outcome = await opened.conveyor.call("fixture.large", {}, AGENT)
        assert outcome.error is None
        event = (await of_call(opened, outcome))[-1]
        assert event.type == "call.finished"
        assert len(dumps(event.payload).encode()) < 131_072
        paths, stats = event.payload["changed_paths"], event.payload["diff_stats"]
        assert isinstance(paths, list)
        assert isinstance(stats, dict)
        assert 0 < len(paths) < 1000
        assert stats["files_changed"] == 5000


async def test_a_crash_is_internal_with_its_cause_and_recorded(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        outcome = await opened.conveyor.call("fixture.crash", {}, AGENT)
        assert outcome.error is not None
        wire = outcome.error.to_wire()
        assert wire["error"] == "INTERNAL"
        assert wire["message"] == "fixture.crash failed: ValueError: outer"
        assert wire["causes"] == [
            {"error": "ValueError", "message": "outer"},
            {"error": "KeyError", "message": "'inner'"},
        ]
        event = (await of_call(opened, outcome))[-1]
        assert event.payload["status"] == "INTERNAL"
        assert event.payload["failure_class"] == "ValueError"
        assert isinstance(event.payload["failure_fingerprint"], str)


async def test_a_crash_whose_words_are_not_text_is_recorded_all_the_same(tmp_path: Path) -> None:
    class Odd:
        @operation("fixture.odd", risk=Risk.WRITE)
        async def odd(self, call: Call, request: Said) -> Answered:
            """Break over a file name."""
            raise OSError("no file \udcff")

    async with plane(tmp_path, operations=[Odd()]) as opened:
        outcome = await opened.conveyor.call("fixture.odd", {}, AGENT)
        assert outcome.error is not None
        assert outcome.error.name == "INTERNAL"
        assert outcome.to_json().encode()
        assert [event.type for event in await of_call(opened, outcome)] == ["call.started", "call.finished"]


async def test_a_result_that_cannot_be_written_is_a_crash_and_recorded(tmp_path: Path) -> None:
    class Odd:
        @operation("fixture.odd", risk=Risk.WRITE)
        async def odd(self, call: Call, request: Said) -> Answered:
            """Answer with half a character."""
            return Answered(answer="\ud800")

    async with plane(tmp_path, operations=[Odd()]) as opened:
        outcome = await opened.conveyor.call("fixture.odd", {}, AGENT)
        assert outcome.error is not None
        assert outcome.error.name == "INTERNAL"
        assert [event.type for event in await of_call(opened, outcome)] == ["call.started", "call.finished"]


async def test_facts_of_a_handlers_own_belong_to_its_call(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[Witness(tmp_path)]) as opened:
        outcome = await opened.conveyor.call("fixture.record", {"text": "x"}, AGENT)
        (event,) = await opened.log.read(stream="artifact/x")
        assert event.correlation.call_id == outcome.meta.call_id
        assert event.correlation.task_id == outcome.meta.task_id
        assert (event.type, event.actor, event.payload) == ("artifact.made", "agent:agent", {"name": "x"})


class Losing:
    """A log whose disk fills up after so many appends."""

    def __init__(self, log: object, appends: int) -> None:
        self._log = log
        self._left = appends

    async def append(self, drafts: list[Draft]) -> object:
        self._left -= 1
        if self._left < 0:
            raise StorageFull("no space")
        return await self._log.append(drafts)  # type: ignore[attr-defined]  # the real log

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)


async def test_an_intent_that_cannot_be_written_keeps_the_handler_from_running(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        conveyor = exchange(opened, log=Losing(opened.log, 0))
        outcome = await conveyor.call("fixture.write", {"idempotency_key": "k"}, AGENT)
        assert outcome.error is not None
        assert outcome.error.name == "STORAGE_FULL"
        assert ops.ran == []
        # Nothing was done, so the key is free.
        assert (await opened.conveyor.call("fixture.write", {"idempotency_key": "k"}, AGENT)).error is None


async def test_an_outcome_that_cannot_be_written_is_not_said_to_be_known(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        conveyor = exchange(opened, log=Losing(opened.log, 1))
        outcome = await conveyor.call("fixture.write", {"idempotency_key": "k"}, AGENT)
        assert outcome.error is not None
        wire = outcome.error.to_wire()
        assert wire["error"] == "OUTCOME_UNKNOWN"
        assert wire["retryable"] is False
        assert wire["details"] == {"executed": True}
        assert wire["causes"] == [{"error": "STORAGE_FULL", "message": "no space"}]
        assert outcome.result is None
        again = await opened.conveyor.call("fixture.write", {"idempotency_key": "k"}, AGENT)
        assert again.error is not None
        assert again.error.name == "OUTCOME_UNKNOWN"
        assert len(ops.ran) == 1


class Full(Losing):
    """A log whose disk has room again when it is said to."""

    def make_room(self) -> None:
        self._left = 1000

    def append_soon(self, drafts: list[Draft]) -> bool:
        return self._left > 0 and bool(self._log.append_soon(drafts))  # type: ignore[attr-defined]  # the real log


@requirement("DOOR-06")
@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_an_outcome_that_could_not_be_written_is_written_when_there_is_room(
    tmp_path: Path, is_cancelled: bool
) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        conveyor = exchange(opened, log=(log := Full(opened.log, 1)))
        name = "fixture.slow" if is_cancelled else "fixture.write"
        running = asyncio.ensure_future(conveyor.call(name, {"idempotency_key": "k"}, AGENT))
        if is_cancelled:
            await ops.started.wait()
            running.cancel()
        await asyncio.wait({running})
        with pytest.raises(StorageFull):
            await conveyor.sweep()
        log.make_room()
        (call_id,) = {event.correlation.call_id for event in await events(opened, "call.started")}
        assert call_id is not None
        ledger = tmp_path / ".codeplane" / "ledger.db"
        assert on_disk(ledger, call_id) == ["call.started"]
        for _ in range(2):
            await conveyor.sweep()
            assert on_disk(ledger, call_id) == ["call.started", "call.finished"]
        assert await opened.log.select("SELECT call_id FROM operations WHERE status = 'running'") == []


async def test_a_refusal_stays_what_it_was_when_it_cannot_be_recorded(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:

        class Full(Losing):
            def append_soon(self, drafts: list[Draft]) -> bool:
                return False

        conveyor = exchange(opened, log=Full(opened.log, 0))
        for name, arguments, code in (
            ("fixture.read", {"txet": 1}, "INVALID_ARGUMENT"),
            ("fixture.destroy", {}, "APPROVAL_PENDING"),
            ("fixture.read", {}, "STORAGE_FULL"),
        ):
            outcome = await conveyor.call(name, arguments, AGENT)
            assert outcome.error is not None
            assert outcome.error.name == code


async def test_a_call_after_the_log_is_closed_is_an_outcome_too(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await opened.conveyor.call("fixture.read", {}, AGENT)
        await asyncio.to_thread(opened.log.close)
        for name in ("fixture.read", "fixture.write"):
            outcome = await opened.conveyor.call(name, {}, AGENT)
            assert outcome.error is not None
            assert outcome.error.name == "SHUTTING_DOWN"
        opened.sessions._by_id.clear()  # nothing can be closed in a log that is closed


async def test_every_call_has_exactly_one_outcome(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        wanted: list[tuple[str, JsonObject]] = [
            ("fixture.read", {}),
            ("fixture.write", {"idempotency_key": "k"}),
            ("fixture.fail", {"text": "NOT_FOUND"}),
            ("fixture.crash", {}),
            ("fixture.short", {}),
            ("fixture.destroy", {}),
            ("fixture.stream", {"times": 3}),
            ("fixture.stream", {"text": "crash"}),
        ]
        for name, arguments in wanted * 3:
            items: list[Result | Outcome] = [i async for i in opened.conveyor.stream(name, arguments, AGENT)]
            assert isinstance(items[-1], Outcome)
        endings = await events(opened, "call.finished", "call.replayed")
        assert len(endings) == len({event.correlation.call_id for event in endings}) == len(wanted) * 3
        counted = await opened.log.select("SELECT calls, failures, mutation_count FROM tasks")
        # Twice the write was answered from before: it counts once.
        assert counted == [(22, 15, 10)]
