"""The trace operations: `trace.list` and `trace.show`."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from codeplane.kernel.actor import ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import NotFound
from codeplane.kernel.ids import digest
from codeplane.kernel.json import canonical
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Trace
from codeplane.observe.trace_store import OWN_SURFACE, TraceStore
from codeplane.observe.trace_view import TraceSummary, TraceView, summary, view

_OWN_FAMILY = "trace."


class TraceListRequest(PageRequest):
    """Which calls to list, and in which order."""

    order: Literal["recent", "slowest"] = Field("recent", description="slowest: the longest first")
    operation: str | None = Field(None, description="of one operation, such as search", max_length=100)
    status: str | None = Field(None, description="ok, failed (all errors), or an error's name", max_length=100)
    surface: str | None = Field(None, description="mcp, connect, grpc, web …; the dashboard's only here", max_length=50)
    task_id: str | None = Field(None, max_length=200)
    actor: str | None = Field(None, max_length=200)
    span: str | None = Field(None, description="calls with a span of this name, such as git", max_length=100)
    min_ms: float = Field(0.0, ge=0, description="calls that took at least this long")


class TraceList(Result):
    """Calls, and how many traces are kept."""

    traces: tuple[TraceSummary, ...]
    pagination: Pagination
    kept: int

    def text(self) -> str:
        lines = "\n".join(trace.line() for trace in self.traces)
        return (lines or f"no call fits; {self.kept} are kept") + self.pagination.line()


class TraceShowRequest(Request):
    """The call or trace to show."""

    call_id: str = Field(description="a call's id, or a trace's", min_length=1, max_length=200)


class TraceShow(Result):
    """The call, or all kept calls of a trace."""

    traces: tuple[TraceView, ...]

    def text(self) -> str:
        return "\n\n".join(trace.text() for trace in self.traces)


class TraceOperations:
    """Lists and shows traces of calls."""

    def __init__(self, *, traces: TraceStore, cursors: Cursors, redactor: Redactor) -> None:
        self._traces = traces
        self._cursors = cursors
        self._redactor = redactor

    @operation("trace.list", risk=Risk.READ)
    async def list(self, call: Call, request: TraceListRequest) -> TraceList:
        """The last calls or the slowest ones, by operation, outcome, task, span and duration; agents see their own and
        their work's. Kept in memory only."""
        traces = self._traces.all()
        if (own := await _visible_actors(call, [trace for _, trace in traces])) is not None:
            traces = [(number, trace) for number, trace in traces if trace.facts.get("actor") in own]
            if request.actor not in own:
                request = request.model_copy(update={"actor": None})
        ranked = sorted(
            ((_rank(request, number, trace), trace) for number, trace in traces if _fits(request, trace)),
            key=lambda ranked_trace: ranked_trace[0],
        )
        scope = f"trace.list:{digest(canonical(request.model_dump(mode='json', exclude={'cursor', 'limit'})))}"
        if request.cursor is not None:
            state = self._cursors.open(request.cursor, scope=scope)
            after = (int(str(state["by"])), int(str(state["number"])))
            ranked = [ranked_trace for ranked_trace in ranked if ranked_trace[0] > after]
        page = ranked[: request.limit]
        following = None
        if len(ranked) > len(page):
            by, number = page[-1][0]
            following = self._cursors.issue(scope=scope, state={"by": by, "number": number})
        return TraceList(
            traces=tuple(summary(trace) for _, trace in page),
            pagination=Pagination(next_cursor=following, total_estimate=len(ranked)),
            kept=len(traces),
        )

    @operation("trace.show", risk=Risk.READ)
    async def show(self, call: Call, request: TraceShowRequest) -> TraceShow:
        """One call's spans as a tree: when each began after the call, how long it took, and what it did."""
        found = self._traces.find(request.call_id)
        own = await _visible_actors(call, found)
        traces = [trace for trace in found if own is None or trace.facts.get("actor") in own]
        if not traces:
            raise NotFound(
                f"no trace of {request.call_id!r} is kept",
                hint="only the last calls and the slowest are: cpl call trace.list; the ledger has them all",
            )
        # Answers may hold content that other actors may not read.
        answered = call.actor.kind is ActorKind.OWNER
        return TraceShow(traces=tuple(view(trace, self._redactor, answered=answered) for trace in traces))


async def _visible_actors(call: Call, traces: Iterable[Trace]) -> frozenset[str] | None:
    """Whose traces among these the caller may see; None when all."""
    scope = call.event_scope()
    if scope is None:
        return None
    return await call.log.own_actors({str(trace.facts.get("actor")) for trace in traces}, scope)


def _rank(request: TraceListRequest, number: int, trace: Trace) -> tuple[int, int]:
    return (-trace.duration_ns if request.order == "slowest" else 0, -number)


def _fits(request: TraceListRequest, trace: Trace) -> bool:
    facts = trace.facts
    surface = facts.get("surface")
    # Calls of the trace operations themselves are listed only when asked for.
    named = trace.name == request.operation if request.operation else not trace.name.startswith(_OWN_FAMILY)
    failed = trace.status not in ("ok", "replayed")
    return (
        named
        and (surface == request.surface if request.surface else surface != OWN_SURFACE)
        and (request.status is None or trace.status == request.status or (request.status == "failed" and failed))
        and (request.task_id is None or facts.get("task_id") == request.task_id)
        and (request.actor is None or facts.get("actor") == request.actor)
        and (request.span is None or any(span.name == request.span for span in list(trace.spans)))
        and trace.duration_ns >= request.min_ms * 1_000_000
    )
