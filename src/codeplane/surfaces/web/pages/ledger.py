"""Ledger: the events themselves, by stream and type, and a recorded session asked again."""

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import at, number, rows
from codeplane.surfaces.web.visit import Visit

_PAGE = 50
_READ = 400


async def page(visit: Visit) -> Response:
    """Events, the newest first unless the address says from where."""
    query = visit.query
    asked: JsonObject = {name: query[name] for name in ("stream", "task_id", "call_id", "in_session") if name in query}
    asked |= {"types": [query["type"]]} if "type" in query else {}
    after = query.get("after", "")
    if after.isdecimal() and len(after) < 16:
        found = await visit.ask("ledger.events", {**asked, "after": int(after), "limit": _PAGE})
        events = rows(found, "results")
    else:
        found = await visit.ask("ledger.events", {**asked, "newest": True, "limit": _READ})
        events = [one for one in reversed(rows(found, "results")) if query or not _own(visit, one)][:_PAGE]
    positions = [int(number(one, "position") or 0) for one in events]
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render(
        "ledger.html",
        title="Ledger",
        pending=waiting["pending"],
        events=events,
        last=found["last_position"],
        older=max(0, min(positions) - 1 - _PAGE) if positions and min(positions) > 1 else None,
        newer=max(positions) if positions and max(positions) < int(str(found["last_position"])) else None,
        forward=bool(after),
    )


async def replay(visit: Visit) -> Response:
    """The reads of a session asked again, one step after the other."""
    asked: JsonObject = {"session_id": visit.place("session"), "limit": 100}
    found = await visit.ask("session.replay", asked)
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render(
        "replay.html",
        title="Replay",
        pending=waiting["pending"],
        session=visit.place("session"),
        found=found,
        steps=rows(found, "calls"),
        asked=at(found, "against"),
    )


def _own(visit: Visit, event: JsonObject) -> bool:
    """What looking at these pages writes: nobody looks for that, unless it is asked for."""
    return event.get("session_id") == visit.session_id and at(event, "payload", "mutates") is False


ROUTES = (
    ("GET", "/dashboard/ledger", page),
    ("GET", "/dashboard/ledger/replay/{session}", replay),
)
