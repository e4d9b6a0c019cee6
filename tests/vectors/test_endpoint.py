"""A model behind an endpoint: what is asked, what is believed, and what is refused."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from codeplane.kernel.errors import ConfigInvalid, EmbedderFailed
from codeplane.vectors.embedder import MAX_CHARACTERS
from codeplane.vectors.endpoint import EndpointEmbedder, EndpointSettings
from tests.interaction.requirements import requirement


@dataclass
class Endpoint:
    """A server of vectors: the length of the text and one; `said` is said first, one answer a request."""

    url: str = ""
    said: list[tuple[int, bytes]] = field(default_factory=list)
    asked: list[dict[str, object]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def answer(self, body: bytes) -> tuple[int, bytes]:
        asked = json.loads(body)
        self.asked.append(asked)
        if self.said:
            return self.said.pop(0)
        rows = [{"index": index, "embedding": [len(text), 1]} for index, text in enumerate(asked["input"])]
        return 200, json.dumps({"data": rows[::-1]}).encode()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    served = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            served.paths.append(self.path)
            served.headers.append(dict(self.headers))
            status, body = served.answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}/v1/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    server.shutdown()
    thread.join()
    server.server_close()


def embedder(endpoint: Endpoint, *, key: str | None = None, pauses: list[float] | None = None) -> EndpointEmbedder:
    settings = EndpointSettings(base_url=endpoint.url, model="small", dimensions=2, key=key, timeout=5)
    return EndpointEmbedder(settings, pause=(pauses if pauses is not None else []).append)


@requirement("VEC-04")
def test_rows_come_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    model = embedder(endpoint, key="secret")
    rows = model.embed(["abc", "", "abcdefg"])
    assert (model.name, model.dimensions) == ("small at 127.0.0.1", 2)
    assert np.allclose(rows, np.array([[3 / 10**0.5, 1 / 10**0.5], [0, 0], [7 / 50**0.5, 1 / 50**0.5]]))
    assert rows.dtype == np.float32
    assert endpoint.asked == [{"model": "small", "input": ["abc", "abcdefg"], "encoding_format": "float"}]
    assert endpoint.headers[0]["Authorization"] == "Bearer secret"
    assert endpoint.paths == ["/v1/embeddings"]


@requirement("VEC-04")
def test_many_texts_are_asked_in_batches_and_long_ones_shortened(endpoint: Endpoint) -> None:
    rows = embedder(endpoint).embed(["a" * 20_000, *("b" for _ in range(99))])
    inputs = [request["input"] for request in endpoint.asked]
    assert [len(texts) for texts in inputs if isinstance(texts, list)] == [64, 36]
    assert rows[0, 0] / rows[0, 1] == pytest.approx(MAX_CHARACTERS)
    assert "Authorization" not in endpoint.headers[0]


@requirement("VEC-04")
def test_nothing_to_ask_asks_nothing(endpoint: Endpoint) -> None:
    assert embedder(endpoint).embed([]).shape == (0, 2)
    assert embedder(endpoint).embed([" \n"]).tolist() == [[0, 0]]
    assert endpoint.asked == []


@requirement("VEC-04")
def test_a_busy_endpoint_is_asked_again(endpoint: Endpoint) -> None:
    pauses: list[float] = []
    endpoint.said = [(429, b"slow down"), (503, b"")]
    assert embedder(endpoint, pauses=pauses).embed(["a"]).shape == (1, 2)
    assert pauses == [0.5, 1.0]


def test_asking_ends(endpoint: Endpoint) -> None:
    endpoint.said = [(500, b"broken")] * 9
    with pytest.raises(EmbedderFailed, match="answers 500: broken"):
        embedder(endpoint).embed(["a"])
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 302, 307])
def test_a_refusal_is_final_and_no_redirect_is_followed(endpoint: Endpoint, status: int) -> None:
    endpoint.said = [(status, b"no")]
    with pytest.raises(EmbedderFailed, match=f"answers {status}: no"):
        embedder(endpoint, key="secret").embed(["a"])
    assert endpoint.paths == ["/v1/embeddings"]


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (b"<html>", "something else"),
        (b"[]", "something else"),
        (b'{"data": 3}', "something else"),
        (b'{"data": []}', "0 vectors for 1"),
        (b'{"data": [{"index": 1, "embedding": [1, 2]}]}', "1 vectors for 1"),
        (b'{"data": [{"index": 0, "embedding": "AAAA"}]}', "something else"),
        (b'{"data": [{"index": 0, "embedding": [[1], [2, 3]]}]}', "something else"),
        (b'{"data": [{"index": 0, "embedding": [1, 2, 3]}]}', "dimensions, not 2"),
        (b'{"data": [{"index": 0, "embedding": [1, NaN]}]}', "not finite"),
        (b'{"data": [{"index": 0, "embedding": [1, 1e99]}]}', "not finite"),
    ],
)
def test_a_wrong_answer_is_refused(endpoint: Endpoint, answer: bytes, what: str) -> None:
    endpoint.said = [(200, answer)]
    with pytest.raises(EmbedderFailed, match=what):
        embedder(endpoint).embed(["a"])


def test_nobody_there_is_said() -> None:
    closed = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    url = f"http://127.0.0.1:{closed.server_port}"
    closed.server_close()
    with pytest.raises(EmbedderFailed, match="does not answer"):
        embedder(Endpoint(url=url)).embed(["a"])


@pytest.mark.parametrize("url", ["", "ftp://host/v1", "http://", "https://user:pass@host/v1", "http://h:port/", "h/v1"])
def test_another_kind_of_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigInvalid):
        embedder(Endpoint(url=url))


def test_a_key_is_not_sent_in_the_clear() -> None:
    with pytest.raises(ConfigInvalid, match="in the clear"):
        embedder(Endpoint(url="http://models.example.com/v1"), key="secret")
    assert embedder(Endpoint(url="https://models.example.com/v1"), key="secret").dimensions == 2
