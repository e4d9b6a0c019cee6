"""Looks at a place in a consistent state of the repository, under the caller's open documents."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts
from codeplane.code.resolve.world import World
from codeplane.index.files.paths import path_text
from codeplane.index.freshness import SnapshotSource
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import IndexNotReady, NotFound
from codeplane.kernel.open_document import OpenDocument
from codeplane.query.consistent_read import read_consistently
from codeplane.query.knowledge import Knowledge
from codeplane.query.navigation.lookup_pool import LookupPool
from codeplane.query.navigation.open_files import OpenFiles
from codeplane.query.navigation.positions import Unit
from codeplane.query.navigation.records import Answered
from codeplane.query.navigation.requests import FileRequest
from codeplane.query.navigation.symbol_lookup import SymbolLookup

T = TypeVar("T", bound=Answered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look(Generic[T]):
    """An answer without the state it is about, and the files it speaks of."""

    answer: T
    paths: frozenset[str]
    open_documents: tuple[str, ...] = ()
    missing: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One state of the repository for an answer that comes in parts."""

    lookup: SymbolLookup
    snapshot: Snapshot
    fresh: SnapshotSource
    partial: str | None
    open_documents: tuple[str, ...]

    async def stale(self, paths: frozenset[str]) -> tuple[str, ...]:
        """Return the files that have changed meanwhile."""
        on_disk = paths - frozenset(self.open_documents)
        changed = await asyncio.to_thread(self.fresh.find_changes, self.snapshot, on_disk & self.snapshot.files.keys())
        return tuple(sorted(map(path_text, changed)))


class Looking:
    """Gives questions a world, and checks afterwards that it was current."""

    def __init__(self, *, root: Path, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._open = OpenFiles(root)
        self._pool = LookupPool(knowledge)

    async def answer(self, request: FileRequest, look: Callable[[SymbolLookup], Look[T]]) -> T:
        """Return an answer, looked for again whenever a file it speaks of has changed."""
        return await self._answer(request.columns, request.documents, look)

    async def answer_from_disk(self, unit: Unit, look: Callable[[SymbolLookup], Look[T]]) -> T:
        """Return an answer that open documents have no part in."""
        return await self._answer(unit, (), look)

    async def _answer(
        self, unit: Unit, documents: Sequence[OpenDocument], look: Callable[[SymbolLookup], Look[T]]
    ) -> T:
        def look_at(snapshot: Snapshot) -> Look[T]:
            overlay = self._open.overlay(snapshot, documents) if documents else {}
            with self._pool.lookup(snapshot, unit, overlay) as lookup:
                seen = look(lookup)
                return Look(
                    answer=seen.answer,
                    # What is open is as the client has it, whatever the disk says.
                    paths=(seen.paths - frozenset(overlay)) & snapshot.files.keys(),
                    open_documents=tuple(overlay),
                    missing=len(lookup.world.missing),
                )

        read = await read_consistently(self._knowledge, look_at, lambda seen: seen.paths)
        seen = read.answer
        return seen.answer.model_copy(
            update={
                "epoch": read.snapshot.epoch,
                "commit": read.snapshot.commit,
                "partial": _joined(seen.answer.partial, read.partial, _missing_line(seen.missing, read.partial)),
                "stale": read.stale,
                "open_documents": tuple(map(path_text, seen.open_documents)),
            }
        )

    @asynccontextmanager
    async def session(self, request: FileRequest) -> AsyncIterator[Session]:
        """Give one state of the repository, for an answer that comes in parts."""
        fresh = await self._knowledge.fresh()
        snapshot = await fresh.snapshot(strict=False)
        behind = (await self._knowledge.wait_for_facts(snapshot)).line()
        overlay = await asyncio.to_thread(self._open.overlay, snapshot, request.documents)
        # One of its own: it is used from several threads, one after the other.
        yield Session(
            lookup=self._pool.new(snapshot, request.columns, overlay),
            snapshot=snapshot,
            fresh=fresh,
            partial=behind or None,
            open_documents=tuple(overlay),
        )


def must_have_facts(world: World, path: str) -> Facts:
    """Return a file's facts; NotFound or IndexNotReady say why there are none."""
    facts = world.facts(path)
    if facts is not None:
        return facts
    if path not in world.snapshot.files:
        raise NotFound(f"{path_text(path)!r} is not indexed", hint="list_dir shows what is")
    if path in world.missing:
        raise IndexNotReady(f"{path_text(path)} is not parsed yet")
    why = "its language is not known here" if languages().of(path) is None else "it cannot be parsed"
    raise NotFound(f"there are no facts of {path_text(path)!r}: {why}", hint="search finds its text")


def _missing_line(missing: int, partial: str | None) -> str | None:
    return f"{missing} files are not parsed yet" if missing and not partial else None


def _joined(*parts: str | None) -> str | None:
    return "; ".join(filter(None, parts)) or None
