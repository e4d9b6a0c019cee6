"""Overview: is it well, what runs, what waits for you."""

from collections.abc import Sequence

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import at, number, record, rows, text
from codeplane.surfaces.web.visit import Visit

_MINUTES = 60
_OUTPUT_EVENTS = 40
_OUTPUT_CHARACTERS = 4000


async def page(visit: Visit) -> Response:
    """The whole page."""
    return visit.render("overview.html", title="Overview", **await _shown(visit))


async def part(visit: Visit) -> Response:
    """What changes on it, for the page that is open."""
    return visit.render("overview_live.html", **await _shown(visit))


async def badge(visit: Visit) -> Response:
    """How many approvals wait, as the navigation shows it."""
    found = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render("badge.html", pending=found["pending"])


async def _shown(visit: Visit) -> dict[str, object]:
    status = await visit.ask("status", {"include": ["daemon", "ledger", "index", "config", "session"]})
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 5})
    calls = await visit.ask("call.list", {"limit": 8})
    figures = await visit.ask("call.figures", {"minutes": _MINUTES})
    running = [{**row, "output": await _output(visit, row)} for row in rows(calls, "running")]
    return {
        "status": status,
        "pending": waiting["pending"],
        "waiting": rows(waiting, "items"),
        "recent": rows(calls, "results"),
        "running": running,
        "figures": figures,
        "slow": _slowest(rows(figures, "operations")),
        "series": _series(figures),
        "index": _index(record(status, "index")),
        "position": calls["position"],
    }


async def _output(visit: Visit, row: JsonObject) -> str:
    """The end of what a running command has printed."""
    if row.get("operation") not in ("run_bash", "test.run"):
        return ""
    asked: JsonObject = {"call_id": row["call_id"], "types": ["shell.output"], "newest": True, "limit": _OUTPUT_EVENTS}
    found, _ = await visit.attempt("ledger.events", asked)
    return "".join(text(one, "payload", "chunk") for one in rows(found, "results"))[-_OUTPUT_CHARACTERS:]


def _slowest(operations: Sequence[JsonObject]) -> list[JsonObject]:
    return sorted(operations, key=lambda one: -(number(one, "p95_ms") or 0))[:8]


def _series(figures: JsonObject) -> JsonObject:
    """Calls, failures and p95 of every minute of the hour, also of those in which nothing happened."""
    pairs = at(figures, "by_minute")
    spent = at(figures, "p95_by_minute")
    by_minute = {one[0]: one for one in pairs if isinstance(one, list)} if isinstance(pairs, list) else {}
    waits = {one[0]: one[1] for one in spent if isinstance(one, list)} if isinstance(spent, list) else {}
    if not by_minute:
        return {}
    last = max(int(str(minute)) for minute in by_minute)
    minutes = range(last - _MINUTES + 1, last + 1)
    return {
        "at": [minute * 60 for minute in minutes],
        "calls": [by_minute[minute][1] if minute in by_minute else 0 for minute in minutes],
        "failed": [by_minute[minute][2] if minute in by_minute else 0 for minute in minutes],
        "p95": [waits.get(minute) for minute in minutes],
    }


def _index(index: JsonObject) -> JsonObject:
    """The index in a few words: whether it can be trusted now."""
    symbols = record(index, "symbols")
    failure = text(symbols, "failure") or text(index, "failure")
    if failure:
        return {"said": "failed", "tone": "bad", "more": failure}
    if not index.get("version"):
        return {"said": text(index, "state") or "not there", "tone": "busy", "more": "answers wait for it"}
    files = number(index, "file_count") or 0
    done, total = number(symbols, "files"), number(symbols, "files_total")
    if done is not None and total:
        return {"said": f"{round(100 * done / total)} % parsed", "tone": "busy", "more": f"epoch {index['version']}"}
    watched = "watching" if index.get("watching") else "not watching"
    return {"said": "current", "tone": "good", "more": f"epoch {index['version']}, {watched}", "files": files}


ROUTES = (
    ("GET", "/dashboard", page),
    ("GET", "/dashboard/overview", part),
    ("GET", "/dashboard/badge", badge),
)
