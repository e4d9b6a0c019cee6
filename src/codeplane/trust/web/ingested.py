"""Which tasks have read what others wrote: from then on nothing they ask for is only the owner's wish."""

from codeplane.kernel.call import Call
from codeplane.kernel.event import ContentTrust, Draft, Source
from codeplane.kernel.record import task_stream

CONTENT_INGESTED = "content.ingested"
_MAX_TASKS = 10_000
_MAX_SHOWN = 500


class Ingestion:
    """Marks tasks, in the log and for those who decide; a task does not outlive the server, nor does the mark."""

    def __init__(self) -> None:
        self._tasks: dict[str, None] = {}

    async def mark(self, call: Call, source: str, what: str) -> None:
        """Record that a call brings in untrusted content; durable before its answer is given."""
        task = call.task
        if task is not None:
            self._tasks.pop(task.task_id, None)
            self._tasks[task.task_id] = None
            if len(self._tasks) > _MAX_TASKS:
                del self._tasks[next(iter(self._tasks))]
        await call.log.append(
            [
                Draft(
                    stream=task_stream(task.task_id) if task is not None else "calls",
                    type=CONTENT_INGESTED,
                    payload={"operation": call.operation.name, "source": source, "what": what[:_MAX_SHOWN]},
                    actor=str(call.actor),
                    source=Source.TOOL_EXECUTOR,
                    content_trust=ContentTrust.UNTRUSTED_MODEL,
                    correlation=call.correlation,
                )
            ]
        )

    def is_untrusted(self, task_id: str) -> bool:
        """Whether the task has read what others wrote."""
        return task_id in self._tasks
