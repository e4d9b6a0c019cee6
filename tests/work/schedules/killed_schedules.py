"""A server that is killed around the times of schedules, and what has to hold of them in the end."""

import random
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start, until

AT_ONCE = 4
_AHEAD_SEC = 1.5


@dataclass
class Tally:
    """How often the server was killed, and how many times fired."""

    kills: int = 0
    fired: int = 0


def besiege(folder: Path, *, kills: int, seed: int) -> Tally:
    """Make schedules for moments to come, kill the server around them, and check that each fired once."""
    chance, tally = random.Random(seed), Tally()
    repo = make_repo(folder / "shop", {"a.txt": "a\n"})
    settings = ["schedules.max_schedules=10000", "jobs.max_running=100"]
    server = start(repo, overrides=settings)
    made: list[str] = []
    try:
        for _ in range(kills):
            # The first call waits for what a server prepares after its start.
            server.call("schedule.next", trigger_kind="interval", trigger_spec="PT1M")
            due = datetime.now(UTC) + timedelta(seconds=_AHEAD_SEC)
            created = [_create(server, due, number) for number in range(AT_ONCE)]
            new = [schedule_id for schedule_id in created if schedule_id is not None]
            made += new
            # From a moment before they are due to one at which all of them run.
            wait_sec = (due - datetime.now(UTC)).total_seconds() - 0.05 + chance.random() * 0.35
            time.sleep(max(0.0, wait_sec))
            server.process.kill()
            server.process.wait(timeout=60)
            tally.kills += 1
            server = start(repo, overrides=settings)
            _wait_for(server, new)
        verified = server.call("ledger.verify")["result"]
        assert isinstance(verified, dict) and verified["ok"], verified
        _check(server, made)
        tally.fired = len(made)
    finally:
        server.stop()
    return tally


def _create(server: Server, due: datetime, number: int) -> str | None:
    """A schedule for a moment; None when a slow machine has passed it already."""
    # Heartbeats are turns, the others are jobs: both have to be one.
    asked: JsonObject = {
        "name": f"number {number}",
        "goal": "look",
        "trigger_kind": "at",
        "trigger_spec": due.isoformat(),
        "heartbeat": number % 2 == 1,
    }
    answered = server.call("schedule.create", **asked)
    created, error = answered.get("result"), answered.get("error")
    if isinstance(error, dict) and "in the past" in str(error["message"]):
        return None
    assert isinstance(created, dict), answered
    return str(created["schedule_id"])


def _wait_for(server: Server, made: list[str]) -> None:
    until(lambda: all(_has_started(server, schedule_id) for schedule_id in made))


def _has_started(server: Server, schedule_id: str) -> bool:
    shown = server.call("schedule.show", schedule_id=schedule_id)["result"]
    assert isinstance(shown, dict) and isinstance(shown["history"], list)
    return any(isinstance(wakeup, dict) and wakeup["state"] == "STARTED" for wakeup in shown["history"])


def _check(server: Server, made: list[str]) -> None:
    """Each schedule had one wake-up, and started one job or one turn, in the log itself."""
    with closing(sqlite3.connect(f"file:{server.workspace.home / 'ledger.db'}?mode=ro", uri=True)) as log:
        for schedule_id in made:
            wakeups = log.execute(
                "SELECT count(*) FROM events WHERE type = 'wakeup.created' AND stream = ?", (f"wakeup/{schedule_id}",)
            ).fetchone()
            triggered = log.execute(
                "SELECT count(*) FROM events WHERE type = 'schedule.triggered' AND instr(payload, ?)", (schedule_id,)
            ).fetchone()
            runs = log.execute(
                "SELECT count(*) FROM events WHERE type IN ('job.created', 'turn.queued') AND instr(payload, ?)",
                (schedule_id,),
            ).fetchone()
            assert (wakeups, triggered, runs) == ((1,), (1,), (1,)), schedule_id
