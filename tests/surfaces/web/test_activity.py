"""The activity: one row for a proposal and its fate, filters, pages, the dashboard's own reads, and live rows."""

import re
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from urllib.parse import quote

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.live_updates import MAX_PER_SESSION
from tests.browser.proposal import propose
from tests.browser.scenario import busiest_task, rows
from tests.harness import PATIENCE_SEC, Server, until
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession

pytestmark = requirement("WEB-03")


def keys(text: str) -> list[str]:
    """The rows of a page, in their order."""
    return re.findall(r'<li id="row-([^"]+)"', text)


def calls(server: Server, **asked: object) -> list[dict[str, str]]:
    return rows(server, "call.list", "results", asked)  # type: ignore[arg-type]


class TestRows:
    def test_a_proposal_is_one_row_from_beginning_to_end(self, shop: Server) -> None:
        asked: JsonObject = {"operation": "run_bash", "outcome": "ok", "text": "grep -c def"}
        (done,) = rows(shop, "call.list", "results", asked)
        assert done["phase"] == "done" and done["decided_by"] == "owner:owner"
        (every,) = calls(shop, operation="run_bash", limit=50, text="grep -c def")
        (waits,) = calls(shop, operation="run_bash", limit=50, text="onerror")
        assert every["key"] == done["key"] and waits["phase"] == "waiting"

    def test_what_the_dashboard_reads_is_left_out_unless_asked_for(self, shop: Server, visitor: BrowserSession) -> None:
        # The owner may have asked for it by other ways, in another test.
        before = visitor.get("/dashboard/activity?operation=task.board").words.count("task.board")
        visitor.get("/dashboard/tasks")
        assert visitor.get("/dashboard/activity?operation=task.board").words.count("task.board") == before
        assert visitor.get("/dashboard/activity?operation=task.board&dashboard=1").words.count("task.board") > before

    def test_what_a_person_does_there_is_told(self, shop: Server, visitor: BrowserSession) -> None:
        visitor.post("/dashboard/trust", {"kind": "browser", "name": "0" * 12})
        assert "dashboard.sign_out" in visitor.get("/dashboard/activity").words


class TestFilters:
    @pytest.mark.parametrize(
        ("asked", "holds"),
        [
            ("operation=search", lambda row: row["operation"] == "search"),
            ("operation=git.*", lambda row: row["operation"].startswith("git.")),
            ("actor=agent:*", lambda row: row["actor"].startswith("agent:")),
            ("client=CURSOR", lambda row: row["client"] == "cursor"),
            ("outcome=NOT_FOUND", lambda row: row["status"] == "NOT_FOUND"),
            ("outcome=waiting", lambda row: row["status"] == "PENDING"),
            ("outcome=failed", lambda row: row["failure"] or row["status"] not in ("ok", "running", "PENDING")),
            ("outcome=ok", lambda row: row["status"] == "ok" and not row["failure"]),
            (
                "outcome=refused",
                lambda row: row["status"] in ("REJECTED", "POLICY_DENIED") or row["phase"] == "refused",
            ),
            ("text=rebate", lambda row: "rebate" in row["said"]),
            ("age=1h", lambda row: True),
        ],
    )
    def test_only_what_fits_is_shown(self, shop: Server, visitor: BrowserSession, asked: str, holds) -> None:  # type: ignore[no-untyped-def]
        shown = set(keys(visitor.get(f"/dashboard/activity?{asked}").text))
        known = {row["key"]: row for row in calls(shop, limit=200, dashboard=True)}
        assert shown and all(holds(known[key]) for key in shown if key in known)

    def test_a_session_can_be_looked_at_alone(self, shop: Server, visitor: BrowserSession) -> None:
        one = calls(shop, operation="explain_symbol")[0]
        page = visitor.get(f"/dashboard/calls/{one['key']}").text
        (session,) = re.findall(r'href="/dashboard/activity\?session=([^"]+)"', page)
        seen = visitor.get(f"/dashboard/activity?session={session}")
        known = {row["key"] for row in calls(shop, in_session=session, limit=30)}
        assert set(keys(seen.text)) == known and one["key"] in known
        assert f'name="session" value="{session}"' in seen.text

    def test_a_task_can_be_followed(self, shop: Server, visitor: BrowserSession) -> None:
        shown = keys(visitor.get(f"/dashboard/activity?task={busiest_task(shop)}").text)
        assert 12 <= len(shown) <= 20


