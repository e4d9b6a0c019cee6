"""What the pages ask of a log that is long: a bounded look that says so, and pages back to the first event."""

import re
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import StreamGap
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.observe.dashboard.calls import CallPage
from codeplane.observe.dashboard.figures import CallFigures
from codeplane.wiring.app import Plane
from tests.browser.scenario import busiest_task, rows
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.ledger.logs import n
from tests.surfaces.http.wire import get_field
from tests.surfaces.web.browser import BrowserSession

pytestmark = requirement("WEB-03")

_FILLERS = 21_000


async def listed(opened: Plane, **asked: object) -> CallPage:
    outcome = await opened.conveyor.call("call.list", asked, OWNER)  # type: ignore[arg-type]  # plain JSON
    assert isinstance(outcome.result, CallPage), outcome.error
    return outcome.result


async def filled(opened: Plane) -> None:
    for start in range(0, _FILLERS, 3000):
        await opened.log.append([n("filler", number) for number in range(start, start + 3000)])


async def test_a_look_that_ends_early_says_how_far_it_came_and_can_be_gone_on_with(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.conveyor.call("task.list", {}, AGENT)
        await opened.log.flush()
        await filled(opened)
        found = await listed(opened, operation="task.list")
        assert found.results == () and found.looked_back_to is not None
        following = await listed(opened, operation="task.list", cursor=found.pagination.next_cursor)
        assert [row.operation for row in following.results] == ["task.list"]
        assert following.looked_back_to is None and following.pagination.next_cursor is None


async def test_a_follower_far_behind_is_told_of_a_gap(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.log.append([n("filler", number) for number in range(3000)])
        items = opened.conveyor.stream("call.watch", {"after": 0}, OWNER)
        first = await anext(items)
        assert isinstance(first, Outcome) and isinstance(first.error, StreamGap)
        await items.aclose()  # type: ignore[attr-defined]  # an async generator


async def test_what_is_of_one_task_is_found_however_old_it_is(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        outcome = await opened.conveyor.call("task.list", {}, AGENT)
        await opened.log.flush()
        await filled(opened)
        for asked in ({"for_task_id": outcome.meta.task_id}, {"in_session": outcome.meta.session_id}):
            found = await listed(opened, **asked)
            assert [row.operation for row in found.results] == ["task.list"]
            assert found.looked_back_to is None


async def test_figures_leave_out_who_only_looks(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        looking = Caller(surface="web", client="dashboard", connection_id="web:1", token=opened.token)
        for caller in (AGENT, AGENT, looking):
            await opened.conveyor.call("task.list", {}, caller)
        await opened.conveyor.call("task.list", {"limit": 0}, AGENT)
        await opened.log.flush()
        outcome = await opened.conveyor.call("call.figures", {}, looking)
        assert isinstance(outcome.result, CallFigures), outcome.error
        (one,) = outcome.result.operations
        assert (one.operation, one.calls) == ("task.list", 2)
        assert outcome.result.complete and sum(step.calls for step in outcome.result.steps) == 2
        assert 0 < one.p50_ms <= one.p95_ms


def test_the_ledger_is_read_back_to_its_first_event(shop: Server, visitor: BrowserSession) -> None:
    seen, address = [], "/dashboard/ledger?stream=*"
    while True:
        page = visitor.get(address).text.replace("&amp;", "&")
        seen += [int(found) for found in re.findall(r'<span class="dim">#(\d+) ', page)]
        older = re.search(r'rel="next" href="([^"]+)"', page)
        if older is None:
            break
        address = older[1]
    assert seen == sorted(seen, reverse=True) and len(set(seen)) == len(seen)
    assert seen[-1] == 1 and seen[0] - len(seen) == 0


def test_from_a_page_further_back_one_comes_to_newer_ones(visitor: BrowserSession) -> None:
    page = visitor.get("/dashboard/ledger?before=20").text.replace("&amp;", "&")
    newer = re.search(r'href="(/dashboard/ledger\?after=\d+)">Newer', page)
    assert newer is not None
    assert "#20 " in visitor.get(newer[1]).text


def test_what_a_task_read_is_asked_again(shop: Server, visitor: BrowserSession) -> None:
    task = busiest_task(shop)
    session = next(one["session_id"] for one in rows(shop, "task.board", "results") if one["task_id"] == task)
    for recorded in (task, session):
        seen = visitor.get(f"/dashboard/ledger/replay/{recorded}")
        words, steps = seen.words, 1
        assert seen.status == 200 and "Same answer" in words
        while following := re.search(r'hx-get="(/dashboard/ledger/replay/[^"]+)"', seen.text):
            seen, steps = visitor.get(following[1].replace("&amp;", "&")), steps + 1
            words += seen.words
        assert " search " in words and "Still to ask 0" in seen.words
        counted = [int(one) for one in re.findall(r"(?:Same answer|Another answer|Not asked) (\d+)", seen.words)]
        assert len(counted) == 3 and sum(counted) == steps > 2


def test_a_replay_waits_after_a_while_to_be_told_to_go_on(shop: Server, visitor: BrowserSession) -> None:
    address = f"/dashboard/ledger/replay/{busiest_task(shop)}"
    assert 'hx-trigger="load"' in visitor.get(f"{address}/step?skip=0").text
    agent = shop.client()
    for _ in range(25):
        answer = agent.call("list_dir", {})
    session = get_field(answer, "meta", "session_id")
    paused = visitor.get(f"/dashboard/ledger/replay/{session}/step?skip=19").text
    assert "click from:find button" in paused and re.search(r"Go on: \d+ more", paused)


@pytest.mark.parametrize("text", ["more", "and 2 mor", "S0.PY, S1", "files ok", "write_files s", "é, s1.py", "1.p"])
async def test_letters_are_found_wherever_a_row_has_them(tmp_path: Path, text: str) -> None:
    paths: JsonValue = ["é.py", "s0.py", "é, s1.py", "s2.py", "s3.py"]
    payload: JsonObject = {"operation": "write_files", "mutates": True, "changed_paths": paths, "status": "ok"}
    payload |= {"executed": True, "duration_us": 5}
    async with plane(tmp_path) as opened:
        ids = Correlation(call_id="call_1")
        await opened.log.append([Draft(stream="x", type="call.finished", payload=payload, correlation=ids)])
        (row,) = (await listed(opened, operation="write_files")).results
        shown = text.lower() in f"{row.operation} {row.said} ".lower()
        assert len((await listed(opened, text=text)).results) == shown
