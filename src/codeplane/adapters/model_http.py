"""Requests to a provider of models over HTTP, and the server-sent events it answers with."""

import ipaddress
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.model_provider import FaultKind, ProviderFault, StreamItem
from codeplane.kernel.redaction import MARK

if TYPE_CHECKING:
    import httpx2

_MAX_EVENT_BYTES = 4 * 1024 * 1024
_MAX_ERROR_BYTES = 64 * 1024
_MAX_LIST_BYTES = 8 * 1024 * 1024
_MAX_MESSAGE = 300
_ANSWER_SEC = 30.0
# How OpenAI's API ends a stream.
_DONE = "[DONE]"
_BY_STATUS: Mapping[int, FaultKind] = {
    401: "unauthorized",
    403: "unauthorized",
    404: "not_found",
    408: "overloaded",
    409: "overloaded",
    429: "rate_limited",
}
# A spent account is answered with 429, but waiting does not fill it.
_FINAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "credit_balance_too_low"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One server-sent event."""

    name: str
    data: str

    def parse(self) -> JsonObject:
        """The JSON object in it; ProviderFault for anything else."""
        try:
            value = json.loads(self.data)
        except (ValueError, RecursionError) as error:
            raise ProviderFault("malformed", "sent an event that is not JSON") from error
        if not isinstance(value, dict):
            raise ProviderFault("malformed", "sent an event that is not a JSON object")
        return value


class AnswerReader(Protocol):
    """Puts the events of one answer together, as a provider's API has them."""

    # Whether the provider marked it as the last one.
    is_over: bool

    def read(self, event: JsonObject) -> list[StreamItem]:
        """What an event adds."""
        ...

    def end(self) -> list[StreamItem]:
        """What is known only at the end; ProviderFault when it was cut off before."""
        ...


@dataclass(slots=True, kw_only=True)
class ModelEndpoint:
    """Speaks to one address; the key goes there alone: no redirect is followed, no error repeats it."""

    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: str = field(default="", repr=False)
    connect_sec: float = 10.0
    _client: "httpx2.AsyncClient | None" = field(default=None, init=False, repr=False)

    async def events(self, path: str, body: JsonObject) -> AsyncGenerator[ServerEvent, None]:
        """Post a request and yield the events of the answer; how long to wait for each is the caller's to say."""
        import httpx2

        try:
            async with self._open().stream(
                "POST",
                self.base_url + path,
                content=dumps(body).encode(),
                headers={"content-type": "application/json", "accept": "text/event-stream"},
            ) as response:
                if response.status_code != 200:
                    raise await self._refusal(response)
                async for event in _events(response.aiter_bytes()):
                    yield event
        except httpx2.HTTPError as error:
            raise self._connection_fault(error) from None

    async def answer(self, path: str, body: JsonObject, reader: AnswerReader) -> AsyncGenerator[StreamItem, None]:
        """Post a request and yield the answer as it comes."""
        async with aclosing(self.events(path, body)) as events:
            async for event in events:
                if event.data.strip() == _DONE:
                    break
                for item in reader.read(event.parse()):
                    yield item
                if reader.is_over:
                    break
        for item in reader.end():
            yield item

    async def model_names(self, path: str) -> list[str]:
        """The names of the models that the endpoint says it has."""
        listed = (await self.get(path)).get("data")
        if not isinstance(listed, list):
            raise ProviderFault("malformed", "lists no models")
        return [str(model["id"]) for model in listed if isinstance(model, dict) and "id" in model]

    async def get(self, path: str) -> JsonObject:
        """A JSON object that the endpoint answers a GET with."""
        import httpx2

        try:
            async with self._open().stream("GET", self.base_url + path, timeout=_ANSWER_SEC) as response:
                if response.status_code != 200:
                    raise await self._refusal(response)
                data = await _read(response, _MAX_LIST_BYTES)
        except httpx2.HTTPError as error:
            raise self._connection_fault(error) from None
        return ServerEvent(name="", data=data.decode("utf-8", "replace")).parse()

    async def close(self) -> None:
        """Close connections that are kept open."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def fault_of(self, error: object, status: int | None = None) -> ProviderFault:
        """The fault that an error object of a provider stands for."""
        kind, message = _error_words(error)
        code = error.get("code") if isinstance(error, Mapping) else None
        status = code if isinstance(code, int) and status is None else status
        text = f"{kind}: {message}" if kind and message else kind or message or "no reason given"
        return ProviderFault(_fault_kind(status, kind, code), self.without_key(text)[:_MAX_MESSAGE], status=status)

    def without_key(self, text: str) -> str:
        """The text without the endpoint's key, which some providers repeat in errors."""
        return text.replace(self.key, MARK) if self.key else text

    def _open(self) -> "httpx2.AsyncClient":
        if self._client is None:
            import httpx2

            self._client = httpx2.AsyncClient(
                headers={"user-agent": "CodePlane", **self.headers},
                timeout=httpx2.Timeout(None, connect=self.connect_sec),
                follow_redirects=False,
                # A proxy of the environment must not see what goes to this machine itself.
                trust_env=not is_loopback(self.base_url),
            )
        return self._client

    async def _refusal(self, response: "httpx2.Response") -> ProviderFault:
        data = await _read(response, _MAX_ERROR_BYTES)
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = None
        error = value.get("error", value) if isinstance(value, dict) else value
        fault = self.fault_of(error, response.status_code)
        fault.message = f"answered {response.status_code} ({fault.message})"
        fault.retry_after_sec = _retry_after(response.headers)
        return fault

    def _connection_fault(self, error: "httpx2.HTTPError") -> ProviderFault:
        import httpx2

        if isinstance(error, httpx2.ConnectTimeout):
            return ProviderFault("timeout", f"took no connection within {self.connect_sec:g} s")
        if isinstance(error, httpx2.ConnectError):
            return ProviderFault("unreachable", f"cannot be reached: {self.without_key(str(error))[:_MAX_MESSAGE]}")
        if isinstance(error, httpx2.TimeoutException):
            return ProviderFault("timeout", "did not answer in time")
        return ProviderFault("cut_off", f"broke the connection off: {type(error).__name__}")


