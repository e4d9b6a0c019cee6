"""An answer from one snapshot and its facts, looked at again until the files it names are as it says."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from codeplane.index.files.paths import shown
from codeplane.index.snapshot import Snapshot
from codeplane.query.knowledge import Knowledge

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled(Generic[T]):
    """What was found, in which state, and what is not known of it."""

    answer: T
    snapshot: Snapshot
    partial: str | None = None
    stale: tuple[str, ...] = ()

    def line(self) -> str:
        """How an answer ends: what it speaks of, and how far it can be trusted."""
        said = f"[epoch {self.snapshot.epoch} at {(self.snapshot.commit or 'no commit')[:9]}]"
        if self.partial:
            said += f" {self.partial}"
        if self.stale:
            said += f" STALE: changed meanwhile: {', '.join(self.stale[:5])}"
        return said


async def settled(
    knowledge: Knowledge,
    look: Callable[[Snapshot], T],
    named: Callable[[T], Iterable[str]],
    *,
    facts: bool = True,
) -> Settled[T]:
    """Look off the event loop, and once more whenever a file the answer names has changed; flagged in the end.

    Without `facts` nobody waits for the parsers.
    """
    fresh = await knowledge.fresh()
    snapshot = await fresh.snapshot(strict=False)
    for _ in range(fresh.looks):
        behind = (await knowledge.behind(snapshot)).line() if facts else ""
        answer = await asyncio.to_thread(look, snapshot)
        paths = set(named(answer))
        newer = await fresh.recheck(snapshot, paths)
        if newer is None:
            return Settled(answer=answer, snapshot=snapshot, partial=behind or None)
        snapshot = newer
    return Settled(answer=answer, snapshot=snapshot, partial=behind or None, stale=tuple(sorted(map(shown, paths))))
