"""Activity: who asked for what, how it ended, as it happens; and one call from all sides."""

import json
import time
from collections.abc import Mapping

from starlette.responses import Response

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.errors import NotFound
from codeplane.kernel.failure import is_failure
from codeplane.kernel.json import JsonObject
from codeplane.kernel.trace import KEPT_ANSWER
from codeplane.surfaces.web.pages.waterfall import Bar, bars_of, steps_of
from codeplane.surfaces.web.reading import at, number, record, rows, text
from codeplane.surfaces.web.visit import Visit

_FILTERS = ("operation", "actor", "client", "outcome", "text")
_AGES = {"15m": 15 * 60, "1h": 3600, "24h": 86_400, "7d": 7 * 86_400}
_EVENTS = 500
# One that still runs is told by its beginning alone, soon after the decision.
_RUNS, _BEGUN = 50, 100


def wanted(query: Mapping[str, str]) -> JsonObject:
    """The filter that an address stands for."""
    asked: JsonObject = {name: query[name].strip() for name in _FILTERS if query.get(name, "").strip()}
    if query.get("task"):
        asked["for_task_id"] = query["task"]
    if query.get("session"):
        asked["in_session"] = query["session"]
    if query.get("age") in _AGES:
        asked["since_ns"] = time.time_ns() - _AGES[query["age"]] * SECOND_NS
    if query.get("dashboard"):
        asked["dashboard"] = True
    return asked


async def page(visit: Visit) -> Response:
    """The list with its filters; the first page grows by itself."""
    asked = wanted(visit.query)
    asked |= {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    found = await visit.ask("call.list", {**asked, "limit": 30})
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    running = rows(found, "running")
    told = {text(one, "key") for one in running}
    return visit.render(
        "activity.html",
        title="Activity",
        pending=waiting["pending"],
        rows=[*running, *(one for one in rows(found, "results") if text(one, "key") not in told)],
        position=found["position"],
        looked_back_to=found["looked_back_to"],
        next_cursor=at(found, "pagination", "next_cursor"),
        first_page="cursor" not in visit.query,
        filtered=bool(asked.keys() - {"cursor"}),
    )


async def show(visit: Visit) -> Response:
    """One call, or everything that became of a proposed one: a timeline first, JSON last."""
    name = visit.place("call")
    action: JsonObject = {}
    calls = [name]
    events: list[JsonObject] = []
    if name.startswith("act"):
        action = await visit.ask("approval.show", {"action_id": name})
        found = await visit.ask("ledger.events", {"stream": f"action/{action['action_id']}", "limit": _EVENTS})
        events = rows(found, "results")
        calls = sorted({text(one, "call_id") for one in events} - {""})
        if events and text(action, "status") in ("APPROVED", "EXECUTED"):
            calls += await _runs(visit, str(action["action_id"]), int(number(events[0], "position") or 0))
    for call in dict.fromkeys(calls):
        found = await visit.ask("ledger.events", {"call_id": call, "limit": _EVENTS})
        known = {text(one, "event_id") for one in events}
        events += [one for one in rows(found, "results") if text(one, "event_id") not in known]
    events.sort(key=lambda one: number(one, "position") or 0)
    if not events:
        raise NotFound(f"nothing is recorded of {name[:80]!r}, or not any more", hint="see the Activity page")
    ends = [one for one in events if text(one, "type") in ("call.finished", "call.refused", "call.replayed")]
    # What was carried out says more than that it had to wait.
    ends = [one for one in ends if at(one, "payload", "status") != "APPROVAL_PENDING"] or ends
    last = ends[-1] if ends else events[-1]
    if ends and visit.is_part:
        # It ran when the page was loaded: all of it says something else now.
        return visit.anew()
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    bars, answer = await _traced(visit, [text(one, "call_id") for one in ends])
    return visit.render(
        "call.html",
        title=next((said for one in (last, *events) if (said := text(one, "payload", "operation"))), "Call"),
        running=not ends,
        failed=is_failure(text(last, "payload", "status") or "running", text(last, "payload", "failure_class") or None),
        pending=waiting["pending"],
        name=name,
        action=action,
        last=last,
        payload=record(last, "payload"),
        steps=steps_of(events),
        bars=bars,
        answer=answer,
        answer_is_cut=len(answer) >= KEPT_ANSWER,
        command=next((said for one in events if (said := text(one, "payload", "display_command"))), ""),
        output=_output(events),
        events=events,
        cut=len(events) >= _EVENTS,
    )


async def _runs(visit: Visit, action_id: str, after: int) -> list[str]:
    """The calls that carry an action out, which may be in another task than the one it was asked for in."""
    ended = await visit.ask("audit.list", {"action_id": action_id, "limit": _RUNS})
    begun = await visit.ask("ledger.events", {"types": ["call.started"], "after": after, "limit": _BEGUN})
    named = [one for one in rows(begun, "results") if at(one, "payload", "action_id") == action_id]
    return [call for one in (*reversed(rows(ended, "results")), *named) if (call := text(one, "call_id"))]


async def _traced(visit: Visit, calls: list[str]) -> tuple[list[Bar], str]:
    """The spans of the last call and what it was answered, where traces are kept."""
    if not calls or not visit.knows("trace.show"):
        return [], ""
    found, error = await visit.attempt("trace.show", {"call_id": calls[-1]})
    traces = rows(found, "traces")
    if error is not None or not traces:
        return [], ""
    return bars_of(found), _indented(text(traces[0], "answer"))


def _indented(encoded: str) -> str:
    """An answer as people read JSON; one that is cut off stays as it is."""
    try:
        return json.dumps(json.loads(encoded), indent=2, ensure_ascii=False)
    except ValueError:
        return encoded


def _output(events: list[JsonObject]) -> str:
    printed = [text(one, "payload", "chunk") for one in events if text(one, "type") == "shell.output"]
    return "".join(printed)[-20_000:]


ROUTES = (
    ("GET", "/dashboard/activity", page),
    ("GET", "/dashboard/calls/{call}", show),
)
