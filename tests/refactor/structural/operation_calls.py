"""Operations over a few files that a test writes, without a server around them."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar, cast

from codeplane.code.resolve.world import SharedModules
from codeplane.index.freshness import SnapshotSource
from codeplane.index.snapshot import Snapshot
from codeplane.index.update_loop import ParseBacklog
from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.operation import Result
from codeplane.query.knowledge import Knowledge
from tests.code.resolve.written import Written, written

T = TypeVar("T")
Asking = Callable[..., Awaitable[Result]]


def knowledge_of(repo: Written) -> Knowledge:
    """What the operations answer from; nobody watches the disk, so every question walks it."""
    fresh = SnapshotSource(indexer=repo.indexer, clock=SystemClock(), verify_after_sec=60.0)

    async def ready() -> SnapshotSource:
        return fresh

    async def behind(snapshot: Snapshot) -> ParseBacklog:
        await asyncio.to_thread(repo.follower.update, snapshot, newer=lambda: False)
        return ParseBacklog(files=0)

    async def filled() -> None:
        return None

    return Knowledge(
        fresh=ready,
        wait_for_facts=behind,
        wait_for_vectors=filled,
        store=repo.store,
        text=repo.follower.text,
        modules=SharedModules(),
        vectors=None,
    )


def asked(
    root: Path,
    files: dict[str, str],
    made: Callable[[Knowledge], object],
    body: Callable[[Asking], Awaitable[T]],
) -> T:
    """Run a test's body with a function that calls the operations of what was made."""
    with written(root, files) as repo:
        catalogue = Catalogue([made(knowledge_of(repo))])

        async def ask(name: str, **arguments: object) -> Result:
            operation = catalogue.get(name)
            call = Call(
                call_id="call",
                request_id="request",
                operation=operation,
                caller=Caller(surface="test"),
                actor=Actor(kind=ActorKind.OWNER, actor_id="owner"),
                task=None,
                idempotency_key=None,
                log=cast(EventLog, None),
                check_path=lambda call, path: None,
                find_scope=lambda call: None,
            )
            answer = operation.handler(call, operation.request.model_validate(arguments))
            return await cast("asyncio.Future[Result]", answer)

        async def run() -> T:
            return await body(ask)

        return asyncio.run(run())
