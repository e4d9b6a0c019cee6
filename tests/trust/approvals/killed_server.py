"""An approved action in a process that is killed at a given step, and what the next one makes of it.

`python -m tests.trust.approvals.killed_server FOLDER FIRST COUNT` prints one line of JSON a case.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from codeplane.kernel.call import Call
from codeplane.kernel.event import Appended, Draft, SealedPayload
from codeplane.kernel.operation import Risk, operation
from codeplane.ledger.log import SqliteLog
from codeplane.wiring.app import Plane
from tests.kernel.plane import AGENT, OWNER, Answered, Said, plane

KEY = "k"


class Steps:
    """Counts what happens in between, and ends the process when it is told to."""

    def __init__(self, last: int | None) -> None:
        self.passed = 0
        self._last = last

    def here(self) -> None:
        self.passed += 1
        if self.passed == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


class Effects:
    """An operation that leaves a mark outside, which nothing can take back."""

    def __init__(self, marks: Path, steps: Steps) -> None:
        self._marks = marks
        self._steps = steps

    @operation("effect.send", risk=Risk.EXFILTRATION)
    async def send(self, call: Call, request: Said) -> Answered:
        """Leave a mark."""
        self._steps.here()
        with self._marks.open("a") as file:
            file.write("sent\n")
            file.flush()
            os.fsync(file.fileno())
        self._steps.here()
        return Answered(answer="sent")


def _instrumented(steps: Steps) -> None:
    append, soon = SqliteLog.append, SqliteLog.append_soon

    async def appended(
        log: SqliteLog,
        drafts: Sequence[Draft],
        expect: Mapping[str, int] | None = None,
        sealed: Sequence[SealedPayload] = (),
    ) -> Appended:
        steps.here()
        done = await append(log, drafts, expect=expect, sealed=sealed)
        steps.here()
        return done

    def appended_soon(log: SqliteLog, drafts: Sequence[Draft]) -> bool:
        steps.here()
        return soon(log, drafts)

    SqliteLog.append, SqliteLog.append_soon = appended, appended_soon  # type: ignore[method-assign,assignment]  # where it dies


async def _once(root: Path, steps: Steps) -> None:
    """Ask, approve, let it run, and ask for the result."""
    async with plane(root / "repo", operations=[Effects(root / "marks", steps)]) as opened:
        await _go_through(opened)


async def _go_through(opened: Plane) -> str:
    """Do what an agent and its owner would, from wherever things stand; how it ended."""
    for _ in range(200):
        outcome = await opened.conveyor.call("effect.send", {"idempotency_key": KEY}, AGENT)
        if outcome.error is None:
            return "done"
        if outcome.error.name != "APPROVAL_PENDING":
            return outcome.error.name
        action_id = outcome.error.details["action_id"]
        await opened.conveyor.call("approval.approve", {"action_id": action_id}, OWNER)
        await asyncio.sleep(0)
    return "never"


async def _after(root: Path) -> None:
    """The next start: what is shown, and how it goes on."""
    async with plane(root / "repo", operations=[Effects(root / "marks", Steps(None))]) as opened:
        await opened.trust.approvals.sweep()
        ended = await _go_through(opened)
        rows = await opened.log.select("SELECT status, outcome FROM actions")
        reported = await opened.log.select("SELECT type FROM events WHERE stream LIKE 'action/%' ORDER BY position")
        marks = (root / "marks").read_text().count("sent") if (root / "marks").exists() else 0
        after = {"ended": ended, "actions": rows, "told": [one for (one,) in reported], "marks": marks}
        (root / "after.json").write_text(json.dumps(after))


def _in_child(work: Callable[[], Awaitable[None]]) -> bool:
    """Run it in a process of its own; whether that was killed."""
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(work())  # type: ignore[arg-type]  # coroutines
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def case(root: Path, step: int) -> dict[str, object]:
    """One kill at a step, and the start after it."""
    (root / "repo").mkdir(parents=True)

    async def dying() -> None:
        steps = Steps(step)
        _instrumented(steps)
        await _once(root, steps)

    killed = _in_child(dying)
    _in_child(lambda: _after(root))
    return {"step": step, "killed": killed, **json.loads((root / "after.json").read_text())}


if __name__ == "__main__":
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for number in range(first, first + count):
        print(json.dumps(case(folder / str(number), number)), flush=True)
