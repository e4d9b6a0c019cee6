"""A server whose work is killed again and again, and what has to hold of it in the end."""

import random
import time
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start, until

ITEMS = 3
STEPS = 12
_ENDED = ("COMPLETED", "FAILED", "CANCELLED")


@dataclass
class Tally:
    """What was seen: how often it was killed, and how many items were run to their end."""

    kills: int = 0
    completed: int = 0


def besiege(folder: Path, *, kills: int, seed: int) -> Tally:
    """Start work that appends lines to files, kill the server at random moments, and check each line is there once."""
    chance, tally = random.Random(seed), Tally()
    files = {f"lines{number}.txt": "start\n" for number in range(ITEMS)}
    repo = make_repo(folder / "shop", files)
    server = start(repo)
    try:
        work_ids = [_start(server, name) for name in files]
        for _ in range(kills):
            # From before its first step to far behind its last one.
            time.sleep(chance.random() * 0.4)
            server.process.kill()
            server.process.wait(timeout=60)
            tally.kills += 1
            server = start(repo)
            if all(_show(server, work_id)["state"] in _ENDED for work_id in work_ids):
                _check_lines(repo, server, work_ids, tally)
                for name, text in files.items():
                    (repo / name).write_text(text)
                work_ids = [_start(server, name) for name in files]
        for work_id in work_ids:
            until(lambda work_id=work_id: _show(server, work_id)["state"] in _ENDED)  # type: ignore[misc]  # bound now
        _check_lines(repo, server, work_ids, tally)
        verified = server.call("ledger.verify")["result"]
        assert isinstance(verified, dict) and verified["ok"], verified
    finally:
        server.stop()
    return tally


def _start(server: Server, name: str) -> str:
    steps: list[JsonObject] = []
    for number in range(STEPS):
        before = "start\n" if number == 0 else f"line {number - 1}\n"
        edit: JsonObject = {"path": name, "old": before, "new": f"{before}line {number}\n"}
        steps.append({"operation": "write_files", "arguments": {"edits": [edit]}})
    return _work_id(server.call("work.start", steps=steps, title=name))


def _work_id(envelope: JsonObject) -> str:
    found = envelope["result"]
    assert isinstance(found, dict), envelope
    return str(found["work_id"])


def _show(server: Server, work_id: str) -> JsonObject:
    found = server.call("work.show", work_id=work_id)["result"]
    assert isinstance(found, dict)
    return found


def _check_lines(repo: Path, server: Server, work_ids: list[str], tally: Tally) -> None:
    for work_id in work_ids:
        item = _show(server, work_id)
        text = (repo / str(item["title"])).read_text()
        done = [line for line in text.splitlines() if line.startswith("line ")]
        # Each effect once, in its order, whatever was killed.
        assert done == [f"line {number}" for number in range(len(done))], (item, text)
        # A write that was cut off is known to be done or not done, so nothing stays unknown.
        assert item["state"] == "COMPLETED" and len(done) == STEPS, item
        tally.completed += 1
