"""Bad input, lost clients and a killed server: each gets a typed answer, and nothing that began is hidden."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from codeplane.kernel.json import JsonObject
from tests.harness import CPL, until
from tests.interaction.requirements import requirement
from tests.surfaces.app_server.assistant import Assistant, assistant, call
from tests.surfaces.app_server.wire import WireClient, wire

pytestmark = requirement("CDX-04")

TEXT: JsonObject = {"type": "text", "text": "hello"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    """A server with a model."""
    with assistant(tmp_path_factory.mktemp("faults")) as running:
        yield running


@pytest.fixture
def client(served: Assistant) -> Iterator[WireClient]:
    """A connection that has begun."""
    with wire(served.server) as client:
        yield client


def test_nothing_goes_before_initialize_and_that_goes_once(served: Assistant) -> None:
    with wire(served.server, begin=False) as client:
        early = client.error("thread/list")
        assert (early["code"], early["message"]) == (-32600, "Not initialized")
        assert client.error("initialize", {"clientInfo": {"name": 3}})["code"] == -32602
        assert client.initialize()["protocolVersion"] == "0.163.0"
        again = client.error("initialize", {"clientInfo": {"name": "wire", "version": "1"}})
        assert (again["code"], again["message"]) == (-32600, "Already initialized")
        assert client.result("thread/list")["data"] == []


def test_unknown_methods_and_messages_that_are_none_are_refused(client: WireClient) -> None:
    error = client.error("thread/goal/set", {"threadId": "x"})
    assert error["code"] == -32601 and "thread/start" in str(error["message"])
    for sent, code in (("{", -32700), ("[]", -32600), ("3", -32600), ('{"id": 9}', -32600), ('{"id": {}}', -32600)):
        client.socket.send(sent)
        refused = client.receive()["error"]
        assert isinstance(refused, dict) and refused["code"] == code, sent
    client.send({"method": "nobody/knows", "params": {}})
    assert client.result("model/list")["data"]


@pytest.mark.parametrize("cwd", ["/a\0b", "/\ud800", "/" + "a/" * 5000])
def test_a_folder_that_no_disk_has_is_refused(client: WireClient, cwd: str) -> None:
    assert client.error("thread/start", {"cwd": cwd})["code"] == -32602


def test_an_id_that_is_used_twice_at_once_is_refused_the_second_time(client: WireClient) -> None:
    request = json.dumps({"id": "same", "method": "model/list", "params": {}})
    # In one segment, so that the first is under way when the second comes.
    client.socket.send(request)
    client.socket.send(request)
    answers = [client.receive(), client.receive()]
    assert all(answer["id"] == "same" for answer in answers) and any("result" in answer for answer in answers)
    assert client.ask("model/list", request_id="same")["result"]


@pytest.mark.parametrize(
    "given",
    [
        [{"type": "image", "url": "data:image/png;base64,AAAA"}],
        [TEXT, {"type": "localImage", "path": "/etc/hostname"}],
        [{"type": "audio", "url": "data:audio/wav;base64,AAAA"}],
        [{"type": "text", "text": "  "}],
        [{"type": "hologram"}],
        ["hello"],
        [],
        "hello",
        None,
    ],
)
def test_input_that_is_not_taken_is_refused_before_there_is_a_turn(client: WireClient, given: object) -> None:
    thread = client.start_thread()
    refused = client.error("turn/start", {"threadId": thread, "input": given})  # type: ignore[dict-item]  # plain JSON
    assert refused["code"] == -32602
    data = refused["data"]
    assert isinstance(data, dict) and data["error"] == "INVALID_ARGUMENT"
    assert client.result("thread/turns/list", {"threadId": thread})["data"] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("developerInstructions", "be brief"),
        ("config", {"model": "x"}),
        ("ephemeral", True),
        ("sandbox", "read-only"),
        ("cwd", "/"),
        ("cwd", "elsewhere"),
        ("model", "gpt-none"),
    ],
)
def test_what_would_not_hold_is_refused_rather_than_ignored(client: WireClient, field: str, value: object) -> None:
    before = client.result("thread/list", {"limit": 100})["data"]
    assert client.error("thread/start", {field: value})["code"] == -32602  # type: ignore[dict-item]  # plain JSON
    assert client.result("thread/list", {"limit": 100})["data"] == before


def test_what_is_stricter_here_is_said(client: WireClient) -> None:
    started = client.result("thread/start", {"approvalPolicy": "never", "sandbox": "danger-full-access"})
    assert started["approvalPolicy"] == "on-request"
    sandbox = started["sandbox"]
    assert isinstance(sandbox, dict) and sandbox["type"] == "workspaceWrite"
    assert "approvalPolicy 'never' does not hold" in str(client.until("warning")["message"])


def test_huge_input_is_refused(served: Assistant, client: WireClient) -> None:
    thread = client.start_thread()
    long: JsonObject = {"threadId": thread, "input": [{"type": "text", "text": "x" * 70_000}]}
    assert client.error("turn/start", long)["code"] in (-32602, -32600)
    assert client.result("thread/turns/list", {"threadId": thread})["data"] == []
    with pytest.raises(ConnectionClosed) as closed:
        client.socket.send("x" * (17 * 1024 * 1024))
        client.socket.recv()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
    with wire(served.server) as other:
        assert other.result("thread/read", {"threadId": thread})


def test_threads_of_others_are_not_there(served: Assistant, client: WireClient) -> None:
    created = served.server.call("thread.create")["result"]
    assert isinstance(created, dict)
    owners = str(created["thread_id"])
    for name in (owners, "thr_none", "thr"):
        for method in ("thread/read", "thread/resume", "thread/fork", "thread/archive", "thread/turns/list"):
            assert client.error(method, {"threadId": name})["code"] in (-32600, -32602), (name, method)
        assert client.error("turn/start", {"threadId": name, "input": [TEXT]})["code"] in (-32600, -32602)
    with wire(served.server, name="another") as other:
        mine = client.start_thread()
        assert other.error("thread/read", {"threadId": mine})["code"] == -32600


@pytest.mark.parametrize("token", ["", "wrong"])
def test_a_false_token_is_no_client(served: Assistant, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    address = f"ws://{served.server.host}:{served.server.port}/app-server"
    with pytest.raises(InvalidStatus), connect(address, additional_headers=headers, proxy=None):
        pass
    with pytest.raises(InvalidStatus), connect(address, origin=Origin("https://example.com"), proxy=None):
        pass


def test_without_the_owners_token_nobody_converses(served: Assistant) -> None:
    address = f"ws://{served.server.host}:{served.server.port}/app-server"
    with connect(address, proxy=None) as socket:
        client = WireClient(socket)
        client.initialize()
        assert "CAPABILITY_DENIED" in str(client.error("thread/start")["message"])


def test_pages_of_turns_and_items_have_everything_once(client: WireClient) -> None:
    thread = client.start_thread()
    for number in range(7):
        client.start_turn(thread, f"turn {number}")
        client.until("turn/completed")
        client.notes.clear()

    def pages(method: str, **more: object) -> list[JsonObject]:
        found: list[JsonObject] = []
        cursor: object = None
        while True:
            asked = {"threadId": thread, "limit": 3, "cursor": cursor, **more}
            page = client.result(method, asked)  # type: ignore[arg-type]  # plain JSON
            data = page["data"]
            assert isinstance(data, list) and len(data) <= 3
            found += [entry for entry in data if isinstance(entry, dict)]
            if (cursor := page["nextCursor"]) is None:
                return found

    newest, oldest = pages("thread/turns/list"), pages("thread/turns/list", sortDirection="asc")
    assert newest == oldest[::-1] and len({str(turn["id"]) for turn in newest}) == 7
    items = pages("thread/items/list")
    assert [entry["item"] for entry in items] == [item for turn in oldest for item in turn["items"]]  # type: ignore[union-attr]  # a list
    one = pages("thread/items/list", turnId=str(oldest[2]["id"]))
    assert [entry["item"] for entry in one] == oldest[2]["items"]
    for wrong in ("x", "1", 7, {"itemId": "x", "type": "item"}):
        assert client.error("thread/items/list", {"threadId": thread, "cursor": wrong})["code"] in (-32600, -32602)


def test_a_server_killed_while_a_command_runs_shows_it_and_goes_on(tmp_path: Path) -> None:
    """Codex itself shows only the message then."""
    with assistant(tmp_path) as served:
        begun = served.repo / "begun.txt"
        with wire(served.server) as client:
            thread = client.start_thread()
            turn = client.start_turn(thread, call("run_bash", command="touch begun.txt; sleep 600"))
            served.decide(approve=True)
            until(begun.exists)
            served.restart()
        with wire(served.server) as client:
            resumed = client.result("thread/resume", {"threadId": thread})["thread"]
            assert isinstance(resumed, dict) and isinstance(resumed["turns"], list)
            items = resumed["turns"][0]["items"]
            (command,) = [item for item in items if item["type"] == "commandExecution"]
            assert command["command"] == "touch begun.txt; sleep 600"
            status = resumed["turns"][0]["status"]
            if status == "inProgress":
                client.until("turn/completed")
            read = client.result("thread/read", {"threadId": thread, "includeTurns": True})["thread"]
            assert isinstance(read, dict) and isinstance(read["turns"], list)
            (whole,) = read["turns"]
            assert isinstance(whole, dict) and (whole["id"], whole["status"]) == (turn, "completed")
            (command,) = [item for item in whole["items"] if item["type"] == "commandExecution"]
            assert command["status"] == "failed" and "OUTCOME_UNKNOWN" in str(command["aggregatedOutput"])


def test_a_killed_shim_leaves_its_turn_and_its_question_to_other_clients(served: Assistant) -> None:
    words = [CPL, "app-server", "--listen", "stdio://"]
    with subprocess.Popen(words, cwd=served.repo, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shim:
        assert shim.stdin is not None and shim.stdout is not None

        def ask(number: int, method: str, params: JsonObject) -> JsonObject:
            assert shim.stdin is not None and shim.stdout is not None
            shim.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
            shim.stdin.flush()
            while (message := json.loads(shim.stdout.readline())).get("id") != number or "method" in message:
                pass
            found: JsonObject = message["result"]
            return found

        ask(1, "initialize", {"clientInfo": {"name": "killed", "version": "1"}})
        thread = ask(2, "thread/start", {})["thread"]
        assert isinstance(thread, dict)
        said: JsonObject = {"type": "text", "text": call("run_bash", command="echo late")}
        turn = ask(3, "turn/start", {"threadId": thread["id"], "input": [said]})["turn"]
        assert isinstance(turn, dict)
        served.pending()
        shim.kill()
    with wire(served.server, begin=False) as client:
        client.initialize("killed")
        resumed = client.result("thread/resume", {"threadId": thread["id"]})["thread"]
        assert isinstance(resumed, dict) and resumed["status"] == {
            "type": "active",
            "activeFlags": ["waitingOnApproval"],
        }
        served.decide(approve=True)
        client.until("turn/completed")
        read = client.result("thread/read", {"threadId": thread["id"], "includeTurns": True})["thread"]
        assert isinstance(read, dict) and isinstance(read["turns"], list)
        (whole,) = read["turns"]
        assert isinstance(whole, dict) and (whole["id"], whole["status"]) == (turn["id"], "completed")
        (command,) = [item for item in whole["items"] if item["type"] == "commandExecution"]
        assert (command["status"], command["aggregatedOutput"]) == ("completed", "late\n")
