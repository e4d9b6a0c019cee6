"""Ledger: the events themselves, by stream and type, and a recorded session asked again."""

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import at, number, rows
from codeplane.surfaces.web.visit import Visit

_PAGE = 50
# Most of a log's end may be what looking at it wrote, which is left out.
_LOOKS = 8
# After so many steps somebody has to ask for more.
_STEPS = 20
_COUNTED = ("same", "different", "not_asked")


async def page(visit: Visit) -> Response:
    """Events, the newest first unless the address says from where."""
    query = visit.query
    asked: JsonObject = {name: query[name] for name in ("stream", "task_id", "call_id", "in_session") if name in query}
    asked |= {"types": [query["type"]]} if "type" in query else {}
    after, before = _position(query.get("after", "")), _position(query.get("before", ""))
    if after is not None:
        found = await visit.ask("ledger.events", {**asked, "after": after, "limit": _PAGE})
        events, older = rows(found, "results"), after + 1 if after else None
    else:
        events, older, found = await _newest(visit, asked, before, own=bool(query.keys() - {"before"}))
    positions = list(map(_place, events))
    last = int(str(found["last_position"]))
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render(
        "ledger.html",
        title="Ledger",
        pending=waiting["pending"],
        events=events,
        last=last,
        older=older,
        newer=max(positions) if positions and max(positions) < last and (after is not None or before) else None,
    )


async def _newest(
    visit: Visit, asked: JsonObject, before: int | None, *, own: bool
) -> tuple[list[JsonObject], int | None, JsonObject]:
    """The newest that fit, of those before a position; before which there are more; and the log's answer."""
    events: list[JsonObject] = []
    for _ in range(_LOOKS):
        bound: JsonObject = {"before": max(1, before)} if before is not None else {}
        found = await visit.ask("ledger.events", {**asked, **bound, "newest": True, "limit": _PAGE})
        page, more = list(reversed(rows(found, "results"))), bool(at(found, "pagination", "next_cursor"))
        events += [one for one in page if own or not _own(visit, one)]
        if len(events) >= _PAGE or not more:
            break
        before = _place(page[-1])
    if len(events) > _PAGE:
        return events[:_PAGE], _place(events[_PAGE - 1]), found
    return events, _place(page[-1]) if more else None, found


def _place(event: JsonObject) -> int:
    return int(number(event, "position") or 0)


def _position(said: str) -> int | None:
    return int(said) if said.isdecimal() and len(said) < 16 else None


async def replay(visit: Visit) -> Response:
    """The reads of a task or a session, asked again step by step: the first here, and each asks for the next."""
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render("replay.html", title="Replay", pending=waiting["pending"], **await _stepped(visit))


async def step(visit: Visit) -> Response:
    """One more step, for the page that is open."""
    return visit.render("replay_step.html", **await _stepped(visit), later=True)


async def _stepped(visit: Visit) -> dict[str, object]:
    skip = _position(visit.query.get("skip", "")) or 0
    recorded = visit.place("recorded")
    named = "task_id" if recorded.startswith("task_") else "in_session"
    found = await visit.ask("session.replay", {named: recorded, "limit": 1, "skip": skip})
    counted = {name: (_position(visit.query.get(name, "")) or 0) + int(number(found, name) or 0) for name in _COUNTED}
    return {
        "recorded": recorded,
        "found": found,
        "steps": rows(found, "calls"),
        "counted": counted,
        "left": found["left_out"],
        "following": skip + 1,
        "rests": (skip + 1) % _STEPS == 0,
    }


def _own(visit: Visit, event: JsonObject) -> bool:
    """What looking at these pages writes: nobody looks for that, unless it is asked for."""
    return event.get("session_id") == visit.session_id and at(event, "payload", "mutates") is False


ROUTES = (
    ("GET", "/dashboard/ledger", page),
    ("GET", "/dashboard/ledger/replay/{recorded}", replay),
    ("GET", "/dashboard/ledger/replay/{recorded}/step", step),
)
