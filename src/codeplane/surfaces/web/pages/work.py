"""Work: what goes on by itself, as a tree; one item with its steps, and the buttons that cancel and resume it."""

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, dumps
from codeplane.surfaces.web.json_fields import get_field, get_number, get_object, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.security_headers import PRIVATE, SECURITY

_STATES = ("QUEUED", "RUNNING", "WAITING", "COMPLETED", "FAILED", "CANCELLED")
_ARGUMENTS = 200


async def page(request: PageRequest) -> Response:
    """Render the work items with what each started, or those in one state."""
    state = request.query.get("state", "")
    asked: JsonObject = {"limit": 20, **({"state": state} if state in _STATES else {"tree": True})}
    asked |= {"cursor": request.query["cursor"]} if "cursor" in request.query else {}
    listed = await request.call("work.list", asked)
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    below: dict[str, list[JsonObject]] = {}
    for item in get_objects(listed, "started"):
        below.setdefault(get_text(item, "parent_id"), []).append(item)
    return request.render(
        "work_live.html" if request.is_partial else "work.html",
        title="Work",
        pending=waiting["pending"],
        follows_work=True,
        items=get_objects(listed, "results"),
        below=below,
        left_out=listed["left_out"],
        state=state,
        next_cursor=get_field(listed, "pagination", "next_cursor"),
    )


async def show(request: PageRequest) -> Response:
    """Render one item: what it waits for, what it used of its limits, its steps and what it started."""
    item = await request.call("work.show", {"work_id": request.path_param("work")})
    if request.is_partial and request.query.get("seen") == str(item["sequence"]):
        # Nothing changed, and the person may be writing.
        return Response(status_code=204, headers={**SECURITY, **PRIVATE})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    children = await request.call("work.list", {"parent_id": get_text(item, "work_id"), "limit": 100})
    return request.render(
        "work_item_live.html" if request.is_partial else "work_item.html",
        title="Work",
        pending=waiting["pending"],
        follows_work=True,
        item=item,
        steps=_steps(item),
        limits=_limits(item),
        children=get_objects(children, "results"),
    )


async def decide(request: PageRequest) -> Response:
    """Cancel an item, or let one that used up its limits go on."""
    form, work_id = await request.form(), request.path_param("work")
    if form.get("verb") == "cancel":
        await request.call("work.cancel", {"work_id": work_id, "reason": form.get("reason", "")})
    elif form.get("verb") == "resume":
        await request.call("work.resume", {"work_id": work_id, **_raised_limits(form)})
    else:
        raise InvalidArgument("no decision was sent", hint="choose cancel or resume")
    return request.redirect(f"/dashboard/work/{work_id}")


def _raised_limits(form: dict[str, str]) -> JsonObject:
    limits: JsonObject = {}
    for name, number in (("max_steps", int), ("max_seconds", float)):
        if text := form.get(name, "").strip():
            try:
                limits[name] = number(text)
            except ValueError as error:
                raise InvalidArgument(f"{text!r} is not a number", hint="write it in digits") from error
    return limits


def _steps(item: JsonObject) -> list[JsonObject]:
    """The planned calls, each with how far it is."""
    done, state = int(get_number(item, "steps_done") or 0), get_text(item, "state")
    now = {"RUNNING": "running", "WAITING": "waits", "FAILED": "failed", "CANCELLED": "not made"}.get(state, "")
    steps: list[JsonObject] = []
    for number, step in enumerate(get_objects(item, "steps")):
        reached = "done" if number < done else now if number == done else "not made" if state == "CANCELLED" else ""
        arguments = dumps(get_object(step, "arguments"))
        steps.append(
            {
                "operation": get_text(step, "operation"),
                "arguments": arguments[:_ARGUMENTS] if arguments != "{}" else "",
                "state": reached or "not yet",
                "tone": {"done": "good", "failed": "bad", "running": "waiting", "waits": "waiting"}.get(reached, "dim"),
            }
        )
    return steps


def _limits(item: JsonObject) -> list[JsonObject]:
    pairs = (("steps", "steps_done", "max_steps"), ("seconds", "used_seconds", "max_seconds"))
    return [{"what": what, "used": get_number(item, used) or 0, "limit": get_number(item, most) or 0}
            for what, used, most in pairs]  # fmt: skip


ROUTES = (
    ("GET", "/dashboard/work", page),
    ("GET", "/dashboard/work/{work}", show),
    ("POST", "/dashboard/work/{work}", decide),
)
