"""`run_bash`: what it answers, what it records, and how it ends."""

import asyncio
from base64 import b64decode
from pathlib import Path

from codeplane.kernel.actor import Caller, Progress
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.trust.shell.command_run import RunLimits
from codeplane.trust.shell.models import OutputResult
from codeplane.trust.shell.sandbox import MARK
from tests.harness import until
from tests.interaction.requirements import requirement
from tests.trust.door import AGENT
from tests.trust.shell.shells import needs_bubblewrap, shell

pytestmark = needs_bubblewrap


@requirement("TRUST-30", "TRUST-31")
async def test_a_command_is_asked_about_and_answered(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        done = await opened.run("echo hello; echo oops >&2; touch made; pwd; exit 3", cwd="src")
        assert (done.exit_code, done.stdout, done.stderr) == (3, f"hello\n{opened.root}/src\n", "oops\n")
        assert done.unmet() == "the command exited with 3"
        assert done.text().splitlines()[1:] == ["hello", f"{opened.root}/src", "--- stderr", "oops"]
        assert (opened.root / "src" / "made").exists()
        (question,) = opened.door.person.asked
        assert question.preview.summary.startswith("run echo hello; echo oops >&2; touch made")
        # Before the question, and again before it runs.
        assessed, again = opened.door.authority.assessed
        assert again == assessed
        assert assessed.risk.name == "HIGH"
        assert opened.ingested == []


@requirement("TRUST-31")
async def test_secrets_files_that_were_empty_are_named_where_that_would_puzzle(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        for name in (".env", ".env.local", "deploy.pem", "config/.env"):
            path = opened.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("TOKEN=abcdefgh12345678\n")
        named = await opened.run("cat ./.env; echo done")
        assert (named.stdout, named.masked) == ("done\n", (".env", "config/.env"))
        printed = "[empty in the sandbox, like all secrets files that index.secrets does not show: "
        assert named.text().splitlines()[-1] == f"{printed}.env, config/.env]"
        failed = await opened.run("test -s config/*")
        assert failed.text().splitlines()[-1] == f"{printed}.env, .env.local, config/.env and 1 more]"
        assert "[empty" not in (await opened.run("echo fine")).text()


@requirement("TRUST-31")
async def test_started_output_and_finished_are_recorded_in_order(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        done = await opened.run("for i in 1 2 3; do echo out$i; echo err$i >&2; done")
        events = [event for event in await opened.door.events() if event.stream.startswith("execution/")]
        assert {event.stream for event in events} == {f"execution/{done.execution_id}"}
        kinds = [event.type for event in events]
        assert (kinds[0], kinds[-1], set(kinds[1:-1])) == ("shell.started", "shell.finished", {"shell.output"})
        assert events[0].payload["action_id"] == "act_1"
        finished = events[-1].payload
        names = ("exit_code", "timed_out", "truncated", "stdout_bytes", "stderr_bytes")
        assert [finished[name] for name in names] == [0, False, False, 15, 15]
        for stream, printed in (("STDOUT", "out1\nout2\nout3\n"), ("STDERR", "err1\nerr2\nerr3\n")):
            assert "".join(str(event.payload["chunk"]) for event in await opened.output(stream)) == printed


@requirement("TRUST-31")
async def test_offsets_are_contiguous_and_a_flood_is_bounded_and_said(tmp_path: Path) -> None:
    async with shell(tmp_path, output_kb=256) as opened:
        done = await opened.run("yes 0123456789abcdef | head -c 30000000; echo last; echo why >&2", timeout_ms=60_000)
        assert (done.exit_code, done.truncated, done.stdout_bytes) == (0, True, 30_000_005)
        assert done.stdout.endswith("last\n")
        assert done.stderr == "why\n"
        assert len(done.stdout) <= 16_384
        assert f"[… {done.stdout_cut:,} bytes before this" in done.text()
        at = 0
        for event in await opened.output("STDOUT"):
            assert event.payload["offset_bytes"] == at
            at += int(str(event.payload["bytes"]))
        assert at == 192 * 1024
        assert [event.payload["chunk"] for event in await opened.output("STDERR")] == ["why\n"]
        (finished,) = await opened.door.events("shell.finished")
        assert finished.payload["stdout_dropped"] == 30_000_005 - at


@requirement("TRUST-31")
async def test_output_that_is_not_utf8_is_told_apart(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        done = await opened.run(r"printf 'a\xff\x00b'")
        (event,) = await opened.output("STDOUT")
        assert (event.payload["utf8"], event.payload["bytes"], event.payload["chunk"]) == (False, 4, "a\\xff\0b")
        assert b64decode(str(event.payload["raw"])) == b"a\xff\x00b"
        assert done.stdout == "a\\xff\0b"
        await opened.run("printf 'h\\xc3'; sleep 0.3; printf '\\xa4'")
        _, *chunks = await opened.output("STDOUT")
        assert all(event.payload["utf8"] for event in chunks)
        assert "".join(str(event.payload["chunk"]) for event in chunks) == "hä"
        assert not any("raw" in event.payload for event in chunks)


@requirement("TRUST-31")
async def test_bytes_that_are_not_utf8_hold_no_secret_either(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        token = "ghp_" + "a1B2c3D4e5F6" * 3
        await opened.run(f"printf '\\xfe {token} \\xff\\n'")
        (event,) = await opened.output("STDOUT")
        assert b64decode(str(event.payload["raw"])) == b"\xfe [redacted] \xff\n"


@requirement("TRUST-31")
async def test_more_can_be_read_by_offset(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        done = await opened.run("seq 1 20000; echo é >&2")
        whole = "".join(f"{number}\n" for number in range(1, 20001))
        got, offset = "", 0
        for _ in range(100):
            part = await opened.door.call("shell.output", execution_id=done.execution_id, offset=offset, limit=10_000)
            assert isinstance(part.result, OutputResult)
            assert part.result.offset == offset
            got, offset = got + part.result.content, part.result.next_offset
            if not part.result.more:
                assert (part.result.exit_code, part.result.running) == (0, False)
                break
        assert got == whole
        other = await opened.door.call("shell.output", execution_id=done.execution_id, stream="stderr", offset=1)
        assert isinstance(other.result, OutputResult)
        assert (other.result.offset, other.result.content) == (0, "é\n")
        gone = await opened.door.call("shell.output", execution_id="exec_none")
        assert gone.error is not None
        assert gone.error.name == "NOT_FOUND"


@requirement("TRUST-31")
async def test_progress_is_told_while_it_runs(tmp_path: Path) -> None:
    heard: list[Progress] = []
    answer = asyncio.Event()

    async def listen(progress: Progress) -> None:
        heard.append(progress)
        answer.set()

    async with shell(tmp_path) as opened:
        caller = Caller(surface="mcp", client="agent", connection_id="c1", on_progress=listen)
        running = asyncio.create_task(
            opened.run("echo first; while [ ! -e go ]; do sleep 0.05; done; echo second", caller=caller)
        )
        await answer.wait()
        assert heard[0].message == "first"
        (opened.root / "go").touch()
        assert (await running).stdout == "first\nsecond\n"


@requirement("TRUST-32")
async def test_a_command_that_ignores_sigterm_is_ended_at_its_time(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        done = await opened.run("trap '' TERM; echo on; while :; do sleep 1; done", timeout_ms=300)
        assert (done.timed_out, done.stdout) == (True, "on\n")
        assert done.unmet() == "the command was ended: it ran longer than 0.3 s"
        assert await _left(done.execution_id) == []


@requirement("TRUST-32")
async def test_a_command_that_heeds_sigterm_can_tidy_up(tmp_path: Path) -> None:
    async with shell(tmp_path, bounds=RunLimits(grace_sec=20.0)) as opened:
        script = "trap 'echo tidied; exit 7' TERM; while :; do sleep 0.05; done"
        done = await opened.run(script, timeout_ms=2_000)
        assert (done.timed_out, done.exit_code, done.stdout) == (True, 7, "tidied\n")


@requirement("TRUST-32")
async def test_daemons_end_with_the_command(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        done = await opened.run("setsid nohup sleep 600 >/dev/null 2>&1 & (sleep 600 &) ; disown -a; echo done")
        assert (done.exit_code, done.stdout, done.timed_out) == (0, "done\n", False)
        assert await _left(done.execution_id) == []


@requirement("TRUST-32")
async def test_a_fork_bomb_is_ended(tmp_path: Path) -> None:
    async with shell(tmp_path, bounds=RunLimits(processes=60, grace_sec=0.1)) as opened:
        done = await opened.run("b() { b | b & }; b; sleep 60", timeout_ms=50_000)
        assert done.stopped == "it had more than 60 processes"
        assert await _left(done.execution_id) == []


@requirement("TRUST-32")
async def test_a_command_that_takes_all_memory_is_ended(tmp_path: Path) -> None:
    async with shell(tmp_path, bounds=RunLimits(resident_bytes=64 * 1024 * 1024, grace_sec=0.1)) as opened:
        done = await opened.run("x=$(head -c 100000000 /dev/zero | tr '\\0' x); sleep 60", timeout_ms=50_000)
        assert done.stopped == "it held more than 64 MB of memory"


@requirement("TRUST-32")
async def test_whoever_cancels_the_call_ends_the_command(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        running = asyncio.create_task(opened.run("touch began; sleep 600"))
        await asyncio.to_thread(until, lambda: (opened.root / "began").exists())
        running.cancel()
        await asyncio.wait({running})
        assert running.cancelled()
        (finished,) = await opened.door.events("shell.finished")
        assert (finished.payload["exit_code"], finished.payload["stopped"]) == (None, "it was cut off")
        assert await _left(str(finished.payload["execution_id"])) == []


@requirement("TRUST-31")
async def test_a_command_is_cancelled_by_who_started_it_or_a_person_and_nobody_else(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        running = asyncio.create_task(opened.run("sleep 600"))
        execution_id = ""
        async for event in opened.door.log.follow(EventQuery()):
            if isinstance(event, Event) and event.type == "shell.started":
                execution_id = str(event.payload["execution_id"])
                break
        other = Caller(surface="mcp", client="other", connection_id="c2")
        refused = await opened.door.call("shell.cancel", caller=other, execution_id=execution_id)
        assert refused.error is not None
        assert refused.error.name == "POLICY_DENIED"
        owner = Caller(surface="cli", client="owner", connection_id="c3")
        agreed = await opened.door.call("shell.cancel", caller=owner, execution_id=execution_id)
        assert agreed.error is None
        assert (await running).stopped == "it was cancelled"
        again = await opened.door.call("shell.cancel", caller=AGENT, execution_id=execution_id)
        assert again.result is not None
        assert again.result.text() == f"{execution_id} has ended already"


@requirement("TRUST-31")
async def test_no_more_than_allowed_run_at_once_and_the_rest_wait(tmp_path: Path) -> None:
    async with shell(tmp_path, max_running=1) as opened:
        script = "mkdir one || exit 9; sleep 0.1; rmdir one"
        done = await asyncio.gather(*(opened.run(script) for _ in range(3)))
        assert [one.exit_code for one in done] == [0, 0, 0]


async def _left(execution_id: str) -> list[str]:
    """The processes that carry the command's mark."""
    wanted, found = f"{MARK}={execution_id}".encode(), []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and wanted in (place / "environ").read_bytes().split(b"\0"):
                found.append(place.name)
        except OSError:
            continue
    return found