class TestFailures:
    """One meaning in every place: ended with an error, or without what was asked for."""

    def test_what_is_counted_is_what_the_link_shows(self, shop: Server, visitor: BrowserSession) -> None:
        shop.client().call("read_files", {"paths": ["shop/none.py"]})
        shop.call("run_bash", command="exit 3")
        shop.client().call("read_files", {"limit": -1})
        page = visitor.get("/dashboard")
        ((address, count),) = re.findall(r'<a href="(/dashboard/activity\?outcome=failed[^"]*)">([^<]+)</a>', page.text)
        found: list[str] = []
        while address:
            shown = visitor.get(address.replace("&amp;", "&")).text
            found += keys(shown)
            address = next(iter(re.findall(r'rel="next" href="([^"]+)"', shown)), "")
        assert len(found) == len(set(found)) == int(count) > 2

    def test_a_task_says_the_same_in_its_list_and_on_its_page(self, shop: Server, visitor: BrowserSession) -> None:
        task = busiest_task(shop)
        (output,) = re.findall(r"(\d+) failed</a>", visitor.get(f"/dashboard/tasks/{task}").text)
        board = next(one for one in rows(shop, "task.board", "results") if one["task_id"] == task)
        shown = keys(visitor.get(f"/dashboard/activity?task={task}&outcome=failed").text)
        assert int(output) == int(board["failures"]) == len(shown) > 1

    def test_red_tests_are_not_well(self, shop: Server, visitor: BrowserSession) -> None:
        red = [one for one in calls(shop, operation="test.run", limit=50) if one["failure"]]
        shown = visitor.get("/dashboard/activity?operation=test.run").text
        row = shown.partition(f'id="row-{red[0]["key"]}"')[2].partition("</li>")[0]
        assert '<span class="pill bad">failed' in row
        page = visitor.get(f"/dashboard/calls/{red[0]['key']}").words
        assert "test.run failed" in page and "ended, and found: " in page and "ended well" not in page

    def test_which_tests_ran_and_which_command_is_said(self, shop: Server, visitor: BrowserSession) -> None:
        (run,) = [one for one in calls(shop, operation="test.run", limit=50) if "failed_only" in str(one["said"])]
        assert "Arguments failed_only" in visitor.get(f"/dashboard/calls/{run['key']}").words
        shop.client().call("run_bash", {"command": "echo of the owner"})
        ran = calls(shop, operation="run_bash")[0]["key"]
        assert "Command echo of the owner" in visitor.get(f"/dashboard/calls/{ran}").words


