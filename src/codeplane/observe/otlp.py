"""Traces in the JSON of OTLP/HTTP, as every OpenTelemetry collector takes it."""

from collections.abc import Iterable, Sequence

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Trace
from codeplane.observe.trace_view import facts

PATH = "/v1/traces"
_SERVER, _INTERNAL = 2, 1
_OK, _ERROR = 1, 2


def encoded(traces: Sequence[Trace], *, resource: JsonObject, redactor: Redactor) -> bytes:
    """One export request; content is redacted, and prompts are in it as hashes only."""
    spans: list[JsonValue] = [span for trace in traces for span in _spans(trace, redactor)]
    scope: JsonObject = {"name": "codeplane", "version": str(resource.get("service.version", ""))}
    scoped: list[JsonValue] = [{"scope": scope, "spans": spans}]
    body: JsonObject = {
        "resourceSpans": [{"resource": {"attributes": _attributes(resource.items())}, "scopeSpans": scoped}]
    }
    return dumps(body).encode("utf-8", "backslashreplace")


def _spans(trace: Trace, redactor: Redactor) -> Iterable[JsonObject]:
    known = facts(trace, redactor)
    arguments = known.pop("arguments", None)
    said: list[tuple[str, JsonValue]] = [(f"codeplane.{name}", value) for name, value in known.items()]
    said.append(("codeplane.status", trace.status))
    if isinstance(arguments, dict):
        said += [(f"codeplane.argument.{name}", value) for name, value in arguments.items()]
    root: JsonObject = {
        "traceId": trace.trace_id,
        "spanId": trace.span_id(0),
        "name": trace.name[:200],
        "kind": _SERVER,
        **_times(trace, trace.started_ns, trace.ended_ns),
        "attributes": _attributes(said),
        "status": {"code": _OK} if trace.status in ("ok", "replayed") else {"code": _ERROR, "message": trace.status},
        "droppedAttributesCount": 0,
    }
    if trace.remote is not None:
        root["parentSpanId"] = trace.remote.span_id
    yield root
    for span in list(trace.spans):
        inner = redactor.json(dict(span.attributes))
        assert isinstance(inner, dict)
        yield {
            "traceId": trace.trace_id,
            "spanId": trace.span_id(span.number),
            "parentSpanId": trace.span_id(span.parent),
            "name": span.name,
            "kind": _INTERNAL,
            **_times(trace, span.started_ns, max(span.ended_ns, span.started_ns)),
            "attributes": _attributes(inner.items()),
            "status": {"code": _ERROR, "message": span.error} if span.error else {"code": 0},
        }


def _times(trace: Trace, started_ns: int, ended_ns: int) -> JsonObject:
    # Readings of the monotonic clock, told in terms of the wall clock at the call's beginning.
    offset = trace.at_ns - trace.started_ns
    return {"startTimeUnixNano": str(started_ns + offset), "endTimeUnixNano": str(ended_ns + offset)}


def _attributes(items: Iterable[tuple[str, JsonValue]]) -> list[JsonValue]:
    return [{"key": name, "value": _value(value)} for name, value in items if value is not None]


def _value(value: JsonValue) -> JsonObject:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        # 64 bits do not fit into a number of JSON.
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    return {"stringValue": value if isinstance(value, str) else dumps(value)}
