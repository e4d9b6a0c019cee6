"""A consistent read: an answer from one snapshot, repeated until the files it names are unchanged."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.query.knowledge import Knowledge

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistentRead(Generic[T]):
    """An answer with its snapshot, and what is partial or stale."""

    answer: T
    snapshot: Snapshot
    partial: str | None = None
    stale: tuple[str, ...] = ()

    def line(self) -> str:
        """The snapshot and its caveats as one line."""
        text = f"[epoch {self.snapshot.epoch} at {(self.snapshot.commit or 'no commit')[:9]}]"
        if self.partial:
            text += f" {self.partial}"
        if self.stale:
            text += f" STALE: changed meanwhile: {', '.join(self.stale[:5])}"
        return text


async def read_consistently(
    knowledge: Knowledge,
    look: Callable[[Snapshot], T],
    named: Callable[[T], Iterable[str]],
    *,
    facts: bool = True,
) -> ConsistentRead[T]:
    """Run `look` off the event loop, again whenever a file it names has changed; then return it as stale.

    Without `facts` nobody waits for the parsers.
    """
    fresh = await knowledge.fresh()
    snapshot = await fresh.snapshot(strict=False)
    for _ in range(fresh.looks):
        behind = (await knowledge.wait_for_facts(snapshot)).line() if facts else ""
        answer = await asyncio.to_thread(look, snapshot)
        paths = set(named(answer))
        newer = await fresh.recheck(snapshot, paths)
        if newer is None:
            return ConsistentRead(answer=answer, snapshot=snapshot, partial=behind or None)
        snapshot = newer
    return ConsistentRead(
        answer=answer, snapshot=snapshot, partial=behind or None, stale=tuple(sorted(map(path_text, paths)))
    )
