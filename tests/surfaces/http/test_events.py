"""The ledger as server-sent events: who may, from where, without loss, and until when."""

from collections.abc import Iterator
from itertools import takewhile
from uuid import uuid4

import pytest

from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import (
    ServerSentEvent,
    call,
    events,
    get_field,
    listed_events,
    open_response,
    owner,
    send,
)


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that can be told to forget everything at once."""
    overrides = ["retention.tasks_days=0.0000001", "trust.allow=[ledger.retain]"]
    running = start(make_repo(tmp_path_factory.mktemp("forgetful") / "repo"), overrides=overrides)
    yield running
    running.stop()


def position(server: Server) -> int:
    """The end of the log, with everything said so far before it."""
    return int(str(call(server, "ledger.verify").result["last_position"]))


def mark(server: Server) -> str:
    """Something that happens, and can be told from everything else."""
    name = f"mark {uuid4()}"
    assert call(server, "session.create", {"description": name}).status == 200
    return name


def up_to(name: str, found: Iterator[ServerSentEvent]) -> list[ServerSentEvent]:
    """The events before the mark."""
    return list(takewhile(lambda event: get_field(event.data, "payload", "description") != name, found))


class TestEntry:
    @pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}])
    def test_a_token_is_needed(self, codeplane_server: Server, headers: dict[str, str]) -> None:
        answer = send(codeplane_server, path="/events", headers=headers)
        assert (answer.status, answer.error["error"]) == (401, "UNAUTHORIZED")

    @pytest.mark.parametrize("after", ["x", "-1", "1.5", "9" * 30])
    def test_a_place_that_cannot_be_is_refused(self, codeplane_server: Server, after: str) -> None:
        for path, headers in (("/events", {"last-event-id": after}), (f"/events?after={after}", {})):
            answer = send(codeplane_server, path=path, headers={**owner(codeplane_server), **headers})
            assert (answer.status, answer.error["error"]) == (400, "INVALID_ARGUMENT")

    @pytest.mark.parametrize("query", ["types=task.opened", "thread_id=thr_1", "limit=5"])
    def test_a_filter_that_is_not_known_is_refused(self, codeplane_server: Server, query: str) -> None:
        answer = send(codeplane_server, "GET", f"/events?after=0&{query}", headers=owner(codeplane_server))
        assert answer.status == 400 and answer.error["error"] == "INVALID_ARGUMENT"

    def test_head_does_not_wait_for_events(self, codeplane_server: Server) -> None:
        answer = send(codeplane_server, "HEAD", "/events", headers=owner(codeplane_server))
        assert (answer.status, answer.body) == (200, b"")


class TestReading:
    def test_what_happens_from_now_on_is_told(self, codeplane_server: Server) -> None:
        before = position(codeplane_server)
        with open_response(codeplane_server, "GET", "/events") as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            assert response.headers["cache-control"] == "no-store"
            name = mark(codeplane_server)
            reported = next(
                event for event in events(response) if get_field(event.data, "payload", "description") == name
            )
        assert (reported.kind, reported.data["type"]) == ("event", "task.opened")
        assert reported.id == str(reported.data["position"])
        assert int(reported.id) > before

    @requirement("SRV-12")
    def test_going_on_after_the_last_one_loses_and_repeats_nothing(self, codeplane_server: Server) -> None:
        start_at = position(codeplane_server)
        for _ in range(6):
            mark(codeplane_server)
        reported: list[str | None] = []
        last = str(start_at)
        # Broken off again and again, as a bad line would, while more happens.
        for _ in range(4):
            with open_response(
                codeplane_server, "GET", "/events", headers={**owner(codeplane_server), "last-event-id": last}
            ) as response:
                stream = events(response)
                reported += [next(stream).id for _ in range(5)]
                mark(codeplane_server)
            last = str(reported[-1])
        name = mark(codeplane_server)
        with open_response(codeplane_server, "GET", f"/events?after={last}") as response:
            reported += [event.id for event in up_to(name, events(response))]
        everything = listed_events(call(codeplane_server, "ledger.events", {"after": start_at, "limit": 1000}))
        expected = [
            str(event["position"])
            for event in takewhile(lambda event: get_field(event, "payload", "description") != name, everything)
        ]
        assert reported == expected

    def test_last_event_id_is_stronger_than_the_address(self, codeplane_server: Server) -> None:
        first = position(codeplane_server)
        mark(codeplane_server)
        second = position(codeplane_server)
        mark(codeplane_server)
        headers = {**owner(codeplane_server), "last-event-id": str(second)}
        with open_response(codeplane_server, "GET", f"/events?after={first}", headers=headers) as response:
            assert int(str(next(events(response)).id)) > second

    def test_filters_choose(self, codeplane_server: Server) -> None:
        after = position(codeplane_server)
        task_id = call(codeplane_server, "session.create").meta["task_id"]
        created = call(codeplane_server, "session.create", {"description": "another"})
        name = mark(codeplane_server)
        with open_response(codeplane_server, "GET", f"/events?after={after}&type=task.opened") as response:
            found = up_to(name, events(response))
        assert {event.data["type"] for event in found} == {"task.opened"}
        assert len(found) >= 2
        for query in (
            f"task_id={get_field(created.result, 'task', 'task_id')}",
            f"in_session={created.result['session_id']}",
        ):
            with open_response(codeplane_server, "GET", f"/events?after={after}&{query}&type=task.opened") as response:
                assert get_field(next(events(response)).data, "payload", "description") == "another"
        assert task_id is not None

    def test_one_stream_is_resumed_by_the_same_ids(self, codeplane_server: Server) -> None:
        session = call(codeplane_server, "session.create").result
        stream = f"task/{get_field(session, 'task', 'task_id')}"
        for _ in range(3):
            call(codeplane_server, "session.info", {"session_id": session["session_id"]})
        with open_response(codeplane_server, "GET", f"/events?stream={stream}&after=0") as response:
            reported = events(response)
            first = [next(reported) for _ in range(2)]
        headers = {**owner(codeplane_server), "last-event-id": str(first[-1].id)}
        with open_response(codeplane_server, "GET", f"/events?stream={stream}", headers=headers) as response:
            reported = events(response)
            rest = [next(reported) for _ in range(2)]
        assert [event.data["sequence"] for event in first + rest] == [1, 2, 3, 4]


class TestEnd:
    @requirement("LOG-06")
    def test_what_is_gone_is_said_to_be(self, forgetful: Server) -> None:
        # From here on nothing but these calls writes to the log: the first epoch is out.
        call(forgetful, "search", {"query": "example"})
        session = call(forgetful, "session.create").result["session_id"]
        call(forgetful, "session.close", {"session_id": session})
        assert int(str(call(forgetful, "ledger.retain").result["events"])) > 0
        with open_response(forgetful, "GET", "/events?after=1") as response:
            gap, error = list(events(response))
        assert (gap.kind, gap.data["requested_after"]) == ("stream_gap", 1)
        first = int(str(gap.data["first_available"]))
        assert (error.kind, error.data["error"]) == ("error", "STREAM_GAP")
        # What it names as the first there is works, and so does going on.
        with open_response(forgetful, "GET", f"/events?after={first - 1}") as response:
            assert int(str(next(events(response)).id)) >= first
        # How much is older than the limit depends on the clock; what is named is never past the end.
        assert first <= position(forgetful)

    def test_a_reader_that_leaves_is_forgotten(self, fixture_server: Server) -> None:
        def running() -> float:
            lines = send(fixture_server, path="/metrics").body.decode().splitlines()
            return float(next(line for line in lines if line.startswith("codeplane_calls_running ")).split()[1])

        before = running()
        with open_response(fixture_server, "GET", "/events") as response:
            assert response.readline() == b"retry: 1000\n"
            assert running() == before + 1
        until(lambda: running() == before)
