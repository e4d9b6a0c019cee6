"""`cpl log`: the ledger, for people and programs."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import CPL, PATIENCE_SEC, Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import call, get_field

MANY = 600


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose log is longer than a page."""
    running = start(make_repo(tmp_path_factory.mktemp("full") / "repo"))
    client = running.client()
    for number in range(MANY):
        client.call("session.create", {"description": f"task {number}"})
    call(running, "ledger.verify")  # returns when everything said so far is written
    yield running
    running.stop()


def log(repo: Path, *arguments: str) -> list[JsonObject]:
    done = cpl("log", "--json", *arguments, cwd=repo)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def positions(events: list[JsonObject]) -> list[int]:
    return [int(str(event["position"])) for event in events]


class TestReading:
    def test_all_of_a_log_longer_than_a_page(self, full: Server) -> None:
        events = log(full.repo, "--all")
        assert len(events) > 1000
        assert positions(events) == list(range(1, len(events) + 1))

    def test_fifty_newest_unless_told_oldest_first(self, full: Server) -> None:
        found = positions(log(full.repo))
        assert len(found) == 50
        assert found == sorted(found)
        assert found[-1] > 1000

    @pytest.mark.parametrize("many", [1, 7, 1100])
    def test_as_many_as_wanted_also_more_than_a_page(self, full: Server, many: int) -> None:
        found = positions(log(full.repo, "-n", str(many)))
        assert found == list(range(found[0], found[0] + many))
        assert found[-1] > 1000

    def test_from_a_position_on_everything_or_the_newest(self, full: Server) -> None:
        found = positions(log(full.repo, "--after", "40"))
        assert found[0] == 41 and len(found) > 1000
        assert positions(log(full.repo, "--after", "40", "-n", "3"))[-1] > 1000
        assert log(full.repo, "--after", str(10**9)) == []

    @requirement("CLI-05")
    def test_filters(self, full: Server) -> None:
        created = call(full, "session.create", {"description": "the one"})
        call(full, "ledger.verify")
        task, session = str(get_field(created.result, "task", "task_id")), str(created.result["session_id"])
        assert {event["task_id"] for event in log(full.repo, "--task", task)} == {task}
        assert {event["session_id"] for event in log(full.repo, "--session", session)} == {session}
        assert {event["call_id"] for event in log(full.repo, "--call", str(created.meta["call_id"]))} == {
            created.meta["call_id"]
        }
        assert {event["stream"] for event in log(full.repo, "--stream", f"task/{task}")} == {f"task/{task}"}
        assert all(str(event["stream"]).startswith("session/") for event in log(full.repo, "--stream", "session/*"))
        kinds = {event["type"] for event in log(full.repo, "--type", "task.opened", "--type", "session.opened")}
        assert kinds == {"task.opened", "session.opened"}
        assert log(full.repo, "--task", "none") == []

    def test_lines_for_people(self, full: Server) -> None:
        done = cpl("log", "-n", "5", "--type", "call.finished", cwd=full.repo)
        lines = done.stdout.splitlines()
        assert len(lines) == 5
        for line in lines:
            assert line.split()[2] == "call.finished"
            assert "Z " in line

    def test_an_error_is_one_for_people_and_programs(self, full: Server) -> None:
        done = cpl("log", "--after", "-5", "--json", cwd=full.repo)
        assert done.returncode == 1
        assert json.loads(done.stdout)["error"]["error"] == "INVALID_ARGUMENT"
        assert "hint: " in done.stderr


class TestFollowing:
    @requirement("CLI-05")
    @pytest.mark.parametrize("flags", [(), ("--json",)], ids=["text", "json"])
    def test_what_happens_next_is_printed_at_once(self, full: Server, flags: tuple[str, ...]) -> None:
        with _following(full, "-n", "1", "--type", "task.opened", *flags) as process:
            assert process.stdout is not None
            before = process.stdout.readline()
            call(full, "session.create", {"description": "just now"})
            after = process.stdout.readline()
            assert before != after
            assert b"task.opened" in after
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 130

    def test_one_stream_from_the_middle(self, full: Server) -> None:
        session = call(full, "session.create").result
        stream = f"task/{get_field(session, 'task', 'task_id')}"
        with _following(full, "--stream", stream, "--json", "-n", "1") as process:
            assert process.stdout is not None
            first = json.loads(process.stdout.readline())["sequence"]
            call(full, "session.info", {"session_id": session["session_id"]})
            following = [json.loads(process.stdout.readline())["sequence"] for _ in range(1)]
            assert following == [first + 1]
            process.kill()

    def test_the_end_of_the_server_is_the_end(self, repo: Path) -> None:
        server = start(repo)
        with _following(server, "--json") as process:
            assert process.stdout is not None
            process.stdout.readline()
            # What happens after what was there is printed by the stream, which is open by then.
            opened = f"session/{call(server, 'session.create').result['session_id']}"
            while json.loads(process.stdout.readline())["stream"] != opened:
                pass
            server.process.send_signal(signal.SIGTERM)
            assert process.stderr is not None
            ended, errors = process.wait(timeout=PATIENCE_SEC), process.stderr.read().decode()
            # Both say why where the stream was cut instead.
            assert ended == 1 and "(SHUTTING_DOWN)" in errors, (ended, errors, server.workspace.log.read_text()[-2000:])
        assert server.process.wait(timeout=30) == 0

        # And without one, the log is there but does not grow: several pages would be read the same way.
        assert log(repo, "--all", "--type", "session.opened")
        done = cpl("log", "--follow", cwd=repo)
        assert done.returncode == 3
        assert "hint: start it: cpl up --detach" in done.stderr


def test_a_long_log_without_a_server(full: Server) -> None:
    """Pages follow each other also when there is no server that remembers cursors."""
    full.stop()
    events = log(full.repo, "--all")
    assert len(events) > 1000
    assert positions(events) == list(range(1, len(events) + 1))


@contextmanager
def _following(server: Server, *arguments: str) -> "Iterator[subprocess.Popen[bytes]]":
    with subprocess.Popen(
        [CPL, "log", "--follow", *arguments], cwd=server.repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            # A test that fails must not wait for what never ends by itself.
            process.kill()
