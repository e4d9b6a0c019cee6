"""What questions about a repository are answered from."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from codeplane.code.resolve.world import SharedModules
from codeplane.index.fact_store import FactStore
from codeplane.index.freshness import Fresh
from codeplane.index.fulltext import FullText
from codeplane.index.snapshot import Snapshot
from codeplane.index.update_loop import Behind
from codeplane.index.vector_index import Filler


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What questions are answered from: a fresh text, and the facts that follow it."""

    fresh: Callable[[], Awaitable[Fresh]]
    behind: Callable[[Snapshot], Awaitable[Behind]]
    filled: Callable[[], Awaitable[None]]
    store: FactStore
    text: FullText
    modules: SharedModules
    vectors: Filler | None
