"""Views of a trace: the call, and its spans as a tree with offsets."""

from pydantic import Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Result
from codeplane.kernel.redaction import MARK, Redactor, prompt_hash
from codeplane.kernel.trace import Span, Trace

_LONGEST = 120
_ITEMS = 8
_LONGEST_ID = 200
# Arguments that hold what people and models write, shown only as hashes.
_PROMPTS = frozenset({"prompt", "message", "messages", "instructions", "content", "text", "description", "reason"})
# Arguments that hold secrets.
_SECRETS = frozenset({"code", "token", "secret", "password", "key"})
_BAR = 24


class TraceSummary(Result):
    """One call in a list."""

    trace_id: str
    call_id: str | None
    operation: str
    status: str
    at: str
    duration_ms: float
    spans: int
    surface: str | None = None
    client: str | None = None
    actor: str | None = None
    task_id: str | None = None
    slowest_span: str | None = None

    def line(self) -> str:
        """The call in one line."""
        slow = f", most of it {self.slowest_span}" if self.slowest_span else ""
        return (
            f"{self.at} {self.operation} {self.status} {self.duration_ms:.1f} ms{slow}  {self.call_id or ''}".rstrip()
        )


class SpanView(Result):
    """One span: its offset from the call's start, its duration, and the part not spent in child spans."""

    span_id: str
    parent_id: str
    name: str
    depth: int
    offset_ms: float
    duration_ms: float
    self_ms: float
    error: str | None = None
    attributes: JsonObject = Field(default_factory=dict)


class TraceView(Result):
    """One call with its spans."""

    call: TraceSummary
    span_id: str
    parent_id: str | None
    facts: JsonObject
    spans: tuple[SpanView, ...]
    dropped: int = 0
    answer: str | None = Field(None, description="the beginning of what was answered, for the owner alone")

    def text(self) -> str:
        whole = max(self.call.duration_ms, 0.001)
        lines = [self.call.line()]
        for span in self.spans:
            start = min(int(span.offset_ms / whole * _BAR), _BAR - 1)
            width = max(1, min(round(span.duration_ms / whole * _BAR), _BAR - start))
            bar = (" " * start + "█" * width).ljust(_BAR)
            details = " ".join(f"{name}={value}" for name, value in span.attributes.items())
            failed = f" {span.error}" if span.error else ""
            times = f"{span.offset_ms:9.2f} {span.duration_ms:9.2f} ms"
            lines.append(f"{bar} {times} {'  ' * span.depth}{span.name}{failed} {details}")
        if self.dropped:
            lines.append(f"{self.dropped} more spans were not kept")
        return "\n".join(line.rstrip() for line in lines)


def summary(trace: Trace) -> TraceSummary:
    """The summary of a call, for lists."""
    slowest = max((span for span in trace.spans if span.parent), key=_duration, default=None)
    return TraceSummary(
        trace_id=trace.trace_id,
        call_id=_text(trace.facts.get("call_id")),
        operation=trace.name[:_LONGEST_ID],
        status=trace.status,
        at=rfc3339(trace.at_ns),
        duration_ms=_ms(trace.duration_ns),
        spans=len(trace.spans),
        surface=_text(trace.facts.get("surface")),
        client=_text(trace.facts.get("client")),
        actor=_text(trace.facts.get("actor")),
        task_id=_text(trace.facts.get("task_id")),
        slowest_span=slowest.name if slowest is not None and _duration(slowest) * 2 > trace.duration_ns else None,
    )


def view(trace: Trace, redactor: Redactor, *, answered: bool = False) -> TraceView:
    """The call with its spans, depth first, redacted; `answered` includes the answer."""
    children: dict[int, list[Span]] = {}
    for span in list(trace.spans):
        children.setdefault(span.parent, []).append(span)
    spans: list[SpanView] = []

    def walk(parent: int, depth: int) -> None:
        for span in sorted(children.get(parent, ()), key=lambda span: span.started_ns):
            child_time = sum(map(_duration, children.get(span.number, ())))
            spans.append(
                SpanView(
                    span_id=trace.span_id(span.number),
                    parent_id=trace.span_id(parent),
                    name=span.name,
                    depth=depth,
                    offset_ms=_ms(span.started_ns - trace.started_ns),
                    duration_ms=_ms(_duration(span)),
                    # Concurrent children can take longer together than their parent.
                    self_ms=_ms(max(_duration(span) - child_time, 0)),
                    error=span.error or None,
                    attributes=_clean(dict(span.attributes), redactor),
                )
            )
            walk(span.number, depth + 1)

    walk(0, 0)
    return TraceView(
        call=summary(trace),
        span_id=trace.span_id(0),
        parent_id=trace.remote.span_id if trace.remote is not None else None,
        facts=facts(trace, redactor),
        spans=tuple(spans),
        dropped=trace.dropped,
        answer=redactor.text(trace.answer) if answered and trace.answer else None,
    )


def facts(trace: Trace, redactor: Redactor) -> JsonObject:
    """The redacted facts of the call."""
    return _clean(trace.facts, redactor)


def brief(arguments: JsonObject) -> JsonObject:
    """Arguments as a trace keeps them: short values, hashes of prompts and long texts, counts of lists."""
    return {name: _brief(name, value) for name, value in arguments.items()}


def _brief(name: str, value: JsonValue) -> JsonValue:
    if name in _SECRETS:
        return MARK
    if isinstance(value, str):
        return prompt_hash(value) if name in _PROMPTS or len(value) > _LONGEST else value
    if isinstance(value, list):
        plain = len(value) <= _ITEMS and all(not isinstance(item, (dict, list)) for item in value)
        return [_brief(name, item) for item in value] if plain else f"{len(value)} items"
    return f"{len(value)} fields" if isinstance(value, dict) else value


def _clean(value: JsonObject, redactor: Redactor) -> JsonObject:
    cleaned = redactor.json(value)
    assert isinstance(cleaned, dict)
    return cleaned


def _duration(span: Span) -> int:
    return max(span.ended_ns - span.started_ns, 0)


def _ms(ns: int) -> float:
    return round(ns / 1_000_000, 3)


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
