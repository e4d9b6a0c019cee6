"""The parts of the index that queries read."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from codeplane.code.resolve.world import SharedModules
from codeplane.index.fact_store import FactStore
from codeplane.index.freshness import SnapshotSource
from codeplane.index.fulltext import FullText
from codeplane.index.snapshot import Snapshot
from codeplane.index.update_loop import ParseBacklog
from codeplane.index.vector_index import VectorIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """The sources of an answer: snapshots, facts, full text, modules and vectors."""

    fresh: Callable[[], Awaitable[SnapshotSource]]
    wait_for_facts: Callable[[Snapshot], Awaitable[ParseBacklog]]
    wait_for_vectors: Callable[[], Awaitable[None]]
    store: FactStore
    text: FullText
    modules: SharedModules
    vectors: VectorIndex | None
