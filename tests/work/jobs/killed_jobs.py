"""Jobs whose server is killed again and again, and what has to hold of them in the end."""

import random
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.owner_client import OwnerClient
from tests.harness import make_repo, start, until
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ReceivedRequest,
    answer,
    openai_text,
    openai_tool,
    scripted_provider,
)

_GOAL = re.compile(r"^(read|edit) (\d+)$")
_WINDOW_SEC = 1.2
_PAUSE_SEC = 0.002
_FILE = "lines.txt"
# What a call on a server that is being killed may end with.
_CUT = (OSError, HTTPException, CodePlaneError)
_ENDED = ("JOB_COMPLETED", "JOB_FAILED", "JOB_CANCELLED")


@dataclass
class Tally:
    """What was seen."""

    kills: int = 0
    jobs: int = 0
    resumed: int = 0
    most_running: int = 0


def besiege(folder: Path, *, jobs: int, edits: int, kills: int, seed: int, window_sec: float = _WINDOW_SEC) -> Tally:
    """Queue jobs, of which some edit a file in their own work tree, kill the server at random moments, and check that
    every job has ended once and every edit was made once."""
    chance, tally = random.Random(seed), Tally(jobs=jobs)
    repo, trees = make_repo(folder / "shop", {_FILE: "start\n"}), folder / "trees"
    goals = [f"{'edit' if number < edits else 'read'} {number}" for number in range(jobs)]
    with scripted_provider(decide=_decide) as provider:
        overrides = (
            *(
                providers(openai("local", provider.url, calls_per_minute=0)),
                "models.default=local/small",
                f"jobs.trees={trees}",
            ),
            # One more than there are jobs.
            f"work.max_queued={jobs + 1}",
        )
        server = start(repo, overrides=overrides)
        client, created = server.client(), 0
        try:
            for _ in range(kills):
                deadline = threading.Timer(chance.random() * window_sec, server.process.kill)
                deadline.start()
                with suppress(*_CUT):
                    while True:
                        if created < jobs:
                            created = _create(client, goals, created)
                        else:
                            _count_running(client, tally)
                deadline.join()
                server.kill()
                tally.kills += 1
                server = start(repo, overrides=overrides)
                client = server.client()
            while created < jobs:
                created = _create(client, goals, created)
            until(lambda: _count_unfinished(client, tally) == 0, sec=1200)
            _check(client, goals, tally)
            _check_edits(client, goals[:edits], trees)
            verified = client.call("ledger.verify", {})["result"]
            assert isinstance(verified, dict) and verified["ok"], verified
        finally:
            server.stop()
    return tally


def _decide(request: ReceivedRequest) -> Act:
    """The next answer, by the goal and by how many tools have answered."""
    messages = request.body["messages"]
    assert isinstance(messages, list)
    answered, asked = 0, ""
    for message in reversed(messages):
        assert isinstance(message, dict)
        if message["role"] == "user":
            asked = str(message["content"])
            break
        answered += message["role"] == "tool"
    match = _GOAL.match(asked)
    assert match is not None, asked
    calls = _calls(match[1], int(match[2]))
    if answered == len(calls):
        return answer(openai_text("All ", "is ", f"done with {asked}."), pause_sec=_PAUSE_SEC)
    name, arguments = calls[answered]
    return answer(openai_tool(f"call_{answered}", name, arguments), pause_sec=_PAUSE_SEC)


def _calls(kind: str, number: int) -> list[tuple[str, JsonObject]]:
    read: tuple[str, JsonObject] = ("read_files", {"paths": [_FILE]})
    if kind == "read":
        return [read]
    first, second = _line(number, 0), _line(number, 1)
    return [
        read,
        ("write_files", {"edits": [{"path": _FILE, "old_text": "start\n", "new_text": f"start\n{first}"}]}),
        ("write_files", {"edits": [{"path": _FILE, "old_text": first, "new_text": f"{first}{second}"}]}),
    ]


