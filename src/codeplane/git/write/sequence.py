"""The remaining steps of a rebase, merge or pick under way, read from git's files.

A hook can write such files, and another caller may have started the operation.
"""

import asyncio
import re
from pathlib import Path

from codeplane.git.read.repository import read_plain_file
from codeplane.git.safety.command import Git
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import GitRefused

_MAX_COMMAND = 200
_COMMAND = re.compile(r"\s*(?:x|exec)\s+(.*)")
_STEP_LISTS = ("rebase-merge/git-rebase-todo", "sequencer/todo")
# Steps that check out or merge a commit by name.
_TARGET = re.compile(r"\s*(?:t|reset|m|merge)\s+(?:-[cC]\s+\S+\s+)?([^#]*)")
_LABELS = "refs/rewritten/"
# The first line of a patch in a rebase by patches names its commit.
_PATCH = re.compile(r"From ([0-9a-f]{40,64})\b")
_ID = re.compile(r"[0-9a-f]{40,64}")
_AUTOSTASHES = ("MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash")
# For any other strategy git runs `git-merge-NAME`, which with a slash in it can be in the work tree.
_STRATEGIES = frozenset({"ort", "recursive", "resolve", "octopus", "ours", "subtree"})
_STEP = re.compile(r"\s*(?!(?:#|x|exec|l|label|t|reset|u|update-ref)\b)\w+\s+(?:-[cC]\s+)?([0-9a-f]{4,64})(?:\s|$)")


async def commits_left(git: Git) -> list[str]:
    """Return the commits of the remaining steps."""
    words = await asyncio.to_thread(_planned_ids, git.folder)
    # Some lists contain short ids.
    return (await git.run("rev-list", "--no-walk=unsorted", *words)).line.split() if words else []


async def targets_left(git: Git) -> list[str]:
    """Return the commits that remaining steps check out or merge."""
    lines = (await asyncio.to_thread(_text, git.folder / _STEP_LISTS[0])).splitlines()
    steps = filter(None, map(_TARGET.match, lines))
    names = dict.fromkeys(word for step in steps for word in step[1].split() if not word.startswith("-"))
    oids = []
    for name in names:
        for revision in (f"{_LABELS}{name}^{{commit}}", f"{name}^{{commit}}"):
            oids.append((await git.run("rev-parse", "--verify", "--quiet", revision, check=False)).line)
    return [oid for oid in dict.fromkeys(oids) if oid]


async def stashes_left(git: Git) -> list[str]:
    """Return the commits of autostashes, which git applies at the end, also after an abort."""
    oids = []
    for name in _AUTOSTASHES:
        oid = await asyncio.to_thread(_text, git.folder / name)
        if not oid:
            continue
        if _ID.fullmatch(oid) is None:
            raise GitRefused(
                f".git/{name} names no commit: {path_text(oid[:_MAX_COMMAND])}", hint=f"remove .git/{name}"
            )
        untracked = await git.run("rev-parse", "--verify", "--quiet", f"{oid}^3", check=False)
        oids += [oid, *untracked.line.split()]
    return oids


async def refuse_strategies(git: Git) -> None:
    """Raise GitRefused when the operation uses a merge strategy that is not git's own."""
    options = git.folder / "sequencer" / "opts"
    listed = ("config", "--file", str(options), "-z", "--get-all", "options.strategy")
    named = (await git.run(*listed, check=False)).fields
    named += (await asyncio.to_thread(_read_text, git.folder / "rebase-merge" / "strategy")).splitlines()
    for strategy in named:
        if strategy not in _STRATEGIES:
            raise GitRefused(
                f"it would merge by a strategy that is not git's own: {path_text(strategy[:_MAX_COMMAND])}",
                hint="give it up with action abort (git_rebase_abort), or go on in a terminal",
            )


def refuse_commands(folder: Path) -> None:
    """Raise GitRefused when remaining steps run commands, which a hook can write and git does not sandbox."""
    matches = (_COMMAND.match(line) for line in _text(folder / _STEP_LISTS[0]).splitlines())
    for command in filter(None, matches):
        raise GitRefused(
            f"a step of this rebase runs a command: {path_text(command[1][:_MAX_COMMAND])}",
            hint="take it out: git rebase --edit-todo; or go on in a terminal: git rebase --continue",
        )


def sequence_start(folder: Path) -> str:
    """Return the commit that aborting a pick of several commits goes back to; empty for a single one."""
    return _text(folder / "sequencer" / "head")


def _planned_ids(folder: Path) -> list[str]:
    """Return the ids in the remaining steps."""
    steps = (_STEP.match(line) for name in _STEP_LISTS for line in _text(folder / name).splitlines())
    patches = (_PATCH.match(_read_text(patch)) for patch in (folder / "rebase-apply").glob("[0-9]*"))
    return [match[1] for match in (*steps, *patches) if match is not None]


def _text(path: Path) -> str:
    return _read_text(path).strip()


def _read_text(path: Path) -> str:
    try:
        return read_plain_file(path).decode("utf-8", "replace")
    except OSError:
        return ""
