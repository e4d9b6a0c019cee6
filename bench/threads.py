"""A thread of 10,000 messages as a client reads it: `python -m bench.threads`.

Every answer has a tool and its words one by one, as a turn streams them; the server is one of its own.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

from bench.dashboard import Browser
from bench.fixture import scratch
from bench.measure import machine, table
from bench.subjects.served import Served, serving
from codeplane.kernel.actor import Caller
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import run_plane
from codeplane.work.threads.events import (
    ASSISTANT_COMMITTED,
    ASSISTANT_TEXT,
    MESSAGE_CREATED,
    MODEL_ANSWERED,
    TOOL_FINISHED,
    TOOL_PLANNED,
    TOOL_STARTED,
    TURN_COMPLETED,
    TURN_QUEUED,
    TURN_STARTED,
    thread_draft,
)

AIM_SNAPSHOT_MS, AIM_PAGE_MS = 50.0, 300.0
_WHO = Caller(surface="embedded", client="bench")
_WORDS = 10
_TEXT = "word " * 40


def _turn(thread_id: str, number: int) -> list[Draft]:
    """The events of one turn: a question, a tool, and an answer that streams."""
    turn_id = f"turn_{number:06}"
    ids = Correlation(thread_id=thread_id, turn_id=turn_id, work_id=f"wrk_{number:06}")
    tool: JsonObject = {"tool_call_id": "c", "tool_name": "search", "execution_id": f"exe_{number:06}"}
    answer_id = f"msg_{number:06}a"
    delta: JsonObject = {"segment_id": "1", "delta": "word " * (40 // _WORDS)}
    events: list[tuple[str, JsonObject]] = [
        (MESSAGE_CREATED, {"message_id": f"msg_{number:06}q", "role": "user", "content": _TEXT, "metadata": {}}),
        (TURN_QUEUED, {"user_message_id": f"msg_{number:06}q", "trigger_type": "CHAT_MESSAGE"}),
        (TURN_STARTED, {"user_message_id": f"msg_{number:06}q", "trigger_type": "CHAT_MESSAGE"}),
        (TOOL_PLANNED, {**tool, "args": {"query": "word"}, "risk_class": "READ"}),
        (TOOL_STARTED, {**tool, "display_command": "search word"}),
        (TOOL_FINISHED, {**tool, "status": "ok", "exit_code": 0, "duration_ms": 3, "preview": _TEXT, "step": 1}),
        *([(ASSISTANT_TEXT, delta)] * _WORDS),
        (MODEL_ANSWERED, {"model": "m", "input_tokens": 10, "output_tokens": 5, "step": 2}),
        (ASSISTANT_COMMITTED, {"message_id": answer_id, "full_text": _TEXT, "metadata": {"model": "m"}}),
        (TURN_COMPLETED, {"assistant_message_id": answer_id}),
    ]
    return [thread_draft(kind, payload, actor="owner", ids=ids) for kind, payload in events]


async def fill(root: Path, messages: int) -> str:
    """A thread with so many messages; returns its id."""
    workspace, loaded = scratch(root)
    async with run_plane(workspace, loaded=loaded) as plane:
        created = await plane.conveyor.call("thread.create", {}, _WHO)
        thread_id = str(json.loads(created.result_json)["thread_id"])
        for first in range(0, messages // 2, 50):
            drafts = [draft for number in range(first, first + 50) for draft in _turn(thread_id, number)]
            await plane.log.append(drafts)
    return thread_id


def measure(served: Served, load: Callable[[], object], rounds: int) -> tuple[list[float], float]:
    """Milliseconds of each load, in order of size, and CPU milliseconds of the server for one."""
    load()
    taken, cpu = [], served.cpu()
    for _ in range(rounds):
        began = time.perf_counter()
        load()
        taken.append((time.perf_counter() - began) * 1000)
    return sorted(taken), (served.cpu() - cpu) / rounds * 1000


def main() -> None:
    """Print a line for each way to read the thread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repo"
        thread_id = asyncio.run(fill(root, options.messages))
        print(f"{machine(root)}; {options.messages:,} messages")
        with serving(root) as served:
            browser = Browser(served.port, str(served.result("dashboard.link")["path"]))
            connection = HTTPConnection("127.0.0.1", served.port, timeout=300)
            token = (root / ".codeplane/owner.token").read_text().strip()
            headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}

            def snapshot() -> None:
                body = json.dumps({"threadId": thread_id})
                connection.request("POST", "/codeplane.v1.ThreadsService/GetThreadSnapshot", body, headers)
                assert len(json.loads(connection.getresponse().read())["messages"]) == 200

            loads: dict[str, tuple[Callable[[], object], float]] = {
                "thread.show": (lambda: served.result("thread.show", thread_id=thread_id), AIM_SNAPSHOT_MS),
                "GetThreadSnapshot": (snapshot, AIM_SNAPSHOT_MS),
                "thread.messages, 200": (
                    lambda: served.result("thread.messages", thread_id=thread_id, page_size=200, page_token="5000"),
                    AIM_SNAPSHOT_MS,
                ),
                "the chat page": (lambda: browser.load(f"/dashboard/threads/{thread_id}"), AIM_PAGE_MS),
            }
            rows = []
            for name, (load, aim) in loads.items():
                taken, cpu = measure(served, load, options.rounds)
                p50, p95 = taken[len(taken) // 2], taken[len(taken) * 95 // 100]
                verdict = "met" if p95 <= aim else "MISSED"
                rows.append(
                    [name, f"{p50:.1f}", f"{p95:.1f}", f"{taken[-1]:.1f}", f"{cpu:.1f}", f"{aim:.0f} {verdict}"]
                )
    print(table(["", "p50 ms", "p95 ms", "most ms", "CPU ms", "aim (p95)"], rows))


if __name__ == "__main__":
    main()
