"""Over TLS: a cookie that browsers never send in the clear, and that nobody else on the host can set."""

import json
import ssl
from collections.abc import Iterator, Mapping
from http.client import HTTPSConnection

import pytest

from tests.harness import PATIENCE_SEC, Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession, Page, link

pytestmark = requirement("WEB-01")


class SecureVisitor(BrowserSession):
    """The same somebody, over TLS."""

    @property
    def port(self) -> int:
        return int(json.loads(self.server.workspace.server.read_text())["tls_url"].rpartition(":")[2])

    def _exchange(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Page:
        context = ssl.create_default_context(cafile=str(self.server.workspace.tls / "certificate.pem"))
        connection = HTTPSConnection("127.0.0.1", self.port, context=context, timeout=PATIENCE_SEC)
        sent = {**({"cookie": self.cookie} if self.cookie else {}), **headers}
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Page(status=response.status, headers=found, body=response.read())
        finally:
            connection.close()


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a certificate of its own."""
    running = start(make_repo(tmp_path_factory.mktemp("secure") / "repo"), overrides=["server.tls=self_signed"])
    yield running
    running.stop()


def test_the_cookie_is_for_tls_alone(secure: Server) -> None:
    seen = SecureVisitor(secure).get(link(secure))
    name, _, rest = seen.headers["set-cookie"].partition("=")
    assert seen.status == 200 and name.startswith("__Host-codeplane_")
    attributes = {part.strip().lower() for part in rest.split(";")[1:]}
    assert {"secure", "httponly", "samesite=strict", "path=/"} <= attributes
    assert not any(one.startswith("domain") for one in attributes)


def test_it_opens_the_pages_and_sends_forms(secure: Server) -> None:
    visitor = SecureVisitor(secure)
    visitor.sign_in()
    assert visitor.get("/dashboard").status == 200
    origin = f"https://127.0.0.1:{visitor.port}"
    assert visitor.post("/dashboard/sign-out", {}, origin="https://example.com").status == 403
    left = visitor.post("/dashboard/sign-out", {}, origin=origin)
    assert left.status == 200 and "secure" in left.headers["set-cookie"].lower()
    assert visitor.get("/dashboard").status == 401


def test_neither_of_the_two_cookies_does_the_others_work(secure: Server) -> None:
    over_tls, plain = SecureVisitor(secure).sign_in(), BrowserSession(secure).sign_in()
    assert "Secure" not in plain.cookie and not plain.cookie.startswith("__Host-")
    over_tls.cookie, plain.cookie = plain.cookie, over_tls.cookie
    assert (over_tls.get("/dashboard").status, plain.get("/dashboard").status) == (401, 401)
