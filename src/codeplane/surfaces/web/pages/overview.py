"""Overview: is it well, what runs, what waits for you."""

from collections.abc import Sequence

from starlette.responses import Response

from codeplane.kernel.counted import counted
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import number, record, rows, text
from codeplane.surfaces.web.visit import Visit

_MINUTES = 60
_OUTPUT_EVENTS = 40
_OUTPUT_CHARACTERS = 4000
_READ = ("memory_mb", "queue", "lag", "running")


async def page(visit: Visit) -> Response:
    """The whole page."""
    return visit.render("overview.html", title="Overview", **await _shown(visit))


async def part(visit: Visit) -> Response:
    """What changes on it, for the page that is open."""
    return visit.render("overview_live.html", **await _shown(visit))


async def badge(visit: Visit) -> Response:
    """How many approvals wait, as the navigation shows it."""
    found = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render("badge_inner.html", pending=found["pending"])


async def _shown(visit: Visit) -> dict[str, object]:
    status = await visit.ask("status", {"include": ["daemon", "ledger", "index", "config", "session"]})
    # The page goes on from the place in the log that this names, so it comes before all that the log's events change.
    calls = await visit.ask("call.list", {"limit": 8})
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 5})
    figures = await visit.ask("call.figures", {"minutes": _MINUTES})
    trend, _ = await visit.attempt("server.trend", {"points": _MINUTES})
    running = [{**row, **await _printed(visit, row)} for row in rows(calls, "running")]
    return {
        "status": status,
        "pending": waiting["pending"],
        "waiting": rows(waiting, "items"),
        "recent": rows(calls, "results"),
        "running": running,
        "figures": figures,
        "slow": _slowest(rows(figures, "operations")),
        "series": _series(figures),
        "trend": {name: [number(one, name) or 0 for one in rows(trend, "moments")] for name in _READ},
        "index": _index(record(status, "index"), text(status, "config", "head")),
        "position": calls["position"],
        "follows_runs": True,
    }


async def _printed(visit: Visit, row: JsonObject) -> JsonObject:
    """What a running command is, and the end of what it has printed."""
    if row.get("operation") == "test.run":
        return {"output": await _tested(visit)}
    if row.get("operation") != "run_bash":
        return {"output": ""}
    asked: JsonObject = {"call_id": row["call_id"], "newest": True, "limit": _OUTPUT_EVENTS}
    found, _ = await visit.attempt("ledger.events", {**asked, "types": ["shell.output"]})
    begun, _ = await visit.attempt("ledger.events", {**asked, "types": ["shell.started"], "limit": 1})
    printed = "".join(text(one, "payload", "chunk") for one in rows(found, "results"))
    command = "".join(text(one, "payload", "display_command") for one in rows(begun, "results"))
    return {"output": printed[-_OUTPUT_CHARACTERS:], "command": command}


async def _tested(visit: Visit) -> str:
    """How far the newest test run is, and what it printed last."""
    run, error = await visit.attempt("test.status")
    if error is not None or run.get("status") != "running":
        return ""
    printed, _ = await visit.attempt("test.output", {"run_id": run["run_id"], "limit": _OUTPUT_CHARACTERS})
    progress = record(run, "progress")
    return f"{text(printed, 'output')}\n[{progress['completed']} of {progress['total']} targets]".lstrip("\n")


def _slowest(operations: Sequence[JsonObject]) -> list[JsonObject]:
    return sorted(operations, key=lambda one: -(number(one, "p95_ms") or 0))[:8]


def _series(figures: JsonObject) -> JsonObject:
    """Calls, failures and p95 step by step, also of those in which nothing happened."""
    steps = rows(figures, "steps")
    if not steps:
        return {}
    return {
        "at": [one["at"] for one in steps],
        "calls": [one["calls"] for one in steps],
        "failed": [one["failed"] for one in steps],
        "p95": [one["p95_ms"] for one in steps],
    }


def _index(index: JsonObject, head: str) -> JsonObject:
    """The index in a few words: whether it can be trusted now, and when all of it was last looked at."""
    symbols = record(index, "symbols")
    failure = text(symbols, "failure") or text(index, "failure")
    if failure:
        return {"said": "failed", "tone": "bad", "more": failure}
    if not index.get("version"):
        return {"said": text(index, "state") or "not there", "tone": "busy", "more": "answers wait for it"}
    told: JsonObject = {
        "files": number(index, "file_count") or 0,
        "checked": text(index, "last_updated"),
        "more": "watching" if index.get("watching") else "not watching",
    }
    share, eta = number(symbols, "share"), number(symbols, "eta_sec")
    if share is not None:
        left = f", about {eta:.0f} s left" if eta else ""
        # All of it is parsed only when it says current.
        return {**told, "said": f"{min(round(100 * share), 99)} %", "tone": "busy", "more": f"being parsed{left}"}
    if head and text(index, "commit") and text(index, "commit") != head:
        return {**told, "said": "behind", "tone": "busy", "more": f"it is of {text(index, 'commit')[:9]}, not of HEAD"}
    waiting = number(symbols, "vectors", "waiting")
    if waiting:
        return {
            **told,
            "said": "current",
            "tone": "good",
            "more": f"{counted(round(waiting), 'file', verbs=('waits', 'wait'))} for vectors",
        }
    return {**told, "said": "current", "tone": "good"}


ROUTES = (
    ("GET", "/dashboard", page),
    ("GET", "/dashboard/overview", part),
    ("GET", "/dashboard/badge", badge),
)
