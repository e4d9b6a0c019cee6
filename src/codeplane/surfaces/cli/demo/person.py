"""The demo's person: the owner, who decides when nobody else does."""

from dataclasses import dataclass

from codeplane.client.errors import to_exception
from codeplane.client.records import Approval
from codeplane.kernel.errors import ApprovalSettled
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.demo.sample_server import SampleServer
from codeplane.surfaces.cli.owner_client import OwnerClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A session's numbers in the ledger."""

    events: int
    calls: int
    failed: int


class Person:
    """Calls operations as the owner."""

    def __init__(self, stage: SampleServer) -> None:
        self._url = stage.server.url
        self._client = OwnerClient(stage.workspace, stage.server)

    @property
    def inbox(self) -> str:
        """The URL of the approvals page."""
        return f"{self._url}/dashboard/approvals"

    def link(self) -> str:
        """Return a link that signs a browser in, once."""
        return f"{self._url}{self._result('dashboard.link', {})['path']}"

    def question(self) -> Approval | None:
        """Return the pending action, or None."""
        return next(self._client.approvals(status="PENDING", page_size=1), None)

    def approve(self, action: Approval) -> bool:
        """Approve an action as it was shown; False when it was already decided."""
        try:
            self._client.approve(action.action_id, preview_hash=action.preview_hash)
        except ApprovalSettled:
            return False
        return True

    def get_action(self, action_id: str) -> Approval:
        """Return the action as it is now."""
        return self._client.approval(action_id)

    def tally(self, session_id: str) -> Tally:
        """Return the numbers of a session."""
        log = self._result("ledger.events", {"newest": True, "limit": 1})
        rows = self._result("call.list", {"in_session": session_id, "limit": 200})["results"]
        assert isinstance(rows, list)
        failed = [row for row in rows if isinstance(row, dict) and row.get("status") != "ok"]
        return Tally(events=int(str(log["last_position"])), calls=len(rows), failed=len(failed))

    def _result(self, operation: str, arguments: JsonObject) -> JsonObject:
        envelope = self._client.call(operation, arguments)
        if isinstance(error := envelope.get("error"), dict):
            raise to_exception(error)
        result = envelope["result"]
        assert isinstance(result, dict)
        return result
