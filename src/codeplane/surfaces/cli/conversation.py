"""A conversation from the command line: send a message, follow its turn over lost connections, decide what it asks."""

import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence

from codeplane.client.resuming_stream import Reconnection
from codeplane.kernel.errors import CodePlaneError, ServerUnreachable
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.output import result_or_exit
from codeplane.surfaces.cli.owner_client import OwnerClient
from codeplane.surfaces.cli.server_process import start_server
from codeplane.surfaces.cli.turn_view import TurnView

_ENDS = ("turn.completed", "turn.failed")
# A server that is started again takes some seconds, and may then have another port.
_RECONNECTION = Reconnection(tries=60, most_sec=0.5)
# Of what one tool changed, how many files are shown.
_FILES = 5
# Whether to approve an action that is shown, and why not; None leaves it to somebody else.
Decide = Callable[[JsonObject], tuple[bool, str] | None]


class CliConversation:
    """One thread of a repository's server, which is started where none runs."""

    def __init__(self, workspace: Workspace, *, as_json: bool = False) -> None:
        self._workspace = workspace
        self._as_json = as_json
        facts, _ = start_server(workspace)
        self.client = OwnerClient(workspace, facts)
        self.thread_id = ""
        self.turn_id = ""
        self._is_new = False

    def open(self, thread: str | None, *, model: str = "", newest: bool = False, agent: str = "") -> JsonObject | None:
        """Choose the thread: the one named, the last one used, or a new one; the snapshot of one that was there."""
        if newest and thread is None:
            listed = self._result("thread.list", {"limit": 1})["results"]
            if isinstance(listed, list) and listed and isinstance(listed[0], dict):
                thread = str(listed[0]["thread_id"])
        if thread is not None:
            shown = self._result("thread.show", {"thread_id": thread})
            self.thread_id, self.turn_id = str(shown["thread_id"]), _last_turn(shown)
            return shown
        asked: JsonObject = {"model": model, **({"agent": agent} if agent else {})}
        self.thread_id, self.turn_id = str(self._result("thread.create", asked)["thread_id"]), ""
        self._is_new = True
        return None

    def ask(
        self,
        text: str,
        view: TurnView,
        *,
        model: str = "",
        queue_mode: str = "QUEUE_AFTER_TURN",
        decide: Decide | None = None,
        skills: Sequence[str] = (),
    ) -> JsonObject:
        """Send a message, show its turn to the end, and return the turn."""
        message: JsonObject = {
            "thread_id": self.thread_id,
            "user_text": text,
            "client_message_id": str(uuid.uuid4()),
            "queue_mode": queue_mode,
            "model": model,
            "skills": list(skills),
        }
        sent = self._result("turn.send", message)
        self.turn_id = str(sent["turn_id"])
        self._follow(int(str(sent["from_sequence"])), view, decide)
        return self._result("turn.show", {"turn_id": self.turn_id})

    def cancel(self) -> None:
        """End the turn that runs."""
        if self.turn_id:
            self.client.call("turn.cancel", {"turn_id": self.turn_id, "reason": "stopped at the terminal"})

    def put_away_unused(self) -> None:
        """Archive a thread that was opened for a message which was then refused."""
        if self._is_new and not self.turn_id:
            self.client.call("thread.archive", {"thread_id": self.thread_id})

    def _follow(self, after: int, view: TurnView, decide: Decide | None) -> None:
        """Show every event of the turn once, also when the server is restarted in between."""
        failures = 0
        while failures <= _RECONNECTION.tries:
            if failures:
                self._reconnect(_RECONNECTION.pause_sec(failures))
            try:
                for event in self._watch(after):
                    after, failures = int(str(event["sequence"])), 0
                    self._show(event, view, decide)
                    if event["type"] in _ENDS and event.get("turn_id") == self.turn_id:
                        return
            except (CodePlaneError, OSError) as error:
                if isinstance(error, CodePlaneError) and not error.retryable:
                    raise
            failures += 1
        raise ServerUnreachable(
            "the server did not come back", hint="cpl status; then: cpl chat --thread " + self.thread_id
        )

    def _watch(self, after: int) -> Iterator[JsonObject]:
        """The events of one connection, without its heartbeats."""
        asked: JsonObject = {"thread_id": self.thread_id, "from_sequence": after, "turn_id": self.turn_id}
        for item in self.client.stream("thread.watch", asked):
            if isinstance(event := item.get("event"), dict):
                yield event

    def _show(self, event: JsonObject, view: TurnView, decide: Decide | None) -> None:
        if self._as_json:
            print(dumps(event), flush=True)
        else:
            view.show(event)
            self._show_change(event, view)
        if event["type"] == "turn.paused" and decide is not None:
            self._decide(event, decide)

    def _show_change(self, event: JsonObject, view: TurnView) -> None:
        """Show what a tool changed; nothing where that is no longer stored."""
        payload = event["payload"]
        mutation_id = payload.get("mutation_id") if isinstance(payload, dict) else None
        if mutation_id and view.shows_asides and event["type"] == "tool.finished":
            change = self.client.call("mutation.show", {"mutation_id": mutation_id, "limit": _FILES}).get("result")
            if isinstance(change, dict):
                view.show_change(change)

    def _reconnect(self, pause_sec: float) -> None:
        time.sleep(pause_sec)
        facts = find_server(self._workspace)
        if facts is not None:
            self.client = OwnerClient(self._workspace, facts)

    def _decide(self, paused: JsonObject, decide: Decide) -> None:
        payload = paused["payload"]
        action_id = payload.get("action_id") if isinstance(payload, dict) else None
        if action_id is None:
            return
        action = self._result("approval.show", {"action_id": action_id})
        if action.get("status") != "PENDING":
            return
        answer = decide(action)
        if answer is None:
            print(f"waiting for: cpl approvals approve {action_id}", file=sys.stderr)
            return
        approve, reason = answer
        name = "approval.approve" if approve else "approval.reject"
        asked: JsonObject = {"action_id": action_id, "reason": reason}
        if approve:
            asked["preview_hash"] = action["preview_hash"]
        self._result(name, asked)

    def _result(self, operation: str, arguments: JsonObject) -> JsonObject:
        given: JsonObject = {name: value for name, value in arguments.items() if value != ""}
        return result_or_exit(self.client.call(operation, given), as_json=self._as_json)


def _last_turn(snapshot: JsonObject) -> str:
    """The turn of the newest message; empty when there is none."""
    items = snapshot["items"]
    newest = items[-1] if isinstance(items, list) and items else None
    return str(newest.get("turn_id") or "") if isinstance(newest, dict) else ""