def _line(number: int, part: int) -> str:
    return f"line {number}.{part}\n"


def _create(client: OwnerClient, goals: list[str], number: int) -> int:
    """Create a job; sent again after a cut, it is the same one."""
    asked: JsonObject = {"goal": goals[number], "idempotency_key": f"job-{number}"}
    answered = client.call("job.create", {**asked, "changes_files": goals[number].startswith("edit")})
    assert "error" not in answered, answered
    return number + 1


def _jobs(client: OwnerClient, **asked: str) -> Iterator[JsonObject]:
    cursor: JsonObject = {}
    while True:
        page = client.call("job.list", {"limit": 100, **asked, **cursor})["result"]
        assert isinstance(page, dict) and isinstance(page["results"], list) and isinstance(page["pagination"], dict)
        yield from (job for job in page["results"] if isinstance(job, dict))
        if not (following := page["pagination"]["next_cursor"]):
            return
        cursor = {"cursor": following}


def _count_running(client: OwnerClient, tally: Tally) -> int:
    """How many jobs run now; noted where that is the most so far."""
    status = client.call("work.list", {"state": "RUNNING", "limit": 100})["result"]
    assert isinstance(status, dict) and isinstance(status["results"], list)
    tally.most_running = max(tally.most_running, len(status["results"]))
    return len(status["results"])


def _count_unfinished(client: OwnerClient, tally: Tally) -> int:
    running = _count_running(client, tally)
    queued = client.call("work.list", {"state": "QUEUED", "limit": 1})["result"]
    assert isinstance(queued, dict) and isinstance(queued["results"], list)
    return running + len(queued["results"])


def _check(client: OwnerClient, goals: list[str], tally: Tally) -> None:
    found = {str(job["goal"]): job for job in _jobs(client)}
    assert sorted(found) == sorted(goals)
    assert tally.most_running <= 5
    for goal, job in found.items():
        assert (job["status"], job["result"]) == ("JOB_COMPLETED", f"All is done with {goal}."), job
        page = client.call("thread.events", {"thread_id": job["thread_id"], "limit": 2000})["result"]
        assert isinstance(page, dict) and isinstance(page["events"], list)
        events = [event for event in page["events"] if isinstance(event, dict)]
        assert [event["sequence"] for event in events] == [*range(1, len(events) + 1)]
        kinds = Counter(str(event["type"]) for event in events)
        assert kinds["turn.queued"] == kinds["turn.completed"] == 1 and kinds["turn.failed"] == 0, kinds
        statuses = [_payload(event)["status"] for event in events if event["type"] == "job.status_changed"]
        assert statuses == ["JOB_RUNNING", "JOB_COMPLETED"], statuses
        names = [_payload(event)["tool_name"] for event in events if event["type"] == "tool.finished"]
        kind, _, number = goal.partition(" ")
        assert names == [name for name, _ in _calls(kind, int(number))]
        tally.resumed += kinds["turn.resumed"]


def _check_edits(client: OwnerClient, goals: list[str], trees: Path) -> None:
    """Each edit is there once, in the tree of its job and nowhere else."""
    waiting = {str(job["goal"]): str(job["job_id"]) for job in _jobs(client) if job["changes_files"]}
    assert sorted(path.name for path in trees.glob("*/*")) == sorted(waiting.values())
    for goal in goals:
        number = int(goal.partition(" ")[2])
        diff = client.call("job.diff", {"job_id": waiting[goal]})["result"]
        assert isinstance(diff, dict)
        added = [line for line in str(diff["diff"]).splitlines() if line.startswith("+line")]
        assert added == [f"+{_line(number, part).strip()}" for part in range(2)], diff["diff"]
        client.call("job.discard", {"job_id": waiting[goal]})
    assert [*trees.glob("*/*")] == []


def _payload(event: JsonObject) -> JsonObject:
    payload = event["payload"]
    assert isinstance(payload, dict)
    return payload
