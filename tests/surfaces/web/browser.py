"""A browser without a window: cookies, forms and streams over plain HTTP."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlencode

from tests.harness import PATIENCE_SEC, Server


@dataclass(frozen=True, kw_only=True)
class Page:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    @property
    def words(self) -> str:
        """What a person reads, without markup."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.text)).split())


class BrowserSession:
    """Somebody with a browser."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.cookie = ""

    def sign_in(self) -> "BrowserSession":
        """Come in by a fresh link."""
        seen = self.get(link(self.server))
        assert seen.status == 200, seen.text
        self.cookie = seen.headers["set-cookie"].partition(";")[0]
        return self

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Page:
        """Load a page."""
        return self._exchange("GET", path, None, headers or {})

    def post(self, path: str, fields: Mapping[str, str], *, form: str | None = None, **headers: str) -> Page:
        """Send a form, with the token of a page of ours unless told otherwise."""
        token = self.form_token() if form is None else form
        body = urlencode({**fields, "form_token": token}).encode()
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return self._exchange("POST", path, body, {**kind, **headers})

    def form_token(self) -> str:
        """What our pages put into their forms."""
        found = re.search(r'name="form_token" value="([0-9a-f]{64})"', self.get("/dashboard").text)
        assert found
        return found[1]

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str] | None = None) -> Iterator[Iterator[dict[str, str]]]:
        """Server-sent events as they come."""
        connection = HTTPConnection(self.server.host, self.server.port, timeout=PATIENCE_SEC)
        try:
            connection.request("GET", path, headers={"cookie": self.cookie, **(headers or {})})
            response = connection.getresponse()
            assert response.status == 200, response.read()
            yield _events(response)
        finally:
            connection.close()

    def _exchange(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Page:
        sent = {**({"cookie": self.cookie} if self.cookie else {}), **headers}
        response, content = self.server.request(method, path, body=body, headers=sent)
        return Page(
            status=response.status,
            headers={name.lower(): value for name, value in response.getheaders()},
            body=content,
        )


def link(server: Server) -> str:
    """The path of a fresh link of the owner's."""
    result = server.call("dashboard.link")["result"]
    assert isinstance(result, dict)
    return str(result["path"])


def _events(response: HTTPResponse) -> Iterator[dict[str, str]]:
    event: dict[str, str] = {}
    for raw in response:
        line = raw.decode().rstrip("\r\n")
        if not line:
            if event:
                yield event
            event = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = f"{event[name]}\n{value}" if name in event else value
