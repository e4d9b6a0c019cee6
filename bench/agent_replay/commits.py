"""Commits of repositories, drawn by a seed: small changes of source files that were there before."""

import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.agent_replay.outline import SUFFIXES, head_name, is_test, language_of

_RECENT = 2_000
_LOOKED_AT = 700
_MOST_FILES = 6
_MOST_LINES = 160
_RENAME_SHARE = 0.15
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines that a commit replaced: where they stood, and both texts."""

    path: str
    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit with one parent, and what it did to source files."""

    repo: Path
    sha: str
    parent: str
    message: str
    hunks: tuple[Hunk, ...]
    created: frozenset[str]

    @property
    def source(self) -> list[str]:
        """Changed source files that were there before, tests left out."""
        return [path for path in self._changed if not is_test(path)]

    @property
    def tests(self) -> list[str]:
        """Changed test files that were there before."""
        return [path for path in self._changed if is_test(path)]

    @property
    def _changed(self) -> list[str]:
        paths = dict.fromkeys(hunk.path for hunk in self.hunks)
        return [path for path in paths if path not in self.created and language_of(path)]

    @property
    def language(self) -> str:
        """The language of the first source file."""
        return language_of(self.source[0]) or ""

    def renames(self) -> list[tuple[str, str, str]]:
        """Names that were replaced by another on every changed line they stood on: path, old and new name."""
        return list(_renames(self))


def git(repo: Path, *arguments: str, given: str = "") -> str:
    """The output of git."""
    done = subprocess.run(["git", "-C", str(repo), *arguments], input=given.encode(), capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


def draw(repo: Path, count: int, seed: int) -> list[Commit]:
    """A number of commits that tasks can be made of; a share of them rename something, as far as such are found."""
    listed = git(repo, "log", "--no-merges", "--format=%H", f"-{_RECENT}").split()
    random.Random(f"{seed} {repo.name}").shuffle(listed)
    found = [commit for commit in _commits(repo, listed[:_LOOKED_AT]) if _is_usable(commit)]
    renaming = [commit for commit in found if commit.renames()][: max(round(count * _RENAME_SHARE), 1)]
    others = [commit for commit in found if commit not in renaming]
    return [*renaming, *others][:count]


def _is_usable(commit: Commit) -> bool:
    lines = sum(max(len(hunk.old), len(hunk.new)) for hunk in commit.hunks if not is_test(hunk.path))
    subject = commit.message.partition("\n")[0]
    return 0 < len(commit.source) <= _MOST_FILES and lines <= _MOST_LINES and len(subject.split()) >= 3


def _commits(repo: Path, shas: Sequence[str]) -> Iterator[Commit]:
    output = git(
        repo,
        *("log", "--no-walk=unsorted", "--stdin", "-p", "-U0", "--no-renames", "--no-color", "--no-ext-diff"),
        "--format=%x01%H%x00%P%x00%B%x02",
        *("--", *(f"*{suffix}" for suffix in SUFFIXES)),
        given="\n".join(shas),
    )
    for entry in output.split("\x01")[1:]:
        head, _, diff = entry.partition("\x02")
        sha, parents, message = head.split("\0", 2)
        hunks, created = _hunks(diff)
        if len(parents.split()) == 1:
            yield Commit(
                repo=repo, sha=sha, parent=parents, message=message.strip(), hunks=hunks, created=frozenset(created)
            )


def _hunks(diff: str) -> tuple[tuple[Hunk, ...], set[str]]:
    hunks: list[Hunk] = []
    created: set[str] = set()
    path, old_path, start = "", "", 0
    old: list[str] = []
    new: list[str] = []

    def close() -> None:
        if old or new:
            hunks.append(Hunk(path=path, start=start, old=tuple(old), new=tuple(new)))
        old.clear()
        new.clear()

    in_hunk = False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            close()
            in_hunk = False
        elif not in_hunk and line.startswith("--- "):
            old_path = line[4:]
        elif not in_hunk and line.startswith("+++ "):
            path = (line[4:] if line[4:] != "/dev/null" else old_path).partition("/")[2]
            if old_path == "/dev/null" or line[4:] == "/dev/null":
                created.add(path)
        elif matched := _HUNK.match(line):
            close()
            in_hunk = True
            # A hunk without old lines names the line it comes after.
            start = int(matched[1]) + (matched[2] == "0")
        elif in_hunk and line.startswith("-"):
            old.append(line[1:])
        elif in_hunk and line.startswith("+"):
            new.append(line[1:])
    close()
    return tuple(hunks), created


def _renames(commit: Commit) -> Iterator[tuple[str, str, str]]:
    pairs: dict[tuple[str, str], str] = {}
    for hunk in commit.hunks:
        if hunk.path in commit.created or is_test(hunk.path):
            continue
        for before, after in zip(hunk.old, hunk.new, strict=False):
            old, new = head_name(hunk.path, before), head_name(hunk.path, after)
            if old and new and old != new and re.sub(rf"\b{re.escape(old)}\b", new, before) == after:
                pairs[old, new] = hunk.path
    old_text = "\n".join(line for hunk in commit.hunks for line in hunk.old)
    new_text = "\n".join(line for hunk in commit.hunks for line in hunk.new)
    for (old, new), path in pairs.items():
        word, other = rf"\b{re.escape(old)}\b", rf"\b{re.escape(new)}\b"
        if len(re.findall(word, old_text)) >= 2 and not re.search(word, new_text) and re.search(other, new_text):
            yield path, old, new
