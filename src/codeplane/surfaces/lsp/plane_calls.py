"""Calls of operations in the name of one client."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import cast

from codeplane.kernel.actor import AskPerson, Caller, ProgressSink
from codeplane.kernel.arguments import parse
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request


class PlaneCalls:
    """Calls operations and returns their results as JSON; errors are raised."""

    def __init__(self, conveyor: Conveyor, caller: Caller) -> None:
        self._conveyor = conveyor
        self.caller = caller

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        on_progress: ProgressSink | None = None,
        ask: AskPerson | None = None,
    ) -> JsonObject:
        """Return the result of an operation; `ask` shows its caller's person a question."""
        request = self._request(name, arguments)
        caller = self.caller
        if on_progress is not None or ask is not None:
            caller = replace(caller, on_progress=on_progress, ask=ask or caller.ask)
        outcome = await self._conveyor.call(name, request, caller)
        if outcome.error is not None:
            raise outcome.error
        result: JsonObject = json.loads(outcome.result_json)
        return result

    def _request(self, name: str, arguments: Mapping[str, object]) -> Request:
        # What the plane gives the operations stays as it is: open documents are not made twice.
        return parse(self._conveyor.catalogue.get(name), cast(JsonObject, arguments))

    async def stream(self, name: str, arguments: Mapping[str, object]) -> AsyncIterator[JsonObject]:
        """Yield the items of a streaming operation."""
        request = self._request(name, arguments)
        async for item in self._conveyor.stream(name, request, self.caller):
            if isinstance(item, Outcome):
                if item.error is not None:
                    raise item.error
            else:
                yield item.model_dump()
