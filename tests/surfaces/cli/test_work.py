"""`cpl work`: start, list, show, watch, cancel and resume, for people and programs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement

pytestmark = requirement("WORK-05")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that runs work."""
    running = start(make_repo(tmp_path_factory.mktemp("work") / "repo", {"a.txt": "x\n"}))
    yield running
    running.stop()


def run(server: Server, *arguments: str, code: int = 0) -> str:
    done = cpl("work", *arguments, cwd=server.repo)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout


def result(server: Server, *arguments: str) -> JsonObject:
    envelope = json.loads(run(server, *arguments, "--json"))
    found: JsonObject = envelope["result"]
    return found


def test_steps_are_started_watched_and_shown(server: Server) -> None:
    steps = ["status", 'read_files {"paths": ["a.txt"]}']
    work_id = str(result(server, "start", *steps, "--title", "look around")["work_id"])
    watched = run(server, "watch", work_id).splitlines()
    assert [line.split()[1] for line in watched] == ["created", "leased", "stepped", "stepped", "completed"]
    events = [json.loads(line) for line in run(server, "watch", work_id[-8:], "--json").splitlines()]
    assert [event["sequence"] for event in events] == [1, 2, 3, 4, 5]
    shown = run(server, "show", work_id)
    assert "COMPLETED, 2 of 2 steps look around" in shown and "✓ 2. read_files" in shown
    assert work_id in run(server) and work_id in run(server, "list", "--state", "completed")
    assert work_id not in run(server, "list", "--state", "failed")


def test_a_file_holds_the_steps_or_the_whole_request(server: Server, tmp_path: Path) -> None:
    steps: list[JsonObject] = [{"operation": "status"}, {"operation": "status"}]
    for number, document in enumerate((steps, {"steps": steps, "title": "from a file", "max_steps": 1})):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(document))
        started = result(server, "start", str(file))
        assert started["steps_total"] == 2
    assert started["title"] == "from a file" and started["max_steps"] == 1


def test_limits_are_raised_and_work_is_cancelled(server: Server) -> None:
    work_id = str(result(server, "start", "status", "status", "--max-steps", "1")["work_id"])
    until_state(server, work_id, "WAITING")
    resumed = result(server, "resume", work_id, "--max-steps", "5")
    assert resumed["max_steps"] == 5
    assert "completed" in run(server, "watch", work_id)
    waiting = str(result(server, "start", "status", "status", "--max-steps", "1")["work_id"])
    until_state(server, waiting, "WAITING")
    assert "CANCELLED" in run(server, "cancel", waiting, "--reason", "enough")
    assert "cancelled enough" in run(server, "watch", waiting, code=1)


def until_state(server: Server, work_id: str, state: str) -> None:
    """Follow the item until it is in the state."""
    for item in server.client().stream("work.watch", {"work_id": work_id, "heartbeat_sec": 60}):
        shown = server.call("work.show", work_id=work_id)["result"]
        assert "event" in item and isinstance(shown, dict)
        if shown["state"] == state:
            return


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("start", "status {oops"), "the arguments of status are not JSON"),
        (("start", "no.such"), "step 1"),
        (("show", "wrk_nothing"), "wrk_nothing"),
        (("watch", "wrk_nothing"), "wrk_nothing"),
        (("cancel", "wrk_nothing"), "wrk_nothing"),
    ],
)
def test_bad_input_says_what_is_wrong(server: Server, arguments: tuple[str, ...], said: str) -> None:
    done = cpl("work", *arguments, cwd=server.repo)
    assert done.returncode in (1, 2) and done.stdout == ""
    assert done.stderr.startswith("error:") and "hint:" in done.stderr and said in done.stderr


def test_a_file_without_steps_is_refused(server: Server, tmp_path: Path) -> None:
    for text, said in (("3", "holds neither"), ("{", "is not JSON")):
        file = tmp_path / "steps.json"
        file.write_text(text)
        done = cpl("work", "start", str(file), cwd=server.repo)
        assert done.returncode == 2 and said in done.stderr
