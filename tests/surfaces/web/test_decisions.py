"""Deciding in the browser: what was looked at is what is approved, and it is run, or not."""

import re
from collections.abc import Iterator

import pytest

from tests.browser.proposal import propose
from tests.browser.scenario import rows
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession

pytestmark = requirement("WEB-05")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose owner is asked about everything."""
    running = start(make_repo(tmp_path_factory.mktemp("asked") / "repo"))
    yield running
    running.stop()


@pytest.fixture
def person(server: Server) -> BrowserSession:
    return BrowserSession(server).sign_in()


def preview_hash(seen: str) -> str:
    (found,) = re.findall(r'name="preview_hash" value="([^"]+)"', seen)
    return str(found)


def status(server: Server, action: str) -> str:
    return str(server.call("approval.show", action_id=action)["result"]["status"])  # type: ignore[index, call-overload]


def test_approving_runs_it(server: Server, person: BrowserSession) -> None:
    action = propose(server, "echo approved > said.txt")
    page = person.get(f"/dashboard/approvals/{action}")
    assert "echo approved" in page.words and "shell" in page.words and "bot" in page.words
    sent = {"decision": "approve", "preview_hash": preview_hash(page.text)}
    assert person.post(f"/dashboard/approvals/{action}", sent).status == 303
    assert until(lambda: (server.repo / "said.txt").exists())
    assert until(lambda: status(server, action) == "EXECUTED")
    assert "Approve once" not in person.get(f"/dashboard/approvals/{action}").text


def test_rejecting_tells_the_reason_and_runs_nothing(server: Server, person: BrowserSession) -> None:
    action = propose(server, "touch never")
    sent = {"decision": "reject", "reason": "not <b>today</b>"}
    assert person.post(f"/dashboard/approvals/{action}", sent).status == 303
    page = person.get(f"/dashboard/approvals/{action}")
    assert status(server, action) == "REJECTED" and "not <b>today</b>" in page.words and "<b>today" not in page.text
    assert not (server.repo / "never").exists()


def test_another_preview_than_the_one_looked_at_is_refused(server: Server, person: BrowserSession) -> None:
    action = propose(server, "touch other")
    for sent in ({"decision": "approve", "preview_hash": "0" * 64}, {"decision": "approve"}, {"decision": "maybe"}, {}):
        assert person.post(f"/dashboard/approvals/{action}", sent).status == 400
    assert status(server, action) == "PENDING"
    person.post(f"/dashboard/approvals/{action}", {"decision": "reject"})


def test_it_is_decided_once(server: Server, person: BrowserSession) -> None:
    action = propose(server, "touch twice")
    assert person.post(f"/dashboard/approvals/{action}", {"decision": "reject"}).status == 303
    again = person.post(f"/dashboard/approvals/{action}", {"decision": "reject"})
    assert again.status == 409 and "APPROVAL_SETTLED" in again.words


def test_trusting_is_remembered_and_can_be_forgotten(server: Server, person: BrowserSession) -> None:
    action = propose(server, "true")
    page = person.get(f"/dashboard/approvals/{action}")
    person.post(f"/dashboard/approvals/{action}", {"decision": "trust", "preview_hash": preview_hash(page.text)})
    (answer,) = rows(server, "approval.trusted", "items")
    assert "run_bash" in person.get("/dashboard/trust").words
    assert person.post("/dashboard/trust", {"kind": "answer", "name": answer["answer_id"]}).status == 303
    assert server.call("approval.trusted")["result"]["items"] == []  # type: ignore[index, call-overload]


def test_the_badge_counts(server: Server, person: BrowserSession) -> None:
    action = propose(server, "touch counted")
    assert "1 waiting" in person.get("/dashboard/badge").words
    assert "1 waiting" in person.get("/dashboard/nothing").words
    person.post(f"/dashboard/approvals/{action}", {"decision": "reject"})
    assert person.get("/dashboard/badge").words == ""


PART = {"hx-request": "true"}


def test_the_list_and_an_open_page_are_told_what_changed(server: Server, person: BrowserSession) -> None:
    action = propose(server, "touch followed")
    page = person.get(f"/dashboard/approvals/{action}")
    (address,) = re.findall(r'hx-get="(/dashboard/approvals/[^"]+)"', page.text)
    # Nothing is put over what somebody writes while it still waits.
    assert person.get(address, PART).status == 204
    (listed,) = re.findall(r'<div id="approvals" hx-get="([^"]+)"', person.get("/dashboard/approvals").text)
    part = person.get(listed, PART)
    assert "touch followed" in part.words and "<html" not in part.text
    server.call("approval.reject", action_id=action, reason="elsewhere")
    reported = person.get(address, PART)
    assert (
        "decided while you looked at it" in reported.words
        and "elsewhere" in reported.words
        and "<html" not in reported.text
    )
    assert "Approve once" not in reported.words and "Expir" not in reported.words


def test_what_was_approved_is_shown_while_it_runs(server: Server, person: BrowserSession) -> None:
    action = propose(server, "until [ -e go.txt ]; do sleep 0.1; done; exit 3")
    after = server.call("ledger.verify")["result"]["last_position"]  # type: ignore[index, call-overload]
    with person.stream(f"/dashboard/live?runs=1&after={after}") as signals:
        server.call("approval.approve", action_id=action)
        assert next(one for one in signals if one.get("event") == "runs")
    running = until(lambda: [one for one in listed_running(server) if one["action_id"] == action])
    assert running[0]["operation"] == "run_bash" and running[0]["call_id"]
    shown = person.get("/dashboard").text.partition('id="now"')[2].partition("</section>")[0]
    assert "go.txt" in shown
    assert person.get("/dashboard/activity").text.count(f'id="row-{action}"') == 1
    (server.repo / "go.txt").touch()
    assert until(lambda: status(server, action) == "EXECUTED")
    # It did not do what it was asked for.
    row = person.get("/dashboard/activity").text.partition(f'id="row-{action}"')[2].partition("</li>")[0]
    assert "failed" in row and "the command failed" in row


def listed_running(server: Server) -> list[dict[str, str]]:
    return server.call("call.list")["result"]["running"]  # type: ignore[index, call-overload, return-value]


def test_an_ended_task_is_not_answered_for(server: Server, person: BrowserSession) -> None:
    action = propose(server, "touch ended")
    page = person.get(f"/dashboard/approvals/{action}")
    task = server.call("approval.show", action_id=action)["result"]["source_id"]  # type: ignore[index, call-overload]
    state = server.call("task.show", task=task)["result"]["task"]["state"] if task else ""  # type: ignore[index, call-overload]
    assert ("Approve for this task" in page.words) == (state == "OPEN")
    assert "for 7 days" in page.words
    server.call("approval.reject", action_id=action)


def test_a_filter_that_nothing_fits_says_so(person: BrowserSession) -> None:
    assert "Nothing was decided yet" not in person.get("/dashboard/approvals?status=APPROVED").words


def test_what_waits_has_pages(server: Server, person: BrowserSession) -> None:
    actions = [propose(server, f"echo page {number} .") for number in range(21)]
    first = person.get("/dashboard/approvals")
    (further,) = re.findall(r'href="(/dashboard/approvals\?waiting=[^"]+)"', first.text)
    second = person.get(further.replace("&amp;", "&"))
    assert "echo page 20 ." in first.words and "echo page 0 ." not in first.words and "echo page 0 ." in second.words
    for action in actions:
        server.call("approval.reject", action_id=action)


def test_a_mutation_is_undone_and_done_again(server: Server, person: BrowserSession) -> None:
    server.call("write_files", edits=[{"path": "new.txt", "content": "one\n"}])
    (made,) = rows(server, "mutation.list", "mutations")
    path = f"/dashboard/changes/{made['mutation_id']}"
    assert "Undo this change" in person.get(path).words
    assert person.post(path, {"verb": "undo"}).status == 303 and not (server.repo / "new.txt").exists()
    assert person.post(path, {"verb": "redo"}).status == 303 and (server.repo / "new.txt").exists()
    (server.repo / "new.txt").write_text("changed by hand\n")
    refused = person.post(path, {"verb": "undo"})
    assert refused.status in (400, 409) and "CANNOT_UNDO" in refused.words
