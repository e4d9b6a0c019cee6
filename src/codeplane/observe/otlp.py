"""Encodes traces as JSON for OTLP/HTTP, as every OpenTelemetry collector accepts it."""

from collections.abc import Iterable, Sequence

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Trace
from codeplane.observe.trace_view import facts

PATH = "/v1/traces"
_SERVER, _INTERNAL = 2, 1
_OK, _ERROR = 1, 2


def encode_traces(traces: Sequence[Trace], *, resource: JsonObject, redactor: Redactor) -> bytes:
    """One export request; content is redacted, and prompts are included only as hashes."""
    spans: list[JsonValue] = [span for trace in traces for span in _spans(trace, redactor)]
    scope: JsonObject = {"name": "codeplane", "version": str(resource.get("service.version", ""))}
    scoped: list[JsonValue] = [{"scope": scope, "spans": spans}]
    body: JsonObject = {
        "resourceSpans": [{"resource": {"attributes": _attributes(resource.items())}, "scopeSpans": scoped}]
    }
    return dumps(body).encode("utf-8", "backslashreplace")


def _spans(trace: Trace, redactor: Redactor) -> Iterable[JsonObject]:
    call_facts = facts(trace, redactor)
    arguments = call_facts.pop("arguments", None)
    attributes: list[tuple[str, JsonValue]] = [(f"codeplane.{name}", value) for name, value in call_facts.items()]
    attributes.append(("codeplane.status", trace.status))
    if isinstance(arguments, dict):
        attributes += [(f"codeplane.argument.{name}", value) for name, value in arguments.items()]
    root: JsonObject = {
        "traceId": trace.trace_id,
        "spanId": trace.span_id(0),
        "name": trace.name[:200],
        "kind": _SERVER,
        **_times(trace, trace.started_ns, trace.ended_ns),
        "attributes": _attributes(attributes),
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
    # Converts readings of the monotonic clock to the wall clock at the call's start.
    offset = trace.at_ns - trace.started_ns
    return {"startTimeUnixNano": str(started_ns + offset), "endTimeUnixNano": str(ended_ns + offset)}


def _attributes(items: Iterable[tuple[str, JsonValue]]) -> list[JsonValue]:
    return [{"key": name, "value": _value(value)} for name, value in items if value is not None]


def _value(value: JsonValue) -> JsonObject:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        # 64 bits do not fit into a JSON number.
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": value if isinstance(value, str) else dumps(value)}
