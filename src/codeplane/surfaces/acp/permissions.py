"""Permission requests: a waiting action, put to the person at a client whom the owner lets answer."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from codeplane.kernel.actor import Answer
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.json_rpc.message import RpcError
from codeplane.surfaces.json_rpc.peer import ConnectionGone

ALLOW, REJECT = "allow_once", "reject_once"
OPTIONS: list[JsonObject] = [
    {"optionId": ALLOW, "name": "Approve, this once", "kind": ALLOW},
    {"optionId": REJECT, "name": "Reject", "kind": REJECT},
]

# Shows a question about an action in the client, and gives what it answers.
Ask = Callable[[str, str], Awaitable[JsonValue]]


class PermissionRequests:
    """The questions that a client is shown now, each about one action."""

    def __init__(self, door: AcpDoor, ask: Ask) -> None:
        """`ask` is given the action's id and the question."""
        self._door = door
        self._ask = ask
        self._asking: dict[str, asyncio.Task[None]] = {}

    def begin(self, action_id: str) -> None:
        """Ask about an action, unless that is being done; the owner's settings decide whether the client is asked."""
        if action_id not in self._asking:
            task = self._asking[action_id] = asyncio.ensure_future(self._run(action_id))
            task.add_done_callback(lambda _: self._asking.pop(action_id, None))

    def withdraw(self, action_id: str) -> None:
        """Stop asking about an action that was decided elsewhere."""
        if (task := self._asking.get(action_id)) is not None:
            task.cancel()

    async def end(self) -> None:
        """Stop asking about everything."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _run(self, action_id: str) -> None:
        async def ask(question: str) -> Answer | None:
            try:
                return _answer(await self._ask(action_id, question))
            except (RpcError, ConnectionGone):
                # A client that cannot show it, or is gone, leaves it to others.
                return None

        with suppress(CodePlaneError):
            await self._door.call("approval.ask_client", {"action_id": action_id}, ask=ask)


def _answer(result: JsonValue) -> Answer | None:
    outcome = result.get("outcome") if isinstance(result, dict) else None
    if not isinstance(outcome, dict) or outcome.get("outcome") != "selected":
        return None
    return {ALLOW: Answer.APPROVE, REJECT: Answer.REJECT}.get(str(outcome.get("optionId")))
