"""Pages that follow what happens: rows appear, decisions are counted, and a restart is survived."""

import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import PATIENCE_MS, signed_in_page
from tests.browser.proposal import propose
from tests.browser.relay import open_relay
from tests.browser.scenario import FOUND, rows
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement

pytestmark = requirement("WEB-04")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route


@pytest.fixture
def restarting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    """A server that the test ends and starts again; the last one is ended here."""
    running = [start(make_repo(tmp_path_factory.mktemp("restart") / "repo"))]
    yield running
    running[-1].stop()


def restarted(server: Server) -> Server | None:
    """The server again, where it was; None while something else has its port."""
    try:
        return start(server.repo, overrides=[f"server.port={server.port}"])
    except RuntimeError:
        return None


_UNTIL_HTMX = """() => new Promise((done) => {
    const look = () => window.htmx ? done() : setTimeout(look, 20);
    look();
})"""


def followers(server: Server) -> int:
    """How many pages hold a connection, as the server's own figures say."""
    _, output = server.request("GET", "/metrics")
    (line,) = (one for one in output.decode().splitlines() if one.startswith('codeplane_streams_open{surface="web"}'))
    return int(float(line.split()[-1]))


def shown(page: "Page", limit: int) -> int:
    """How often a call is in the list."""
    return page.locator("#rows > li", has_text=f"limit={limit}").count()


def appears(page: "Page", limit: int) -> None:
    page.locator("#rows > li", has_text=f"limit={limit}").first.wait_for()


def test_calls_appear_as_they_happen(page: "Page", shop: Server) -> None:
    page.goto(f"{shop.url}/dashboard/activity?operation=git.log")
    shop.call("git.log", limit=41)
    appears(page, 41)
    shop.call("git.log", limit=42)
    appears(page, 42)
    assert "limit=42" in page.locator("#rows > li").first.inner_text()
    assert (shown(page, 41), shown(page, 42)) == (1, 1)
    assert page.locator("#rows > li.fresh a").first.get_attribute("href")


def test_a_page_is_followed_however_late_its_scripts_come(page: "Page", shop: Server) -> None:
    waiting: list[Route] = []
    page.route("**/hx-sse.min.js*", lambda route: waiting.append(route))
    page.goto(f"{shop.url}/dashboard/activity?operation=git.log", wait_until="commit")
    # A page whose parsing waits for a script is not drawn, so frames are nothing to wait for; and the page's own rules
    # forbid what Playwright would look with a second time.
    page.evaluate(_UNTIL_HTMX)
    page.evaluate("new Promise((done) => setTimeout(done))")
    (route,) = waiting
    route.continue_()
    page.wait_for_load_state()
    shop.call("git.log", limit=43)
    appears(page, 43)


def test_a_restart_loses_nothing_and_repeats_nothing(chromium: "Browser", restarting: list[Server]) -> None:
    (server,) = restarting
    page = signed_in_page(chromium, server)
    page.goto(f"{server.url}/dashboard/activity?operation=git.log")
    server.call("git.log", limit=51)
    appears(page, 51)
    assert server.stop() == 0
    page.get_by_text("The connection to the server is gone").wait_for()
    again = until(lambda: restarted(server))
    assert again is not None
    restarting.append(again)
    again.call("git.log", limit=52)
    appears(page, 52)
    again.call("git.log", limit=53)
    appears(page, 53)
    assert [shown(page, limit) for limit in (51, 52, 53)] == [1, 1, 1]
    page.get_by_text("The connection to the server is gone").wait_for(state="hidden")
    page.context.close()


def test_a_connection_that_breaks_loses_nothing_and_repeats_nothing(chromium: "Browser", shop: Server) -> None:
    with open_relay(shop.port) as relay:
        page = signed_in_page(chromium, shop, through=relay.url)
        page.goto(f"{relay.url}/dashboard/activity?operation=git.log")
        shop.call("git.log", limit=61)
        appears(page, 61)
        relay.cut()
        page.get_by_text("The connection to the server is gone").wait_for()
        shop.call("git.log", limit=62)
        action = propose(shop, "echo while it was broken")
        shop.call("git.log", limit=63)
        before = int(page.locator("#badge").inner_text().split()[0])
        relay.join()
        appears(page, 63)
        assert [shown(page, limit) for limit in (61, 62, 63)] == [1, 1, 1]
        page.locator("#badge", has_text=str(before + 1)).wait_for()
        page.get_by_text("The connection to the server is gone").wait_for(state="hidden")
        shop.call("approval.reject", action_id=action)
        page.locator("#badge", has_text=str(before)).wait_for()
        page.context.close()


