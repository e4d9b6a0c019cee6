"""Tasks: whose work is under way, what it has used, and whether it comes to an end."""

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.pages.story import WAITS, marks_of, phases_of
from codeplane.surfaces.web.reading import at, record, rows, text
from codeplane.surfaces.web.visit import Visit

_STATES = ("OPEN", "CLOSED_SUCCESS", "CLOSED_FAILED", "CLOSED_INTERRUPTED")


async def page(visit: Visit) -> Response:
    """Who works, and on what: the newest first."""
    state = visit.query.get("state", "")
    asked: JsonObject = {"limit": 20, "dashboard": bool(visit.query.get("dashboard"))}
    asked |= {"state": state} if state in _STATES else {}
    asked |= {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    found = await visit.ask("task.board", asked)
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    workers: dict[str, list[JsonObject]] = {}
    for one in rows(found, "results"):
        workers.setdefault(text(one, "actor") or "nobody", []).append(one)
    return visit.render(
        "tasks.html",
        title="Tasks",
        pending=waiting["pending"],
        workers=workers,
        state=state,
        next_cursor=at(found, "pagination", "next_cursor"),
    )


async def show(visit: Visit) -> Response:
    """One task: budgets, what repeats, and its calls as a tree and on a line of time."""
    found = await visit.ask("task.show", {"task": visit.place("task")})
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    steps = rows(found, "steps")
    return visit.render(
        "task.html",
        title="Task",
        pending=waiting["pending"],
        task=record(found, "task"),
        signals=found["signals"],
        left_out=found["left_out"],
        phases=phases_of(steps, visit.reads),
        marks=marks_of(steps),
        waited=sum(text(one, "status") == WAITS for one in steps),
    )


ROUTES = (
    ("GET", "/dashboard/tasks", page),
    ("GET", "/dashboard/tasks/{task}", show),
)
