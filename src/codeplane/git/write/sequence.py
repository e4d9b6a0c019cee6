"""The commits that a rebase, or a pick of several commits, has still to apply."""

import asyncio
import re
from pathlib import Path

from codeplane.git.safety.command import Git
from codeplane.index.truth.paths import shown
from codeplane.kernel.errors import GitRefused

_MAX_COMMAND = 200
_COMMAND = re.compile(r"\s*(?:x|exec)\s+(.*)")
_STEP_LISTS = ("rebase-merge/git-rebase-todo", "sequencer/todo")
# Labels and commands name no commit of their own.
_STEP = re.compile(r"\s*(?!(?:#|x|exec|l|label|t|reset|u|update-ref)\b)\w+\s+(?:-[cC]\s+)?([0-9a-f]{4,64})(?:\s|$)")


async def commits_left(git: Git, *, since: str | None = None) -> list[str]:
    """The commits of the steps to come; `since` is where a rebase began, for one that git keeps as patches."""
    words = await asyncio.to_thread(_planned, git.folder)
    if words is not None:
        # Git shortens ids in some of its lists.
        return (await git.run("rev-list", "--no-walk=unsorted", *words)).line.split() if words else []
    onto = await asyncio.to_thread(_text, git.folder / "rebase-apply" / "onto")
    return (await git.run("rev-list", "--no-merges", since, f"^{onto}")).line.split() if since and onto else []


def refuse_commands(folder: Path) -> None:
    """GitRefused when steps to come run commands: git runs those unenclosed, and a hook can write them."""
    found = (_COMMAND.match(line) for line in _text(folder / _STEP_LISTS[0]).splitlines())
    for command in filter(None, found):
        raise GitRefused(
            f"a step of this rebase runs a command: {shown(command[1][:_MAX_COMMAND])}",
            hint="take it out: git rebase --edit-todo; or go on in a terminal: git rebase --continue",
        )


def sequence_start(folder: Path) -> str:
    """The commit that giving up a pick of several commits goes back to; empty for a single one."""
    return _text(folder / "sequencer" / "head")


def _planned(folder: Path) -> list[str] | None:
    """What looks like an id in the steps to come; None when there is no list of them."""
    lists = [folder / name for name in _STEP_LISTS if (folder / name).exists()]
    if not lists:
        return None
    steps = (_STEP.match(line) for todo in lists for line in _text(todo).splitlines())
    return [step[1] for step in steps if step is not None]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