@pytest.mark.parametrize("path", ["/dashboard", "/dashboard/settings", "/dashboard/activity?operation=git.log"])
def test_the_badge_counts_without_a_reload(page: "Page", shop: Server, path: str) -> None:
    page.goto(f"{shop.url}{path}")
    before = int(page.locator("#badge").inner_text().split()[0])
    action = propose(shop, "echo counted")
    page.locator("#badge", has_text=str(before + 1)).wait_for()
    shop.call("approval.reject", action_id=action)
    page.locator("#badge", has_text=str(before)).wait_for()


def test_the_focus_stays_on_what_it_was_on_when_something_else_comes(page: "Page", shop: Server) -> None:
    page.goto(f"{shop.url}/dashboard")
    first = propose(shop, "echo in focus")
    page.locator(f"#waits-{first} a").focus()
    second = propose(shop, "echo before it")
    page.locator(f"#waits-{second}").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('href')").endswith(first)
    for action in (first, second):
        shop.call("approval.reject", action_id=action)


def test_the_overview_shows_what_a_running_command_prints(page: "Page", shop: Server) -> None:
    (shop.repo / "go").unlink(missing_ok=True)
    page.goto(f"{shop.url}/dashboard")
    answer: list[object] = []
    command = "echo printed so far; while [ ! -e go ]; do sleep 0.05; done"
    running = threading.Thread(
        target=lambda: answer.append(shop.client().call("run_bash", {"command": command, "timeout_ms": 600_000}))
    )
    running.start()
    page.locator(".terminal", has_text="printed so far").wait_for()
    (shop.repo / "go").touch()
    running.join()
    (shop.repo / "go").unlink()
    assert "'exit_code': 0" in str(answer)


def test_approvals_are_followed_where_they_are_listed_and_looked_at(page: "Page", shop: Server) -> None:
    from playwright.sync_api import expect

    page.goto(f"{shop.url}/dashboard/approvals")
    action = propose(shop, "echo listed at once")
    page.locator("#inbox", has_text="echo listed at once").wait_for()
    waiting = rows(shop, "approval.list", "items", {"status": "PENDING"})
    expect(page).to_have_title(re.compile(rf"^\({len(waiting)}\)"), timeout=PATIENCE_MS)
    page.goto(f"{shop.url}/dashboard/approvals/{action}")
    page.locator("textarea").fill("half a reason")
    shop.call("approval.reject", action_id=action, reason="decided elsewhere")
    page.get_by_text("It was decided while you looked at it").wait_for()
    assert page.locator("textarea").count() == 0


def test_a_session_is_replayed_step_by_step(page: "Page", shop: Server) -> None:
    page.goto(f"{shop.url}{FOUND['replay'](shop)}")
    page.locator("#replayed .tile", has_text="Still to ask").locator(".value", has_text="0").wait_for()
    steps = page.locator(".timeline li").count()
    counted = [int(output) for output in page.locator("#replayed .value").all_inner_texts()]
    assert steps > 2 and sum(counted) == steps


def test_a_running_call_is_followed_to_its_end(page: "Page", shop: Server) -> None:
    (shop.repo / "go").unlink(missing_ok=True)
    command = "echo first; while [ ! -e go ]; do sleep 0.05; done; echo second; while [ -e go ]; do sleep 0.05; done"
    running = threading.Thread(
        target=lambda: shop.client().call("run_bash", {"command": command, "timeout_ms": 600_000})
    )
    running.start()
    page.goto(f"{shop.url}/dashboard")
    page.locator(".terminal", has_text="first").wait_for()
    page.locator(".running a").first.click()
    page.get_by_role("heading", name="run_bash").wait_for()
    page.locator("#call .terminal", has_text="first").wait_for()
    (shop.repo / "go").touch()
    page.locator("#call .terminal", has_text="second").wait_for()
    assert page.locator(".top .pill").inner_text() == "running"
    (shop.repo / "go").unlink()
    page.locator(".top .pill", has_text="ok").wait_for()
    running.join()


def test_a_page_in_the_background_holds_no_connection_and_catches_up(
    chromium: "Browser", restarting: list[Server]
) -> None:
    (server,) = restarting
    page = signed_in_page(chromium, server)
    page.goto(f"{server.url}/dashboard/settings")
    first = propose(server, "echo seen")
    # The page has been told of it, so it holds a connection that can be given up.
    page.locator("#badge", has_text="1").wait_for()
    assert followers(server) == 1
    hide = "is => { Object.defineProperty(document, 'hidden', {value: is, configurable: true});"
    page.evaluate(hide + " document.dispatchEvent(new Event('visibilitychange')); }", True)
    until(lambda: followers(server) == 0)
    propose(server, "echo behind")
    assert page.locator("#badge").inner_text().split()[0] == "1"
    assert page.get_by_text("The connection to the server is gone").is_hidden()
    page.evaluate(hide + " document.dispatchEvent(new Event('visibilitychange')); }", False)
    page.locator("#badge", has_text="2").wait_for()
    server.call("approval.reject", action_id=first)
    page.locator("#badge", has_text="1").wait_for()
    page.context.close()
