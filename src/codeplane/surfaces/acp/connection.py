"""One ACP connection."""

from pathlib import Path

from codeplane import __version__
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.errors import rpc_error
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, METHOD_NOT_FOUND, Notification, Request, RpcError
from codeplane.surfaces.json_rpc.peer import Peer
from codeplane.surfaces.json_rpc.socket import Connection

VERSION = 1


class AcpConnection:
    """The state of one client's connection."""

    def __init__(self, connection: Connection, peer: Peer, *, conveyor: Conveyor, root: Path) -> None:
        self._connection = connection
        self._peer = peer
        self._conveyor = conveyor
        self._root = root

    async def handle_request(self, request: Request) -> JsonValue:
        """Answer a request."""
        if request.method == "initialize":
            return self._initialize(request.params)
        raise RpcError(METHOD_NOT_FOUND, f"there is no method {request.method[:100]!r}")

    async def handle_notification(self, notification: Notification) -> None:
        """Ignore notifications that are not known."""

    def error_of(self, error: CodePlaneError) -> RpcError:
        """Return an error as ACP shows it."""
        return rpc_error(error)

    async def end(self) -> None:
        """Nothing outlives the connection."""

    def _initialize(self, params: JsonObject) -> JsonObject:
        version = params.get("protocolVersion")
        if not isinstance(version, int) or isinstance(version, bool):
            raise RpcError(INVALID_PARAMS, "`protocolVersion` has to be a number")
        return {
            "protocolVersion": VERSION,
            "agentCapabilities": {},
            "authMethods": [],
            "agentInfo": {"name": "codeplane", "title": "CodePlane", "version": __version__},
        }
