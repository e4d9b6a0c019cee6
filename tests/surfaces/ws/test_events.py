"""Events over a WebSocket: who may, from where, without loss, and until when."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.surfaces.ws.socket_client import open_here

pytestmark = requirement("OBS-14")


class TestEntry:
    @pytest.mark.parametrize(
        ("output", "code", "name"),
        [
            ({"token": "wrong"}, 4401, "UNAUTHORIZED"),
            ({"after": 0}, 4401, "UNAUTHORIZED"),
            ("not json", 4400, "MALFORMED_REQUEST"),
            ([1], 4400, "MALFORMED_REQUEST"),
            ({"token": 5}, 4400, "MALFORMED_REQUEST"),
            ({"tokn": "x"}, 4400, "MALFORMED_REQUEST"),
            ("x" * 20_000, 4400, "MALFORMED_REQUEST"),
            ("[" * 10_000, 4400, "MALFORMED_REQUEST"),
        ],
    )
    async def test_who_does_not_say_the_right_thing_is_refused(
        self, repo: Path, output: object, code: int, name: str
    ) -> None:
        async with open_here(repo) as place, place.talking() as talk:
            talk.say(output)
            heard = await talk.hear()
            error = heard["error"]
            assert isinstance(error, dict)
            assert (heard["type"], error["error"]) == ("error", name)
            assert (await talk.closed())[0] == code

    async def test_who_says_nothing_is_let_go(self, repo: Path) -> None:
        async with open_here(repo, hello_sec=0.01) as place, place.talking() as talk:
            assert (await talk.hear())["type"] == "error"
            assert (await talk.closed())[0] == 4401

    async def test_two_tokens_are_none(self, repo: Path) -> None:
        async with open_here(repo) as place, place.talking(headers=[*place.owner, *place.owner]) as talk:
            assert (await talk.closed())[0] == 4401

    @pytest.mark.parametrize("after", ["x", "-1", "1.5"])
    async def test_a_place_that_cannot_be_is_refused(self, repo: Path, after: str) -> None:
        async with open_here(repo) as place, place.talking(f"after={after}", headers=place.owner) as talk:
            assert (await talk.closed())[0] == 4400

    @pytest.mark.parametrize("query", ["types=task.opened", "thread_id=thr_1", "limit=-1", "after=0&Stream=x"])
    async def test_a_filter_that_is_not_known_is_refused(self, repo: Path, query: str) -> None:
        async with open_here(repo) as place, place.talking(query, headers=place.owner) as talk:
            heard = await talk.hear()
            assert isinstance(error := heard["error"], dict) and error["error"] == "INVALID_ARGUMENT"
            assert (await talk.closed())[0] == 4400

    async def test_who_goes_before_saying_anything_leaves_nothing_behind(self, repo: Path) -> None:
        async with open_here(repo) as place:
            async with place.talking() as talk:
                talk.leave()
            assert place.plane.conveyor.running == 0


class TestReading:
    async def test_what_happens_is_told_to_who_has_the_header_or_says_the_token(self, repo: Path) -> None:
        async with open_here(repo) as place:
            after = place.plane.log.position
            async with place.talking(f"after={after}", headers=place.owner) as first, place.talking() as second:
                second.say({"token": place.plane.token, "after": after})
                await place.mark("one")
                heard = [await talk.hear_event("task.opened") for talk in (first, second)]
                assert heard[0] == heard[1]

    async def test_going_on_after_the_last_position_loses_and_repeats_nothing(self, repo: Path) -> None:
        async with open_here(repo) as place:
            for number in range(5):
                await place.mark(str(number))
            await place.plane.log.flush()
            last, answer = 0, []
            while last < place.plane.log.position:
                async with place.talking(f"after={last}", headers=place.owner) as talk:
                    for _ in range(3):
                        heard = await talk.hear()
                        if heard["type"] != "event":
                            break
                        last = int(str(heard["position"]))
                        answer.append(last)
                        if len(answer) > 200 or last >= place.plane.log.position:
                            break
                if len(answer) > 30:
                    break
            assert answer == list(range(1, len(answer) + 1))
            assert len(answer) > 10

    async def test_filters_choose(self, repo: Path) -> None:
        async with open_here(repo) as place, place.talking() as talk:
            talk.say({"token": place.plane.token, "after": 0, "types": ["task.opened"]})
            await place.mark("one")
            await place.mark("two")
            found = [await talk.hear() for _ in range(2)]
            kinds = [one["event"]["type"] for one in found]  # type: ignore[index,call-overload]  # events
            assert kinds == ["task.opened", "task.opened"]

    async def test_a_sign_of_life_when_nothing_happens(self, repo: Path) -> None:
        async with (
            open_here(repo) as place,
            place.talking("heartbeat_sec=0.1&type=nothing.at_all", headers=place.owner) as talk,
        ):
            heard = await talk.hear()
            assert heard["type"] == "heartbeat"
            assert isinstance(heard["position"], int)

    async def test_what_a_reader_says_later_means_nothing(self, repo: Path) -> None:
        async with open_here(repo) as place, place.talking("after=0", headers=place.owner) as talk:
            talk.say("anything")
            await place.mark("one")
            await talk.hear_event("task.opened")


class TestEnd:
    async def test_a_reader_that_leaves_ends_its_call(self, repo: Path) -> None:
        async with open_here(repo) as place:
            async with place.talking("heartbeat_sec=0.1", headers=place.owner) as talk:
                await talk.hear()
                assert place.plane.conveyor.running == 1
            assert place.plane.conveyor.running == 0

    async def test_the_servers_end_is_told(self, repo: Path) -> None:
        # From the start: the reader's own session opens, which is written while it begins to read or before.
        async with (
            open_here(repo) as place,
            place.talking("heartbeat_sec=0.1&after=0", headers=place.owner) as talk,
        ):
            heard = [await talk.hear_news() for _ in range(2)]
            kinds = [one["event"]["type"] for one in heard]  # type: ignore[index,call-overload]  # events
            assert kinds == ["session.opened", "task.opened"]
            place.stopping.set()
            assert (await talk.hear_news())["type"] == "shutdown"
            assert (await talk.closed())[0] == 1001

    async def test_a_token_that_is_revoked_ends_it(self, repo: Path) -> None:
        async with open_here(repo) as place:
            issued = await place.call("agent.token", agent="tool", capabilities=["read_files", "streaming_tasks"])
            async with place.talking("heartbeat_sec=0.1") as talk:
                talk.say({"token": issued["token"]})
                assert (await talk.hear())["type"] in ("heartbeat", "event")
                await place.call("agent.revoke", agent=issued["token_id"])
                while (heard := await talk.hear())["type"] in ("heartbeat", "event"):
                    pass
                assert heard["type"] == "error"
                assert (await talk.closed())[0] == 4401

    async def test_who_takes_nothing_is_let_go_and_resumes(self, repo: Path) -> None:
        async with open_here(repo, take_sec=0.05) as place:
            await place.mark("one")
            async with place.talking("after=0", headers=place.owner) as talk:
                last = (await talk.hear())["position"]
                # The connection stands, but nobody takes what is sent.
                talk.taking.clear()
                for number in range(3):
                    await place.mark(str(number))
                await talk.ended.wait()
                assert place.plane.conveyor.running == 0
                talk.taking.set()
            async with place.talking(f"after={last}", headers=place.owner) as talk:
                assert (await talk.hear())["position"] == int(str(last)) + 1
