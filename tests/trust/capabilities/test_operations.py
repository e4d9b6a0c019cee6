"""Asking, giving, ending and seeing grants."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from codeplane.kernel.actor import Actor
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import CapabilityDenied, GrantNotFound, InvalidArgument, PolicyDenied
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Preview, Risk
from codeplane.trust.capabilities.grant import TokenRights
from codeplane.trust.capabilities.models import AskRequest, GrantList, GrantRequest, GrantView
from tests.interaction.requirements import requirement
from tests.kernel.plane import NO_CALL, ManualClock
from tests.trust.capabilities.grants_setup import AGENT, DRIVEN, OTHER, OWNER, PEOPLE, Rig, rig

pytestmark = requirement("TRUST-25")

LOW = ("read_files", "streaming_tasks")
HIGH = ("write_files", "execute_tools", "execute_shell", "spawn_agents", "p2p_mesh")
FAR = 2**62


def wish(*capabilities: str, **more: object) -> JsonObject:
    return {"capabilities": list(capabilities), **more}  # type: ignore[dict-item]  # plain JSON


async def view(opened: Rig, name: str, arguments: JsonObject, actor: Actor, action_id: str | None = None) -> GrantView:
    answer = await opened.call(name, arguments, actor, action_id=action_id)
    assert isinstance(answer, GrantView)
    return answer


async def listed(opened: Rig, actor: Actor, **arguments: object) -> GrantList:
    answer = await opened.call("capability.list", arguments, actor)  # type: ignore[arg-type]  # plain JSON
    assert isinstance(answer, GrantList)
    return answer


async def kinds(opened: Rig) -> list[str]:
    return [event.type for event in await opened.log.query(EventQuery())]


@pytest.mark.parametrize("capability", LOW)
async def test_little_is_given_at_once_where_the_settings_give_it(tmp_path: Path, capability: str) -> None:
    async with rig(tmp_path) as opened:
        given = await view(opened, "capability.request", wish(capability), AGENT)
        assert given.status == "GRANTED"
        assert opened.grants.get_live(given.grant_id).capabilities == {capability}
        assert await kinds(opened) == ["capability.requested", "capability.granted"]
        assert opened.differing() == []


@pytest.mark.parametrize("capability", HIGH)
@pytest.mark.parametrize("actor", DRIVEN, ids=str)
async def test_much_is_not_given_unless_a_person_was_asked(tmp_path: Path, capability: str, actor: Actor) -> None:
    async with rig(tmp_path) as opened:
        with pytest.raises(CapabilityDenied):
            await view(opened, "capability.request", wish("read_files", capability), actor)
        assert await kinds(opened) == ["capability.requested", "capability.denied"]
        assert (await listed(opened, OWNER)).results == ()
        (denied,) = (await listed(opened, OWNER, everything=True)).results
        assert denied.status == "DENIED"
        given = await view(opened, "capability.request", wish(capability), actor, action_id="act_1")
        assert opened.grants.get_live(given.grant_id).granted_by == "action:act_1"
        assert opened.differing() == []


@pytest.mark.parametrize("capability", LOW)
async def test_what_the_settings_withhold_is_for_a_person_too(tmp_path: Path, capability: str) -> None:
    async with rig(tmp_path, trust=TrustConfig(agent_capabilities=())) as opened:
        with pytest.raises(CapabilityDenied):
            await view(opened, "capability.request", wish(capability), AGENT)


async def test_the_conveyor_is_told_what_to_ask_about(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        operation = opened.catalogue.get("capability.request")
        for capability in LOW:
            assert operation.assessment(AskRequest(capabilities=(capability,))).risk is Risk.WRITE
        for capability in HIGH:
            asked = operation.assessment(AskRequest(capabilities=("read_files", capability)))
            assert asked.risk is Risk.HIGH
            assert asked.effects


async def test_a_token_with_bounds_is_not_widened_without_a_person(tmp_path: Path) -> None:
    held = TokenRights(
        capabilities=frozenset({"read_files"}),
        expires_ns=FAR,
        allowed_tools=("search", "read_files"),
        allowed_paths=("src/**",),
    )
    async with rig(tmp_path, held=held) as opened:
        within = {"allowed_paths": ["src/**"], "allowed_tools": ["search"]}
        paths, tools = {"allowed_paths": ["**"]}, {"allowed_tools": ["search", "*"]}
        for wider in ({}, {"allowed_paths": ["src/**"]}, {**within, **tools}, {**within, **paths}):
            with pytest.raises(CapabilityDenied):
                await view(opened, "capability.request", wish("streaming_tasks", **wider), AGENT)
        given = await view(opened, "capability.request", wish("streaming_tasks", **within), AGENT)
        assert given.verified
        await view(opened, "capability.request", wish("streaming_tasks"), AGENT, action_id="act_1")


async def test_a_person_asks_for_nothing(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        for actor in PEOPLE:
            with pytest.raises(InvalidArgument):
                await view(opened, "capability.request", wish("read_files"), actor)


async def test_only_people_give(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        for actor in DRIVEN:
            with pytest.raises(PolicyDenied):
                await view(opened, "capability.grant", wish("read_files", agent="bot"), actor)
        for actor in PEOPLE:
            given = await view(opened, "capability.grant", wish("write_files", agent="bot"), actor)
            assert (given.agent_id, given.verified) == ("agent:agent_bot", True)
        for agent, holder in (
            ("job:nightly", ("job:nightly", False)),
            ("assistant:helper", ("assistant:helper", False)),
            ("agent_bot", ("agent:agent_bot", True)),
            ("agent:agent_bot", ("agent:agent_bot", True)),
            ("agent:bot", ("agent:agent_bot", True)),
        ):
            given = await view(opened, "capability.grant", wish("write_files", agent=agent), OWNER)
            assert (given.agent_id, given.verified) == holder
        named = wish("write_files", agent="bot", without_token=True, reason="just this once")
        given = await view(opened, "capability.grant", named, OWNER)
        assert (given.agent_id, given.verified) == ("agent:bot", False)
        assert len((await listed(opened, OWNER, agent="bot")).results) == 6
        assert (await listed(opened, OWNER)).results[0].reason == "just this once"
        assert len((await listed(opened, OWNER, agent="job:nightly")).results) == 1


async def test_people_end_any_grant_and_agents_their_own(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        mine = await view(opened, "capability.request", wish("read_files"), AGENT)
        theirs = await view(opened, "capability.request", wish("read_files"), OTHER)
        with pytest.raises(GrantNotFound):
            await view(opened, "capability.revoke", {"grant_id": theirs.grant_id}, AGENT)
        opened.grants.get_live(theirs.grant_id)
        ended = await view(opened, "capability.revoke", {"grant_id": mine.grant_id, "reason": "done"}, AGENT)
        assert (ended.status, ended.ended_by, ended.reason) == ("REVOKED", "agent:bot", "done")
        await view(opened, "capability.revoke", {"grant_id": theirs.grant_id}, OWNER)
        for gone in (mine.grant_id, theirs.grant_id, "grant_none"):
            with pytest.raises(GrantNotFound):
                await view(opened, "capability.revoke", {"grant_id": gone}, OWNER)


async def test_a_client_that_takes_a_name_does_not_end_the_grant_of_its_bearer(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        opened.held[str(AGENT)] = TokenRights(capabilities=frozenset(), expires_ns=FAR)
        given = await view(opened, "capability.request", wish("read_files"), AGENT)
        bearer = opened.held.pop(str(AGENT))
        with pytest.raises(GrantNotFound):
            await view(opened, "capability.revoke", {"grant_id": given.grant_id}, AGENT)
        assert (await listed(opened, AGENT)).results == ()
        opened.held[str(AGENT)] = bearer
        assert len((await listed(opened, AGENT)).results) == 1
        await view(opened, "capability.revoke", {"grant_id": given.grant_id}, AGENT)


async def test_agents_see_their_own_and_people_all_page_by_page(tmp_path: Path) -> None:
    clock = ManualClock()
    async with rig(tmp_path, clock=clock) as opened:
        for number in range(5):
            await view(opened, "capability.request", wish("read_files", duration_sec=100 + number), AGENT)
            await view(opened, "capability.request", wish("read_files"), OTHER)
        assert {one.agent_id for one in (await listed(opened, AGENT)).results} == {"agent:bot"}
        assert {one.agent_id for one in (await listed(opened, AGENT, agent="other")).results} == {"agent:bot"}
        assert "write_files" in (await listed(opened, AGENT)).held
        assert len((await listed(opened, OWNER, agent="other")).results) == 5
        seen, cursor = [], None
        while True:
            page = await listed(opened, OWNER, limit=3, **({"cursor": cursor} if cursor else {}))
            seen += [one.grant_id for one in page.results]
            if (cursor := page.pagination.next_cursor) is None:
                break
        assert len(seen) == len(set(seen)) == 10
        clock.advance(102)
        assert len((await listed(opened, OWNER)).results) == 7
        states = [one.status for one in (await listed(opened, OWNER, everything=True)).results]
        assert (states.count("EXPIRED"), states.count("GRANTED")) == (3, 7)


@pytest.mark.parametrize(
    "bad",
    [
        {"capabilities": []}, {"capabilities": ["everything"]}, wish("read_files", duration_sec=0),
        wish("read_files", duration_sec=86_401), wish("read_files", allowed_paths=["/etc/**"]),
        wish("read_files", allowed_paths=["../x"]), wish("read_files", allowed_paths=["a\u202eb"]),
        wish("read_files", allowed_paths=["a"] * 101), wish("read_files", allowed_tools=["rm -rf"]),
        wish("read_files", justification="line\nforged: approved"), wish("read_files", max_agents=-1),
        wish("read_files", approval_mode="never"), wish("read_files", unknown=1),
    ],
    ids=repr,
)  # fmt: skip
def test_wishes_that_cannot_be_shown_or_meant_are_refused(bad: JsonObject) -> None:
    with pytest.raises(ValidationError):
        AskRequest.model_validate(bad)


async def test_previews_say_in_words_what_would_be_given(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        ask = opened.catalogue.get("capability.request").preview
        give = opened.catalogue.get("capability.grant").preview
        assert ask is not None
        assert give is not None
        many = tuple(f"src/{number}/**" for number in range(40))
        request = AskRequest(
            capabilities=("write_files", "spawn_agents"), allowed_paths=many, allowed_tools=("git.*",),
            max_agents=2, approval_mode="always", duration_sec=5400, justification="to fix it",
        )  # fmt: skip
        shown = await ask(NO_CALL, request)
        assert shown.summary == "let the agent change files; start agents (for 90 min)"
        assert shown.body.splitlines() == [
            f"changes only in: {', '.join(many)}",
            "only with: git.*",
            "at most 2 agents",
            "questions: always",
            "The agent says why: to fix it",
        ]
        plain = GrantRequest(capabilities=("execute_shell",), agent="bot", without_token=True)
        assert await give(NO_CALL, plain) == Preview(
            summary="let agent:bot (without a token) run shell commands (for 1 h)", body="without bounds"
        )
