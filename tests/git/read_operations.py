"""Asking the operations that read git, without a server around them."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from codeplane.git.read.operations import read_operations
from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.operation import Result
from tests.git.random_repository import environment


class Reads:
    """The operations over one root, asked one at a time."""

    def __init__(self, root: Path, *, env: Mapping[str, str] | None = None, timeout_sec: float = 60.0) -> None:
        clock = SystemClock()
        self.warnings: list[str] = []
        self._catalogue = Catalogue(
            read_operations(
                root=root,
                environment=lambda: {**environment(), **(env or {})},
                timeout_sec=timeout_sec,
                cursors=Cursors(clock=clock),
                clock=clock,
            )
        )

    def __call__(self, name: str, **arguments: object) -> Result:
        """The answer of one operation."""
        return asyncio.run(self.ask(name, **arguments))

    async def ask(self, name: str, **arguments: object) -> Result:
        """The answer of one operation, in a loop that is running already."""
        operation = self._catalogue.get(name)
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
            warnings=self.warnings,
        )
        answer = operation.handler(call, operation.request.model_validate(arguments))
        return await cast("asyncio.Future[Result]", answer)
