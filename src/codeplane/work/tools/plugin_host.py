"""What a plugin may do here: call operations and see events, as an actor of its own."""

import fnmatch
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Protocol

from codeplane.kernel.actor import PLUGIN_PREFIX, Actor, ActorKind, Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.declared_operation import FAMILY
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject

SURFACE = "plugin"


def plugin_actor(name: str) -> Actor:
    """The actor that a plugin is."""
    return Actor(kind=ActorKind.AGENT, actor_id=f"{PLUGIN_PREFIX}{name}")


class DoorToPlane(Protocol):
    """The door, found when it is needed: plugins are known before there is one."""

    def __call__(self) -> Conveyor: ...


class PluginDoor:
    """Lets one plugin through the door."""

    def __init__(self, name: str, door: DoorToPlane, *, events: Sequence[str]) -> None:
        self._name = name
        self._door = door
        self._events = tuple(events)

    async def call(self, operation: str, arguments: JsonObject) -> JsonObject:
        """The outcome of a call as JSON; a plugin does not call its own tools, which would never end."""
        own = f"{FAMILY}.{self._name}."
        if operation.replace("_", ".").startswith(own.replace("_", ".")):
            return {"error": InvalidArgument(f"{operation} is a tool of its own").to_wire()}
        outcome = await self._door().call(operation, arguments, self._caller)
        envelope: JsonObject = json.loads(outcome.to_json(with_text=True))
        return {name: envelope[name] for name in ("result", "text", "error") if name in envelope}

    async def events(self) -> AsyncIterator[JsonObject]:
        """The events of the types that the settings name, of those that it may see, from now on."""
        if not self._events:
            return
        watched = self._door().stream("ledger.watch", {"from_now": True}, self._caller)
        async with aclosing(watched) as items:  # type: ignore[type-var]  # every stream is a generator
            async for item in items:
                if isinstance(item, Outcome):
                    if item.error is not None:
                        raise item.error
                    continue
                event = item.model_dump(mode="json").get("event")
                if isinstance(event, dict) and self._is_wanted(str(event.get("type"))):
                    yield event

    @property
    def _caller(self) -> Caller:
        return Caller(
            surface=SURFACE,
            connection_id=f"plugin-{self._name}",
            client=self._name,
            actor=plugin_actor(self._name),
            wait_sec=0,
        )

    def _is_wanted(self, kind: str) -> bool:
        return any(fnmatch.fnmatchcase(kind, pattern) for pattern in self._events)
