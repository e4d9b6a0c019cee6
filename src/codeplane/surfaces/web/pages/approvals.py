"""Approvals: the inbox, one action with its preview, and the decision."""

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.diff_view import DiffLine, split_preview
from codeplane.surfaces.web.json_fields import get_field, get_objects, get_text
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.security_headers import PRIVATE, SECURITY

_SHOWN = ("PENDING", "APPROVED", "REJECTED", "EXECUTED", "EXPIRED", "NOT_RUN")
_DECISIONS: dict[str, tuple[str, JsonObject]] = {
    "approve": ("approval.approve", {}),
    "trust": ("approval.approve", {"trust": True}),
    "task": ("approval.approve", {"for_task": True}),
    "reject": ("approval.reject", {}),
}


async def inbox(request: PageRequest) -> Response:
    """Render the pending actions, and the decided ones below."""
    state = request.query.get("status", "")
    asked: JsonObject = {"limit": 20}
    open_ones: JsonObject = {"status": "PENDING", "limit": 20}
    open_ones |= {"cursor": request.query["waiting"]} if "waiting" in request.query else {}
    waiting = await request.call("approval.list", open_ones)
    asked |= {"status": state} if state in _SHOWN else {}
    asked |= {"cursor": request.query["cursor"]} if "cursor" in request.query else {}
    history = await request.call("approval.list", asked)
    decided = [action for action in get_objects(history, "items") if action.get("status") != "PENDING"]
    return request.render(
        "approvals_live.html" if request.is_partial else "approvals.html",
        title="Approvals",
        pending=waiting["pending"],
        untrusted=get_objects(await request.call("untrusted.list"), "items"),
        waiting=get_objects(waiting, "items"),
        waiting_cursor=get_field(waiting, "pagination", "next_cursor"),
        history=decided,
        state=state,
        next_cursor=get_field(history, "pagination", "next_cursor"),
    )


async def show(request: PageRequest) -> Response:
    """Render one action with everything that a decision is bound to."""
    action = await request.call("approval.show", {"action_id": request.path_param("action")})
    state = f"{get_text(action, 'status')} {get_text(action, 'outcome')}".strip()
    if request.is_partial and request.query.get("seen") == state:
        # Nothing changed, and the person may be writing a reason.
        return Response(status_code=204, headers={**SECURITY, **PRIVATE})
    return request.render(
        "approval_live.html" if request.is_partial else "approval.html",
        title="Approval",
        action=action,
        state=state,
        follows_runs=True,
        trust_days=await _trust_days(request) if action.get("status") == "PENDING" else "",
        is_open=await _is_open(request, get_text(action, "source_id")) if action.get("status") == "PENDING" else False,
        preview=_preview(action),
        pending=await _pending(request),
    )


async def decide(request: PageRequest) -> Response:
    """Approve or reject an action."""
    form, action_id = await request.form(), request.path_param("action")
    if form.get("decision") not in _DECISIONS:
        raise InvalidArgument("no decision was sent", hint="choose approve or reject")
    operation, extra = _DECISIONS[form["decision"]]
    asked: JsonObject = {"action_id": action_id, "reason": form.get("reason", ""), **extra}
    if operation == "approval.approve":
        # Bound to what was on the screen: if it is another one by now, the answer is refused.
        asked["preview_hash"] = form.get("preview_hash", "")
    await request.call(operation, asked)
    return request.redirect(f"/dashboard/approvals/{action_id}")


async def clear(request: PageRequest) -> Response:
    """Clear an agent's untrusted mark."""
    form = await request.form()
    await request.call("untrusted.clear", {"agent": form.get("agent") or None})
    return request.redirect("/dashboard/approvals")


async def _trust_days(request: PageRequest) -> str:
    """Return how long an answer is remembered, from the settings."""
    found, _ = await request.try_call("config.show")
    days = next(
        (
            setting.get("value")
            for setting in get_objects(found, "settings")
            if setting.get("name") == "approvals.trust_days"
        ),
        None,
    )
    return f"{days:g}" if isinstance(days, int | float) else "approvals.trust_days"


async def _is_open(request: PageRequest, task: str) -> bool:
    """Return whether the action's task is open, so that an answer can cover its rest."""
    if not task:
        return False
    shown, _ = await request.try_call("task.show", {"task": task})
    return get_text(shown, "task", "state") == "OPEN"


async def _pending(request: PageRequest) -> object:
    return (await request.call("approval.list", {"status": "PENDING", "limit": 1}))["pending"]


def _preview(action: JsonObject) -> list[DiffLine]:
    return split_preview(get_text(action, "preview"))


ROUTES = (
    ("GET", "/dashboard/approvals", inbox),
    ("POST", "/dashboard/approvals/clear", clear),
    ("GET", "/dashboard/approvals/{action}", show),
    ("POST", "/dashboard/approvals/{action}", decide),
)
