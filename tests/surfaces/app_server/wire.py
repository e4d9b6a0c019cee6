"""The protocol word by word, over a WebSocket of somebody else's making."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from websockets.sync.client import ClientConnection, connect

from codeplane.kernel.json import JsonObject
from tests.harness import PATIENCE_SEC, Server

MAX_BYTES = 64 * 1024 * 1024


class WireClient:
    """Sends requests and collects what comes."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.notes: list[JsonObject] = []
        self.requests: list[JsonObject] = []
        self._next = 0

    def send(self, message: JsonObject) -> None:
        """Send one message."""
        self.socket.send(json.dumps(message))

    def receive(self) -> JsonObject:
        """The next message, noted by its kind."""
        message = json.loads(self.socket.recv(timeout=PATIENCE_SEC))
        assert isinstance(message, dict)
        if "method" in message:
            (self.requests if "id" in message else self.notes).append(message)
        return message

    def ask(self, method: str, params: JsonObject | None = None, *, request_id: object = None) -> JsonObject:
        """The answer to a request, whole."""
        self._next += 1
        wanted = self._next if request_id is None else request_id
        self.send({"id": wanted, "method": method, "params": params or {}})  # type: ignore[dict-item]  # plain JSON
        while True:
            message = self.receive()
            if "method" not in message and message.get("id") == wanted:
                return message

    def result(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """The result of a request."""
        answer = self.ask(method, params)
        assert isinstance(answer.get("result"), dict), answer
        return answer["result"]  # type: ignore[return-value]  # just checked

    def error(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """The error of a request."""
        answer = self.ask(method, params)
        assert isinstance(answer.get("error"), dict), answer
        return answer["error"]  # type: ignore[return-value]  # just checked

    def initialize(self, name: str = "wire") -> JsonObject:
        """Begin as clients do."""
        result = self.result("initialize", {"clientInfo": {"name": name, "version": "1"}})
        self.send({"method": "initialized"})
        return result

    def start_thread(self) -> str:
        """Open a thread."""
        thread = self.result("thread/start")["thread"]
        assert isinstance(thread, dict)
        return str(thread["id"])

    def start_turn(self, thread: str, text: str) -> str:
        """Send a message."""
        turn = self.result("turn/start", {"threadId": thread, "input": [{"type": "text", "text": text}]})["turn"]
        assert isinstance(turn, dict)
        return str(turn["id"])

    def until(self, method: str) -> JsonObject:
        """The parameters of the first notification or request of a name, of those that came or come."""
        while True:
            for message in (*self.notes, *self.requests):
                if message["method"] == method:
                    params = message["params"]
                    assert isinstance(params, dict)
                    return params
            self.receive()


@contextmanager
def wire(server: Server, *, secret: str = "", name: str = "wire", begin: bool = True) -> Iterator[WireClient]:
    """A connection with the owner's token."""
    headers = {"Authorization": f"Bearer {server.token}", **({"X-CodePlane-Client": secret} if secret else {})}
    address = f"ws://{server.host}:{server.port}/app-server"
    with connect(address, additional_headers=headers, max_size=MAX_BYTES, proxy=None) as socket:
        client = WireClient(socket)
        if begin:
            client.initialize(name)
        yield client
