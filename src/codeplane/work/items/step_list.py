"""Work that is a list of calls, made one after the other."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from codeplane.kernel.actor import Actor, Caller
from codeplane.kernel.clock import Clock
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import ApprovalPending, CodePlaneError, ResultGone, ShuttingDown
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Payloads
from codeplane.work.items.item import WaitReason, WorkItem
from codeplane.work.items.kind import Transition, WorkRun
from codeplane.work.items.table import COMPLETED, FAILED, WAITING

SURFACE = "work"


class StepList:
    """Runs items whose payload is a list of calls."""

    name: ClassVar[str] = "steps"

    def __init__(self, *, payloads: Payloads, clock: Clock, max_running: int) -> None:
        self.max_running = max_running
        self._payloads = payloads
        self._clock = clock

    async def actor(self, item: WorkItem) -> Actor:
        """The item itself."""
        return item.actor

    async def may_start(self, item: WorkItem) -> bool:
        """At any time."""
        return True

    async def copies(self, item: WorkItem, transition: Transition) -> Sequence[Draft]:
        """Nothing: its own stream says it all."""
        return ()

    async def run(self, item: WorkItem, run: WorkRun) -> Transition | None:
        """Make the calls that are left."""
        steps = await self._steps(item)
        for number in range(item.steps_done, len(steps)):
            if run.is_stopping():
                return None
            if (reason := _used_up(item)) is not None:
                return wait_for_budget(reason)
            started_ns = self._clock.monotonic_ns()
            following = steps[number + 1]["operation"] if number + 1 < len(steps) else None
            outcome = await self._call(item, number, steps[number], run, following=following)
            if isinstance(outcome.error, ShuttingDown):
                return None
            if isinstance(outcome.error, ApprovalPending):
                return wait_for_answer(outcome.error)
            if outcome.error is not None:
                return Transition(kind=FAILED, payload=_failure(number, outcome.error))
            if self._clock.now_ns() >= item.lease_until_ns:
                # Renewed by the sweep, or another engine's by now.
                refreshed = await run.refresh()
                item = replace(refreshed, steps_done=max(refreshed.steps_done, number + 1))
            else:
                # As the table has it, which need not be asked.
                used_us = item.used_us + (self._clock.monotonic_ns() - started_ns) // 1000
                item = replace(item, steps_done=number + 1, used_us=used_us)
        return Transition(kind=COMPLETED, payload={})

    async def _steps(self, item: WorkItem) -> list[JsonObject]:
        data = await self._payloads.get(item.work_id, item.payload_hash)
        if data is None:
            raise ResultGone(f"the steps of {item.work_id} are no longer stored")
        steps: list[JsonObject] = json.loads(data)
        return steps

    async def _call(
        self, item: WorkItem, number: int, step: JsonObject, run: WorkRun, *, following: JsonValue
    ) -> Outcome:
        """Make one call through the door, under a key that makes it run once, also when it is repeated."""
        arguments = step["arguments"]
        assert isinstance(arguments, dict)
        caller = Caller(
            surface=SURFACE,
            connection_id=item.work_id,
            actor=item.actor,
            origin=item.origin(number, run.node),
            # A call of the same operation comes next and records its intent at once; a read would leave it unwritten.
            record_wait="next_change" if step["operation"] == following else "now",
            key_is_new=item.attempt == 1,
            wait_sec=0,
        )
        keyed: JsonObject = {**arguments, "idempotency_key": f"{item.work_id}/{number}"}
        return await run.door.call(str(step["operation"]), keyed, caller)


def wait_for_answer(pending: ApprovalPending) -> Transition:
    """The transition of an item whose call a person has to decide on."""
    payload: JsonObject = {"waits_for": WaitReason.APPROVAL.value, "action_id": str(pending.details["action_id"])}
    return Transition(kind=WAITING, payload=payload)


def wait_for_budget(reason: str) -> Transition:
    """The transition of an item that has used up what it may, until a person raises that."""
    return Transition(kind=WAITING, payload={"waits_for": WaitReason.BUDGET.value, "message": reason})


def _used_up(item: WorkItem) -> str | None:
    """Which of its limits the item has reached, in words."""
    if item.steps_done >= item.limits.max_steps:
        return f"{item.steps_done} of {item.limits.max_steps} steps are used up"
    if item.used_us >= item.limits.max_seconds * 1_000_000:
        return f"{item.used_us / 1_000_000:.0f} of {item.limits.max_seconds:.0f} seconds are used up"
    return None


def _failure(number: int, error: CodePlaneError) -> JsonObject:
    return {"error": error.name, "message": f"step {number + 1}: {error.message}", "step": number}
