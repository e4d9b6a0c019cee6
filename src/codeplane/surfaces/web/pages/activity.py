"""Activity: the list of calls, and one call in detail."""

import json
import time
from collections.abc import Mapping

from starlette.responses import Response

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.errors import NotFound
from codeplane.kernel.failure import is_failure
from codeplane.kernel.json import JsonObject
from codeplane.kernel.trace import KEPT_ANSWER
from codeplane.surfaces.web.json_fields import get_field, get_number, get_object, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.pages.waterfall import Bar, event_steps, span_bars

_FILTERS = ("operation", "actor", "client", "outcome", "text")
_AGES = {"15m": 15 * 60, "1h": 3600, "24h": 86_400, "7d": 7 * 86_400}
_EVENTS = 500
# A call in progress is known only by its start, soon after the decision.
_RUNS, _BEGUN = 50, 100


def activity_filter(query: Mapping[str, str]) -> JsonObject:
    """Return the filter in a URL's query."""
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


async def page(request: PageRequest) -> Response:
    """Render the list with its filters; the first page updates itself."""
    asked = activity_filter(request.query)
    asked |= {"cursor": request.query["cursor"]} if "cursor" in request.query else {}
    calls = await request.call("call.list", {**asked, "limit": 30})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    running = get_objects(calls, "running")
    shown_keys = {get_text(row, "key") for row in running}
    return request.render(
        "activity.html",
        title="Activity",
        pending=waiting["pending"],
        rows=[*running, *(row for row in get_objects(calls, "results") if get_text(row, "key") not in shown_keys)],
        position=calls["position"],
        looked_back_to=calls["looked_back_to"],
        next_cursor=get_field(calls, "pagination", "next_cursor"),
        first_page="cursor" not in request.query,
        filtered=bool(asked.keys() - {"cursor"}),
    )


async def show(request: PageRequest) -> Response:
    """Render one call, or a proposed action with its runs: a timeline first, JSON last."""
    name = request.path_param("call")
    action: JsonObject = {}
    calls = [name]
    events: list[JsonObject] = []
    if name.startswith("act"):
        action = await request.call("approval.show", {"action_id": name})
        log = await request.call("ledger.events", {"stream": f"action/{action['action_id']}", "limit": _EVENTS})
        events = get_objects(log, "results")
        calls = sorted({get_text(event, "call_id") for event in events} - {""})
        if events and get_text(action, "status") in ("APPROVED", "EXECUTED"):
            calls += await _load_runs(request, str(action["action_id"]), int(get_number(events[0], "position") or 0))
    for call in dict.fromkeys(calls):
        log = await request.call("ledger.events", {"call_id": call, "limit": _EVENTS})
        known = {get_text(event, "event_id") for event in events}
        events += [event for event in get_objects(log, "results") if get_text(event, "event_id") not in known]
    events.sort(key=lambda event: get_number(event, "position") or 0)
    if not events:
        raise NotFound(f"nothing is recorded of {name[:80]!r}, or not any more", hint="see the Activity page")
    ends = [event for event in events if get_text(event, "type") in ("call.finished", "call.refused", "call.replayed")]
    # What was carried out says more than that it had to wait.
    ends = [event for event in ends if get_field(event, "payload", "status") != "APPROVAL_PENDING"] or ends
    last = ends[-1] if ends else events[-1]
    if ends and request.is_partial:
        # It ran when the page was loaded: all of it says something else now.
        return request.reload_page()
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    bars, answer = await _load_trace(request, [get_text(event, "call_id") for event in ends])
    return request.render(
        "call.html",
        title=next((text for event in (last, *events) if (text := get_text(event, "payload", "operation"))), "Call"),
        running=not ends,
        failed=is_failure(
            get_text(last, "payload", "status") or "running", get_text(last, "payload", "failure_class") or None
        ),
        pending=waiting["pending"],
        name=name,
        action=action,
        last=last,
        payload=get_object(last, "payload"),
        steps=event_steps(events),
        bars=bars,
        answer=answer,
        answer_is_cut=len(answer) >= KEPT_ANSWER,
        command=next((text for event in events if (text := get_text(event, "payload", "display_command"))), ""),
        output=_output(events),
        events=events,
        cut=len(events) >= _EVENTS,
    )


async def _load_runs(request: PageRequest, action_id: str, after: int) -> list[str]:
    """Load the calls that carried out an action, perhaps in another task."""
    ended = await request.call("audit.list", {"action_id": action_id, "limit": _RUNS})
    started = await request.call("ledger.events", {"types": ["call.started"], "after": after, "limit": _BEGUN})
    named = [
        event for event in get_objects(started, "results") if get_field(event, "payload", "action_id") == action_id
    ]
    return [
        call for event in (*reversed(get_objects(ended, "results")), *named) if (call := get_text(event, "call_id"))
    ]


async def _load_trace(request: PageRequest, calls: list[str]) -> tuple[list[Bar], str]:
    """Load the spans and the answer of the last call, where traces are kept."""
    if not calls or not request.has_operation("trace.show"):
        return [], ""
    found, error = await request.try_call("trace.show", {"call_id": calls[-1]})
    traces = get_objects(found, "traces")
    if error is not None or not traces:
        return [], ""
    return span_bars(found), _indent_json(get_text(traces[0], "answer"))


def _indent_json(encoded: str) -> str:
    """Indent an answer's JSON; a truncated one stays unchanged."""
    try:
        return json.dumps(json.loads(encoded), indent=2, ensure_ascii=False)
    except ValueError:
        return encoded


def _output(events: list[JsonObject]) -> str:
    printed = [get_text(event, "payload", "chunk") for event in events if get_text(event, "type") == "shell.output"]
    return "".join(printed)[-20_000:]


ROUTES = (
    ("GET", "/dashboard/activity", page),
    ("GET", "/dashboard/calls/{call}", show),
)
