"""One connection of a client: which methods there are, and the threads that it follows."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from codeplane import __version__
from codeplane.kernel.actor import Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, MalformedRequest, Overloaded
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.app_server.errors import precondition, rpc_error
from codeplane.surfaces.app_server.folded_turn import Note
from codeplane.surfaces.app_server.history import ThreadHistory
from codeplane.surfaces.app_server.params import text_param
from codeplane.surfaces.app_server.subscription import Position, Subscription
from codeplane.surfaces.app_server.thread_fold import ThreadFold
from codeplane.surfaces.json_rpc.message import METHOD_NOT_FOUND, Notification, Request, RpcError
from codeplane.surfaces.json_rpc.peer import Peer
from codeplane.surfaces.json_rpc.socket import Connection

# The version of Codex whose protocol this is; what it says elsewhere may differ.
PROTOCOL_VERSION = "0.163.0"
SURFACE = "app-server"
MAX_FOLLOWED = 64
_STDIO = "stdio://"
_MAX_NAME = 80
_MAX_MUTED = 200

Method = Callable[[JsonObject], Awaitable[JsonValue]]


class AppServerConnection:
    """The state of one client's connection; the modules for threads and turns add `methods`."""

    def __init__(
        self,
        connection: Connection,
        peer: Peer,
        *,
        conveyor: Conveyor,
        root: Path,
        disconnect: Callable[[str], None],
    ) -> None:
        self.root = root
        self.methods: dict[str, Method] = {}
        self.followed: dict[str, Subscription] = {}
        self._connection = connection
        self._peer = peer
        self._conveyor = conveyor
        self._disconnect = disconnect
        self._caller: Caller | None = None
        self._muted: frozenset[str] = frozenset()
        self.history = ThreadHistory(self.call, cwd=str(root))

    async def handle_request(self, request: Request) -> JsonValue:
        """Answer a request."""
        if request.method == "initialize":
            return self._initialize(request.params)
        if self._caller is None:
            raise precondition("Not initialized", MalformedRequest("initialize has to be the first request"))
        method = self.methods.get(request.method)
        if method is None:
            raise RpcError(
                METHOD_NOT_FOUND,
                f"there is no method {request.method[:100]!r}; there are initialize, {', '.join(self.methods)}",
            )
        return await method(request.params)

    async def handle_notification(self, notification: Notification) -> None:
        """Take no notice: `initialized` says nothing that is not known, and no other is."""

    def error_of(self, error: CodePlaneError) -> RpcError:
        """Return an error as the protocol shows it."""
        return rpc_error(error)

    async def end(self) -> None:
        """Follow nothing any more; what was begun goes on, and its questions wait."""
        for subscription in [*self.followed.values()]:
            await subscription.stop()
        self.followed.clear()
        self._disconnect(self._connection_id)

    async def call(self, operation: str, arguments: JsonObject) -> JsonObject:
        """Call an operation as the client and return its result; raises the error that it ends with."""
        assert self._caller is not None
        outcome = await self._conveyor.call(operation, arguments, self._caller)
        if outcome.error is not None:
            raise outcome.error
        assert outcome.result is not None
        result: JsonObject = outcome.result.model_dump(mode="json")
        return result

    async def follow(self, fold: ThreadFold, *first: Note, seen: Position | None = None) -> Subscription:
        """Follow a thread from where its fold is, instead of from where it was followed before."""
        assert self._caller is not None
        if fold.thread_id not in self.followed and len(self.followed) >= MAX_FOLLOWED:
            raise Overloaded(
                f"this connection follows {MAX_FOLLOWED} threads already", hint="thread/unsubscribe from some of them"
            )
        await self.unfollow(fold.thread_id)
        subscription = Subscription(
            fold,
            conveyor=self._conveyor,
            caller=self._caller,
            peer=self._peer,
            history=self.history,
            seen=seen,
            muted=self._muted,
        )
        self.followed[fold.thread_id] = subscription
        subscription.start(*first)
        return subscription

    async def unfollow(self, thread_id: str) -> bool:
        """Stop following a thread; False when it was not followed."""
        subscription = self.followed.pop(thread_id, None)
        if subscription is not None:
            await subscription.stop()
        return subscription is not None

    @property
    def _connection_id(self) -> str:
        return f"{SURFACE}:{self._connection.connection_id}"

    def _initialize(self, params: JsonObject) -> JsonObject:
        if self._caller is not None:
            raise precondition("Already initialized", MalformedRequest("a connection is initialized once"))
        listen = self._connection.query.get("listen", _STDIO)
        if listen != _STDIO:
            raise InvalidArgument(f"--listen {listen[:100]!r} is not offered", hint="a WebSocket is at /app-server")
        client = params.get("clientInfo")
        if not isinstance(client, dict):
            raise InvalidArgument("`clientInfo` has to be an object with a name and a version")
        name = text_param(client, "name")
        capabilities = params.get("capabilities")
        muted = capabilities.get("optOutNotificationMethods") if isinstance(capabilities, dict) else None
        self._muted = (
            frozenset(str(method) for method in muted[:_MAX_MUTED]) if isinstance(muted, list) else frozenset()
        )
        self._caller = Caller(
            surface=SURFACE,
            connection_id=self._connection_id,
            client="".join(char if char.isprintable() else "?" for char in name[:_MAX_NAME]),
            token=self._connection.token,
            client_secret=self._connection.client_secret,
            wait_sec=0,
        )
        return {
            "userAgent": f"codeplane/{PROTOCOL_VERSION} (CodePlane {__version__})",
            "serverInfo": {"name": "codeplane", "version": PROTOCOL_VERSION},
            "protocolVersion": PROTOCOL_VERSION,
            "codexHome": str(self.root / ".codeplane"),
            **_platform(),
        }


def _platform() -> JsonObject:
    names: Mapping[str, tuple[str, str]] = {"linux": ("unix", "linux"), "darwin": ("unix", "macos")}
    family, name = names.get(sys.platform, ("unix", sys.platform))
    return {"platformFamily": family, "platformOs": name}
