"""Questions and tasks through `cpl lsp` without a model: `python -m bench.lsp_work FOLDER`.

Prints how long answers of `codeplane/ask` take, and how far `$/codeplane/taskProgress` is behind the events that it
tells of. A server of CodePlane has to run on the folder already.
"""

import argparse
import json
import os
import random
import sys
import time
from datetime import datetime
from pathlib import Path

from bench.language_server import LanguageServer
from bench.lsp import NAMES, percentile, sample
from codeplane.client import Client
from codeplane.kernel.json import JsonObject

AIM_ASK_SEC, AIM_BEHIND_SEC = 2.0, 0.5
# What progress says, by the event that it tells of.
_SAYS = {
    "turn.queued": "queued",
    "turn.started": "started",
    "assistant.message_committed": None,
    "turn.completed": "completed",
}


class Asker(LanguageServer):
    """A client that notes when it hears of the progress of tasks."""

    def __init__(self, root: Path, command: list[str]) -> None:
        self.heard: list[tuple[float, JsonObject]] = []
        super().__init__(root, command, "python")

    def _read(self) -> dict[str, object]:
        message = super()._read()
        params = message.get("params")
        if message.get("method") == "$/codeplane/taskProgress" and isinstance(params, dict):
            self.heard.append((time.time(), params))
        return message

    def wait_for(self, task_id: str) -> list[tuple[float, JsonObject]]:
        """Wait until a task has ended; return what was heard of it."""
        while True:
            about = [(at, params) for at, params in self.heard if params["taskId"] == task_id]
            if about and about[-1][1]["status"] in ("completed", "failed"):
                return about
            self._read()


def questions(root: Path, count: int, seed: int) -> list[str]:
    """Questions about names that are in the repository, in words and as names alone."""
    found = []
    for number, (path, line, column) in enumerate(sample(root, [".py"], count, seed)):
        names = {(row, at): name for row, at, name in NAMES[Path(path).suffix](root / path)}
        name = names[(line, column)]
        found.append((f"where is {name} used?", f"how does {name} work in {path}?", name)[number % 3])
    return found


def behind(client: Client, thread_id: str, heard: list[tuple[float, JsonObject]]) -> list[float]:
    """How long after each event its progress was heard, in seconds."""
    answer = client.call("thread.events", {"thread_id": thread_id})["result"]
    assert isinstance(answer, dict) and isinstance(answer["events"], list)
    waiting = [(at, params) for at, params in heard if params.get("message")]
    found = []
    for event in answer["events"]:
        assert isinstance(event, dict)
        if event["type"] not in _SAYS or not waiting:
            continue
        happened = datetime.fromisoformat(str(event["occurred_at"])).timestamp()
        at, params = waiting.pop(0)
        said = _SAYS[str(event["type"])]
        assert said is None or params.get("message") == said, (event["type"], params)
        found.append(at - happened)
    return found


def main() -> None:
    """Ask, execute and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    root = given.root.resolve()
    asked = questions(root, given.questions + given.tasks, given.seed)
    random.Random(given.seed).shuffle(asked)
    server = Asker(root, [str(Path(sys.executable).with_name("cpl")), "lsp", "--repo", str(root)])
    client = Client.of_repository(root)
    answers, delays = [], []
    try:
        for question in asked[: given.questions]:
            begun = time.perf_counter()
            server.ask("codeplane/ask", {"question": question, "context": {}})
            answers.append(time.perf_counter() - begun)
        for task in asked[given.questions :]:
            started = server.ask("codeplane/executeTask", {"task": task, "context": {}})
            assert isinstance(started, dict)
            delays += behind(client, str(started["threadId"]), server.wait_for(str(started["taskId"])))
    finally:
        server.close()
    print(f"load {os.getloadavg()[0]:.1f}")
    for what, values, aim in (("ask", answers, AIM_ASK_SEC), ("progress behind", delays, AIM_BEHIND_SEC)):
        ms = json.dumps([round(percentile(values, share)) for share in (0.5, 0.95)])
        worst = max(values) * 1000
        print(f"{what:16} {len(values)}: p50, p95 {ms} worst {worst:.0f} ms (aim: p95 below {aim * 1000:.0f})")


if __name__ == "__main__":
    main()