def token_count(usage: object, name: str) -> int | None:
    """A count of tokens that a provider reports; None for what is none."""
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[ServerEvent]:
    """Server-sent events of a byte stream; what the end cuts off in the middle is no event."""
    rest, size = b"", 0
    name, data = "", list[str]()
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > _MAX_EVENT_BYTES:
            raise ProviderFault("too_large", f"sent a line of more than {_MAX_EVENT_BYTES:,} bytes")
        for raw in lines:
            line = raw.removesuffix(b"\r")
            if not line:
                if data:
                    yield ServerEvent(name=name, data="\n".join(data))
                name, data, size = "", [], 0
                continue
            size += len(line)
            if size > _MAX_EVENT_BYTES:
                raise ProviderFault("too_large", f"sent an event of more than {_MAX_EVENT_BYTES:,} bytes")
            label, _, value = line.decode("utf-8", "replace").partition(":")
            value = value.removeprefix(" ")
            if label == "data":
                data.append(value)
            elif label == "event":
                name = value


async def _read(response: "httpx2.Response", most: int) -> bytes:
    """The beginning of a body."""
    data = b""
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) >= most:
            break
    return data[:most]


def _error_words(error: object) -> tuple[str, str]:
    """The kind and the message of an error object."""
    if isinstance(error, str):
        return "", error
    if not isinstance(error, Mapping):
        return "", ""
    kind = error.get("type") or error.get("code") or ""
    message = error.get("message") or error.get("detail") or ""
    return (kind if isinstance(kind, str) else ""), (message if isinstance(message, str) else "")


_BY_TYPE: Mapping[str, FaultKind] = {
    "authentication_error": "unauthorized",
    "permission_error": "unauthorized",
    "not_found_error": "not_found",
    "invalid_request_error": "rejected",
    "request_too_large": "rejected",
    "billing_error": "rejected",
    "rate_limit_error": "rate_limited",
}


def _fault_kind(status: int | None, kind: str, code: object) -> FaultKind:
    if kind in _FINAL_CODES or code in _FINAL_CODES:
        return "rejected"
    if status is None:
        # An error in the middle of a stream.
        return _BY_TYPE.get(kind, "overloaded")
    return _BY_STATUS.get(status, "overloaded" if status >= 500 else "rejected")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """How long a provider asks to wait; None when it does not say."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) / scale)
        except ValueError:
            continue
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
        sent = parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (at - sent).total_seconds())
    except (ValueError, TypeError):
        return None
