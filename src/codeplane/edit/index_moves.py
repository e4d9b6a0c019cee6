"""Files that move, moved in git's index too, as `git mv` does; nothing else of git is touched."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from codeplane.index.files.paths import shown
from codeplane.kernel.errors import CodePlaneError, NotGit
from codeplane.kernel.json import JsonValue

_AT_ONCE = 200
# How `git ls-files -v` marks what is tracked and nothing else.
_ORDINARY = "H"


class _Done(Protocol):
    @property
    def code(self) -> int: ...

    @property
    def out(self) -> bytes: ...


class RunsGit(Protocol):
    """The git command line in one work tree."""

    async def run(
        self,
        *arguments: str,
        input: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        check: bool = True,
    ) -> _Done: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMove:
    """An entry of the index that goes from one path to another."""

    old: str
    new: str
    mode: str
    oid: str

    def back(self) -> "IndexMove":
        """The other way."""
        return IndexMove(old=self.new, new=self.old, mode=self.mode, oid=self.oid)

    def to_json(self) -> JsonValue:
        """As it is kept."""
        return [self.old, self.new, self.mode, self.oid]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMoves:
    """The entries that can move with their files, and of the tracked files whose entry cannot, why."""

    moves: tuple[IndexMove, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


class IndexMoves:
    """Moves entries of the index; where git is busy or refuses, the files have moved all the same."""

    def __init__(self, git: RunsGit) -> None:
        self._git = git

    async def planned(self, pairs: Sequence[tuple[str, str]]) -> PlannedMoves:
        """Of files that are about to move, those that are tracked, modified or not; asked before they do."""
        if not pairs:
            return PlannedMoves()
        try:
            entries = await self._entries(path for pair in pairs for path in pair)
            intended = await self._intended([old for old, _ in pairs if old in entries])
        except NotGit:
            return PlannedMoves()
        except CodePlaneError as error:
            # Whether they are tracked cannot be told, so nothing is claimed of them.
            return PlannedMoves(refused={old: error.message for old, _ in pairs})
        refused: dict[str, str] = {}
        moves: list[IndexMove] = []
        for old, new in pairs:
            if old not in entries:
                continue
            if new in entries:
                refused[old] = f"git tracks {shown(new)} already"
            elif isinstance(entry := entries[old], str):
                refused[old] = entry
            elif old in intended:
                refused[old] = "it was only marked to be added"
            else:
                moves.append(IndexMove(old=old, new=new, mode=entry[0], oid=entry[1]))
        return PlannedMoves(moves=tuple(moves), refused=refused)

    async def made(self, moves: Sequence[IndexMove]) -> frozenset[str]:
        """Move those whose entries are still as they were planned; the new paths of what was moved."""
        if not moves:
            return frozenset()
        try:
            entries = await self._entries(path for move in moves for path in (move.old, move.new))
            able = [
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
                for move in able
            )
            if able:
                await self._git.run("update-index", "-z", "--index-info", input=lines)
                await self._git.run("update-index", "-q", "--refresh", check=False)
        except CodePlaneError:
            return frozenset()
        return frozenset(move.new for move in able)

    async def _entries(self, paths: Iterable[str]) -> dict[str, tuple[str, str] | str]:
        """Mode and id of what is tracked, or why its entry cannot be moved."""
        found: dict[str, tuple[str, str] | str] = {}
        for line in await self._lines(("ls-files", "-v", "--stage", "-z"), list(dict.fromkeys(paths))):
            facts, _, name = line.partition(b"\t")
            tag, mode, oid, stage = facts.decode().split(" ")
            entry: tuple[str, str] | str = (mode, oid)
            if stage != "0":
                entry = "it is in conflict"
            elif tag != _ORDINARY:
                entry = "it is marked assume-unchanged or skip-worktree"
            found[os.fsdecode(name)] = entry
        return found

    async def _intended(self, paths: Sequence[str]) -> frozenset[str]:
        """Those that were marked to be added with nothing in them."""
        lines = await self._lines(("diff", "--name-only", "--diff-filter=A", "--no-ext-diff", "-z"), paths)
        return frozenset(map(os.fsdecode, lines))

    async def _lines(self, command: Sequence[str], paths: Sequence[str]) -> list[bytes]:
        found: list[bytes] = []
        # A system takes only so many arguments at once.
        for start in range(0, len(paths), _AT_ONCE):
            done = await self._git.run(*command, "--", *paths[start : start + _AT_ONCE])
            found += filter(None, done.out.split(b"\0"))
        return found


def moves_of(value: JsonValue) -> tuple[IndexMove, ...]:
    """From what was kept."""
    rows = value if isinstance(value, list) else []
    found = [[str(cell) for cell in row] for row in rows if isinstance(row, list) and len(row) == 4]
    return tuple(IndexMove(old=old, new=new, mode=mode, oid=oid) for old, new, mode, oid in found)
