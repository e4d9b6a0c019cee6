"""The activity: one row for a proposal and its fate, filters, pages, the dashboard's own reads, and live rows."""

import re
from urllib.parse import quote

import pytest

from codeplane.kernel.json import JsonObject
from tests.browser.scenario import busiest, rows
from tests.harness import Server, until
from tests.surfaces.web.visitor import Visitor


def keys(text: str) -> list[str]:
    """The rows of a page, in their order."""
    return re.findall(r'<li id="row-([^"]+)"', text)


def calls(server: Server, **asked: object) -> list[dict[str, str]]:
    return rows(server, "call.list", "results", asked)  # type: ignore[arg-type]


class TestRows:
    def test_a_proposal_is_one_row_from_beginning_to_end(self, shop: Server) -> None:
        asked: JsonObject = {"operation": "run_bash", "outcome": "ok"}
        (done,) = rows(shop, "call.list", "results", asked)
        assert done["phase"] == "done" and done["decided_by"] == "owner:owner"
        every = calls(shop, operation="run_bash", limit=50)
        assert len(every) == 2 and len({row["key"] for row in every}) == 2

    def test_what_the_dashboard_reads_is_left_out_unless_asked_for(self, shop: Server, visitor: Visitor) -> None:
        visitor.get("/dashboard/tasks")
        assert "task.board" not in visitor.get("/dashboard/activity").words
        assert "task.board" in visitor.get("/dashboard/activity?dashboard=1").words

    def test_what_a_person_does_there_is_told(self, shop: Server, visitor: Visitor) -> None:
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
            ("outcome=failed", lambda row: row["status"] not in ("ok", "running", "PENDING")),
            ("text=rebate", lambda row: "rebate" in row["said"]),
            ("age=1h", lambda row: True),
        ],
    )
    def test_only_what_fits_is_shown(self, shop: Server, visitor: Visitor, asked: str, holds) -> None:  # type: ignore[no-untyped-def]
        shown = set(keys(visitor.get(f"/dashboard/activity?{asked}").text))
        known = {row["key"]: row for row in calls(shop, limit=200, dashboard=True)}
        assert shown and all(holds(known[key]) for key in shown if key in known)

    def test_a_task_can_be_followed(self, shop: Server, visitor: Visitor) -> None:
        shown = keys(visitor.get(f"/dashboard/activity?task={busiest(shop)}").text)
        assert 12 <= len(shown) <= 20


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

    def test_the_page_links_to_the_older_one(self, shop: Server, visitor: Visitor) -> None:
        for _ in range(35):
            shop.call("git.log", limit=1)
        first = visitor.get("/dashboard/activity")
        (further,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
        second = visitor.get(further.replace("&amp;", "&"))
        assert second.status == 200 and not set(keys(first.text)) & set(keys(second.text))
        # A page of the past does not grow.
        assert "hx-sse" in first.text and "activity/live" not in second.text


class TestLive:
    def test_rows_come_as_they_happen_and_are_resumed_without_loss(self, shop: Server, visitor: Visitor) -> None:
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
            second, third = (next(event for event in events if "data" in event) for _ in range(2))
        assert "limit=12" in second["data"] and "limit=13" in third["data"]

    def test_what_is_filtered_out_does_not_come(self, shop: Server, visitor: Visitor) -> None:
        after = shop.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
        shop.call("git.log", limit=14)
        shop.call("git.status")
        with visitor.stream(f"/dashboard/activity/live?after={after}&operation=git.status") as events:
            first = next(event for event in events if "data" in event)
        assert "git.status" in first["data"]

    def test_markup_is_text_there_too(self, shop: Server, visitor: Visitor) -> None:
        after = shop.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
        shop.call("search", query="<b>bold</b>\ndata: <i>", mode="literal")
        with visitor.stream(f"/dashboard/activity/live?after={after}&operation=search") as events:
            first = next(event for event in events if "data" in event)
        assert "&lt;b&gt;bold" in first["data"] and "<b>bold" not in first["data"]

    def test_it_ends_with_the_session(self, shop: Server, visitor: Visitor) -> None:
        other = Visitor(shop).sign_in()
        with other.stream("/dashboard/activity/live?operation=git.tags") as events:
            shop.call("dashboard.sign_out", name=rows(shop, "dashboard.sessions", "items")[0]["name"])
            shop.call("git.tags")
            assert next(event for event in events if "data" in event)["event"] == "ended"

    def test_a_decision_is_signalled(self, shop: Server, visitor: Visitor) -> None:
        after = shop.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
        with visitor.stream("/dashboard/live?after=0") as events:
            first = next(event for event in events if "data" in event)
        assert first["event"] == "approvals" and int(first["id"]) < int(str(after))


def test_one_call_is_told_from_all_sides(shop: Server, visitor: Visitor) -> None:
    found = next(one for one in calls(shop, operation="read_files", outcome="NOT_FOUND") if "vat" in one["said"])
    seen = visitor.get(f"/dashboard/calls/{quote(found['key'])}")
    assert "there is no file" in seen.words and "shop/vat.py" in seen.words and "Events as JSON" in seen.words
    done = until(lambda: calls(shop, operation="run_bash", outcome="ok"))
    told = visitor.get(f"/dashboard/calls/{done[0]['key']}").words
    assert [
        word for word in ("proposed", "approved by the owner", "command ended", "ended well") if word not in told
    ] == []
