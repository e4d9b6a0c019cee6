"""What others did is on no stream of an agent's: the same reading over every surface that streams or shows the log."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from mcp import Client as McpClient

from codeplane._gen.operations_pb2 import StreamRequest, StreamResponse
from codeplane.client.client import Client
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import events, open_response
from tests.surfaces.mcp.clients import connect_client
from tests.surfaces.mcp.test_resources import text_at
from tests.trust.refusals.ways import STREAM

pytestmark = requirement("LOG-50", "LOG-52")

Items = Iterator[JsonObject]
Read = Callable[[Server, str, int], AbstractContextManager[Items]]


@contextmanager
def over_http(server: Server, token: str, after: int) -> Iterator[Items]:
    """Server-sent events of `/events`."""
    headers = {"authorization": f"Bearer {token}"}
    with open_response(server, "GET", f"/events?after={after}", headers=headers) as response:
        yield (event.data for event in events(response))


@contextmanager
def over_websocket(server: Server, token: str, after: int) -> Iterator[Items]:
    """Messages of `/ws/events`."""
    client = pytest.importorskip("websockets.sync.client", reason="NOT TESTED: websockets is not installed")
    with client.connect(f"ws://{server.host}:{server.port}/ws/events") as socket:
        socket.send(json.dumps({"token": token, "after": after}))
        messages = map(json.loads, socket)
        yield (message["event"] for message in messages if message["type"] == "event")


@contextmanager
def over_connect(server: Server, token: str, after: int) -> Iterator[Items]:
    """Items of `ledger.watch` through Connect."""
    items = Client(server.host, server.port, token=token).stream("ledger.watch", {"after": after})
    yield (event for item in items if isinstance(event := item["event"], dict))


@contextmanager
def over_grpc(server: Server, token: str, after: int) -> Iterator[Items]:
    """Items of `ledger.watch` through gRPC."""
    port = json.loads(server.workspace.server.read_text())["grpc_port"]
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stream = channel.unary_stream(STREAM, StreamRequest.SerializeToString, StreamResponse.FromString)
        wanted = StreamRequest(operation="ledger.watch", arguments_json=json.dumps({"after": after}))
        items = stream(wanted, metadata=(("authorization", f"Bearer {token}"),), timeout=30)
        messages = (MessageToDict(item.item) for item in items)
        yield (event for message in messages if isinstance(event := message.get("event"), dict))


def done(server: Server, operation: str, **arguments: object) -> JsonObject:
    """The result of a call by the owner."""
    result = server.call(operation, **arguments)["result"]
    assert isinstance(result, dict)
    return result


def described(server: Server, token: str) -> str:
    """The description of a session that the holder of a token opened just now."""
    name = new_id("what")
    Client(server.host, server.port, token=token).call("session.create", {"description": name})
    return name


def agent_token(server: Server, *capabilities: str) -> str:
    issued = done(server, "agent.token", agent=new_id("a").replace("_", "-"), capabilities=[*capabilities])
    return str(issued["token"])


@pytest.mark.parametrize("read", [over_http, over_websocket, over_connect, over_grpc])
def test_a_stream_shows_an_agent_its_own(codeplane_server: Server, read: Read) -> None:
    server, after = codeplane_server, int(str(done(codeplane_server, "ledger.verify")["last_position"]))
    alone, shared = agent_token(server, "read_files"), agent_token(server, "read_files", "context_sharing")
    theirs = described(server, server.token)
    for token, expected in ((alone, False), (shared, True), (server.token, True)):
        own = described(server, token)
        shown: list[str] = []
        with read(server, token, after) as found:
            for event in found:
                payload = event["payload"]
                assert isinstance(payload, dict)
                shown.append(str(payload.get("description")))
                if shown[-1] == own:
                    break
        assert (theirs in shown) is expected


@pytest.mark.parametrize("uri", ["codeplane://ledger/tasks", "codeplane://ledger/recent"])
async def test_a_resource_shows_an_agent_its_own(codeplane_server: Server, uri: str) -> None:
    server = codeplane_server
    made = done(server, "session.create", description=new_id("what"))
    task = made["task"]
    assert isinstance(task, dict)
    theirs, stream = str(task["task_id"]), f"codeplane://ledger/streams/task%2F{task['task_id']}"
    for capabilities, expected in ((["read_files"], False), (["read_files", "context_sharing"], True)):
        headers = {"authorization": f"Bearer {agent_token(server, *capabilities)}"}
        async with connect_client(server, headers=headers) as client:
            await client.call_tool("git_status", {})
            assert (theirs in await text_at(client, uri)) is expected
            assert (await can_read(client, stream)) is expected


async def can_read(client: McpClient, uri: str) -> bool:
    """Whether there is such a resource for this client."""
    try:
        return bool(await text_at(client, uri))
    except Exception as error:
        assert "no resource" in str(error), error
        return False
