"""Questions to the person at the editor: whether a tool may run."""

from collections.abc import Mapping

from codeplane.kernel.actor import Answer, AskPerson
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.json_rpc.message import RpcError
from codeplane.surfaces.json_rpc.peer import ConnectionGone, Peer
from codeplane.surfaces.lsp.plane_calls import PlaneCalls

_RISKS = {"low": "low", "medium": "medium", "high": "high", "high_shell": "high", "destructive": "destructive"}
_MAX_SHOWN = 2000
INBOX = "it waits in your inbox: cpl approvals, the dashboard or a device decides it"


def asker(peer: Peer, shown: JsonObject) -> AskPerson:
    """Return how to ask the person at a client about a tool."""

    async def ask(question: str) -> Answer | None:
        try:
            answer = await peer.request("codeplane/approveTool", {**shown, "message": question})
        except (RpcError, ConnectionGone):
            return None
        approved = answer.get("approved") if isinstance(answer, dict) else None
        if isinstance(answer, dict) and answer.get("remember") is True:
            note = "an answer in the editor counts once; cpl approvals approve --trust remembers it"
            await peer.notify("window/logMessage", {"type": 3, "message": note})
        return Answer.APPROVE if approved is True else Answer.REJECT if approved is False else None

    return ask


def ask_about_call(peer: Peer, operation: str, arguments: Mapping[str, object]) -> AskPerson:
    """Return how to ask the person at a client about a call that the client itself has made."""
    shown: JsonObject = {name: str(value)[:_MAX_SHOWN] for name, value in arguments.items()}
    return asker(peer, {"tool": operation, "parameters": shown})


async def ask_about(peer: Peer, plane: PlaneCalls, action_id: str) -> str:
    """Show a waiting action in the editor where that is allowed; return what became of it, in words."""
    try:
        action = await plane.call("approval.show", {"action_id": action_id})
        shown: JsonObject = {
            "tool": action.get("tool"),
            "parameters": {"summary": action.get("deterministic_summary"), "preview": action.get("preview")},
            "risk": _RISKS.get(str(action.get("risk_class")), "high"),
            "agent": {"id": action.get("actor")},
            "actionId": action_id,
        }
        answer = await plane.call("approval.ask_client", {"action_id": action_id}, ask=asker(peer, shown))
    except CodePlaneError as error:
        return f"{error.message}; {INBOX}"
    if answer.get("asked") is not True:
        return f"{shown['tool']} needs a decision that this editor may not make; {INBOX}"
    return f"{shown['tool']} was decided: {answer.get('state')}"
