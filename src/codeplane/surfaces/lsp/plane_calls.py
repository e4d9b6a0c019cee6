"""Calls of operations in the name of one client."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

from codeplane.kernel.actor import Caller, ProgressSink
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject


class PlaneCalls:
    """Calls operations and returns their results as JSON; errors are raised."""

    def __init__(self, conveyor: Conveyor, caller: Caller) -> None:
        self._conveyor = conveyor
        self.caller = caller

    async def call(
        self, name: str, arguments: Mapping[str, object], *, on_progress: ProgressSink | None = None
    ) -> JsonObject:
        """Return the result of an operation."""
        request = self._conveyor.catalogue.get(name).request.model_validate(arguments)
        caller = replace(self.caller, on_progress=on_progress) if on_progress is not None else self.caller
        outcome = await self._conveyor.call(name, request, caller)
        if outcome.error is not None:
            raise outcome.error
        result: JsonObject = json.loads(outcome.result_json)
        return result

    async def stream(self, name: str, arguments: Mapping[str, object]) -> AsyncIterator[JsonObject]:
        """Yield the items of a streaming operation."""
        request = self._conveyor.catalogue.get(name).request.model_validate(arguments)
        async for item in self._conveyor.stream(name, request, self.caller):
            if isinstance(item, Outcome):
                if item.error is not None:
                    raise item.error
            else:
                yield item.model_dump()
