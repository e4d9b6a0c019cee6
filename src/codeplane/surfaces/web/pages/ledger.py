"""Ledger: the events by stream and type, and the replay of a session."""

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.json_fields import get_field, get_number, get_objects
from codeplane.surfaces.web.page_request import PageRequest

_PAGE = 50
# Most of a log's end may be what looking at it wrote, which is left out.
_LOOKS = 8
# After so many steps the person has to ask for more.
_STEPS = 20
_COUNTED = ("same", "different", "not_asked")


async def page(request: PageRequest) -> Response:
    """Render the events, newest first unless the URL gives a position."""
    query = request.query
    asked: JsonObject = {name: query[name] for name in ("stream", "task_id", "call_id", "in_session") if name in query}
    asked |= {"types": [query["type"]]} if "type" in query else {}
    after, before = _position(query.get("after", "")), _position(query.get("before", ""))
    if after is not None:
        log = await request.call("ledger.events", {**asked, "after": after, "limit": _PAGE})
        events, older = get_objects(log, "results"), after + 1 if after else None
    else:
        events, older, log = await _newest(request, asked, before, own=bool(query.keys() - {"before"}))
    positions = list(map(_place, events))
    last = int(str(log["last_position"]))
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render(
        "ledger.html",
        title="Ledger",
        pending=waiting["pending"],
        events=events,
        last=last,
        older=older,
        newer=max(positions) if positions and max(positions) < last and (after is not None or before) else None,
    )


async def _newest(
    request: PageRequest, asked: JsonObject, before: int | None, *, own: bool
) -> tuple[list[JsonObject], int | None, JsonObject]:
    """Return the newest events before a position, where older ones start, and the log's answer."""
    events: list[JsonObject] = []
    for _ in range(_LOOKS):
        bound: JsonObject = {"before": max(1, before)} if before is not None else {}
        log = await request.call("ledger.events", {**asked, **bound, "newest": True, "limit": _PAGE})
        page, more = list(reversed(get_objects(log, "results"))), bool(get_field(log, "pagination", "next_cursor"))
        events += [event for event in page if own or not _own_events(request, event)]
        if len(events) >= _PAGE or not more:
            break
        before = _place(page[-1])
    if len(events) > _PAGE:
        return events[:_PAGE], _place(events[_PAGE - 1]), log
    return events, _place(page[-1]) if more else None, log


def _place(event: JsonObject) -> int:
    return int(get_number(event, "position") or 0)


def _position(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 16 else None


async def replay(request: PageRequest) -> Response:
    """Replay the reads of a task or session; each step requests the next."""
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render("replay.html", title="Replay", pending=waiting["pending"], **await _replay_step(request))


async def step(request: PageRequest) -> Response:
    """Render the next step for an open page."""
    return request.render("replay_step.html", **await _replay_step(request), later=True)


async def _replay_step(request: PageRequest) -> dict[str, object]:
    skip = _position(request.query.get("skip", "")) or 0
    recorded = request.path_param("recorded")
    named = "task_id" if recorded.startswith("task_") else "in_session"
    replayed = await request.call("session.replay", {named: recorded, "limit": 1, "skip": skip})
    counted = {
        name: (_position(request.query.get(name, "")) or 0) + int(get_number(replayed, name) or 0) for name in _COUNTED
    }
    return {
        "recorded": recorded,
        "found": replayed,
        "steps": get_objects(replayed, "calls"),
        "counted": counted,
        "left": replayed["left_out"],
        "following": skip + 1,
        "rests": (skip + 1) % _STEPS == 0,
    }


def _own_events(request: PageRequest, event: JsonObject) -> bool:
    """Return the events that these pages cause themselves, which are hidden unless requested."""
    return event.get("session_id") == request.session_id and get_field(event, "payload", "mutates") is False


ROUTES = (
    ("GET", "/dashboard/ledger", page),
    ("GET", "/dashboard/ledger/replay/{recorded}", replay),
    ("GET", "/dashboard/ledger/replay/{recorded}/step", step),
)
