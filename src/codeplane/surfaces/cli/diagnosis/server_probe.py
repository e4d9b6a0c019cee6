"""Calls of `cpl doctor` to the server, with a timeout and no retries after a failure."""

from http.client import HTTPConnection, HTTPException

from codeplane.client.errors import to_exception
from codeplane.kernel.errors import CodePlaneError, ServerUnreachable, Unauthorized
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import ServerFacts
from codeplane.surfaces.cli.owner_client import OwnerClient

NO_ANSWER = "not known: the server does not answer"
# What a server says of a ledger that was taken away under its hands.
MISPLACED = "while it was served"
_PATIENCE_SEC = 10.0
_LONGEST = 4_000_000


def restart_command(facts: ServerFacts | None) -> str:
    """Return the commands that restart a server the way it was started."""
    return f"cpl down && cpl up{' -d' if facts is not None and facts.detached else ''}"


def salvage_command(facts: ServerFacts) -> str:
    """Return the commands that salvage a damaged ledger."""
    return restart_command(facts).replace("&&", "&& cpl doctor --salvage &&")


class ServerProbe:
    """A running server; after one failure, every further call fails at once."""

    def __init__(self, workspace: Workspace, facts: ServerFacts, *, patience_sec: float = _PATIENCE_SEC) -> None:
        self.facts = facts
        self._workspace = workspace
        self._patience_sec = patience_sec
        self._failure: CodePlaneError | None = None

    def result_of(
        self, operation: str, arguments: JsonObject | None = None, *, patience_sec: float | None = None
    ) -> JsonObject:
        """Return the result of a call by the owner, or raise its error."""
        envelope = self.envelope(operation, arguments or {}, patience_sec=patience_sec)
        error, result = envelope.get("error"), envelope.get("result")
        if isinstance(error, dict):
            raise to_exception(error)
        return result if isinstance(result, dict) else {}

    def envelope(self, operation: str, arguments: JsonObject, *, patience_sec: float | None = None) -> JsonObject:
        """Return the whole envelope of a call, with its text."""
        if self._failure is not None:
            raise self._failure
        try:
            client = OwnerClient(self._workspace, self.facts)
            found = client.call(operation, arguments, text=True, timeout_sec=patience_sec or self._patience_sec)
        except (ServerUnreachable, Unauthorized) as error:
            self._failure = error
            raise
        refused = found.get("error")
        if isinstance(refused, dict) and refused.get("error") == Unauthorized.name:
            self._failure = to_exception(refused)
            raise self._failure
        return found

    def metric(self, name: str) -> float | None:
        """Return one number of `/metrics`, or None."""
        connection = HTTPConnection(self.facts.host, self.facts.port, timeout=self._patience_sec)
        try:
            token = self._workspace.owner_token.read_text().strip()
            connection.request("GET", "/metrics", headers={"authorization": f"Bearer {token}"})
            text = connection.getresponse().read(_LONGEST).decode()
        except (OSError, HTTPException, UnicodeDecodeError):
            return None
        finally:
            connection.close()
        samples = [line.split() for line in text.splitlines() if line.startswith(f"{name} ")]
        return float(samples[0][1]) if samples else None
