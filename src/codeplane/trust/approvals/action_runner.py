"""Runs approved actions whose callers no longer wait: through the conveyor, under the same key, once."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial

from codeplane.kernel.actor import Actor, Caller
from codeplane.kernel.call_record import RESUMED_SURFACE
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import ApprovalPending, CodePlaneError, SessionClosed, SessionNotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.trust.approvals.action import Action, ActionStatus
from codeplane.trust.approvals.approvals import Approvals

_MAX_RUNNING = 4
_NEXT = "the caller has to ask again, with a new idempotency_key"

Door = Callable[[str, Mapping[str, JsonValue], Caller], Awaitable[Outcome]]


class ActionRunner:
    """Sends approved actions through the conveyor; the idempotency key makes each run once."""

    def __init__(
        self,
        *,
        approvals: Approvals,
        is_live: Callable[[Actor], bool],
        on_crash: Callable[[BaseException], None],
    ) -> None:
        """`is_live` tells whether the caller could still call: nothing runs for a revoked one."""
        self._approvals = approvals
        self._is_live = is_live
        self._on_crash = on_crash
        self._loop: asyncio.Future[None] | None = None
        self._running: dict[str, asyncio.Future[None]] = {}
        self._slots = asyncio.Semaphore(_MAX_RUNNING)

    def start(self, door: Door) -> None:
        """Run approved actions through the conveyor as they come, until stopped."""
        self._loop = asyncio.ensure_future(self._follow(door))

    async def _follow(self, door: Door) -> None:
        while True:
            action = await self._approvals.next_unattended()
            if action.action_id not in self._running:
                running = self._running[action.action_id] = asyncio.ensure_future(self._run(action, door))
                running.add_done_callback(partial(self._on_done, action.action_id))

    async def stop(self) -> None:
        """Cancel all runs; those that have started are recorded as cut off."""
        running = list(self._running.values())
        if self._loop is not None:
            self._loop.cancel()
        for future in running:
            future.cancel()
        if running:
            await asyncio.wait(running)

    def _on_done(self, action_id: str, done: "asyncio.Future[None]") -> None:
        self._running.pop(action_id, None)
        if not done.cancelled() and (error := done.exception()) is not None:
            self._on_crash(error)

    async def _run(self, action: Action, door: Door) -> None:
        async with self._slots:
            if not self._is_live(action.actor):
                await self._withdraw(action, f"{action.actor} is no longer admitted")
                return
            data = await self._approvals.arguments_of(action)
            if data is None:
                await self._withdraw(action, "its arguments are no longer stored; the agent has to call again")
                return
            outcome = await self._call(door, action, json.loads(data))
            error = outcome.error
            if error is None or isinstance(error, ApprovalPending):
                return
            after = await self._approvals.get(action.action_id)
            if after.status is ActionStatus.APPROVED and not after.started:
                await self._withdraw(after, f"it could not be run: {error.name}: {error.message}; {_NEXT}")

    @staticmethod
    async def _call(door: Door, action: Action, arguments: JsonObject) -> Outcome:
        caller = Caller(surface=RESUMED_SURFACE, client=action.client, actor=action.actor, origin=action.origin)
        arguments_with_key: JsonObject = {**arguments, "idempotency_key": action.key}
        if action.session_id is not None and "session_id" not in arguments:
            # Not in the arguments, which are those that were approved.
            in_session = replace(caller, session_id=action.session_id)
            outcome = await door(action.operation, arguments_with_key, in_session)
            if not isinstance(outcome.error, (SessionClosed, SessionNotFound)):
                return outcome
        return await door(action.operation, arguments_with_key, caller)

    async def _withdraw(self, action: Action, reason: str) -> None:
        try:
            await self._approvals.withdraw(action, reason)
        except CodePlaneError:
            # It was settled meanwhile, or the log cannot be written: the next sweep tries again.
            return
