"""A model over OpenAI's Responses API that makes given calls, in the namespace that Codex has for a server's tools."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

_USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    namespace: ClassVar[str] = ""
    calls: ClassVar[Sequence[tuple[str, str]]] = ()

    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing."""

    def do_GET(self) -> None:
        """No models are listed."""
        self._answer("application/json", b'{"models": []}')

    def do_POST(self) -> None:
        """The next call: as many were made as there are results in what is sent."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        done = sum(item.get("type") == "function_call_output" for item in asked["input"])
        response = {"id": f"response_{done}", "usage": _USAGE}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": response},
            {"type": "response.output_item.done", "output_index": 0, "item": self._item(done)},
            {"type": "response.completed", "response": response},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._answer("text/event-stream", text.encode())

    def _item(self, done: int) -> dict[str, Any]:
        if done >= len(self.calls):
            content = [{"type": "output_text", "text": "Done.", "annotations": []}]
            return {"type": "message", "role": "assistant", "status": "completed", "content": content}
        name, arguments = self.calls[done]
        call = {"type": "function_call", "namespace": self.namespace, "name": name, "arguments": arguments}
        return {**call, "id": f"item_{done}", "call_id": f"call_{done}", "status": "completed"}

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def responses_model(namespace: str, calls: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Serve the calls, each a tool and its arguments, until the end of the block; the base of the API's addresses."""
    handler = type("_ScriptedHandler", (_Handler,), {"namespace": namespace, "calls": calls})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()
