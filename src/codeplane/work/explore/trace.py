"""What is recorded of an exploration: its plan, its results and its end."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.json import JsonObject
from codeplane.work.explore.agent_op import AgentOp
from codeplane.work.explore.events import COMMAND, COMPLETED, ENDS, ERROR, PLAN_SNAPSHOT, RESULT, explore_stream
from codeplane.work.explore.plan import ExplorePlan

# Far more than a plan of its greatest length makes.
MAX_EVENTS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The events of one exploration in their order."""

    events: Sequence[Event]

    @classmethod
    async def load(cls, log: EventLog, work_id: str) -> "Trace":
        """Read the stream of an exploration."""
        return cls(events=await log.read(stream=explore_stream(work_id), limit=MAX_EVENTS))

    @property
    def sequence(self) -> int:
        """The sequence of the last event."""
        return self.events[-1].sequence if self.events else 0

    @property
    def plan(self) -> ExplorePlan:
        """The plan as its last snapshot has it."""
        return ExplorePlan.from_snapshot(self._values(PLAN_SNAPSHOT)[-1])

    @property
    def snapshot_event(self) -> str:
        """The id of the event of the last snapshot."""
        return next(event.event_id for event in reversed(self.events) if event.type == PLAN_SNAPSHOT)

    @property
    def end(self) -> Event | None:
        """The event that ended it."""
        return next((event for event in reversed(self.events) if event.type in ENDS), None)

    @property
    def summary(self) -> JsonObject | None:
        """The summary, once it is completed."""
        end = self.end
        return _value(end) if end is not None and end.type == COMPLETED else None

    @property
    def results(self) -> dict[str, JsonObject]:
        """The recorded results by the ids of their operations."""
        return {str(value["opId"]): value for value in self._values(RESULT)}

    @property
    def errors(self) -> dict[str, JsonObject]:
        """The recorded errors by the ids of their operations."""
        return {str(value["opId"]): value for value in self._values(ERROR)}

    @property
    def started_ops(self) -> set[str]:
        """The ids of the operations that were started."""
        return {str(value["opId"]) for value in self._values(COMMAND)}

    @property
    def ops(self) -> dict[str, AgentOp]:
        """The operations of the plan by id."""
        return {op.op_id: op for op in self.plan.ops}

    def until(self, event_id: str) -> "Trace | None":
        """The trace up to and with an event; None when it has no such event."""
        for number, event in enumerate(self.events):
            if event.event_id == event_id:
                return Trace(events=self.events[: number + 1])
        return None

    def _values(self, kind: str) -> list[JsonObject]:
        return [_value(event) for event in self.events if event.type == kind]


def _value(event: Event) -> JsonObject:
    value = event.payload["value"]
    assert isinstance(value, dict)
    return value
