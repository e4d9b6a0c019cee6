"""Traces of calls that never were, for what keeps, shows and sends them."""

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.trace import Trace, span
from tests.observe.clock import HandClock


def made(
    name: str = "search",
    *,
    ms: float = 10,
    status: str = "ok",
    traceparent: str | None = None,
    inner: str = "index.query",
    **facts: JsonValue,
) -> Trace:
    """A call with two stages and one span inside, that took so long."""
    clock = HandClock()
    trace = Trace.begin(name, clock=clock, traceparent=traceparent)
    with trace.stage("authorise"):
        clock.pass_ms(ms / 10)
    with trace.stage("execute"), span(inner, mode="literal"):
        clock.pass_ms(ms * 9 / 10)
    known: JsonObject = {"call_id": f"call_{trace.trace_id[-8:]}", "surface": "mcp", **facts}
    trace.finish(status, known)
    return trace
