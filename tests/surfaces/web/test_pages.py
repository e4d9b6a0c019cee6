"""Every page answers with what a real run left behind, safely, and says what to do when there is nothing."""

import re

import pytest

from tests.browser.scenario import EVIL, FOUND, busiest_task, rows
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession

pytestmark = requirement("WEB-02")

SHOWN = {
    "/dashboard": ("waiting for you", "Time by operation", "Index current", "Memory", "Ledger queue", "Stream lag"),
    "/dashboard/activity?actor=agent:*": ("write_files", "claude-code", "NOT_FOUND", "waits for you", "rejected"),
    "/dashboard/approvals": ("shell command", "git.discard", "rejected", "the table is right"),
    "/dashboard/tasks": ("claude-code", "cursor", "mutations", "Switzerland raises its VAT"),
    "/dashboard/work": ("Look around", "completed", "3 of 3 steps", "waits for higher limits", "1 of 3 steps"),
    "/dashboard/work?state=WAITING": ("in parts", "waits for higher limits"),
    "/dashboard/changes": ("shop/tax.py", "applied", "by ", "test_the_carrier_answers_in_time", "Slowest targets"),
    "/dashboard/changes/compare?base=HEAD~1": ("Order", "body changed", "breaking", "Blast radius shop/"),
    "/dashboard/changes/tests": (
        "test_the_carrier_answers_in_time",
        "kept of at most",
        "tests/test_price.py",
        "passed",
    ),
    "/dashboard/repository": ("python", "shop.cli:main", "assets/logo.bin", "binary", "def gross", "2 files"),
    "/dashboard/repository?by=language": ("typescript", "web/", "markdown"),
    "/dashboard/repository?folder=shop": ("price.py", "cart.py"),
    "/dashboard/repository/file?path=shop%2Fprice.py&line=11": ("def gross", "What things cost"),
    "/dashboard/repository/symbol?name=gross": ("strong", "shop/cart.py"),
    "/dashboard/ledger": ("call.finished",),
    "/dashboard/ledger?after=0": ("session.opened",),
    "/dashboard/ledger?type=action.created": ("action.created",),
    "/dashboard/trust": ("agent", "allow", "ask", "Browsers that are signed in", "phone", "nightly", "Who has called"),
    "/dashboard/trust?operation=git.push&actor=agent": ("git.push : ask",),
    "/dashboard/settings": ("approvals.wait_sec", "--set", "retention.tasks_days"),
}
MODES = ("auto", "literal", "regex", "symbol", "definitions", "references", "ranked", "lexical", "semantic", "hybrid")


@pytest.mark.parametrize(("path", "words"), SHOWN.items(), ids=list(SHOWN))
def test_a_page_shows_what_is_there(visitor: BrowserSession, path: str, words: tuple[str, ...]) -> None:
    seen = visitor.get(path)
    assert seen.status == 200
    assert [word for word in words if word not in seen.words] == []


@pytest.mark.parametrize("name", FOUND)
def test_a_thing_has_a_page_of_its_own(shop: Server, visitor: BrowserSession, name: str) -> None:
    assert visitor.get(FOUND[name](shop)).status == 200


@pytest.mark.parametrize("path", [*SHOWN, "/dashboard/repository?q=img&mode=literal", "/dashboard/sign-in/x"])
def test_nothing_comes_from_elsewhere_and_nothing_is_inline(visitor: BrowserSession, path: str) -> None:
    seen = visitor.get(path)
    policy = seen.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    assert seen.headers["x-content-type-options"] == "nosniff" and seen.headers["referrer-policy"] == "same-origin"
    assert not re.search(r"<script(?![^>]*\bsrc=\"/dashboard/static/)|\son\w+=\"|\sstyle=|javascript:", seen.text)
    assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", seen.text)


@pytest.mark.parametrize("path", [*SHOWN, "/dashboard/repository?q=%3Cimg&mode=literal"])
def test_markup_from_outside_is_text(visitor: BrowserSession, path: str) -> None:
    assert EVIL not in visitor.get(path).text


@pytest.mark.parametrize("name", FOUND)
def test_markup_from_outside_is_text_on_pages_of_things(shop: Server, visitor: BrowserSession, name: str) -> None:
    assert EVIL not in visitor.get(FOUND[name](shop)).text


