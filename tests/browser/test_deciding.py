"""A person decides: with the mouse, with the keyboard alone, and takes a change back."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import signed_in_page
from tests.browser.proposal import propose
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("deciding") / "repo"))
    yield running
    running.stop()


@pytest.fixture
def person(chromium: "Browser", server: Server) -> "Iterator[Page]":
    page = signed_in_page(chromium, server)
    yield page
    page.context.close()


def status(server: Server, action: str) -> str:
    return str(server.call("approval.show", action_id=action)["result"]["status"])  # type: ignore[index, call-overload]


@requirement("WEB-05")
def test_approving(server: Server, person: "Page") -> None:
    propose(server, "touch approved")
    person.goto(f"{server.url}/dashboard/approvals")
    person.get_by_role("link", name="Review").click()
    assert "touch approved" in person.locator(".preview").inner_text()
    person.get_by_role("button", name="Approve once").click()
    person.get_by_role("link", name="See what became of it").click()
    assert until(lambda: (server.repo / "approved").exists())


@requirement("WEB-05")
def test_rejecting_with_a_reason(server: Server, person: "Page") -> None:
    action = propose(server, "touch rejected")
    person.goto(f"{server.url}/dashboard/approvals/{action}")
    person.get_by_label("Reason").fill("not this one")
    person.get_by_role("button", name="Reject", exact=True).click()
    person.get_by_text("not this one").wait_for()
    assert status(server, action) == "REJECTED" and not (server.repo / "rejected").exists()


@requirement("WEB-05")
def test_the_keyboard_is_enough(server: Server, person: "Page") -> None:
    propose(server, "touch typed")
    person.goto(f"{server.url}/dashboard")
    person.keyboard.press("Tab")
    assert person.evaluate("document.activeElement.className") == "skip"
    person.keyboard.press("Enter")
    _tab_to(person, "a", "touch typed")
    person.keyboard.press("Enter")
    person.wait_for_url("**/approvals/*")
    _tab_to(person, "textarea", "")
    person.keyboard.type("fine")
    _tab_to(person, "button", "Approve once")
    person.keyboard.press("Enter")
    person.get_by_role("link", name="See what became of it").wait_for()
    assert until(lambda: (server.repo / "typed").exists())


@requirement("WEB-05")
def test_undoing_a_change(server: Server, person: "Page") -> None:
    server.call("write_files", edits=[{"path": "README.md", "content": "# changed\n"}])
    person.goto(f"{server.url}/dashboard/changes")
    person.get_by_role("link", name="README.md").first.click()
    assert "# changed" in person.locator(".diff .r").last.inner_text()
    person.get_by_role("button", name="Undo this change").click()
    person.get_by_role("button", name="Do it again").wait_for()
    assert (server.repo / "README.md").read_text() == "# example\n"


@requirement("WEB-01")
def test_signing_out(server: Server, person: "Page") -> None:
    person.get_by_role("button", name="Sign out").click()
    person.get_by_text("You are signed out").wait_for()
    person.goto(f"{server.url}/dashboard")
    assert person.get_by_text("You are not signed in").is_visible()


def _tab_to(page: "Page", tag: str, text: str) -> None:
    """Press Tab until something of that kind with that text has the focus; fails when there is none."""
    for _ in range(60):
        page.keyboard.press("Tab")
        here = page.evaluate("[document.activeElement.localName, document.activeElement.textContent]")
        if here[0] == tag and text in here[1]:
            return
    raise AssertionError(f"no {tag} with {text!r} can be reached")
