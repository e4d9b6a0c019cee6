"""Whole sessions of a coding client over replayed commits: its model is played by fixtures that follow our policy."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.agent_replay.clients import Client
from bench.agent_replay.codeplane_policy import CodePlanePolicy
from bench.agent_replay.questions import Kind
from bench.agent_replay.score import score
from bench.agent_replay.tasks import Task
from bench.measure import table
from bench.subjects.served import Served

_ORDER: tuple[Kind, ...] = ("locate", "understand", "tests", "change", "rename", "review")
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
    exchanges = client([written.partition(" ")[::2] for written, _ in calls], served, home, prompt)
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
