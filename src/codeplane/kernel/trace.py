"""Traces: what a call spends its time on; and stack traces without what differs from run to run."""

import re
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, TypeAlias

from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.ids import uuid7
from codeplane.kernel.json import JsonObject

Attribute: TypeAlias = str | int | float | bool

MAX_SPANS = 256
KEPT_ANSWER = 4000
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LAST = 1 << 64
_current: "ContextVar[Span | None]" = ContextVar("codeplane_span", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """The span of somebody else that caused a call, as W3C trace context names it."""

    trace_id: str
    span_id: str
    sampled: bool = True

    @classmethod
    def of(cls, header: str | None) -> "Remote | None":
        """Parse a `traceparent`; None for a malformed one, which the standard says to ignore."""
        found = _TRACEPARENT.fullmatch(header) if header is not None and len(header) <= 512 else None
        if found is None:
            return None
        version, trace_id, span_id, flags, more = found.groups()
        if version == "ff" or (version == "00" and more) or not trace_id.strip("0") or not span_id.strip("0"):
            return None
        return cls(trace_id=trace_id, span_id=span_id, sampled=bool(int(flags, 16) & 1))


class Span:
    """One step of a call, from where it is entered to where it is left; also its own context manager."""

    __slots__ = ("_before", "attributes", "ended_ns", "error", "name", "number", "parent", "started_ns", "trace")

    def __init__(self, trace: "Trace", name: str, parent: int, attributes: dict[str, Attribute]) -> None:
        # Only while it is open: a trace and its spans are freed without a collector having to find them.
        self.trace: Trace | None = trace
        self.name = name
        self.parent = parent
        self.attributes = attributes
        self.number = 0
        self.started_ns = self.ended_ns = 0
        self.error = ""
        self._before: Span | None = None

    def __enter__(self) -> "Span":
        trace = self.trace
        assert trace is not None, "a span is entered once"
        if len(trace.spans) < MAX_SPANS:
            trace.spans.append(self)
            self.number = len(trace.spans)
        else:
            trace.dropped += 1
        self._before = _current.get()
        _current.set(self)
        self.started_ns = trace.clock.monotonic_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        trace = self.trace
        assert trace is not None
        self.ended_ns = trace.clock.monotonic_ns()
        if error is not None:
            self.error = error.name if isinstance(error, CodePlaneError) else type(error).__name__
        # Set back rather than reset: a generator may be left in another context than it was entered in.
        _current.set(self._before)
        self._before = self.trace = None

    def note(self, **attributes: Attribute) -> None:
        """Add attributes once they are known."""
        self.attributes.update(attributes)


class _Unseen:
    """Stands in for a span outside of any call, and costs next to nothing."""

    __slots__ = ()

    def __enter__(self) -> "_Unseen":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return

    def note(self, **attributes: Attribute) -> None:
        """Do nothing."""


_UNSEEN = _Unseen()


@dataclass(slots=True, kw_only=True, eq=False)
class Trace:
    """One call and its spans as they happen; they hang below the call in the order in which they began."""

    name: str
    clock: Clock
    remote: Remote | None = None
    trace_id: str = ""
    root: int = 0
    at_ns: int = 0
    started_ns: int = 0
    ended_ns: int = 0
    status: str = ""
    facts: JsonObject = field(default_factory=dict)
    answer: str = ""
    spans: list[Span] = field(default_factory=list)
    dropped: int = 0
    open: bool = True
    seen: bool = True

    @classmethod
    def begin(cls, name: str, *, clock: Clock, traceparent: str | None = None, seen: bool = True) -> "Trace":
        """Start a trace below the span that caused the call: the caller's, or the one around.

        A trace that is not `seen` takes no spans and costs nothing.
        """
        if not seen:
            return cls(name=name, clock=clock, open=False, seen=False)
        fresh = uuid7().replace("-", "")
        remote = Remote.of(traceparent if traceparent is not None else _around())
        return cls(
            name=name,
            clock=clock,
            remote=remote,
            trace_id=remote.trace_id if remote is not None else fresh,
            root=int(fresh[16:], 16),
            at_ns=clock.now_ns(),
            started_ns=clock.monotonic_ns(),
        )

    def stage(self, name: str, **attributes: Attribute) -> "Span | _Unseen":
        """A span directly below the call, in any context."""
        return Span(self, name, 0, attributes) if self.seen else _UNSEEN

    def keep_answer(self, encoded: str) -> None:
        """Keep the start of the answer for people who inspect the call; it is not exported."""
        if self.seen:
            self.answer = encoded[:KEPT_ANSWER]

    def finish(self, status: str, facts: JsonObject) -> None:
        """End the trace."""
        self.ended_ns = self.clock.monotonic_ns()
        self.open = False
        self.status = status
        self.facts = facts

    @property
    def duration_ns(self) -> int:
        """The duration of the whole call."""
        return self.ended_ns - self.started_ns

    def span_id(self, number: int) -> str:
        """The id of a span by its number; 0 is the call."""
        return f"{(self.root + number) % _LAST or 1:016x}"

    def traceparent(self, number: int = 0) -> str:
        """The W3C header for requests that are made on behalf of a span."""
        sampled = self.remote is None or self.remote.sampled
        return f"00-{self.trace_id}-{self.span_id(number)}-{'01' if sampled else '00'}"


class Tracer(Protocol):
    """Receives every trace once it has ended."""

    def end_trace(self, trace: Trace) -> None:
        """A call has ended; nothing is added to its trace any more."""
        ...


class Untraced:
    """A tracer that keeps nothing."""

    def end_trace(self, trace: Trace) -> None:
        return


def span(name: str, **attributes: Attribute) -> "Span | _Unseen":
    """A step inside the span that is open here, also in a thread it was passed on to; nothing outside of a call."""
    around = _current.get()
    if around is None or (trace := around.trace) is None or not trace.open:
        return _UNSEEN
    return Span(trace, name, around.number, attributes)


def note(**attributes: Attribute) -> None:
    """Add attributes to the span that is open here; do nothing outside of a call."""
    around = _current.get()
    if around is not None and around.trace is not None and around.trace.open:
        around.note(**attributes)


def traceparent() -> str | None:
    """The span that is open here as W3C trace context, for what is called from here; None outside of a call."""
    around = _current.get()
    # What a call has started may outlive it, and is not its time any more.
    if around is None or (trace := around.trace) is None or not trace.open:
        return None
    return trace.traceparent(around.number)


# `traceparent` is also the name of an argument.
_around = traceparent

_SEGMENT = r"[^\s/\\:\"'()\[\],;]+"
_NOISE = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I), "<uuid>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"0x[0-9a-f]+|(?<=@)[0-9a-f]{6,16}\b", re.I), "<address>"),
    # Quoted, a path may hold spaces.
    (re.compile(r'(?<=File ")[^"\n]*[/\\](?=[^"/\\\n]+")'), ""),
    # Of a path its last part stays, if that is a file's name; a folder's may be made up for one run.
    (re.compile(rf"(?<![\w.+@~-])(?:[A-Za-z]:)?(?:[/\\]{_SEGMENT})*[/\\](?={_SEGMENT}\.\w)"), ""),
    (re.compile(rf"(?<![\w.+@~-])(?:[A-Za-z]:)?(?:[/\\]{_SEGMENT})+[/\\]?"), "<path>"),
    (re.compile(r"(?<![\w.+@~-])(?:[\w.+@~-]+[/\\])+(?=[\w+-]+\.\w)"), ""),
    (re.compile(r"\b[0-9a-f]{12,64}\b", re.I), "<hash>"),
    (re.compile(r"\d+(?:\.\d+)?"), "<n>"),
    (re.compile(r"[ \t]+"), " "),
)
_LINES = 200
_LINE = 500


def normalise_trace(text: str) -> str:
    """The end of a stack trace or message without paths, line numbers, addresses, times and ids."""
    text = "\n".join(line[:_LINE] for line in text.strip().splitlines()[-_LINES:])
    for pattern, stand_in in _NOISE:
        text = pattern.sub(stand_in, text)
    return "\n".join(line.strip() for line in text.splitlines())
