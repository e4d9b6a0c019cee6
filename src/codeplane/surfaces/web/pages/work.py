"""Background work as a tree; one item with its steps or its job, and its buttons."""

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, dumps
from codeplane.surfaces.web.diff_view import split_preview
from codeplane.surfaces.web.json_fields import get_field, get_number, get_object, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.security_headers import PRIVATE, SECURITY

_STATES = ("QUEUED", "RUNNING", "WAITING", "COMPLETED", "FAILED", "CANCELLED")
_ARGUMENTS = 200
_ENDED = ("COMPLETED", "FAILED", "CANCELLED")
_JOB_VERBS = {"apply": "job.apply", "discard": "job.discard", "resume_job": "job.resume", "cancel_job": "job.cancel"}


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


async def create(request: PageRequest) -> Response:
    """Queue a job."""
    form = await request.form()
    asked: JsonObject = {"goal": form.get("goal", ""), "changes_files": "changes_files" in form}
    created = await request.call("job.create", asked)
    return request.redirect(f"/dashboard/work/{get_text(created, 'job_id')}")


async def show(request: PageRequest) -> Response:
    """Render one item: what it waits for, what it used of its limits, its steps and what it started."""
    item = await request.call("work.show", {"work_id": request.path_param("work")})
    if request.is_partial and request.query.get("seen") == str(item["sequence"]):
        # Nothing changed, and the person may be writing.
        return Response(status_code=204, headers={**SECURITY, **PRIVATE})
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    job, diff, trouble = await _job(request, item)
    children = await request.call("work.list", {"parent_id": get_text(item, "work_id"), "limit": 100})
    return request.render(
        "work_item_live.html" if request.is_partial else "work_item.html",
        title="Work",
        pending=waiting["pending"],
        follows_work=True,
        item=item,
        steps=_steps(item),
        limits=_job_limits(job) if job is not None else _limits(item),
        job=job,
        diff=diff,
        diff_lines=split_preview(get_text(diff, "diff")) if diff is not None else (),
        trouble=trouble,
        children=get_objects(children, "results"),
    )


async def decide(request: PageRequest) -> Response:
    """Cancel an item, let one that used up its limits go on, or apply or discard what a job changed."""
    form, work_id = await request.form(), request.path_param("work")
    if (operation := _JOB_VERBS.get(form.get("verb", ""))) is not None:
        await request.call(operation, {"job_id": work_id})
    elif form.get("verb") == "cancel":
        await request.call("work.cancel", {"work_id": work_id, "reason": form.get("reason", "")})
    elif form.get("verb") == "resume":
        await request.call("work.resume", {"work_id": work_id, **_raised_limits(form)})
    else:
        raise InvalidArgument("no decision was sent", hint="choose cancel or resume")
    return request.redirect(f"/dashboard/work/{work_id}")


async def _job(request: PageRequest, item: JsonObject) -> tuple[JsonObject | None, JsonObject | None, str]:
    """The job that an item is, its diff where that waits for a person, and why it cannot be shown."""
    if get_text(item, "kind") != "job":
        return None, None, ""
    job = await request.call("job.show", {"job_id": get_text(item, "work_id")})
    if get_text(job, "tree") != "JOB_TREE_OPEN" or get_text(item, "state") not in _ENDED:
        return job, None, ""
    diff, error = await request.try_call("job.diff", {"job_id": get_text(item, "work_id")})
    return job, diff if error is None else None, "" if error is None else error.message


def _job_limits(job: JsonObject) -> list[JsonObject]:
    budget = get_object(job, "budget")
    return [
        {
            "what": "tool steps",
            "used": get_number(job, "tool_steps_used") or 0,
            "limit": get_number(budget, "max_tool_steps") or 0,
        },
        {
            "what": "tokens",
            "used": get_number(job, "tool_tokens_used") or 0,
            "limit": get_number(budget, "max_tool_tokens") or 0,
        },
        {
            "what": "seconds",
            "used": (get_number(job, "wall_time_used_ms") or 0) / 1000,
            "limit": (get_number(job, "max_wall_time_ms") or 0) / 1000,
        },
    ]


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
    ("POST", "/dashboard/work", create),
    ("GET", "/dashboard/work/{work}", show),
    ("POST", "/dashboard/work/{work}", decide),
)