class TestPages:
    def test_they_follow_each_other_without_gap_or_repetition(self, shop: Server) -> None:
        for turn in range(5):
            shop.call("git.log", ref="HEAD", limit=turn + 1)
        found: list[str] = []
        cursor = None
        while True:
            result = shop.client().call("call.list", {"limit": 7, "cursor": cursor})["result"]
            assert isinstance(result, dict)
            found += [row["key"] for row in result["results"]]
            cursor = result["pagination"]["next_cursor"]
            if cursor is None:
                break
        assert len(found) == len(set(found)) > 20

    def test_the_page_links_to_the_older_one(self, shop: Server, visitor: BrowserSession) -> None:
        for _ in range(35):
            shop.call("git.log", limit=1)
        first = visitor.get("/dashboard/activity")
        (further,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
        second = visitor.get(further.replace("&amp;", "&"))
        assert second.status == 200 and not set(keys(first.text)) & set(keys(second.text))
        # A page of the past does not grow.
        assert "hx-sse" in first.text and "activity/live" not in second.text


class TestLive:
    def test_rows_come_as_they_happen_and_are_resumed_without_loss(self, shop: Server, visitor: BrowserSession) -> None:
        after = shop.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
        path = f"/dashboard/activity/live?after={after}&operation=git.log"
        with visitor.stream(path) as events:
            shop.call("git.log", limit=11)
            first = next(event for event in events if "data" in event)
        assert "limit=11" in first["data"] and 'id="row-' in first["data"]
        # While nobody listens.
        shop.call("git.log", limit=12)
        shop.call("git.log", limit=13)
        with visitor.stream(path, {"last-event-id": first["id"]}) as events:
            looks, second, third = (next(event for event in events if "data" in event) for _ in range(3))
        assert looks["event"] == "approvals" and "id" not in looks
        assert "limit=12" in second["data"] and "limit=13" in third["data"]

    def test_what_is_filtered_out_does_not_come(self, shop: Server, visitor: BrowserSession) -> None:
        after = shop.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
        shop.call("git.log", limit=14)
        shop.call("git.status")
        with visitor.stream(f"/dashboard/activity/live?after={after}&operation=git.status") as events:
            first = next(event for event in events if "data" in event)
        assert "git.status" in first["data"]

    def test_what_waits_is_told_where_its_row_is_filtered_out(self, shop: Server, visitor: BrowserSession) -> None:
        after = shop.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
        action = propose(shop, "echo elsewhere")
        with visitor.stream(f"/dashboard/activity/live?after={after}&operation=git.log") as events:
            first = next(event for event in events if "data" in event)
        assert first == {"event": "approvals", "data": "changed"}
        shop.call("approval.reject", action_id=action)

    def test_a_row_that_no_longer_waits_says_so_where_only_those_are_shown(
        self, shop: Server, visitor: BrowserSession
    ) -> None:
        action = propose(shop, "echo waits no more")
        after = shop.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
        shop.call("approval.reject", action_id=action, reason="no more")
        with visitor.stream(f"/dashboard/activity/live?after={after}&outcome=waiting") as events:
            first = next(event for event in events if "data" in event)
        assert f'id="row-{action}"' in first["data"] and "no more" in first["data"] and "rejected" in first["data"]

    def test_markup_is_text_there_too(self, shop: Server, visitor: BrowserSession) -> None:
        after = shop.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
        shop.call("search", query="<b>bold</b>\ndata: <i>", mode="literal")
        with visitor.stream(f"/dashboard/activity/live?after={after}&operation=search") as events:
            first = next(event for event in events if "data" in event)
        assert "&lt;b&gt;bold" in first["data"] and "<b>bold" not in first["data"]

    def test_one_session_holds_a_bounded_number_of_streams(self, shop: Server) -> None:
        person = BrowserSession(shop).sign_in()
        with ExitStack() as held:
            for _ in range(MAX_PER_SESSION):
                next(held.enter_context(person.stream("/dashboard/activity/live")))
            refused = person.get("/dashboard/activity/live")
            assert refused.status == 429 and int(refused.headers["retry-after"]) > 0
            assert "does not follow what happens" in person.get("/dashboard/activity").text
            with BrowserSession(shop).sign_in().stream("/dashboard/activity/live") as other:
                next(other)

        def free() -> bool:
            connection = HTTPConnection(shop.host, shop.port, timeout=PATIENCE_SEC)
            connection.request("GET", "/dashboard/activity/live", headers={"cookie": person.cookie})
            with closing(connection):
                return connection.getresponse().status == 200

        assert until(free)

    def test_it_ends_with_the_session(self, shop: Server, visitor: BrowserSession) -> None:
        other = BrowserSession(shop).sign_in()
        with other.stream("/dashboard/activity/live?operation=git.tags") as events:
            shop.call("dashboard.sign_out", name=rows(shop, "dashboard.sessions", "items")[0]["name"])
            shop.call("git.tags")
            assert next(event for event in events if "data" in event)["event"] == "ended"

    def test_a_decision_is_signalled(self, shop: Server, visitor: BrowserSession) -> None:
        after = shop.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
        with visitor.stream("/dashboard/live?after=0") as events:
            first = next(event for event in events if "data" in event)
        assert first["event"] == "approvals" and int(first["id"]) < int(str(after))


def test_a_call_shows_what_it_was_answered_and_a_task_what_its_calls_were_about(
    shop: Server, visitor: BrowserSession
) -> None:
    found = calls(shop, operation="search", text="mode=literal", client="claude-code")[0]
    page = visitor.get(f"/dashboard/calls/{found['key']}")
    assert "Answer" in page.words and "&#34;path&#34;: &#34;shop/" in page.text
    task = visitor.get(f"/dashboard/tasks/{busiest_task(shop)}").words
    assert "search query=rate mode=literal" in task and "write_files shop/tax.py" in task
    assert "run_bash run grep -c def" in task


def test_one_call_is_told_from_all_sides(shop: Server, visitor: BrowserSession) -> None:
    found = next(one for one in calls(shop, operation="read_files", outcome="NOT_FOUND") if "vat" in one["said"])
    seen = visitor.get(f"/dashboard/calls/{quote(found['key'])}")
    assert "there is no file" in seen.words and "shop/vat.py" in seen.words and "Events as JSON" in seen.words
    done = until(lambda: [one for one in calls(shop, operation="run_bash", outcome="ok") if one["action_id"]])
    answer = visitor.get(f"/dashboard/calls/{done[0]['key']}").words
    assert [
        word for word in ("proposed", "approved by the owner", "command ended", "ended well") if word not in answer
    ] == []
