"""The demo's person: the owner, who is shown the dashboard and decides when nobody else does."""

from dataclasses import dataclass

from codeplane.client.failure import raised
from codeplane.client.records import Approval
from codeplane.kernel.errors import ApprovalSettled
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.client import Client
from codeplane.surfaces.cli.demo.stage import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What the ledger holds of a session."""

    events: int
    calls: int
    failed: int


class Person:
    """Calls as the owner; every method waits for its answer."""

    def __init__(self, stage: Stage) -> None:
        self._url = stage.server.url
        self._client = Client(stage.workspace, stage.server)

    @property
    def inbox(self) -> str:
        """Where questions are answered in a browser."""
        return f"{self._url}/dashboard/approvals"

    def link(self) -> str:
        """A link that signs a browser in, once."""
        return f"{self._url}{self._result('dashboard.link', {})['path']}"

    def question(self) -> Approval | None:
        """The action that waits, when there is one."""
        return next(self._client.approvals(status="PENDING", page_size=1), None)

    def approve(self, action: Approval) -> bool:
        """Let it run as it was shown; False when somebody else was faster."""
        try:
            self._client.approve(action.action_id, preview_hash=action.preview_hash)
        except ApprovalSettled:
            return False
        return True

    def decided(self, action_id: str) -> Approval:
        """What became of an action."""
        return self._client.approval(action_id)

    def tally(self, session_id: str) -> Tally:
        """What the ledger holds by now."""
        log = self._result("ledger.events", {"newest": True, "limit": 1})
        rows = self._result("call.list", {"in_session": session_id, "limit": 200})["results"]
        assert isinstance(rows, list)
        failed = [row for row in rows if isinstance(row, dict) and row.get("status") != "ok"]
        return Tally(events=int(str(log["last_position"])), calls=len(rows), failed=len(failed))

    def _result(self, operation: str, arguments: JsonObject) -> JsonObject:
        envelope = self._client.call(operation, arguments)
        if isinstance(error := envelope.get("error"), dict):
            raise raised(error)
        result = envelope["result"]
        assert isinstance(result, dict)
        return result