@pytest.mark.parametrize(
    "path",
    [
        f"/dashboard/activity?text={EVIL}&operation={EVIL}&outcome={EVIL}",
        f"/dashboard/repository?q={EVIL}&mode=literal&in={EVIL}",
        f"/dashboard/repository/file?path={EVIL}",
        f"/dashboard/calls/{EVIL}",
        f"/dashboard/trust?operation={EVIL}&arguments={EVIL}",
        f"/dashboard/ledger?stream={EVIL}",
        f"/dashboard/changes/compare?base={EVIL}",
        f"/dashboard/{EVIL}",
    ],
)
def test_markup_in_an_address_is_text(visitor: BrowserSession, path: str) -> None:
    path = path.replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    seen = visitor.get(path)
    assert EVIL not in seen.text and seen.status in (200, 400, 404)


def test_markup_is_shown_where_it_was_found(visitor: BrowserSession) -> None:
    assert EVIL in visitor.get("/dashboard/activity?actor=agent:*").words
    assert EVIL in visitor.get("/dashboard/approvals").words


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_searches(visitor: BrowserSession, mode: str) -> None:
    seen = visitor.get(f"/dashboard/repository?q=gross&mode={mode}")
    assert seen.status == 200 and "shop/price.py" in seen.words


def test_a_mutation_is_shown_side_by_side(shop: Server, visitor: BrowserSession) -> None:
    (fixed,) = [one for one in rows(shop, "mutation.list", "mutations") if one["what"] == "write_files shop/tax.py"]
    seen = visitor.get(f"/dashboard/changes/{fixed['mutation_id']}")
    assert (
        '<td class="l">    &#34;ch&#34;: 0.<b>81</b>' in seen.text.replace("0.8<b>1", "0.<b>81") or "<b>0" in seen.text
    )
    assert "Undo this change" in seen.words and "+1 −1" in seen.words
    gone = visitor.get("/dashboard/changes/mut_nothing")
    assert gone.status == 404 and "not kept, or not any more" in gone.words


def test_a_task_is_told_in_phases_and_what_repeats_in_words(shop: Server, visitor: BrowserSession) -> None:
    answer = visitor.get(f"/dashboard/tasks/{busiest_task(shop)}").words
    assert [word for word in ("Looked around", "Ran tests", "Changed things", "asked you") if word not in answer] == []
    board = rows(shop, "task.board", "results")
    stuck = next(one for one in board if one["description"] == "Explain how discounts are applied")
    output = visitor.get(f"/dashboard/tasks/{stuck['task_id']}").words
    assert (
        "The same failure (NOT_FOUND of read_files) came 2 times: 1 change in between did not touch its cause" in output
    )


@pytest.mark.parametrize("name", ["audit", "actors"])
def test_lists_of_trust_have_pages(shop: Server, visitor: BrowserSession, name: str) -> None:
    first = visitor.get("/dashboard/trust")
    links = re.findall(rf'href="(/dashboard/trust\?{name}=[^"#]+)', first.text)
    assert name != "audit" or len(links) == 1
    for link in links:
        second = visitor.get(link.replace("&amp;", "&"))
        assert second.status == 200 and "Back to the first" in second.words


def test_what_goes_wrong_is_told_with_the_next_step(visitor: BrowserSession) -> None:
    seen = visitor.get("/dashboard/tasks/task_nothing")
    assert seen.status == 404 and "NOT_FOUND" in seen.words and "cpl call task.list" in seen.words
    assert "no page is at" in visitor.get("/dashboard/nothing").words
    refused = visitor.get("/dashboard/repository?q=(&mode=regex")
    assert refused.status == 200 and "INVALID" in refused.words


def test_addresses_that_people_type_or_kept(visitor: BrowserSession) -> None:
    assert visitor.get("/dashboard/").headers["location"] == "/dashboard"
    # A place in a list, of a server that has been restarted since.
    for page, name in (("activity", "cursor"), ("approvals", "waiting"), ("trust", "audit")):
        gone = visitor.get(f"/dashboard/{page}?outcome=ok&{name}=of-another-server")
        assert gone.status == 303 and "outcome=ok" in gone.headers["location"] and name not in gone.headers["location"]
        first = visitor.get(gone.headers["location"])
        assert first.status == 200 and "This is its beginning" in first.words


