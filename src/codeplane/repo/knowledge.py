"""What questions about a repository are answered from."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from codeplane.repo.index.facts import FactStore
from codeplane.repo.index.following import Behind
from codeplane.repo.index.fulltext import FullText
from codeplane.repo.index.snapshot import Snapshot
from codeplane.repo.resolve.world import SharedModules
from codeplane.repo.truth.freshness import Fresh
from codeplane.repo.vectors.filler import Filler


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
