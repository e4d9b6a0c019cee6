"""Tasks: who works on what, with budgets and progress."""

from starlette.responses import Response

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.json_fields import get_field, get_object, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.pages.call_phases import WAITS, group_phases, timeline_marks

_STATES = ("OPEN", "CLOSED_SUCCESS", "CLOSED_FAILED", "CLOSED_INTERRUPTED")


async def page(request: PageRequest) -> Response:
    """Render the tasks, newest first."""
    state = request.query.get("state", "")
    asked: JsonObject = {"limit": 20, "dashboard": bool(request.query.get("dashboard"))}
    asked |= {"state": state} if state in _STATES else {}
    asked |= {"cursor": request.query["cursor"]} if "cursor" in request.query else {}
    board = await request.call("task.board", asked)
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    workers: dict[str, list[JsonObject]] = {}
    for row in get_objects(board, "results"):
        workers.setdefault(get_text(row, "actor") or "nobody", []).append(row)
    return request.render(
        "tasks.html",
        title="Tasks",
        pending=waiting["pending"],
        workers=workers,
        state=state,
        next_cursor=get_field(board, "pagination", "next_cursor"),
    )


async def show(request: PageRequest) -> Response:
    """Render one task: budgets, repetitions, and its calls as a tree and on a timeline."""
    shown = await request.call("task.show", {"task": request.path_param("task")})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    steps = get_objects(shown, "steps")
    return request.render(
        "task.html",
        title="Task",
        pending=waiting["pending"],
        task=get_object(shown, "task"),
        signals=shown["signals"],
        left_out=shown["left_out"],
        phases=group_phases(steps, request.is_read_only),
        marks=timeline_marks(steps),
        waited=sum(get_text(step, "status") == WAITS for step in steps),
    )


ROUTES = (
    ("GET", "/dashboard/tasks", page),
    ("GET", "/dashboard/tasks/{task}", show),
)
