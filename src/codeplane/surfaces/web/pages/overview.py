"""Overview: health, running calls, and pending approvals."""

from collections.abc import Sequence

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.kernel.plural import plural
from codeplane.surfaces.web.json_fields import get_number, get_object, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest

_MINUTES = 60
_OUTPUT_EVENTS = 40
_OUTPUT_CHARACTERS = 4000
_READ = ("memory_mb", "queue", "lag", "running")


async def page(request: PageRequest) -> Response:
    """Render the whole page."""
    return request.render("overview.html", title="Overview", **await _page_context(request))


async def part(request: PageRequest) -> Response:
    """Render the parts that change, for an open page."""
    return request.render("overview_live.html", **await _page_context(request))


async def badge(request: PageRequest) -> Response:
    """Render the number of pending approvals for the navigation."""
    approvals = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    return request.render("badge_inner.html", pending=approvals["pending"])


async def _page_context(request: PageRequest) -> dict[str, object]:
    status = await request.call("status", {"include": ["daemon", "ledger", "index", "config", "session", "schedules"]})
    # The page goes on from the place in the log that this names, so it comes before all that the log's events change.
    calls = await request.call("call.list", {"limit": 8})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 5})
    figures = await request.call("call.figures", {"minutes": _MINUTES})
    trend, _ = await request.try_call("server.trend", {"points": _MINUTES})
    running = [{**row, **await _command_output(request, row)} for row in get_objects(calls, "running")]
    return {
        "status": status,
        "pending": waiting["pending"],
        "waiting": get_objects(waiting, "items"),
        "recent": get_objects(calls, "results"),
        "running": running,
        "figures": figures,
        "slow": _slowest(get_objects(figures, "operations")),
        "series": _series(figures),
        "trend": {name: [get_number(moment, name) or 0 for moment in get_objects(trend, "moments")] for name in _READ},
        "index": _index(get_object(status, "index"), get_text(status, "config", "head")),
        "position": calls["position"],
        "follows_runs": True,
    }


async def _command_output(request: PageRequest, row: JsonObject) -> JsonObject:
    """Return a running command and the end of its output."""
    if row.get("operation") == "test.run":
        return {"output": await _test_progress(request)}
    if row.get("operation") != "run_bash":
        return {"output": ""}
    asked: JsonObject = {"call_id": row["call_id"], "newest": True, "limit": _OUTPUT_EVENTS}
    found, _ = await request.try_call("ledger.events", {**asked, "types": ["shell.output"]})
    started, _ = await request.try_call("ledger.events", {**asked, "types": ["shell.started"], "limit": 1})
    printed = "".join(get_text(event, "payload", "chunk") for event in get_objects(found, "results"))
    command = "".join(get_text(event, "payload", "display_command") for event in get_objects(started, "results"))
    return {"output": printed[-_OUTPUT_CHARACTERS:], "command": command}


async def _test_progress(request: PageRequest) -> str:
    """Return the progress of the newest test run and its last output."""
    run, error = await request.try_call("test.status")
    if error is not None or run.get("status") != "running":
        return ""
    printed, _ = await request.try_call("test.output", {"run_id": run["run_id"], "limit": _OUTPUT_CHARACTERS})
    progress = get_object(run, "progress")
    return f"{get_text(printed, 'output')}\n[{progress['completed']} of {progress['total']} targets]".lstrip("\n")


def _slowest(operations: Sequence[JsonObject]) -> list[JsonObject]:
    return sorted(operations, key=lambda operation: -(get_number(operation, "p95_ms") or 0))[:8]


def _series(figures: JsonObject) -> JsonObject:
    """Return calls, failures and p95 for each step, including empty ones."""
    steps = get_objects(figures, "steps")
    if not steps:
        return {}
    return {
        "at": [step["at"] for step in steps],
        "calls": [step["calls"] for step in steps],
        "failed": [step["failed"] for step in steps],
        "p95": [step["p95_ms"] for step in steps],
    }


def _index(index: JsonObject, head: str) -> JsonObject:
    """Describe the index: whether it is current, and when it was last reconciled."""
    symbols = get_object(index, "symbols")
    failure = get_text(symbols, "failure") or get_text(index, "failure")
    if failure:
        return {"label": "failed", "tone": "bad", "more": failure}
    if not index.get("version"):
        return {"label": get_text(index, "state") or "not there", "tone": "busy", "more": "answers wait for it"}
    details: JsonObject = {
        "files": get_number(index, "file_count") or 0,
        "checked": get_text(index, "last_updated"),
        "more": "watching" if index.get("watching") else "not watching",
    }
    share, eta = get_number(symbols, "share"), get_number(symbols, "eta_sec")
    if share is not None:
        left = f", about {eta:.0f} s left" if eta else ""
        # All of it is parsed only when it says current.
        return {**details, "label": f"{min(round(100 * share), 99)} %", "tone": "busy", "more": f"being parsed{left}"}
    if head and get_text(index, "commit") and get_text(index, "commit") != head:
        return {
            **details,
            "label": "behind",
            "tone": "busy",
            "more": f"it is of {get_text(index, 'commit')[:9]}, not of HEAD",
        }
    waiting = get_number(symbols, "vectors", "waiting")
    if waiting:
        return {
            **details,
            "label": "current",
            "tone": "good",
            "more": f"{plural(round(waiting), 'file', verbs=('waits', 'wait'))} for vectors",
        }
    return {**details, "label": "current", "tone": "good"}


ROUTES = (
    ("GET", "/dashboard", page),
    ("GET", "/dashboard/overview", part),
    ("GET", "/dashboard/badge", badge),
)