def test_a_call_whose_arguments_lead_nowhere_is_explained_all_the_same(visitor: BrowserSession) -> None:
    arguments = "%7B%22remote%22%3A%22origin%22%7D"
    seen = visitor.get(f"/dashboard/trust?operation=git.push&arguments={arguments}&actor=agent").words
    assert "the call itself would fail" in seen and "git.push : ask" in seen


def test_files_that_cannot_be_shown_whole_say_why(shop: Server, visitor: BrowserSession) -> None:
    (shop.repo / "long.txt").write_text("x" * 3_000_000)
    (shop.repo / "large.txt").write_text("some text\n" * 3_600_000)
    assert "Line 1 is longer than what can be shown" in visitor.get("/dashboard/repository/file?path=long.txt").words
    assert "too large to be shown here (36 MB)" in visitor.get("/dashboard/repository/file?path=large.txt").words
    (shop.repo / "long.txt").unlink()
    (shop.repo / "large.txt").unlink()


def test_a_link_is_told_from_a_file(shop: Server, visitor: BrowserSession) -> None:
    (shop.repo / "link.txt").symlink_to("README.md")
    seen = visitor.get("/dashboard/repository/file?path=link.txt").words
    (shop.repo / "link.txt").unlink()
    assert "A symbolic link" in seen and "README.md" in seen


def test_other_files_are_changes_too(shop: Server, visitor: BrowserSession) -> None:
    (shop.repo / "plain.txt").write_text("plain\n")
    seen = visitor.get("/dashboard/changes/compare?base=HEAD").words
    (shop.repo / "plain.txt").unlink()
    assert "plain.txt" in seen and " no changes " not in seen


def test_files_that_do_not_change_are_kept_by_the_browser(visitor: BrowserSession) -> None:
    found = re.findall(r'(?:src|href)="(/dashboard/static/[^"]+)"', visitor.get("/dashboard").text)
    assert len(found) >= 6
    for address in found:
        seen = visitor.get(address)
        assert seen.status == 200 and "immutable" in seen.headers["cache-control"]
    assert visitor.get("/dashboard/static/../surface.py").status == 404


def test_a_symbol_lists_who_refers_to_it_and_not_itself(shop: Server, visitor: BrowserSession) -> None:
    page = visitor.get("/dashboard/repository/symbol?name=after_discount")
    lines = re.findall(r'<span class="n">(\d+)</span>.*?<span class="tier">([^<]+)</span>', page.text)
    found = shop.call("search", query="after_discount", mode="references")["result"]["results"]  # type: ignore[index, call-overload]
    where = {(str(one["line"]), one["path"]) for one in found if not one["snippet"].startswith("def ")}  # type: ignore[index, union-attr, call-overload]
    assert len(where) > 1 and set(lines) == where


def test_a_folder_is_drawn_by_what_it_is_made_of(shop: Server, visitor: BrowserSession) -> None:
    # Large files of other tests, deleted a moment ago, would leave no room for the rest.
    shop.call("search", query="shop", fresh="strict")
    drawn = visitor.get("/dashboard/repository").text.partition('class="treemap"')[2].partition("</svg>")[0]
    assert {"shop/", "web/", "docs/"} <= set(re.findall(r"<text[^>]*>([a-z]+/)</text>", drawn))
    # Nobody steps through the same folder once for each of its languages.
    assert drawn.count("<a ") - drawn.count("aria-hidden") == len(set(re.findall(r'href="([^"]+)" ?>', drawn)))


def test_a_member_that_changed_is_told_for_itself_with_its_reasons_and_reach(
    shop: Server, visitor: BrowserSession
) -> None:
    edit = {"path": "shop/cart.py", "old_text": "def total(self)", "new_text": "def total(self, vat: bool)"}
    shop.call("write_files", edits=[edit])
    try:
        answer = visitor.get("/dashboard/changes/compare").words
    finally:
        shop.call("undo")
    assert "Cart.total method in shop/cart.py signature changed, breaking" in answer
    assert "vat has to be given" in answer and "Blast radius" in answer and "tests/test_cart.py" in answer
