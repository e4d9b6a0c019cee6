"""Explorations in the dialect 0.2.1: tool calls whose plans, operations and results are updates of a session."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from uuid import uuid4

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, RateLimited
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.seed_explore_updates import ExploreUpdates, snake
from codeplane.surfaces.acp.seed_outlet import SeedOutlet, failure
from codeplane.surfaces.acp.seed_requests import (
    SeedAbort,
    SeedConcurrency,
    SeedExplore,
    SeedExploreWatch,
    SeedStart,
    parse_seed,
)
from codeplane.surfaces.json_rpc.peer import Answer

FEATURE = "orchestrate.explore"
MAX_FOLLOWED = 16
_HEARTBEAT_SEC = 300
_NAME = "orchestrate.explore.start"


class SeedExplorations:
    """What a client does with explorations; those that it leaves behind go on without it."""

    def __init__(
        self,
        door: AcpDoor,
        outlet: SeedOutlet,
        check_session: Callable[[str], object],
        open_session: Callable[[], Awaitable[str]],
    ) -> None:
        """`check_session` raises for a session that is not open; `open_session` opens one."""
        self._door = door
        self._outlet = outlet
        self._check_session = check_session
        self._open_session = open_session
        # The newest exploration of each session, and those that are followed.
        self._newest: dict[str, str] = {}
        self._following: dict[asyncio.Task[None], tuple[str, str]] = {}

    @property
    def methods(self) -> Mapping[str, Callable[[JsonObject], Awaitable[JsonValue | Answer]]]:
        """The methods by their names."""
        return {
            _NAME: self._start,
            "orchestrate.explore.watch": self._watch,
            "orchestrate.explore.status": self._status,
            "orchestrate.explore.abort": self._abort,
            "orchestrate.explore.setConcurrency": self._set_concurrency,
        }

    async def cancel(self, session_id: str) -> None:
        """End the explorations that are followed in a session."""
        for session, explore_id in list(self._following.values()):
            if session == session_id:
                asked: JsonObject = {"explore_id": explore_id, "reason": "cancelled in the client"}
                await self._door.call("orchestrate.explore.abort", asked)

    async def end(self) -> None:
        """Follow none any more."""
        tasks = set(self._following)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _start(self, params: JsonObject) -> Answer:
        asked: SeedStart = parse_seed(SeedStart, params)
        if asked.session_id is not None:
            self._check_session(asked.session_id)
        self._check_room()
        session_id = asked.session_id or await self._open_session()
        wanted = asked.model_dump(mode="json", exclude={"session_id"})
        shown = asked.model_dump(mode="json", exclude={"session_id"}, exclude_unset=True)
        call_id = await self._show_call(session_id, shown)
        try:
            started = await self._door.call(_NAME, wanted)
        except CodePlaneError as error:
            await self._outlet.show(session_id, failure(call_id, error))
            raise
        explore_id = str(started["sessionId"])
        self._newest[session_id] = explore_id
        result: JsonObject = {"session_id": session_id, "status": "started", **_renamed(started)}
        return self._followed(session_id, call_id, explore_id, 0, result)

    async def _watch(self, params: JsonObject) -> Answer:
        asked: SeedExploreWatch = parse_seed(SeedExploreWatch, params)
        explore_id = self._named(asked)
        self._check_room()
        found = _renamed(await self._door.call("orchestrate.explore.status", {"explore_id": explore_id}))
        call_id = await self._show_call(asked.session_id, {"explore_id": found["explore_id"], "after": asked.after})
        self._newest[asked.session_id] = str(found["explore_id"])
        return self._followed(asked.session_id, call_id, str(found["explore_id"]), asked.after, found)

    async def _status(self, params: JsonObject) -> JsonValue:
        asked: SeedExplore = parse_seed(SeedExplore, params)
        return _renamed(await self._door.call("orchestrate.explore.status", {"explore_id": self._named(asked)}))

    async def _abort(self, params: JsonObject) -> JsonValue:
        asked: SeedAbort = parse_seed(SeedAbort, params)
        wanted: JsonObject = {"explore_id": self._named(asked), "reason": asked.reason}
        return _renamed(await self._door.call("orchestrate.explore.abort", wanted))

    async def _set_concurrency(self, params: JsonObject) -> JsonValue:
        asked: SeedConcurrency = parse_seed(SeedConcurrency, params)
        wanted: JsonObject = {"explore_id": self._named(asked), "op_caps": dict(asked.op_caps)}
        if asked.max_in_flight_ops is not None:
            wanted["max_in_flight_ops"] = asked.max_in_flight_ops
        changed = await self._door.call("orchestrate.explore.setConcurrency", wanted)
        return {"max_in_flight_ops": changed["maxInFlightOps"], "op_caps": changed["opCaps"]}

    def _named(self, asked: SeedExplore) -> str:
        """Return the named exploration, else the newest of the session."""
        self._check_session(asked.session_id)
        explore_id = asked.explore_id or self._newest.get(asked.session_id)
        if explore_id is None:
            raise InvalidArgument("the session has no exploration yet", hint="name one as `explore_id`")
        return explore_id

    def _check_room(self) -> None:
        if len(self._following) >= MAX_FOLLOWED:
            raise RateLimited(
                f"{MAX_FOLLOWED} explorations are followed on this connection", hint="wait for one, or abort it"
            )

    async def _show_call(self, session_id: str, arguments: JsonObject) -> str:
        call_id = str(uuid4())
        call: JsonObject = {"session_update": "tool_call", "call_id": call_id, "name": _NAME, "arguments": arguments}
        await self._outlet.show(session_id, call)
        return call_id

    def _followed(self, session_id: str, call_id: str, explore_id: str, after: int, result: JsonObject) -> Answer:
        """Return an answer behind which the exploration is streamed."""

        async def follow() -> None:
            task = asyncio.ensure_future(self._stream(session_id, call_id, explore_id, after))
            self._following[task] = (session_id, explore_id)
            task.add_done_callback(self._forget)

        return Answer(result={"call_id": call_id, **result}, after=follow)

    async def _stream(self, session_id: str, call_id: str, explore_id: str, after: int) -> None:
        updates = ExploreUpdates(call_id)
        asked: JsonObject = {"explore_id": explore_id, "after": after, "heartbeat_sec": _HEARTBEAT_SEC}
        try:
            async for item in self._door.stream("orchestrate.explore.watch", asked):
                event = item.model_dump(mode="json")
                if isinstance(envelope := event.get("envelope"), dict):
                    for update in updates.of(envelope, cursor=event["cursor"]):
                        await self._outlet.show(session_id, update)
        except CodePlaneError as error:
            # The exploration goes on; only its client hears no more of it.
            await self._outlet.show(session_id, failure(call_id, error))

    def _forget(self, task: "asyncio.Task[None]") -> None:
        self._following.pop(task, None)
        with suppress(asyncio.CancelledError):
            # Sending failed since the other side has left; retrieved to avoid a warning.
            task.exception()


def _renamed(found: JsonObject) -> JsonObject:
    """Return what an operation says of an exploration, whose session id would be taken for the client's."""
    return snake({"exploreId" if name == "sessionId" else name: value for name, value in found.items()})
