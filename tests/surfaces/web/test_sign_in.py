"""Coming in: a link that works once, a cookie nobody else can read, forms that only our pages can send."""

import pytest

from codeplane.client.client import Client
from tests.browser.scenario import rows
from tests.harness import Server, cpl, make_repo
from tests.interaction.requirements import requirement
from tests.surfaces.mcp.clients import connect_client
from tests.surfaces.web.browser import BrowserSession, link

pytestmark = requirement("WEB-01")

PAGES = ("", "/activity", "/approvals", "/tasks", "/changes", "/repository", "/ledger", "/trust", "/settings", "/live")


class TestLink:
    def test_it_signs_in_and_goes_on(self, shop: Server) -> None:
        visitor = BrowserSession(shop)
        seen = visitor.get(link(shop))
        cookie = seen.headers["set-cookie"]
        assert seen.status == 200 and "url=/dashboard" in seen.text
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie
        # Over TLS it is also Secure, which would lock everyone out here.
        assert "Secure" not in cookie

    def test_it_works_once(self, shop: Server) -> None:
        path, visitor = link(shop), BrowserSession(shop)
        assert visitor.get(path).status == 200
        again = visitor.get(path)
        assert again.status == 401 and "set-cookie" not in again.headers and "cpl dashboard" in again.text

    def test_one_that_was_made_up_is_refused(self, shop: Server) -> None:
        assert BrowserSession(shop).get("/dashboard/sign-in/" + "a" * 43).status == 401

    async def test_agents_get_none(self, shop: Server) -> None:
        async def asked() -> bool:
            async with connect_client(shop, toolset="all") as agent:
                return bool((await agent.call_tool("dashboard_link", {})).is_error)

        assert await asked()

    def test_the_command_prints_it(self, shop: Server) -> None:
        done = cpl("dashboard", "--print", "--repo", str(shop.repo))
        assert done.returncode == 0 and done.stdout.startswith(f"{shop.url}/dashboard/sign-in/")
        assert BrowserSession(shop).get(done.stdout.strip().removeprefix(shop.url)).status == 200

    def test_without_a_server_the_command_says_how_to_start_one(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        done = cpl("dashboard", "--print", "--repo", str(make_repo(tmp_path_factory.mktemp("idle") / "repo")))
        assert done.returncode == 3 and "cpl up" in done.stderr

    def test_it_is_not_in_the_ledger(self, shop: Server) -> None:
        path = link(shop)
        answer = str(shop.client().call("ledger.events", {"newest": True, "limit": 50}))
        assert "dashboard.link" in answer and path.rpartition("/")[2] not in answer


class TestSession:
    @pytest.mark.parametrize("page", PAGES)
    def test_nobody_sees_anything_without_one(self, shop: Server, page: str) -> None:
        for cookie in ("", "codeplane_000000000000=x"):
            visitor = BrowserSession(shop)
            visitor.cookie = cookie
            seen = visitor.get(f"/dashboard{page}")
            assert seen.status == 401 and "not signed in" in seen.words

    def test_an_open_page_is_told_to_load_itself_again(self, shop: Server) -> None:
        seen = BrowserSession(shop).get("/dashboard/badge", {"hx-request": "true"})
        assert (seen.status, seen.headers["hx-refresh"]) == (401, "true")

    def test_a_bearer_token_is_no_way_in(self, shop: Server) -> None:
        assert BrowserSession(shop).get("/dashboard", {"authorization": f"Bearer {shop.token}"}).status == 401

    def test_signing_out_ends_it(self, shop: Server, visitor: BrowserSession) -> None:
        assert visitor.post("/dashboard/sign-out", {}).status == 200
        assert visitor.get("/dashboard").status == 401

    def test_another_browser_can_be_signed_out(self, shop: Server, visitor: BrowserSession) -> None:
        other = BrowserSession(shop).sign_in()
        newest = rows(shop, "dashboard.sessions", "items")[0]
        assert visitor.post("/dashboard/trust", {"kind": "browser", "name": newest["name"]}).status == 303
        assert (other.get("/dashboard").status, visitor.get("/dashboard").status) == (401, 200)

    def test_a_device_that_is_revoked_is_out(self, shop: Server) -> None:
        code = shop.client().create_pairing_code().code
        bound = shop.client().pair(code, "phone")
        device = Client(shop.host, shop.port, token=bound.token.token)
        visitor = BrowserSession(shop)
        seen = visitor.get(device.call("dashboard.link", {})["result"]["path"])  # type: ignore[index, call-overload, arg-type]
        visitor.cookie = seen.headers["set-cookie"].partition(";")[0]
        assert "device" in visitor.get("/dashboard").words
        shop.call("device.revoke", device_id=bound.device_id)
        assert visitor.get("/dashboard").status == 401


class TestForms:
    @pytest.mark.parametrize("form", ["", "0" * 64])
    def test_one_that_is_not_ours_does_nothing(self, shop: Server, visitor: BrowserSession, form: str) -> None:
        seen = visitor.post("/dashboard/sign-out", {}, form=form)
        assert seen.status == 403 and visitor.get("/dashboard").status == 200

    def test_another_sessions_token_does_not_do(self, shop: Server, visitor: BrowserSession) -> None:
        other = BrowserSession(shop).sign_in().form_token()
        assert visitor.post("/dashboard/sign-out", {}, form=other).status == 403

    def test_another_pages_origin_is_refused(self, shop: Server, visitor: BrowserSession) -> None:
        seen = visitor.post("/dashboard/sign-out", {}, origin="https://example.com")
        assert seen.status == 403 and visitor.get("/dashboard").status == 200
