"""A server whose work is killed again and again, and what has to hold of it in the end."""

import random
import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start, until

ITEMS = 3
STEPS = 12
# Every so many steps of an item a person is asked.
_ASKED_EVERY = 4
_ENDED = ("COMPLETED", "FAILED", "CANCELLED")
# What events show as redacted, and files have to hold as it is; long enough that a step's arguments fill a few pages.
_SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
_FILLER = "x" * 4000
_RULE = """package codeplane.policy

ask contains "a person looks at these" if {
	input.operation.name == "write_files"
	some edit in input.arguments.edits
	contains(edit.new_text, "(asked)")
}
"""


@dataclass
class Tally:
    """What was seen: how often it was killed, the items that were run to their end, and the answers that counted."""

    kills: int = 0
    completed: int = 0
    approved: set[str] = field(default_factory=set)


def besiege(folder: Path, *, kills: int, seed: int) -> Tally:
    """Start work that appends lines to files, some after a person's answer, kill the server at random moments, and
    check that each line is there once."""
    chance, tally = random.Random(seed), Tally()
    files = {f"lines{number}.txt": "start\n" for number in range(ITEMS)}
    repo = make_repo(folder / "shop", files)
    policy = repo / ".codeplane" / "policy"
    policy.mkdir(parents=True)
    (policy / "own.rego").write_text(_RULE)
    server = start(repo)
    try:
        work_ids = [_start(server, name) for name in files]
        for _ in range(kills):
            # From before its first step to far behind its last one, and in the middle of an answer.
            _answer(server, tally, time.monotonic() + chance.random() * 0.4)
            server.process.kill()
            server.process.wait(timeout=60)
            tally.kills += 1
            server = start(repo)
            if all(_show(server, work_id)["state"] in _ENDED for work_id in work_ids):
                _check(repo, server, work_ids, tally)
                for name, text in files.items():
                    (repo / name).write_text(text)
                work_ids = [_start(server, name) for name in files]

        def answered_all() -> bool:
            _answer(server, tally, 0)
            return _have_ended(server, work_ids)

        until(answered_all)
        _check(repo, server, work_ids, tally)
        verified = server.call("ledger.verify")["result"]
        assert isinstance(verified, dict) and verified["ok"], verified
        with closing(sqlite3.connect(f"file:{server.workspace.home / 'ledger.db'}?mode=ro", uri=True)) as log:
            assert log.execute("SELECT count(*) FROM events WHERE instr(payload, ?)", (_SECRET,)).fetchone() == (0,)
    finally:
        server.stop()
    return tally


def _answer(server: Server, tally: Tally, deadline: float) -> None:
    """Approve what waits, once or until a moment; what the server acknowledged counts."""
    while True:
        listed = server.call("approval.list", status="PENDING")["result"]
        assert isinstance(listed, dict) and isinstance(listed["items"], list)
        for action in listed["items"]:
            assert isinstance(action, dict)
            action_id = str(action["action_id"])
            if "error" not in server.call("approval.approve", action_id=action_id):
                tally.approved.add(action_id)
        if time.monotonic() >= deadline:
            return
        with suppress(ValueError):
            time.sleep(min(0.02, deadline - time.monotonic()))


def _start(server: Server, name: str) -> str:
    steps: list[JsonObject] = []
    for number in range(STEPS):
        before = "start\n" if number == 0 else _line(number - 1)
        edit: JsonObject = {"path": name, "old_text": before, "new_text": f"{before}{_line(number)}"}
        steps.append({"operation": "write_files", "arguments": {"edits": [edit]}})
    return _work_id(server.call("work.start", steps=steps, title=name))


def _line(number: int) -> str:
    asked = " (asked)" if number % _ASKED_EVERY == _ASKED_EVERY - 1 else ""
    return f"line {number}{asked} {_SECRET} {_FILLER}\n"


def _work_id(envelope: JsonObject) -> str:
    found = envelope.get("result")
    assert isinstance(found, dict), envelope
    return str(found["work_id"])


def _show(server: Server, work_id: str) -> JsonObject:
    found = server.call("work.show", work_id=work_id)["result"]
    assert isinstance(found, dict)
    return found


def _have_ended(server: Server, work_ids: list[str]) -> bool:
    return all(_show(server, work_id)["state"] in _ENDED for work_id in work_ids)


def _check(repo: Path, server: Server, work_ids: list[str], tally: Tally) -> None:
    for work_id in work_ids:
        item = _show(server, work_id)
        text = (repo / str(item["title"])).read_text()
        lines = text.splitlines(keepends=True)[1:]
        # Each effect once, in its order, as it was planned and not as it was shown, whatever was killed.
        assert lines == [_line(number) for number in range(len(lines))], (item, text[:2000])
        # A write that was cut off is known to be done or not done, so nothing stays unknown.
        assert item["state"] == "COMPLETED" and len(lines) == STEPS, item
        tally.completed += 1
    for action_id in tally.approved:
        action = server.call("approval.show", action_id=action_id)["result"]
        # An answer that was acknowledged took effect.
        assert isinstance(action, dict) and action["status"] == "EXECUTED" and action["outcome"] == "ok", action
