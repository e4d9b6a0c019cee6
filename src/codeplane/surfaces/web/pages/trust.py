"""Trust: admitted callers, their rights, remembered answers, and explanations of decisions."""

import json
from urllib.parse import quote

from starlette.responses import Response

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, OperationDisabled, UnknownOperation
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.json_fields import get_field, get_objects, list_page
from codeplane.surfaces.web.page_request import PageRequest

_PAGE = 20
# These cannot be explained without arguments either.
_UNEXPLAINED = (InvalidArgument, OperationDisabled, UnknownOperation)
_TAKEN_BACK: dict[str, tuple[str, str]] = {
    "device": ("device.revoke", "device_id"),
    "agent": ("agent.revoke", "agent"),
    "grant": ("capability.revoke", "grant_id"),
    "answer": ("approval.forget", "answer_id"),
    "browser": ("dashboard.sign_out", "name"),
}


async def page(request: PageRequest) -> Response:
    """Render all callers and everything trusted, each with a button to revoke it."""
    explained, error = await _explain_call(request)
    unassessed = error
    if error is not None and request.query.get("arguments") and not isinstance(error, _UNEXPLAINED):
        # Such as a remote that is not there: what the rules say of the operation is known all the same.
        explained, error = await request.try_call("policy.explain", {**_explain_arguments(request), "arguments": {}})
    policy = await request.call("policy.summary")
    devices = await request.call("device.list")
    agents = await request.call("agent.list", {"include_ended": True})
    actors = await _list_page(request, "actor.list", "actors")
    grants = await _list_page(request, "capability.list", "grants")
    audit = await _list_page(request, "audit.list", "audit")
    answers = await request.call("approval.trusted")
    browsers = await request.call("dashboard.sessions")
    waiting = await request.call("approval.list", {"status": "PENDING", "limit": 1})
    lists = {
        "devices": list_page(get_objects(devices, "items"), request.query, "devices", size=_PAGE),
        "agents": list_page(get_objects(agents, "items"), request.query, "agents", size=_PAGE),
        "answers": list_page(get_objects(answers, "items"), request.query, "answers", size=_PAGE),
        "browsers": list_page(get_objects(browsers, "items"), request.query, "browsers", size=_PAGE),
    }
    further: dict[str, object] = {name: following for name, (_, following) in lists.items()}
    further |= {"actors": _next_cursor(actors), "grants": _next_cursor(grants), "audit": _next_cursor(audit)}
    return request.render(
        "trust.html",
        title="Trust",
        pending=waiting["pending"],
        policy=policy,
        actors=get_objects(actors, "results"),
        grants=get_objects(grants, "results"),
        audit=get_objects(audit, "results"),
        left_out={"devices": devices.get("left_out"), "agents": agents.get("left_out")},
        further=further,
        explained=explained,
        error=error,
        unassessed=unassessed if error is None else None,
        **{name: found for name, (found, _) in lists.items()},
    )


async def _list_page(request: PageRequest, operation: str, name: str) -> JsonObject:
    """Return a page of a paged list; the URL gives the cursor under the list's name."""
    asked: JsonObject = {"limit": _PAGE}
    asked |= {"cursor": request.query[name]} if name in request.query else {}
    return await request.call(operation, asked)


def _next_cursor(answer: JsonObject) -> object:
    return get_field(answer, "pagination", "next_cursor")


async def revoke(request: PageRequest) -> Response:
    """Revoke a device, an agent's tokens, a grant, a remembered answer or a browser's session."""
    form = await request.form()
    kind, name = form.get("kind", ""), form.get("name", "")
    if kind not in _TAKEN_BACK or not name:
        raise InvalidArgument("nothing to take back was named", hint="use the buttons of the Trust page")
    operation, field = _TAKEN_BACK[kind]
    await request.call(operation, {field: name})
    return request.redirect(f"/dashboard/trust#{quote(kind)}s")


async def _explain_call(request: PageRequest) -> tuple[JsonObject, CodePlaneError | None]:
    """Explain how the call in the URL would be decided."""
    name = request.query.get("operation", "")
    if not name:
        return {}, None
    try:
        arguments = json.loads(request.query.get("arguments") or "{}")
    except ValueError:
        return {}, InvalidArgument("the arguments are not JSON", hint='write them as {"remote": "origin"}')
    return await request.try_call("policy.explain", {**_explain_arguments(request), "arguments": arguments})


def _explain_arguments(request: PageRequest) -> JsonObject:
    return {"operation": request.query.get("operation", ""), "actor": request.query.get("actor", "agent")}


ROUTES = (
    ("GET", "/dashboard/trust", page),
    ("POST", "/dashboard/trust", revoke),
)
