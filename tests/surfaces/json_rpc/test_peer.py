"""JSON-RPC in both directions, over whatever carries it."""

import asyncio
import json

import pytest

from codeplane.kernel.errors import CodePlaneError, NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import Notification, Request, RpcError, parse_message
from codeplane.surfaces.json_rpc.peer import MAX_UNANSWERED, ConnectionGone, Peer
from tests.interaction.requirements import requirement

pytestmark = requirement("ACP-02")


class Methods:
    """Answers `echo` at once, and `wait` when it is let go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.noted: list[str] = []

    async def handle_request(self, request: Request) -> JsonValue:
        match request.method:
            case "echo":
                return request.params
            case "wait":
                await self.go.wait()
                return "waited"
            case "lost":
                raise NotFound("there is none")
            case "crash":
                raise ZeroDivisionError
        raise RpcError(-32601, "no such method")

    async def handle_notification(self, notification: Notification) -> None:
        self.noted.append(notification.method)
        if notification.method == "bad":
            raise NotFound("there is none")
        if notification.method == "broken":
            raise ZeroDivisionError

    def error_of(self, error: CodePlaneError) -> RpcError:
        return RpcError(-32000, error.name)


class Line:
    """A peer whose messages are kept."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[JsonObject] = asyncio.Queue()
        self.failures: list[str] = []
        self.methods = Methods()
        self.peer = Peer(self._send, log_failure=lambda method, _: self.failures.append(method))

    async def _send(self, text: str) -> None:
        await asyncio.sleep(0)
        self.sent.put_nowait(json.loads(text))

    async def say(self, message: object) -> None:
        await self.peer.receive(message if isinstance(message, str) else json.dumps(message), self.methods)

    async def ask(self, method: str, request_id: object = 1, **params: object) -> None:
        await self.say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


@pytest.mark.parametrize(
    ("text", "code", "request_id"),
    [
        ("nonsense", -32700, None),
        ('{"jsonrpc": "2.0", "id": 4, "method": "x", "params": {"a": NaN}}', -32700, 4),
        ('{"jsonrpc": "2.0", "id": 4, "method": "x", "params": {"a": [-1e999]}}', -32700, 4),
        ("[" * 100_000, -32700, None),
        ("[]", -32600, None),
        ("3", -32600, None),
        ('{"id": 4, "method": "x"}', -32600, 4),
        ('{"jsonrpc": "2.0", "id": 4}', -32600, 4),
        ('{"jsonrpc": "2.0", "id": 4, "result": 1, "error": {}}', -32600, 4),
        ('{"jsonrpc": "2.0", "id": 4, "method": 7}', -32600, 4),
        ('{"jsonrpc": "2.0", "id": true, "method": "x"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": null, "method": "x"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "x"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": "%s", "method": "x"}' % ("i" * 600), -32600, None),
        ('{"jsonrpc": "2.0", "id": 4, "method": "x", "params": [1]}', -32602, 4),
    ],
)
async def test_what_is_no_message_is_refused(text: str, code: int, request_id: int | None) -> None:
    line = Line()
    await line.say(text)
    answer = line.sent.get_nowait()
    assert isinstance(answer["error"], dict)
    assert (answer["id"], answer["error"]["code"]) == (request_id, code)


def test_a_message_without_params_is_one() -> None:
    assert parse_message('{"jsonrpc": "2.0", "method": "x"}') == Notification(method="x", params={})


