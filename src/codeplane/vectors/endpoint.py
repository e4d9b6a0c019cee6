"""An embedder for endpoints with OpenAI's `/v1/embeddings` API."""

import http.client
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from codeplane.kernel.errors import ConfigInvalid, EmbedderFailed
from codeplane.vectors.embedder import clip_text, normalise

_BATCH = 64
_ATTEMPTS = 3
# A batch of the longest vectors in use, written as decimal numbers, is a tenth of this.
_MAX_ANSWER = 64 << 20
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """The endpoint's address, model, key and timeout."""

    base_url: str
    model: str
    dimensions: int
    key: str | None = None
    timeout: float = 30.0


class EndpointEmbedder:
    """Sends small batches and validates every answer."""

    def __init__(self, settings: EndpointSettings, *, pause: Callable[[float], None] = time.sleep) -> None:
        """`pause` sleeps between attempts."""
        self._settings, self._pause = settings, pause
        url = urlsplit(settings.base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.username or url.query or url.fragment:
            raise ConfigInvalid(
                "the embedding endpoint is not an http or https address", hint="such as https://localhost:8080/v1"
            )
        if settings.key and url.scheme == "http" and url.hostname not in _LOCAL:
            raise ConfigInvalid(
                f"the key would go to {url.hostname} in the clear", hint="use https, or an endpoint on this machine"
            )
        try:
            self._host, self._port, self._secure = url.hostname, url.port, url.scheme == "https"
        except ValueError as error:
            raise ConfigInvalid(f"the embedding endpoint's address is wrong: {error}") from error
        self._path = url.path.rstrip("/") + "/embeddings"

    @property
    def name(self) -> str:
        """The model and its host; a service may change the model behind its name."""
        return f"{self._settings.model} at {self._host}"

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._settings.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as rows of length one, or of zeros for blank text."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        # Endpoints refuse empty input, and some answer it with a vector that means nothing.
        asked = [index for index, text in enumerate(texts) if text.strip()]
        for begin in range(0, len(asked), _BATCH):
            batch = asked[begin : begin + _BATCH]
            rows[batch] = self._vectors(self._ask([clip_text(texts[index]) for index in batch]), len(batch))
        return normalise(rows)

    def _ask(self, texts: Sequence[str]) -> bytes:
        asked = {"model": self._settings.model, "input": list(texts), "encoding_format": "float"}
        body = json.dumps(asked).encode()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                status, answer = self._post(body)
            except (OSError, http.client.HTTPException) as error:
                if attempt == _ATTEMPTS:
                    raise self._failure(f"does not answer: {error or type(error).__name__}") from error
            else:
                if status == 200:
                    return answer
                if attempt == _ATTEMPTS or (status != 429 and status < 500):
                    raise self._failure(f"answers {status}: {answer[:200].decode(errors='replace')}")
            self._pause(0.5 * 2 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")

    def _post(self, body: bytes) -> tuple[int, bytes]:
        # Not urllib: it would follow a redirect and take the key along.
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._settings.timeout)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._settings.key:
            headers["Authorization"] = f"Bearer {self._settings.key}"
        try:
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            answer = response.read(_MAX_ANSWER + 1)
        finally:
            connection.close()
        if len(answer) > _MAX_ANSWER:
            raise self._failure(f"answers with more than {_MAX_ANSWER} bytes")
        return response.status, answer

    def _vectors(self, answer: bytes, count: int) -> NDArray[np.float32]:
        try:
            data = json.loads(answer)["data"]
            rows = {row["index"]: row["embedding"] for row in data}
            if len(data) != count or rows.keys() != set(range(count)):
                raise ValueError(f"{len(data)} vectors for {count} texts")
            with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused below
                matrix = np.array([rows[index] for index in range(count)], np.float32)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise self._failure(f"answers with something else than vectors: {error}") from error
        if matrix.shape != (count, self.dimensions):
            raise self._failure(f"answers with {matrix.shape[1:]} dimensions, not {self.dimensions}")
        if not np.isfinite(matrix).all():
            raise self._failure("answers with numbers that are not finite")
        return matrix

    def _failure(self, what: str) -> EmbedderFailed:
        return EmbedderFailed(f"the endpoint for {self.name} {what}")
