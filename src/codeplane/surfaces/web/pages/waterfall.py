"""One call over time: its events as steps, its spans as bars."""

from dataclasses import dataclass
from datetime import datetime

from codeplane.kernel.failure import failure_in_words
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.json_fields import get_number, get_objects, get_text

_MOST_BARS = 200
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An event of a call, with the time since the one before."""

    kind: str
    text: str
    at: str
    tone: str
    since_us: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A span; left and width in percent."""

    name: str
    depth: int
    left: float
    width: float
    duration_us: float
    tone: str


_WORDS = {
    "action.created": ("proposed", "waiting"),
    "action.approved": ("approved", "good"),
    "action.rejected": ("rejected", "bad"),
    "action.executed": ("settled as executed", ""),
    "action.interrupted": ("interrupted: its outcome is unknown", "bad"),
    "action.expiring": ("about to expire", "waiting"),
    "policy.decided": ("the policy asks", ""),
    "call.started": ("started", ""),
    "call.refused": ("refused", "bad"),
    "call.replayed": ("answered again from the first call", ""),
    "answer.remembered": ("the answer is remembered", ""),
    "mutation.applied": ("files changed", ""),
    "mutation.undone": ("taken back", ""),
    "mutation.redone": ("done again", ""),
    "mutation.rolled_back": ("broken off and put back as it was", "bad"),
    "checkpoint.made": ("committed", "good"),
    "idempotency.conflict": ("the key was used for something else", "bad"),
    "shell.started": ("command started", ""),
    "shell.finished": ("command ended", ""),
}


def event_steps(events: list[JsonObject]) -> list[Step]:
    """Return the events as steps, without command output."""
    steps: list[Step] = []
    before: datetime | None = None
    for event in events:
        kind = get_text(event, "type")
        if kind == "shell.output":
            continue
        then = datetime.fromisoformat(get_text(event, "occurred_at")[:26] + "+00:00")
        text, tone = _WORDS.get(kind, (kind, ""))
        status = get_text(event, "payload", "status")
        if kind == "call.finished":
            failure = failure_in_words(get_text(event, "payload", "failure_class") or None)
            text, tone = ("ended well", "good") if status == "ok" else (f"ended: {status}", "bad")
            text, tone = (f"ended, and found: {failure}", "bad") if failure and status == "ok" else (text, tone)
        waits = status == "APPROVAL_PENDING"
        if waits:
            text, tone = "the caller got the answer that it waits for a person", "waiting"
        by = get_text(event, "payload", "by").replace("owner:owner", "the owner")
        reason = get_text(event, "payload", "reason") or (
            "" if waits else get_text(event, "payload", "error", "message")
        )
        steps.append(
            Step(
                kind=kind,
                text=text + (f" by {by}" if by else "") + (f": {reason}" if reason else ""),
                at=get_text(event, "occurred_at"),
                tone=tone,
                since_us=None if before is None else (then - before).total_seconds() * _MILLION,
            )
        )
        before = then
    return steps


def span_bars(trace: JsonObject) -> list[Bar]:
    """Return the spans of a call in start order, each below its parent."""
    stored = get_objects(trace, "traces")
    spans = get_objects(stored[0], "spans")[:_MOST_BARS] if stored else []
    starts = [1000 * (get_number(span, "offset_ms") or 0) for span in spans]
    ends = [start + 1000 * (get_number(span, "duration_ms") or 0) for start, span in zip(starts, spans, strict=True)]
    whole = max(ends, default=0) or 1
    return [
        Bar(
            name=get_text(span, "name"),
            depth=int(get_number(span, "depth") or 0),
            left=100 * start / whole,
            width=max(0.4, 100 * (end - start) / whole),
            duration_us=end - start,
            tone="bad" if get_text(span, "error") else "",
        )
        for span, start, end in zip(spans, starts, ends, strict=True)
    ]
