"""Which tasks have read what others wrote: from then on nothing they ask for is only the owner's wish."""

from codeplane.kernel.call import Call
from codeplane.kernel.event import ContentTrust, Draft, Source
from codeplane.kernel.record import task_stream

CONTENT_INGESTED = "content.ingested"
_MAX_MARKS = 20_000
_MAX_SHOWN = 500


class Ingestion:
    """Marks tasks, in the log and for those who decide; a task does not outlive the server, nor does the mark."""

    def __init__(self) -> None:
        self._marked: dict[str, None] = {}

    async def mark(self, call: Call, source: str, what: str) -> None:
        """Record that a call brings in untrusted content; durable before its answer is given."""
        task = call.task
        # Who read it stays who has read it, whichever session it opens next.
        for mark in (str(call.actor), *([task.task_id] if task is not None else [])):
            self._marked.pop(mark, None)
            self._marked[mark] = None
        while len(self._marked) > _MAX_MARKS:
            del self._marked[next(iter(self._marked))]
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

    def is_untrusted(self, call: Call) -> bool:
        """Whether the call's task, or whoever calls, has read what others wrote."""
        return str(call.actor) in self._marked or (call.task is not None and call.task.task_id in self._marked)
