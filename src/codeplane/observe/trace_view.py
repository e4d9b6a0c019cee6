"""A trace as it is shown: what the call was, and its spans as a tree with offsets."""

from pydantic import Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Result
from codeplane.kernel.redaction import MARK, Redactor, prompt_hash
from codeplane.kernel.trace import Span, Trace

_LONGEST = 120
_ITEMS = 8
_LONGEST_ID = 200
# What people and models write, by the names that operations give it: told apart by its hash alone.
_PROMPTS = frozenset({"prompt", "message", "messages", "instructions", "content", "text", "description", "reason"})
# Good for one use, and nobody's affair afterwards.
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
    """One span: when it began after its call, how long it took, and how much of that was its own."""

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
    """One call with everything it spent its time on."""

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
            said = " ".join(f"{name}={value}" for name, value in span.attributes.items())
            failed = f" {span.error}" if span.error else ""
            lines.append(
                f"{bar} {span.offset_ms:9.2f} {span.duration_ms:9.2f} ms {'  ' * span.depth}{span.name}{failed} {said}"
            )
        if self.dropped:
            lines.append(f"{self.dropped} more spans were not kept")
        return "\n".join(line.rstrip() for line in lines)


def summary(trace: Trace) -> TraceSummary:
    """The call in a list."""
    inner = max((one for one in trace.spans if one.parent), key=_duration, default=None)
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
        slowest_span=inner.name if inner is not None and _duration(inner) * 2 > trace.duration_ns else None,
    )


def view(trace: Trace, redactor: Redactor, *, answered: bool = False) -> TraceView:
    """The call with its spans, depth first, without what looks like a secret; with its answer only where asked for."""
    below: dict[int, list[Span]] = {}
    for span in list(trace.spans):
        below.setdefault(span.parent, []).append(span)
    spans: list[SpanView] = []

    def walk(parent: int, depth: int) -> None:
        for span in sorted(below.get(parent, ()), key=lambda one: one.started_ns):
            inside = sum(map(_duration, below.get(span.number, ())))
            spans.append(
                SpanView(
                    span_id=trace.span_id(span.number),
                    parent_id=trace.span_id(parent),
                    name=span.name,
                    depth=depth,
                    offset_ms=_ms(span.started_ns - trace.started_ns),
                    duration_ms=_ms(_duration(span)),
                    # Those side by side can take longer together than what is around them.
                    self_ms=_ms(max(_duration(span) - inside, 0)),
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
    """What is known of the call beside its spans, fit to be shown and sent."""
    return _clean(trace.facts, redactor)


def brief(arguments: JsonObject) -> JsonObject:
    """Arguments as a trace keeps them: short values as they are, prompts and long texts as hashes, lists as counts."""
    return {name: _brief(name, value) for name, value in arguments.items()}


def _brief(name: str, value: JsonValue) -> JsonValue:
    if name in _SECRETS:
        return MARK
    if isinstance(value, str):
        return prompt_hash(value) if name in _PROMPTS or len(value) > _LONGEST else value
    if isinstance(value, list):
        plain = len(value) <= _ITEMS and all(not isinstance(one, (dict, list)) for one in value)
        return [_brief(name, one) for one in value] if plain else f"{len(value)} items"
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
