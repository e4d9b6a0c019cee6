"""Every method of threads and turns by clients that others wrote and that know the specification alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass

from codeplane.kernel.json import JsonObject
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.connect.buf_curl import FORMS, BufCurl
from tests.surfaces.connect.npm_clients import buf, node, require_npm_clients
from tests.surfaces.connect.seed_schema import write_schema
from tests.surfaces.grpc.channel import channel, owner

pytestmark = requirement("RPC-20")

SCENARIO = Path(__file__).resolve().parent / "conversation.mjs"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript that buf makes of the specification, and of our own protos."""
    require_npm_clients()
    folder = tmp_path_factory.mktemp("conversation")
    (folder / "package.json").write_text('{"type": "module"}')
    specification = write_schema(folder / "spec")
    for source, output in ((".", folder), (str(specification), specification)):
        done = buf("generate", source, "--template", "buf.gen.yaml", "--output", str(output))
        assert done.returncode == 0, done.stderr
    return folder


def _events(messages: Iterator[JsonObject]) -> Iterator[JsonObject]:
    return (message for message in messages if "heartbeat" not in message)


def _number(value: object) -> int:
    return int(str(value))


@pytest.mark.parametrize("form", FORMS)
def test_buf_curl_holds_a_conversation(connect_server: Server, folder: Path, form: str) -> None:
    curl = BufCurl(server=connect_server, form=form, schema=folder / "spec")
    ours, token = BufCurl(server=connect_server, form=form), connect_server.token
    created = curl.call("ThreadsService/CreateThread", {}, token)
    thread: JsonObject = {"threadId": created["threadId"]}
    asked: JsonObject = {**thread, "userText": "greet", "clientMessageId": f"first-{form}"}
    with curl.stream("TurnsService/StartTurn", asked, token) as stream:
        first = [*_events(stream.messages)]
    assert [_number(event["sequence"]) for event in first] == [*range(2, 2 + len(first))]
    assert "turnCompleted" in first[-1] and any("turnStarted" in event for event in first)
    with curl.stream("TurnsService/StartTurn", {**asked, "resumeFromSequence": "4"}, token) as stream:
        assert [event["eventId"] for event in _events(stream.messages)] == [event["eventId"] for event in first[3:]]
    second: JsonObject = {**thread, "userText": "greet again", "clientMessageId": f"second-{form}"}
    sent = curl.call("TurnsService/SendTurn", second, token)
    with curl.stream("EventsService/WatchThread", {**thread, "fromSequence": first[-1]["sequence"]}, token) as stream:
        rest: list[JsonObject] = []
        while not rest or "turnCompleted" not in rest[-1]:
            rest.append(next(_events(stream.messages)))
    assert [_number(event["sequence"]) for event in [*first, *rest]] == [*range(2, 2 + len(first) + len(rest))]
    ended = curl.call("TurnsService/SendTurn", second, token)
    assert (ended["turnId"], ended["status"]) == (sent["turnId"], "COMPLETED")
    snapshot = curl.call("ThreadsService/GetThreadSnapshot", thread, token)
    messages = snapshot["messages"]
    assert isinstance(messages, list) and snapshot["lastSequence"] == rest[-1]["sequence"]
    page = curl.call("ThreadsService/ListThreadMessages", {**thread, "pageSize": 3}, token)
    assert page["items"] == messages[1:]
    older: JsonObject = {**thread, "pageSize": 3, "pageToken": page["nextPageToken"]}
    assert curl.call("ThreadsService/ListThreadMessages", older, token)["items"] == messages[:1]
    listed = ours.call("ThreadsService/ListThreads", {"query": "greet", "pageSize": 100}, token)["items"]
    assert isinstance(listed, list) and created["threadId"] in [item["threadId"] for item in listed]
    turn: JsonObject = {"turnId": sent["turnId"]}
    assert ours.call("TurnsService/CancelTurn", turn, token)["status"] == "COMPLETED"
    assert curl.call("ThreadsService/GetThreadSnapshot", {"threadId": "thr_none"}, token)["code"] == "not_found"
    assert curl.call("ThreadsService/GetThreadSnapshot", thread, None)["code"] == "unauthenticated"


