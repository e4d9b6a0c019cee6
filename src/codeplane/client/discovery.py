"""Finding the server of a repository on this machine."""

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from codeplane.kernel.errors import ServerUnreachable
from codeplane.kernel.json import JsonObject

_OWN_FOLDER = ".codeplane"
_PROBE_SEC = 5.0
_LONGEST_ANSWER = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """The server of a repository on this machine; its address is looked up for every connection."""

    root: Path

    @classmethod
    def of(cls, folder: str | Path) -> "LocalServer":
        """Return the server of the repository that a folder is in; ServerUnreachable when none was ever started."""
        start = Path(folder).resolve()
        for place in (start, *start.parents):
            if (place / _OWN_FOLDER / "repo_id").is_file():
                return cls(root=place)
        raise ServerUnreachable(f"no server was started for {start}", hint="start one there: cpl up")

    @property
    def token(self) -> str:
        """The owner's token, which only the owner's account can read."""
        try:
            return (self.root / _OWN_FOLDER / "owner.token").read_text("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ServerUnreachable(f"the owner's token cannot be read: {error}", hint="start it: cpl up") from error

    def locate(self) -> tuple[str, int]:
        """Return the address of the server that runs now.

        The file may be old, and another program may have its port: what answers has to be the server that wrote it,
        before anybody shows it a token.
        """
        try:
            port = int((self.root / _OWN_FOLDER / "port").read_text("ascii"))
            facts: JsonObject = json.loads((self.root / _OWN_FOLDER / "server.json").read_text())
            host = str(facts["host"])
            health = _ask_health(host, port)
        except (OSError, ValueError, KeyError, TypeError, HTTPException) as error:
            raise ServerUnreachable(f"no server answers for {self.root}: {error}") from error
        if not facts.get("instance") or health.get("instance") != facts["instance"] or facts.get("port") != port:
            raise ServerUnreachable(f"what answers at {host}:{port} is not the server of {self.root}")
        return host, port


def _ask_health(host: str, port: int) -> JsonObject:
    if not (host.startswith("127.") or host == "::1"):
        raise ValueError("the server of a repository here is on this machine")
    connection = HTTPConnection(host, port, timeout=_PROBE_SEC)
    try:
        connection.request("GET", "/health")
        answer = json.loads(connection.getresponse().read(_LONGEST_ANSWER))
        return answer if isinstance(answer, dict) else {}
    finally:
        connection.close()
