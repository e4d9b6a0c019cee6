"""Questions to a client's person, in the three forms of the protocol."""

from codeplane.kernel.actor import Answer
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.app_server.folded_turn import PendingAction
from codeplane.surfaces.app_server.items import COMMAND, FILE_CHANGE

COMMAND_REQUEST = "item/commandExecution/requestApproval"
FILE_REQUEST = "item/fileChange/requestApproval"
PERMISSION_REQUEST = "item/permissions/requestApproval"
_OUTWARD = "EXFILTRATION"
# For this once, whatever the client offers beyond that.
_ACCEPTED = frozenset({"accept", "acceptForSession"})
_DECLINED = frozenset({"decline", "cancel"})


def request_of(action: PendingAction, question: str, *, thread_id: str, cwd: str) -> tuple[str, JsonObject]:
    """Return the method and parameters of the request that shows a question."""
    body = action.item.body
    shown: JsonObject = {
        "threadId": thread_id,
        "turnId": action.turn_id,
        "itemId": action.item.id,
        "startedAtMs": action.created_ms,
        "reason": question,
    }
    if action.item.kind == FILE_CHANGE:
        return FILE_REQUEST, shown
    if action.risk == _OUTWARD:
        return PERMISSION_REQUEST, {**shown, "cwd": cwd, "permissions": {"network": {"enabled": True}}}
    command = str(body.get("command") if action.item.kind == COMMAND else body.get("tool"))
    return COMMAND_REQUEST, {**shown, "command": command, "availableDecisions": ["accept", "decline", "cancel"]}


def answer_of(method: str, result: JsonValue) -> Answer | None:
    """Return the person's answer; None for anything but a clear yes or no."""
    if not isinstance(result, dict):
        return None
    if method == PERMISSION_REQUEST:
        granted = result.get("permissions")
        if not isinstance(granted, dict):
            return None
        network = granted.get("network")
        is_granted = isinstance(network, dict) and network.get("enabled") is True
        return Answer.APPROVE if is_granted else Answer.REJECT
    decision = result.get("decision")
    if not isinstance(decision, str):
        return None
    return Answer.APPROVE if decision in _ACCEPTED else Answer.REJECT if decision in _DECLINED else None


def ends_turn(result: JsonValue) -> bool:
    """Return whether the person wants the turn to end as well."""
    return isinstance(result, dict) and result.get("decision") == "cancel"
