"""Trust: who is let in, what they may do, what is remembered, and why a call would be allowed or not."""

import json
from urllib.parse import quote

from starlette.responses import Response

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, OperationDisabled, UnknownOperation
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import at, part, rows
from codeplane.surfaces.web.visit import Visit

_PAGE = 20
# Nothing can be said of these without the arguments either.
_UNEXPLAINED = (InvalidArgument, OperationDisabled, UnknownOperation)
_TAKEN_BACK: dict[str, tuple[str, str]] = {
    "device": ("device.revoke", "device_id"),
    "agent": ("agent.revoke", "agent"),
    "grant": ("capability.revoke", "grant_id"),
    "answer": ("approval.forget", "answer_id"),
    "browser": ("dashboard.sign_out", "name"),
}


async def page(visit: Visit) -> Response:
    """Everyone who calls and everything that is trusted, each with the button that ends it."""
    explained, error = await _explained(visit)
    unassessed = error
    if error is not None and visit.query.get("arguments") and not isinstance(error, _UNEXPLAINED):
        # Such as a remote that is not there: what the rules say of the operation is known all the same.
        explained, error = await visit.attempt("policy.explain", {**_asked(visit), "arguments": {}})
    policy = await visit.ask("policy.summary")
    devices = await visit.ask("device.list")
    agents = await visit.ask("agent.list", {"include_ended": True})
    actors = await _paged(visit, "actor.list", "actors")
    grants = await _paged(visit, "capability.list", "grants")
    audit = await _paged(visit, "audit.list", "audit")
    answers = await visit.ask("approval.trusted")
    browsers = await visit.ask("dashboard.sessions")
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    lists = {
        "devices": part(rows(devices, "items"), visit.query, "devices", size=_PAGE),
        "agents": part(rows(agents, "items"), visit.query, "agents", size=_PAGE),
        "answers": part(rows(answers, "items"), visit.query, "answers", size=_PAGE),
        "browsers": part(rows(browsers, "items"), visit.query, "browsers", size=_PAGE),
    }
    further: dict[str, object] = {name: following for name, (_, following) in lists.items()}
    further |= {"actors": _next(actors), "grants": _next(grants), "audit": _next(audit)}
    return visit.render(
        "trust.html",
        title="Trust",
        pending=waiting["pending"],
        policy=policy,
        actors=rows(actors, "results"),
        grants=rows(grants, "results"),
        audit=rows(audit, "results"),
        left_out={"devices": devices.get("left_out"), "agents": agents.get("left_out")},
        further=further,
        explained=explained,
        error=error,
        unassessed=unassessed if error is None else None,
        **{name: found for name, (found, _) in lists.items()},
    )


async def _paged(visit: Visit, operation: str, name: str) -> JsonObject:
    """A page of a list that has pages of its own; the address says which, under the list's name."""
    asked: JsonObject = {"limit": _PAGE}
    asked |= {"cursor": visit.query[name]} if name in visit.query else {}
    return await visit.ask(operation, asked)


def _next(found: JsonObject) -> object:
    return at(found, "pagination", "next_cursor")


async def take_back(visit: Visit) -> Response:
    """End a device, an agent's tokens, a grant, a remembered answer or a browser's session."""
    form = await visit.form()
    kind, name = form.get("kind", ""), form.get("name", "")
    if kind not in _TAKEN_BACK or not name:
        raise InvalidArgument("nothing to take back was named", hint="use the buttons of the Trust page")
    operation, field = _TAKEN_BACK[kind]
    await visit.ask(operation, {field: name})
    return visit.go(f"/dashboard/trust#{quote(kind)}s")


async def _explained(visit: Visit) -> tuple[JsonObject, CodePlaneError | None]:
    """What would become of the call that the address describes."""
    name = visit.query.get("operation", "")
    if not name:
        return {}, None
    try:
        arguments = json.loads(visit.query.get("arguments") or "{}")
    except ValueError:
        return {}, InvalidArgument("the arguments are not JSON", hint='write them as {"remote": "origin"}')
    return await visit.attempt("policy.explain", {**_asked(visit), "arguments": arguments})


def _asked(visit: Visit) -> JsonObject:
    return {"operation": visit.query.get("operation", ""), "actor": visit.query.get("actor", "agent")}


ROUTES = (
    ("GET", "/dashboard/trust", page),
    ("POST", "/dashboard/trust", take_back),
)
