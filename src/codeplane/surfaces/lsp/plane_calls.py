"""Calls of operations in the name of one client."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
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

    def __init__(
        self, conveyor: Conveyor, caller: Caller, ask_about: Callable[[str, Mapping[str, object]], AskPerson] | None
    ) -> None:
        self._conveyor = conveyor
        self.caller = caller
        self._ask_about = ask_about

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        on_progress: ProgressSink | None = None,
        ask: AskPerson | None = None,
    ) -> JsonObject:
        """Return the result of an operation; `ask` shows its caller's person a question, else the call is shown."""
        request = self._request(name, arguments)
        if ask is None and self._ask_about is not None:
            ask = self._ask_about(name, arguments)
        caller = replace(self.caller, on_progress=on_progress, ask=ask)
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
