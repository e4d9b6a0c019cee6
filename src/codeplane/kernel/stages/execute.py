"""Stage 6: the operation's handler runs, under a deadline, and can be cancelled."""

import inspect
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import ClassVar, cast

from codeplane.kernel.clock import Clock
from codeplane.kernel.operation import Result
from codeplane.kernel.result_redaction import ResultRedaction
from codeplane.kernel.stages.deadline import Deadline, time_allowed
from codeplane.kernel.stages.progress import Admitted


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """Results leave it without secrets: what is recorded and what is answered are the same."""

    name: ClassVar[str] = "execute"
    clock: Clock
    redaction: ResultRedaction

    async def result(self, admitted: Admitted) -> tuple[Result, str | None]:
        """The answer of an operation that gives one, with its JSON where that was made already."""
        identified = admitted.identified
        received, call = identified.received, identified.call
        with received.trace.stage(self.name):
            async with Deadline(received, time_allowed(received, call.operation), self.clock):
                answer = call.operation.handler(call, identified.request)
                assert inspect.isawaitable(answer)
                result = await answer
        return self.redaction.result(call, result)

    async def items(self, admitted: Admitted) -> AsyncGenerator[Result, None]:
        """The results of a stream as they come."""
        identified = admitted.identified
        received, call = identified.received, identified.call
        until = time_allowed(received, call.operation)
        handler = cast(AsyncGenerator[Result, None], call.operation.handler(call, identified.request))
        async with aclosing(handler) as results:
            while True:
                # Each wait has its own timeout: one around the yield would cancel a client that reads slowly.
                with received.trace.stage(self.name):
                    async with Deadline(received, until, self.clock):
                        item = await anext(results, None)
                if item is None:
                    return
                yield self.redaction.result(call, item)[0]
