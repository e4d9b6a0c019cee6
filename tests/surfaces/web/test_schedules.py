"""Schedules in the browser: a calendar, their history, and the buttons that run and rest them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.thread_blocks import ThreadBlocks
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession

pytestmark = requirement("SCHED-10")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that wakes schedules."""
    running = start(make_repo(tmp_path_factory.mktemp("schedules") / "repo"))
    yield running
    running.stop()


@pytest.fixture
def person(server: Server) -> BrowserSession:
    return BrowserSession(server).sign_in()


def test_a_person_makes_runs_rests_and_deletes_a_schedule(server: Server, person: BrowserSession) -> None:
    assert "cpl schedules create" in person.get("/dashboard/schedules").text
    form = {"name": "nightly", "trigger_kind": "cron", "trigger_spec": "0 3 * * *", "timezone": "", "goal": "Look <b>"}
    person.post("/dashboard/schedules", form)
    page = person.get("/dashboard/schedules")
    assert "nightly" in page.words and "03:00" in page.words and "keep this server up" in page.words
    # In seven days it comes seven times, and no goal is taken for markup.
    assert page.text.count(">03:00</td>") in (6, 7) and "Look &lt;b&gt;" in page.text
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert f"{tomorrow:%a %d %b}" in page.words
    listed = server.call("schedule.list")["result"]
    assert isinstance(listed, dict) and isinstance(listed["results"], list) and isinstance(listed["results"][0], dict)
    at = f"/dashboard/schedules/{listed['results'][0]['schedule_id']}"
    shown = person.get(at)
    assert (
        "None of its times has come yet" in shown.words and shown.text.count('class="waiting"><span class="at">') == 5
    )
    person.post(at, {"verb": "run"})
    assert "run now" in person.get(at).words.lower() and "its job" in person.get(at).words
    person.post(at, {"verb": "disable"})
    assert "It is off, and has no next run" in person.get(at).words
    person.post(at, {"verb": "enable"})
    assert "keeps" in str(server.call("status", include=["schedules"]))
    assert "1 schedule enabled" in person.get("/dashboard").words
    person.post(at, {"verb": "delete"})
    assert "Nothing runs by the clock yet" in person.get("/dashboard/schedules").words


def test_a_heartbeat_is_folded_and_a_stop_is_told_in_the_thread() -> None:
    blocks = ThreadBlocks()
    asked: JsonObject = {"message_id": "m1", "role": "system", "content": "look", "metadata": {"heartbeat": True}}
    silent: JsonObject = {"message_id": "m2", "full_text": "NOTHING_TO_REPORT", "metadata": {"silent": True}}
    stopped: JsonObject = {"schedule_id": "sch_1", "reason": "it was revoked"}
    for sequence, (kind, payload) in enumerate(
        (("message.created", asked), ("assistant.message_committed", silent), ("schedule.stopped", stopped)), start=1
    ):
        blocks.take({"sequence": sequence, "type": kind, "turn_id": "t1", "payload": payload})
    heartbeat, answer, note = blocks.blocks
    assert heartbeat.fields["is_heartbeat"] is True and answer.fields["metadata"] == {"silent": True}
    assert (note.kind, note.fields["reason"]) == ("note", "it was revoked")
