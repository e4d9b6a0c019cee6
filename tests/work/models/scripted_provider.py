"""A provider of models on loopback that answers by a script: well, badly, or not at all."""

import json
import socketserver
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from codeplane.kernel.json import JsonObject

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
# Longer than any test waits for what it hangs on.
_HANG_SEC = 300.0
Send: TypeAlias = Callable[[bytes], None]


@dataclass(frozen=True, kw_only=True)
class ReceivedRequest:
    """A request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: JsonObject


@dataclass
class ScriptedProvider:
    """Gives one answer of its script for each request, the last one again and again, or the one that `decide` names."""

    script: list["Act"]
    requests: list[ReceivedRequest] = field(default_factory=list)
    url: str = ""
    ended: threading.Event = field(default_factory=threading.Event)
    # Set when an answer that hangs has lost its reader.
    dropped: threading.Event = field(default_factory=threading.Event)
    decide: "Callable[[ReceivedRequest], Act] | None" = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_act(self, request: ReceivedRequest) -> "Act":
        """Note a request and take the next answer."""
        with self._lock:
            self.requests.append(request)
            if self.decide is not None:
                return self.decide(request)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


Act: TypeAlias = Callable[[ScriptedProvider, Send], None]


def chunks(*events: JsonObject | str) -> list[bytes]:
    """Events as they go over the wire."""
    texts = [event if isinstance(event, str) else f"data: {json.dumps(event)}\n\n" for event in events]
    return [text.encode() for text in texts]


def openai_chunk(delta: JsonObject | None = None, finish: str | None = None, **more: object) -> JsonObject:
    """A chunk of a chat completion."""
    choices = [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    return {"id": "c", "object": "chat.completion.chunk", "choices": choices, **more}  # type: ignore[dict-item]  # plain JSON


def openai_text(*parts: str, usage: tuple[int, int] | None = (10, 5), finish: str = "stop") -> list[bytes]:
    """A whole answer of text."""
    counted: JsonObject = {}
    if usage is not None:
        counted = {"usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}}
    last: list[JsonObject] = [{"id": "c", "choices": [], **counted}] if counted else []
    return chunks(*(openai_chunk({"content": part}) for part in parts), openai_chunk(finish=finish), *last, DONE)


DONE = "data: [DONE]\n\n"


def openai_tool(call_id: str, name: str, arguments: JsonObject, *said: str) -> list[bytes]:
    """A whole answer that says something and wants a tool called."""
    call: JsonObject = {
        "index": 0,
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    words = [openai_chunk({"content": part}) for part in said]
    return chunks(*words, openai_chunk({"tool_calls": [call]}), openai_chunk(finish="tool_calls"), DONE)


def answer(parts: Iterable[bytes], *, pause_sec: float = 0, gate: threading.Event | None = None) -> Act:
    """Send an event stream to its end, with pauses as a model makes them; behind the first part it waits for `gate`."""
    fixed = list(parts)

    def act(provider: ScriptedProvider, send: Send) -> None:
        send(_HEAD)
        for number, part in enumerate(fixed):
            if number == 1 and gate is not None:
                gate.wait(_HANG_SEC)
            send(b"%x\r\n%s\r\n" % (len(part), part))
            if pause_sec:
                provider.ended.wait(pause_sec)
        send(b"0\r\n\r\n")

    return act


def cut(parts: Iterable[bytes]) -> Act:
    """Send the beginning of an event stream and close the connection."""
    fixed = list(parts)

    def act(provider: ScriptedProvider, send: Send) -> None:
        send(_HEAD)
        for part in fixed:
            send(b"%x\r\n%s\r\n" % (len(part), part))

    return act


def hang(parts: Iterable[bytes] | None = None) -> Act:
    """Send the beginning of an event stream, or nothing at all, and then nothing more."""
    fixed = None if parts is None else list(parts)

    def act(provider: ScriptedProvider, send: Send) -> None:
        if fixed is not None:
            send(_HEAD)
            for part in fixed:
                send(b"%x\r\n%s\r\n" % (len(part), part))
        provider.ended.wait(_HANG_SEC)

    return act


def status(code: int, body: JsonObject | str = "", **headers: str) -> Act:
    """Refuse a request."""
    text = (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = [f"HTTP/1.1 {code} Told", f"Content-Length: {len(text)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]

    def act(provider: ScriptedProvider, send: Send) -> None:
        send("\r\n".join(lines).encode() + b"\r\n\r\n" + text)

    return act


def raw(data: bytes) -> Act:
    """Send bytes that may be anything and close the connection."""
    return lambda provider, send: send(data)


def flood(part: bytes, times: int) -> Act:
    """Send the same event many times; says when nobody reads any more."""

    def act(provider: ScriptedProvider, send: Send) -> None:
        send(_HEAD)
        frame = b"%x\r\n%s\r\n" % (len(part), part)
        try:
            for _ in range(times // 100):
                send(frame * 100)
        except OSError:
            provider.dropped.set()

    return act


class _Handler(socketserver.StreamRequestHandler):
    server: "_Server"

    def handle(self) -> None:
        # A client that has seen enough closes the connection at any time.
        with suppress(OSError, ValueError):
            while self._exchange():
                pass

    def _exchange(self) -> bool:
        line = self.rfile.readline().decode("latin-1").split()
        if len(line) < 2:
            return False
        headers: dict[str, str] = {}
        while (header := self.rfile.readline().strip()) != b"":
            name, _, value = header.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        length = int(headers.get("content-length", "0"))
        body = self.rfile.read(length)
        if len(body) < length:
            return False
        parsed = json.loads(body) if body else {}
        request = ReceivedRequest(method=line[0], path=line[1], headers=headers, body=parsed)
        self.server.provider.next_act(request)(self.server.provider, self._send)
        return False

    def _send(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    provider: ScriptedProvider


@contextmanager
def scripted_provider(
    *script: Act, decide: Callable[[ReceivedRequest], Act] | None = None
) -> Iterator[ScriptedProvider]:
    """Serve a script on loopback until the end of the block."""
    provider = ScriptedProvider(list(script), decide=decide)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.provider = provider
        provider.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield provider
        finally:
            provider.ended.set()
            server.shutdown()
            thread.join()


def anthropic_events(*events: JsonObject) -> list[bytes]:
    """Events of the Messages API, each with its name."""
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def anthropic_text(*parts: str, stop: str = "end_turn") -> list[bytes]:
    """A whole answer of text in the Messages API."""
    deltas: Sequence[JsonObject] = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}} for part in parts
    ]
    return anthropic_events(
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 12, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    )
