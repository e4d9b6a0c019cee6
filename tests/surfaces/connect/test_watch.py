"""`EventsService.Watch`: on from a sequence or a position, with signs of life, and an end that says why."""

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, until
from tests.interaction.requirements import requirement
from tests.surfaces.connect.wire import WATCH, call, error_of, frame, frames, open_response

pytestmark = requirement("RPC-03")


def watched(server: Server, request: object, count: int) -> list[JsonObject]:
    """The first events of a watch, without the heartbeats."""
    found: list[JsonObject] = []
    with open_response(server, WATCH, frame(request)) as response:
        for _, message in frames(response):
            if "heartbeat" not in message:
                found.append(message)
            if len(found) == count:
                return found
    raise AssertionError(f"it ended after {found}")


def refusal(server: Server, request: object) -> object:
    with open_response(server, WATCH, frame(request)) as response:
        ((_, end),) = frames(response)
    return error_of(end["error"])["error"]


@pytest.fixture
def session(connect_server: Server) -> str:
    """A session with two events in its stream."""
    opened = call(connect_server, "session.create", {"description": "watched"}).json["result"]
    assert isinstance(opened, dict)
    call(connect_server, "session.close", {"session_id": opened["session_id"]})
    call(connect_server, "ledger.verify")  # returns when everything said so far is written
    return str(opened["session_id"])


class TestFrom:
    def test_a_sequence_is_an_exclusive_bound(self, connect_server: Server, session: str) -> None:
        stream = f"session/{session}"
        first, second = watched(connect_server, {"streams": {stream: 0}}, 2)
        assert (first["sequence"], second["sequence"]) == ("1", "2")
        (again,) = watched(connect_server, {"stream": stream, "fromSequence": 1}, 1)
        assert again == second
        assert again["stream"] == stream and again["type"] == "session.closed"

    def test_so_is_a_position(self, connect_server: Server, session: str) -> None:
        stream = f"session/{session}"
        first, second = watched(connect_server, {"stream": stream, "fromPosition": "0"}, 2)
        (again,) = watched(connect_server, {"stream": stream, "fromPosition": first["position"]}, 1)
        assert again == second

    def test_only_the_types_that_are_wanted(self, connect_server: Server, session: str) -> None:
        request = {"streams": {f"session/{session}": 0}, "types": ["session.closed"]}
        (only,) = watched(connect_server, request, 1)
        assert only["type"] == "session.closed"

    def test_from_now_on(self, connect_server: Server) -> None:
        request = {"fromNow": True, "types": ["session.opened"], "heartbeatMs": 100}
        with open_response(connect_server, WATCH, frame(request)) as response:
            messages = frames(response)
            assert "heartbeat" in next(messages)[1]
            created = call(connect_server, "session.create", {"description": "now"}).json["result"]
            event = next(message for _, message in messages if "heartbeat" not in message)
        assert isinstance(created, dict)
        assert event["sessionId"] == created["session_id"]

    @pytest.mark.parametrize(
        "request_",
        [
            {"fromSequence": 3},
            {"stream": "system", "fromSequence": 1, "fromPosition": 1},
            {"stream": "system", "fromSequence": 1, "fromNow": True},
            {"stream": "system", "streams": {"audit": 1}},
            {"heartbeatMs": 1},
            {"heartbeatMs": 999_999_999},
            {"streams": {f"s{number}": 0 for number in range(101)}},
            {"types": [f"t{number}" for number in range(51)]},
        ],
    )
    def test_what_contradicts_itself_is_refused(self, connect_server: Server, request_: object) -> None:
        assert refusal(connect_server, request_) == "INVALID_ARGUMENT"

    def test_an_unknown_field_is_named(self, connect_server: Server) -> None:
        assert refusal(connect_server, {"from": 1}) == "MALFORMED_REQUEST"


class TestAlive:
    def test_a_quiet_watch_says_so_at_once_and_tells_how_far_it_is(self, connect_server: Server, session: str) -> None:
        stream = f"session/{session}"
        with open_response(connect_server, WATCH, frame({"streams": {stream: 2}, "heartbeatMs": 100})) as response:
            messages = frames(response)
            first, second = next(messages)[1], next(messages)[1]
        assert first == {"heartbeat": {"latestSequence": "2"}}
        beat = second["heartbeat"]
        assert isinstance(beat, dict)
        assert beat["latestSequence"] == "2" and int(str(beat["position"])) > 0


class TestEnd:
    def test_a_gap_is_a_message_and_the_end(self, connect_server: Server) -> None:
        with open_response(connect_server, WATCH, frame({"streams": {"nothing/here": 7}})) as response:
            (flag, gap), (ended, end) = frames(response)
        assert (flag, gap) == (
            0,
            {"streamGap": {"requestedFromSequence": "7", "nextAvailableSequence": "1", "stream": "nothing/here"}},
        )
        assert (ended, end) == (2, {})

    def test_a_position_that_never_was_is_one_too(self, connect_server: Server) -> None:
        with open_response(connect_server, WATCH, frame({"fromPosition": str(2**40)})) as response:
            (_, gap), _ = frames(response)
        assert "streamGap" in gap

    def test_it_ends_with_the_server_and_says_so(self, own_server: Server) -> None:
        with open_response(own_server, WATCH, frame({"fromNow": True})) as response:
            messages = frames(response)
            next(messages)
            assert own_server.stop() == 0
            flag, end = list(messages)[-1]
        assert flag == 2 and error_of(end["error"])["error"] == "SHUTTING_DOWN"

    def test_a_reader_that_goes_away_is_let_go(self, connect_server: Server) -> None:
        with open_response(connect_server, WATCH, frame({"fromNow": True})) as response:
            next(frames(response))
        wanted = {"types": ["call.finished"], "newest": True, "limit": 200}

        def let_go() -> bool:
            page = call(connect_server, "ledger.events", wanted).json["result"]
            assert isinstance(page, dict)
            ends = [event["payload"] for event in page["results"]]
            return any((end["operation"], end["status"]) == ("ledger.watch", "CANCELLED") for end in ends)

        assert until(let_go)
