"""Approvals: what waits for a person, what exactly would be done, and the answer."""

from starlette.responses import Response

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.differing import Line, lines_of
from codeplane.surfaces.web.headers import PRIVATE, SECURITY
from codeplane.surfaces.web.reading import at, rows, text
from codeplane.surfaces.web.visit import Visit

_SHOWN = ("PENDING", "APPROVED", "REJECTED", "EXECUTED", "EXPIRED", "NOT_RUN")
_DECISIONS: dict[str, tuple[str, JsonObject]] = {
    "approve": ("approval.approve", {}),
    "trust": ("approval.approve", {"trust": True}),
    "task": ("approval.approve", {"for_task": True}),
    "reject": ("approval.reject", {}),
}


async def inbox(visit: Visit) -> Response:
    """What waits, and below it what was decided."""
    state = visit.query.get("status", "")
    asked: JsonObject = {"limit": 20}
    open_ones: JsonObject = {"status": "PENDING", "limit": 20}
    open_ones |= {"cursor": visit.query["waiting"]} if "waiting" in visit.query else {}
    waiting = await visit.ask("approval.list", open_ones)
    asked |= {"status": state} if state in _SHOWN else {}
    asked |= {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    history = await visit.ask("approval.list", asked)
    decided = [one for one in rows(history, "items") if one.get("status") != "PENDING"]
    return visit.render(
        "approvals_live.html" if visit.is_part else "approvals.html",
        title="Approvals",
        pending=waiting["pending"],
        untrusted=rows(await visit.ask("untrusted.list"), "items"),
        waiting=rows(waiting, "items"),
        waiting_cursor=at(waiting, "pagination", "next_cursor"),
        history=decided,
        state=state,
        next_cursor=at(history, "pagination", "next_cursor"),
    )


async def show(visit: Visit) -> Response:
    """One action with everything that an answer is bound to."""
    action = await visit.ask("approval.show", {"action_id": visit.place("action")})
    state = f"{text(action, 'status')} {text(action, 'outcome')}".strip()
    if visit.is_part and visit.query.get("seen") == state:
        # Nothing to show anew, and somebody may be writing a reason.
        return Response(status_code=204, headers={**SECURITY, **PRIVATE})
    return visit.render(
        "approval_live.html" if visit.is_part else "approval.html",
        title="Approval",
        action=action,
        state=state,
        follows_runs=True,
        trust_days=await _trust_days(visit) if action.get("status") == "PENDING" else "",
        is_open=await _is_open(visit, text(action, "source_id")) if action.get("status") == "PENDING" else False,
        preview=_preview(action),
        pending=await _pending(visit),
    )


async def decide(visit: Visit) -> Response:
    """Carry the answer to the one who asked."""
    form, action_id = await visit.form(), visit.place("action")
    if form.get("decision") not in _DECISIONS:
        raise InvalidArgument("no decision was sent", hint="choose approve or reject")
    operation, extra = _DECISIONS[form["decision"]]
    asked: JsonObject = {"action_id": action_id, "reason": form.get("reason", ""), **extra}
    if operation == "approval.approve":
        # Bound to what was on the screen: if it is another one by now, the answer is refused.
        asked["preview_hash"] = form.get("preview_hash", "")
    await visit.ask(operation, asked)
    return visit.go(f"/dashboard/approvals/{action_id}")


async def clear(visit: Visit) -> Response:
    """Clear the mark of an agent that has read untrusted content."""
    form = await visit.form()
    await visit.ask("untrusted.clear", {"agent": form.get("agent") or None})
    return visit.go("/dashboard/approvals")


async def _trust_days(visit: Visit) -> str:
    """How long an answer is remembered, as the settings say it."""
    found, _ = await visit.attempt("config.show")
    kept = next(
        (one.get("value") for one in rows(found, "settings") if one.get("name") == "approvals.trust_days"), None
    )
    return f"{kept:g}" if isinstance(kept, int | float) else "approvals.trust_days"


async def _is_open(visit: Visit, task: str) -> bool:
    """Whether there is a task that an answer could be for the rest of."""
    if not task:
        return False
    found, _ = await visit.attempt("task.show", {"task": task})
    return text(found, "task", "state") == "OPEN"


async def _pending(visit: Visit) -> object:
    return (await visit.ask("approval.list", {"status": "PENDING", "limit": 1}))["pending"]


def _preview(action: JsonObject) -> list[Line]:
    return lines_of(text(action, "preview"))


ROUTES = (
    ("GET", "/dashboard/approvals", inbox),
    ("POST", "/dashboard/approvals/clear", clear),
    ("GET", "/dashboard/approvals/{action}", show),
    ("POST", "/dashboard/approvals/{action}", decide),
)
