"""Tasks: whose work is under way, what it has used, and whether it comes to an end."""

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import at, rows
from codeplane.surfaces.web.visit import Visit

_STATES = ("OPEN", "CLOSED_SUCCESS", "CLOSED_FAILED", "CLOSED_INTERRUPTED")


async def page(visit: Visit) -> Response:
    """The list, the newest first."""
    state = visit.query.get("state", "")
    asked: JsonObject = {"limit": 20, "dashboard": bool(visit.query.get("dashboard"))}
    asked |= {"state": state} if state in _STATES else {}
    asked |= {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    found = await visit.ask("task.board", asked)
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render(
        "tasks.html",
        title="Tasks",
        pending=waiting["pending"],
        tasks=rows(found, "results"),
        state=state,
        next_cursor=at(found, "pagination", "next_cursor"),
    )


async def show(visit: Visit) -> Response:
    """One task: budgets, what repeats, and its calls on a line of time."""
    found = await visit.ask("task.show", {"task": visit.place("task")})
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render("task.html", title="Task", pending=waiting["pending"], **found)


ROUTES = (
    ("GET", "/dashboard/tasks", page),
    ("GET", "/dashboard/tasks/{task}", show),
)
