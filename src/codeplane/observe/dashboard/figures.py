"""`call.figures`: counts, failures and durations of recent calls."""

from collections import Counter
from collections.abc import Sequence
from typing import cast

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.failure import is_failure
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.ports import ProjectionStore
from codeplane.ledger.own_actors import own_actor_condition

_MAX_CALLS = 2000
_PARTS, _STEPS = 12, 60
_SHORTEST_NS = 60 * SECOND_NS
# Without the dashboard's own reads (only mutations have a commit before), and without calls that waited for a person,
# whose duration says nothing about the operation: the approved execution is a call of its own.
_RECENT = """SELECT o.timestamp, o.op_type, o.status, o.duration_ms, o.failure_class FROM
             (SELECT timestamp, op_type, status, duration_ms, failure_class, session_id, repo_before_hash
              FROM operations WHERE {visible} ORDER BY op_id DESC LIMIT ?) o
             LEFT JOIN sessions s ON s.session_id = o.session_id
             WHERE o.timestamp >= ? AND o.status != 'running' AND o.op_type != 'dashboard.link'
             AND o.status != 'APPROVAL_PENDING'
             AND (o.repo_before_hash IS NOT NULL OR coalesce(s.surface, '') != 'web')"""
_OLDEST = "SELECT timestamp FROM operations WHERE {visible} ORDER BY op_id DESC LIMIT 1 OFFSET ?"


class FiguresRequest(Request):
    """The period."""

    minutes: int = Field(60, ge=5, le=1440)


class OperationFigures(Result):
    """The figures of one operation."""

    operation: str
    calls: int
    failed: int
    p50_ms: float
    p95_ms: float
    p95_trend: tuple[float, ...] = Field((), description="p95 of each twelfth of the time in which it was called")


class FiguresStep(Result):
    """The calls of one step; `at` is its start, in seconds since 1970."""

    at: float
    calls: int
    failed: int
    p95_ms: float | None = None


class CallFigures(Result):
    """Calls by step and by operation; `complete` when the whole period was counted."""

    minutes: int
    calls: int
    failed: int
    operations: tuple[OperationFigures, ...]
    complete: bool
    steps: tuple[FiguresStep, ...] = Field((), description="60 of them, since the first of the calls")

    def text(self) -> str:
        lines = [f"{self.calls} calls, {self.failed} failed, in {self.minutes} minutes"]
        lines += [
            f"{figures.operation} {figures.calls} p95 {figures.p95_ms} ms, {figures.failed} failed"
            for figures in self.operations
        ]
        return "\n".join(lines)


class FiguresOperations:
    """Counts the newest calls."""

    def __init__(self, *, tables: ProjectionStore, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock

    @operation("call.figures", risk=Risk.READ)
    async def figures(self, call: Call, request: FiguresRequest) -> CallFigures:
        """How many calls there were lately, how many failed, and how long each operation took; of the newest 2,000.
        Agents see figures of their own calls."""
        scope = call.event_scope()
        visible, reader = ("1", ()) if scope is None else own_actor_condition("actor", scope)
        now = self._clock.now_ns()
        since = now - request.minutes * 60 * SECOND_NS
        rows = await self._tables.select(_RECENT.format(visible=visible), (*reader, _MAX_CALLS, since))
        longest_ago = await self._tables.select(_OLDEST.format(visible=visible), (*reader, _MAX_CALLS - 1))
        calls = cast(list[tuple[int, str, str, float, str | None]], rows)
        # From the first call on, or all calls of a new server would be in the last step.
        start = min(max(since, min((item[0] for item in calls), default=0)), now - _SHORTEST_NS)
        whole_ns = now - start
        part_ns = whole_ns // _PARTS
        by_name: dict[str, list[float]] = {}
        by_part: dict[str, dict[int, list[float]]] = {}
        by_step: dict[int, list[tuple[bool, float]]] = {}
        failed: Counter[str] = Counter()
        for at_ns, name, status, milliseconds, failure in calls:
            bad = is_failure(status, failure)
            failed[name] += bad
            by_name.setdefault(name, []).append(milliseconds)
            by_part.setdefault(name, {}).setdefault((at_ns - start) // part_ns, []).append(milliseconds)
            by_step.setdefault(min((at_ns - start) * _STEPS // whole_ns, _STEPS - 1), []).append((bad, milliseconds))
        return CallFigures(
            minutes=request.minutes,
            calls=len(calls),
            failed=failed.total(),
            operations=tuple(
                OperationFigures(
                    operation=name,
                    calls=len(spent),
                    failed=failed[name],
                    p50_ms=_percentile(spent, 50),
                    p95_ms=_percentile(spent, 95),
                    p95_trend=tuple(_percentile(part, 95) for _, part in sorted(by_part[name].items())),
                )
                for name, spent in sorted(by_name.items(), key=lambda item: -len(item[1]))
            ),
            complete=not longest_ago or int(str(longest_ago[0][0])) < since,
            steps=tuple(
                _step(place, by_step.get(place, ()), start, whole_ns) for place in range(_STEPS if calls else 0)
            ),
        )


def _step(number: int, calls: Sequence[tuple[bool, float]], start: int, whole_ns: int) -> FiguresStep:
    return FiguresStep(
        at=round((start + whole_ns * number / _STEPS) / SECOND_NS, 1),
        calls=len(calls),
        failed=sum(bad for bad, _ in calls),
        p95_ms=_percentile([spent for _, spent in calls], 95) if calls else None,
    )


def _percentile(values: Sequence[float], percent: int) -> float:
    """A percentile, interpolated as in `statistics.quantiles`, which computes all hundred."""
    ordered = sorted(values)
    place, part = divmod(percent * (len(ordered) - 1), 100)
    following = ordered[min(place + 1, len(ordered) - 1)]
    return round((ordered[place] * (100 - part) + following * part) / 100, 2)
