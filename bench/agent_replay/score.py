"""How right an answer is, from 0 to 1."""

import re
from collections.abc import Set
from pathlib import Path

from bench.agent_replay.commits import git
from bench.agent_replay.outline import language_of
from bench.agent_replay.questions import Answer, Place, Rename, Transcript
from bench.agent_replay.tasks import Task

_FILES = 5


def score(task: Task, answer: Answer, transcript: Transcript, root: Path) -> float:
    """Score an answer, or what a policy left in the checkout."""
    match task.kind:
        case "locate":
            files = _recall(answer.files, task.files)
            names = sum(re.search(rf"\b{re.escape(name)}\b", transcript.read) is not None for name in task.names)
            return (files + names / len(task.names)) / 2 if task.names else files
        case "understand":
            defined = answer.definition is not None and _is_near(answer.definition, (task.files[0], task.line))
            return _f1(answer.places, set(task.places)) if defined else 0.0
        case "change":
            wanted = task.text or {}
            return float(all((root / path).read_text(errors="replace") == text for path, text in wanted.items()))
        case "rename":
            return _f1(_renamed(task, root), set(task.places))
        case "tests":
            return _recall(answer.files, task.files)
        case "review":
            return _f1(answer.names, set(task.names))


def _is_near(found: Place, right: Place) -> bool:
    """Whether a definition is the right one; decorators and comments above may belong to it."""
    return found[0] == right[0] and abs(found[1] - right[1]) <= 5


def _recall(found: tuple[str, ...], right: tuple[str, ...]) -> float:
    return len(set(found[:_FILES]) & set(right)) / min(len(right), _FILES)


def _f1(found: Set[object], right: Set[object]) -> float:
    if not found and not right:
        return 1.0
    return 2 * len(found & right) / (len(found) + len(right))


def _renamed(task: Task, root: Path) -> set[Place]:
    """The lines of code where the old name gave way to the new one, by their old numbers."""
    assert isinstance(task.question, Rename)
    word = re.compile(rf"\b{re.escape(task.question.name)}\b")
    places: set[Place] = set()
    path, line = "", 0
    for row in git(root, "diff", "-U0", "--no-color", "--no-renames", "HEAD").split("\n"):
        if row.startswith("--- "):
            path = row[6:]
        elif matched := re.match(r"@@ -(\d+)", row):
            line = int(matched[1])
        elif row.startswith("-"):
            plain = row[1:].strip()
            if language_of(path) and word.search(row) and not plain.startswith(("#", "//", "*", "/*")):
                places.add((path, line))
            line += 1
    return places