class TestAnswers:
    async def test_a_slow_request_keeps_no_other_waiting(self) -> None:
        line = Line()
        await line.ask("wait", 1)
        await line.ask("echo", "1", x=[1])
        assert await line.sent.get() == {"jsonrpc": "2.0", "id": "1", "result": {"x": [1]}}
        line.methods.go.set()
        assert (await line.sent.get())["id"] == 1

    async def test_an_id_that_is_under_way_is_refused_and_the_first_is_answered(self) -> None:
        line = Line()
        await line.ask("wait")
        await line.ask("echo")
        assert "error" in await line.sent.get()
        line.methods.go.set()
        assert (await line.sent.get())["result"] == "waited"
        await line.ask("echo")
        assert (await line.sent.get())["result"] == {}

    async def test_errors_and_crashes_are_answered(self) -> None:
        line = Line()
        for number, (method, message) in enumerate(
            [("lost", "NOT_FOUND"), ("crash", "INTERNAL"), ("other", "no such method")]
        ):
            await line.ask(method, number)
            error = (await line.sent.get())["error"]
            assert isinstance(error, dict) and error["message"] == message
        assert line.failures == ["crash"]

    async def test_too_many_requests_at_once_are_refused(self) -> None:
        line = Line()
        for number in range(MAX_UNANSWERED + 1):
            await line.ask("wait", number)
        assert (await line.sent.get())["id"] == MAX_UNANSWERED
        line.methods.go.set()
        await line.peer.drain(30)
        assert line.sent.qsize() == MAX_UNANSWERED

    async def test_a_cancelled_request_is_answered_so(self) -> None:
        line = Line()
        await line.ask("wait", 7)
        await asyncio.sleep(0)
        assert line.peer.cancel(7) and not line.peer.cancel("7")
        error = (await line.sent.get())["error"]
        assert isinstance(error, dict) and error["code"] == -32800

    async def test_a_request_that_is_cancelled_before_it_begins_is_answered_too(self) -> None:
        line = Line()
        await line.ask("wait", 7)
        assert line.peer.cancel(7)
        error = (await line.sent.get())["error"]
        assert isinstance(error, dict) and error["code"] == -32800

    async def test_a_notification_is_never_answered(self) -> None:
        line = Line()
        for method in ("bad", "unknown"):
            await line.say({"jsonrpc": "2.0", "method": method})
        assert line.methods.noted == ["bad", "unknown"] and line.sent.empty()

    async def test_a_notification_that_crashes_ends_nothing(self) -> None:
        line = Line()
        await line.ask("wait")
        await line.say({"jsonrpc": "2.0", "method": "broken"})
        line.methods.go.set()
        assert (await line.sent.get())["result"] == "waited"
        assert line.failures == ["broken"] and line.sent.empty()


class TestRequests:
    async def test_answers_find_their_requests_in_any_order(self) -> None:
        line = Line()
        asking = [asyncio.ensure_future(line.peer.request("ask", {"n": number})) for number in range(3)]
        ids = [(await line.sent.get())["id"] for _ in asking]
        for request_id in reversed(ids):
            await line.say({"jsonrpc": "2.0", "id": request_id, "result": {"of": request_id}})
        assert [await task for task in asking] == [{"of": request_id} for request_id in ids]

    async def test_an_answer_nobody_asked_for_is_dropped(self) -> None:
        line = Line()
        for request_id in (99, "0", None):
            await line.say({"jsonrpc": "2.0", "id": request_id, "result": 1})
        assert line.sent.empty()

    @pytest.mark.parametrize("wrong", [{}, {"result": True, "error": {"code": 1, "message": "no"}}])
    async def test_whoever_asked_does_not_wait_for_a_better_answer(self, wrong: JsonObject) -> None:
        line = Line()
        asking = asyncio.ensure_future(line.peer.request("ask", {}))
        await line.say({"jsonrpc": "2.0", "id": (await line.sent.get())["id"], **wrong})
        assert line.sent.empty(), "an error with that id would answer a request of the other side"
        with pytest.raises(RpcError, match="a result or an error"):
            await asking

    async def test_an_error_that_is_null_is_none(self) -> None:
        line = Line()
        asking = asyncio.ensure_future(line.peer.request("ask", {}))
        await line.say({"jsonrpc": "2.0", "id": (await line.sent.get())["id"], "result": 1, "error": None})
        assert line.sent.empty() and await asking == 1

    async def test_whoever_has_said_everything_is_asked_nothing(self) -> None:
        line = Line()
        asking = asyncio.ensure_future(line.peer.request("ask", {}))
        await line.sent.get()
        await line.peer.drain(30)
        with pytest.raises(ConnectionGone):
            await asking
        with pytest.raises(ConnectionGone):
            await line.peer.request("ask", {})

    async def test_an_error_is_raised(self) -> None:
        line = Line()
        asking = asyncio.ensure_future(line.peer.request("ask", {}))
        request_id = (await line.sent.get())["id"]
        await line.say({"jsonrpc": "2.0", "id": request_id, "error": {"code": -1, "message": "no"}})
        with pytest.raises(RpcError, match="no"):
            await asking

    async def test_whoever_leaves_answers_nothing_more(self) -> None:
        line = Line()
        asking = asyncio.ensure_future(line.peer.request("ask", {}))
        await line.sent.get()
        await line.ask("wait")
        await line.peer.close()
        with pytest.raises(ConnectionGone):
            await asking
        with pytest.raises(ConnectionGone):
            await line.peer.request("ask", {})
        assert line.sent.empty()
