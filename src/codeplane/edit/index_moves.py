"""Moves entries in git's index along with their files, as `git mv` does."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import CodePlaneError, NotGit
from codeplane.kernel.json import JsonValue

_AT_ONCE = 200
# How `git ls-files -v` marks an ordinary tracked file.
_ORDINARY = "H"


class _Output(Protocol):
    @property
    def code(self) -> int: ...

    @property
    def out(self) -> bytes: ...


class GitRunner(Protocol):
    """Runs git commands in one work tree."""

    async def run(
        self,
        *arguments: str,
        input: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        check: bool = True,
    ) -> _Output: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMove:
    """An entry of the index that moves from one path to another."""

    old: str
    new: str
    mode: str
    oid: str

    def reverse(self) -> "IndexMove":
        """Return the move in the other direction."""
        return IndexMove(old=self.new, new=self.old, mode=self.mode, oid=self.oid)

    def to_json(self) -> JsonValue:
        """Return the move for the mutation record."""
        return [self.old, self.new, self.mode, self.oid]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMoves:
    """The entries that can move, and the reason for each tracked file whose entry cannot."""

    moves: tuple[IndexMove, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


class IndexMoves:
    """Move entries of the index; when git is busy or fails, only the files move."""

    def __init__(self, git: GitRunner) -> None:
        self._git = git

    async def plan(self, pairs: Sequence[tuple[str, str]]) -> PlannedMoves:
        """Plan the moves for the tracked files among those that are about to move."""
        if not pairs:
            return PlannedMoves()
        try:
            entries = await self._entries(path for pair in pairs for path in pair)
            intended = await self._intent_to_add([old for old, _ in pairs if old in entries])
        except NotGit:
            return PlannedMoves()
        except CodePlaneError as error:
            # Without git's answer none counts as movable.
            return PlannedMoves(refused={old: error.message for old, _ in pairs})
        refused: dict[str, str] = {}
        moves: list[IndexMove] = []
        for old, new in pairs:
            if old not in entries:
                continue
            if new in entries:
                refused[old] = f"git tracks {path_text(new)} already"
            elif isinstance(entry := entries[old], str):
                refused[old] = entry
            elif old in intended:
                refused[old] = "it was only marked to be added"
            else:
                moves.append(IndexMove(old=old, new=new, mode=entry[0], oid=entry[1]))
        return PlannedMoves(moves=tuple(moves), refused=refused)

    async def apply(self, moves: Sequence[IndexMove]) -> frozenset[str]:
        """Move the entries that are still as planned and return their new paths."""
        if not moves:
            return frozenset()
        try:
            entries = await self._entries(path for move in moves for path in (move.old, move.new))
            unchanged = [
                move for move in moves if entries.get(move.old) == (move.mode, move.oid) and move.new not in entries
            ]
            lines = b"".join(
                b"0 %b\t%b\0%b %b\t%b\0"
                % (
                    b"0" * len(move.oid),
                    os.fsencode(move.old),
                    move.mode.encode(),
                    move.oid.encode(),
                    os.fsencode(move.new),
                )
                for move in unchanged
            )
            if unchanged:
                await self._git.run("update-index", "-z", "--index-info", input=lines)
                await self._git.run("update-index", "-q", "--refresh", check=False)
        except CodePlaneError:
            return frozenset()
        return frozenset(move.new for move in unchanged)

    async def _entries(self, paths: Iterable[str]) -> dict[str, tuple[str, str] | str]:
        """Return mode and object id of each tracked path, or why its entry cannot move."""
        entries: dict[str, tuple[str, str] | str] = {}
        for line in await self._lines(("ls-files", "-v", "--stage", "-z"), list(dict.fromkeys(paths))):
            facts, _, name = line.partition(b"\t")
            tag, mode, oid, stage = facts.decode().split(" ")
            entry: tuple[str, str] | str = (mode, oid)
            if stage != "0":
                entry = "it is in conflict"
            elif tag != _ORDINARY:
                entry = "it is marked assume-unchanged or skip-worktree"
            entries[os.fsdecode(name)] = entry
        return entries

    async def _intent_to_add(self, paths: Sequence[str]) -> frozenset[str]:
        """Return the paths that were only marked with `git add --intent-to-add`."""
        lines = await self._lines(("diff", "--name-only", "--diff-filter=A", "--no-ext-diff", "-z"), paths)
        return frozenset(map(os.fsdecode, lines))

    async def _lines(self, command: Sequence[str], paths: Sequence[str]) -> list[bytes]:
        lines: list[bytes] = []
        # The system limits the number of arguments.
        for start in range(0, len(paths), _AT_ONCE):
            output = await self._git.run(*command, "--", *paths[start : start + _AT_ONCE])
            lines += filter(None, output.out.split(b"\0"))
        return lines


def moves_from_json(value: JsonValue) -> tuple[IndexMove, ...]:
    """Read moves from a mutation record."""
    rows = value if isinstance(value, list) else []
    cells = [[str(cell) for cell in row] for row in rows if isinstance(row, list) and len(row) == 4]
    return tuple(IndexMove(old=old, new=new, mode=mode, oid=oid) for old, new, mode, oid in cells)
