"""Whole sessions of a coding client over replayed commits: its model is played by fixtures that follow our policy."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.node import environment, run
from tests.clients.scripted_model import QUIET, SERVER, ScriptedModel, scripted_model, tool

from bench.agent_replay.codeplane_policy import CodePlanePolicy
from bench.agent_replay.questions import Kind
from bench.agent_replay.score import score
from bench.agent_replay.tasks import Task
from bench.measure import table
from bench.subjects.served import CPL, Served

_ORDER: tuple[Kind, ...] = ("locate", "understand", "tests", "change", "rename", "review")
_DONE = "Done."
_SECONDS = 240.0
# What differs between two answers to one question: when it was asked, and in which state.
_STATE = re.compile(r"epoch \d+|verified [\d.]+ m?s ago|[\d.]+ ms|mut_\w+|\b[0-9a-f]{8}-[0-9a-f-]{27}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a session took: by the policy alone, and as the client's model saw it."""

    commit: str
    tasks: int
    calls: int
    size: int
    client_calls: int
    client_size: int
    failed: int
    same: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A tool call as the client made it."""

    name: str
    arguments: str
    answer: str
    is_error: bool


Client = Callable[[ScriptedModel, Served, Path, str], list[Exchange]]


def session_tasks(tasks: Sequence[Task]) -> list[Task]:
    """The tasks of one commit as one session does them: a change or a rename, not both."""
    by_kind = {task.kind: task for task in tasks}
    if "change" in by_kind:
        by_kind.pop("rename", None)
    return [by_kind[kind] for kind in _ORDER if kind in by_kind]


def play_session(
    tasks: Sequence[Task], served: Served, client: Client, home: Path, reset: Callable[[], None]
) -> Session:
    """Let the policy play the tasks of a commit, then the client with a model that makes the same calls."""
    reset()
    scores: list[float] = []
    calls: list[tuple[str, str]] = []
    for task in tasks:
        answer, transcript = CodePlanePolicy(served).play(task.question)
        scores.append(score(task, answer, transcript, served.root))
        calls += transcript.calls
    reset()
    prompt = f"Work on commit {tasks[0].sha[:12]}."
    with _scripted(home, prompt, [written.partition(" ")[::2] for written, _ in calls]) as model:
        exchanges = client(model, served, home, prompt)
    changes = [task for task in tasks if task.kind in ("change", "rename")]
    for at, task in enumerate(tasks):
        if task in changes:
            # What the client's session left in the checkout is what counts.
            scores[at] = min(scores[at], score(task, answer, transcript, served.root))
    pairs = zip(calls, exchanges, strict=False)
    return Session(
        commit=f"{tasks[0].repo} {tasks[0].sha[:9]}",
        tasks=len(tasks),
        calls=len(calls),
        size=sum(len(written.encode()) + len(text.encode()) for written, text in calls),
        client_calls=len(exchanges),
        client_size=sum(
            len(f"{each.name} {each.arguments}".encode()) + len(each.answer.encode()) for each in exchanges
        ),
        failed=sum(each.is_error for each in exchanges),
        same=sum(_STATE.sub("", text) == _STATE.sub("", each.answer) for (_, text), each in pairs),
        score=sum(scores) / len(scores),
    )


@contextmanager
def _scripted(home: Path, prompt: str, calls: Sequence[tuple[str, str]]) -> Iterator[ScriptedModel]:
    turns: list[dict[str, Any]] = [
        {
            "match": {"userMessage": prompt, "turnIndex": at},
            "response": {"toolCalls": [{"name": tool(name), "arguments": arguments}]},
        }
        for at, (name, arguments) in enumerate(calls)
    ]
    turns.append({"match": {"userMessage": prompt, "turnIndex": len(calls)}, "response": {"content": _DONE}})
    home.mkdir(parents=True, exist_ok=True)
    with scripted_model(home, turns, more={"AIMOCK_STRICT_TURN_INDEX": "1"}) as model:
        yield model


def claude_code(model: ScriptedModel, served: Served, home: Path, prompt: str) -> list[Exchange]:
    """A session of Claude Code with our tools over stdio, as its stream of messages tells it."""
    how = {"type": "stdio", "command": CPL, "args": ["mcp", "--repo", str(served.root)]}
    done = run(
        "claude",
        *("--print", prompt, "--output-format=stream-json", "--verbose", "--strict-mcp-config", "--tools="),
        f"--mcp-config={json.dumps({'mcpServers': {SERVER: how}})}",
        f"--allowedTools=mcp__{SERVER}",
        "--system-prompt=Answer from the tools.",
        env=environment(
            home, ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="none-is-needed", MAX_THINKING_TOKENS="0", **QUIET
        ),
        cwd=home,
        seconds=_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    asked: dict[str, tuple[str, str]] = {}
    exchanges: list[Exchange] = []
    for line in done.stdout.splitlines():
        for part in _parts(json.loads(line)):
            if part["type"] == "tool_use":
                asked[part["id"]] = part["name"].rpartition("__")[2], json.dumps(part["input"], ensure_ascii=False)
            elif part["type"] == "tool_result":
                name, arguments = asked[part["tool_use_id"]]
                exchanges.append(
                    Exchange(
                        name=name,
                        arguments=arguments,
                        answer=_text(part["content"]),
                        is_error=bool(part.get("is_error")),
                    )
                )
    return exchanges


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("message", {}).get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content)


def report_sessions(sessions: Sequence[Session]) -> str:
    """The sessions as a table with a sum."""
    head = ["commit", "tasks", "calls", "bytes", "client's calls", "bytes", "errors", "same answers", "right"]
    rows = [
        [
            each.commit,
            *(str(number) for number in (each.tasks, each.calls, each.size, each.client_calls, each.client_size)),
            str(each.failed),
            f"{each.same} of {each.calls}",
            f"{each.score:.2f}",
        ]
        for each in sessions
    ]
    sums = [sum(getattr(each, name) for each in sessions) for name in ("tasks", "calls", "size")]
    client = [sum(getattr(each, name) for each in sessions) for name in ("client_calls", "client_size", "failed")]
    same = f"{sum(each.same for each in sessions)} of {sums[1]}"
    mean = sum(each.score * each.tasks for each in sessions) / max(1, sums[0])
    rows.append(["all", *map(str, [*sums, *client]), same, f"{mean:.2f}"])
    return table(head, rows)


CLIENTS: Mapping[str, Client] = {"claude": claude_code}
