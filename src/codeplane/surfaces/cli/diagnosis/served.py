"""The server as `cpl doctor` asks it: bounded, and not again once it has not answered."""

from http.client import HTTPConnection, HTTPException

from codeplane.client.failure import raised
from codeplane.kernel.errors import CodePlaneError, ServerUnreachable, Unauthorized
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.client import Client
from codeplane.surfaces.cli.discovery import ServerFacts

UNASKED = "not known: the server does not answer"
# What a server says of a ledger that was taken away under its hands.
MISPLACED = "while it was served"
_PATIENCE_SEC = 10.0
_LONGEST = 4_000_000


def restart(facts: ServerFacts | None) -> str:
    """The commands that start a server anew the way it was started."""
    return f"cpl down && cpl up{' -d' if facts is not None and facts.detached else ''}"


def salvaging(facts: ServerFacts) -> str:
    """The commands that keep what can be read of a damaged ledger."""
    return restart(facts).replace("&&", "&& cpl doctor --salvage &&")


class Served:
    """A server that was found; whoever asks after it failed once is told so at once."""

    def __init__(self, workspace: Workspace, facts: ServerFacts, *, patience_sec: float = _PATIENCE_SEC) -> None:
        self.facts = facts
        self._workspace = workspace
        self._patience_sec = patience_sec
        self._failure: CodePlaneError | None = None

    def asked(
        self, operation: str, arguments: JsonObject | None = None, *, patience_sec: float | None = None
    ) -> JsonObject:
        """The result of a call by the owner; an error of the table otherwise."""
        envelope = self.envelope(operation, arguments or {}, patience_sec=patience_sec)
        error, result = envelope.get("error"), envelope.get("result")
        if isinstance(error, dict):
            raise raised(error)
        return result if isinstance(result, dict) else {}

    def envelope(self, operation: str, arguments: JsonObject, *, patience_sec: float | None = None) -> JsonObject:
        """The whole answer of a call, with its text."""
        if self._failure is not None:
            raise self._failure
        try:
            client = Client(self._workspace, self.facts)
            found = client.call(operation, arguments, text=True, timeout_sec=patience_sec or self._patience_sec)
        except (ServerUnreachable, Unauthorized) as error:
            self._failure = error
            raise
        refused = found.get("error")
        if isinstance(refused, dict) and refused.get("error") == Unauthorized.name:
            self._failure = raised(refused)
            raise self._failure
        return found

    def metric(self, name: str) -> float | None:
        """One number of `/metrics`; None when it is not told."""
        connection = HTTPConnection(self.facts.host, self.facts.port, timeout=self._patience_sec)
        try:
            token = self._workspace.owner_token.read_text().strip()
            connection.request("GET", "/metrics", headers={"authorization": f"Bearer {token}"})
            text = connection.getresponse().read(_LONGEST).decode()
        except (OSError, HTTPException, UnicodeDecodeError):
            return None
        finally:
            connection.close()
        said = [line.split() for line in text.splitlines() if line.startswith(f"{name} ")]
        return float(said[0][1]) if said else None
