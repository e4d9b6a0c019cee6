"""Trust: who is let in, what they may do, what is remembered, and why a call would be allowed or not."""

import json
from urllib.parse import quote

from starlette.responses import Response

from codeplane.kernel.errors import CodePlaneError, InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import rows
from codeplane.surfaces.web.visit import Visit

_TAKEN_BACK: dict[str, tuple[str, str]] = {
    "device": ("device.revoke", "device_id"),
    "agent": ("agent.revoke", "agent"),
    "grant": ("capability.revoke", "grant_id"),
    "answer": ("approval.forget", "answer_id"),
    "browser": ("dashboard.sign_out", "name"),
}


async def page(visit: Visit) -> Response:
    """Everything that is trusted, each with the button that ends it."""
    explained, error = await _explained(visit)
    policy = await visit.ask("policy.summary")
    devices = await visit.ask("device.list")
    agents = await visit.ask("agent.list", {"include_ended": True})
    grants = await visit.ask("capability.list", {"limit": 50})
    answers = await visit.ask("approval.trusted")
    browsers = await visit.ask("dashboard.sessions")
    audit = await visit.ask("audit.list", {"limit": 20})
    waiting = await visit.ask("approval.list", {"status": "PENDING", "limit": 1})
    return visit.render(
        "trust.html",
        title="Trust",
        pending=waiting["pending"],
        policy=policy,
        devices=rows(devices, "items"),
        agents=rows(agents, "items"),
        grants=rows(grants, "results"),
        answers=rows(answers, "items"),
        browsers=rows(browsers, "items"),
        audit=rows(audit, "results"),
        explained=explained,
        error=error,
    )


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
    asked: JsonObject = {"operation": name, "arguments": arguments, "actor": visit.query.get("actor", "agent")}
    return await visit.attempt("policy.explain", asked)


ROUTES = (
    ("GET", "/dashboard/trust", page),
    ("POST", "/dashboard/trust", take_back),
)