@pytest.mark.parametrize("form", ["json", "binary", "grpcweb", "grpc"])
def test_connect_for_node_holds_a_conversation(connect_server: Server, folder: Path, form: str) -> None:
    grpc = f"http://127.0.0.1:{connect_server.facts['grpc_port']}"
    address = grpc if form == "grpc" else connect_server.url
    done = node(SCENARIO, address, connect_server.token, form, cwd=folder)
    steps: dict[str, JsonObject] = {}
    for line in done.stdout.splitlines():
        step: JsonObject = json.loads(line)
        steps[str(step.pop("step"))] = step
    assert list(steps) == [
        "created", "started", "attached", "budget", "watched", "sent", "snapshot", "pages", "claimed", "nowhere",
        "listed", "cancelled",
    ], done.stdout + done.stderr  # fmt: skip
    started, watched = steps["started"]["sequences"], steps["watched"]["sequences"]
    assert isinstance(started, list) and isinstance(watched, list)
    assert steps["created"] == {"last": 1}
    assert started == [*range(2, 2 + len(started))] and steps["started"]["turns"] == 1
    cases = steps["started"]["cases"]
    assert isinstance(cases, list) and cases[-1] == "turnCompleted"
    assert {"turnStarted", "turnBudgetApplied", "assistantMessageCommitted"} <= {*cases}
    assert steps["attached"]["sequences"] == started[3:]
    assert steps["budget"] == {"steps": 3}
    assert watched == [*range(2, 2 + len(watched))] and steps["watched"]["sameEnd"]
    assert steps["sent"] == {"same": True, "status": "COMPLETED", "answers": True}
    roles = ["user", "assistant"] * 2
    assert steps["snapshot"] == {"roles": roles, "last": watched[-1], "answeredBy": "index"}
    assert steps["pages"] == {"sizes": [1, 3], "same": True}
    assert (steps["claimed"], steps["nowhere"]) == ({"code": "PermissionDenied"}, {"code": "NotFound"})
    assert (steps["listed"], steps["cancelled"]) == ({"found": True}, {"status": "COMPLETED"})


class PlainGrpc:
    """gRPC's own client, with messages made of the specification when it runs."""

    def __init__(self, opened: grpc.Channel, server: Server, descriptors: FileDescriptorSet) -> None:
        self._channel = opened
        self._metadata = owner(server)
        self._pool = DescriptorPool()
        for file in descriptors.file:
            self._pool.Add(file)

    def call(self, path: str, **fields: object) -> list[JsonObject]:
        """The answers of a method, one unless it is a stream; heartbeats are left out."""
        service, method = path.split("/")
        found = self._pool.FindServiceByName(f"codeplane.v1.{service}").FindMethodByName(method)
        request, answer = GetMessageClass(found.input_type), GetMessageClass(found.output_type)
        names = f"/codeplane.v1.{path}", request.SerializeToString, answer.FromString
        asked = ParseDict(fields, request())
        if found.server_streaming:
            messages = [*self._channel.unary_stream(*names)(asked, metadata=self._metadata, timeout=30)]
        else:
            messages = [self._channel.unary_unary(*names)(asked, metadata=self._metadata, timeout=30)]
        shown = (MessageToDict(message, preserving_proto_field_name=True) for message in messages)
        return [message for message in shown if "heartbeat" not in message]


def test_plain_grpc_holds_a_conversation(connect_server: Server, folder: Path) -> None:
    built = folder / "spec.binpb"
    done = buf("build", str(folder / "spec"), "--output", str(built))
    assert done.returncode == 0, done.stderr
    with channel(connect_server) as opened:
        client = PlainGrpc(opened, connect_server, FileDescriptorSet.FromString(built.read_bytes()))
        (created,) = client.call("ThreadsService/CreateThread")
        thread_id = created["thread_id"]
        asked = {"thread_id": thread_id, "client_message_id": "m", "user_text": "greet"}
        events = client.call("TurnsService/StartTurn", **asked)
        assert [_number(event["sequence"]) for event in events] == [*range(2, 2 + len(events))]
        assert "turn_completed" in events[-1]
        (sent,) = client.call("TurnsService/SendTurn", **asked)
        assert (sent["turn_id"], sent["status"]) == (events[0]["turn_id"], "COMPLETED")
        (snapshot,) = client.call("ThreadsService/GetThreadSnapshot", thread_id=thread_id)
        (page,) = client.call("ThreadsService/ListThreadMessages", thread_id=thread_id, page_size=50)
        assert page["items"] == snapshot["messages"] and snapshot["last_sequence"] == events[-1]["sequence"]
        with pytest.raises(grpc.RpcError) as raised:
            client.call("EventsService/WatchThread", thread_id="thr_none")
        assert raised.value.code() is grpc.StatusCode.NOT_FOUND
