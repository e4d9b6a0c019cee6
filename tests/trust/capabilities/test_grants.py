"""Who holds what: one source covers capability, tool and paths, or the call is refused with what is missing."""

from pathlib import Path

import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call, Operation
from codeplane.kernel.config import RetentionConfig, TrustConfig
from codeplane.kernel.errors import CapabilityDenied, GrantNotFound, Overloaded, PathDenied
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Budget, OperationMark, Request, Risk
from codeplane.ledger.retention import Retention
from codeplane.trust.capabilities.grant import CAPABILITIES, Grant, GrantContext, Holder, TokenRights
from codeplane.trust.capabilities.grants import MAX_LIVE_PER_AGENT
from tests.interaction.requirements import requirement
from tests.kernel.plane import Answered, ManualClock, Said
from tests.trust.capabilities.grants_setup import (
    AGENT,
    ASSISTANT,
    DEVICE,
    DRIVEN,
    JOB,
    OTHER,
    OWNER,
    PEOPLE,
    SYSTEM,
    Rig,
    rig,
)

pytestmark = requirement("TRUST-25")

NARROW = TrustConfig(agent_capabilities=("read_files",))
FAR = 2**62


async def never(call: Call, request: Request) -> Answered:
    raise AssertionError("it is only asked about")


def an_operation(capability: str, name: str = "fixture.any") -> Operation:
    """An operation that needs the capability."""
    mark = OperationMark(
        name=name, risk=Risk.WRITE, budget=Budget.NONE, capability=capability, toolset="all", timeout_sec=1,
        deprecated=None,
    )  # fmt: skip
    return Operation(
        mark=mark, summary="", description="", request=Said, result=Answered, streaming=False, handler=never,
        assess=None, preview=None,
    )  # fmt: skip


def does(*paths: str) -> Assessment:
    return Assessment(risk=Risk.WRITE, paths=paths)


def token(*capabilities: str, **bounds: object) -> TokenRights:
    return TokenRights(capabilities=frozenset(capabilities), **{"expires_ns": FAR, **bounds})  # type: ignore[arg-type]  # as written


async def give(
    opened: Rig, *capabilities: str, to: Actor = AGENT, verified: bool = False, seconds: int = 3600, **bounds: object
) -> Grant:
    now = opened.clock.now_ns()
    grant = Grant(
        grant_id=new_id("grant"), agent=str(to), verified=verified, capabilities=frozenset(capabilities),
        issued_ns=now, expires_ns=now + seconds * 10**9, granted_by="owner:owner",
        context=GrantContext(**bounds),  # type: ignore[arg-type]  # as written
    )  # fmt: skip
    await opened.grants.give(grant, actor=OWNER, correlation=Correlation())
    return grant


@pytest.mark.parametrize("capability", sorted(CAPABILITIES))
async def test_people_hold_all_and_others_what_they_were_given(tmp_path: Path, capability: str) -> None:
    async with rig(tmp_path, trust=TrustConfig(agent_capabilities=())) as opened:
        operation = an_operation(capability)
        for actor in PEOPLE:
            assert opened.grants.require(actor, None, operation, does("src/a")).grant_id == "person"
        for actor in DRIVEN:
            assert opened.grants.covers(actor, None, operation, does()) is None
            with pytest.raises(CapabilityDenied) as caught:
                opened.grants.require(actor, None, operation, does())
            assert caught.value.details["missing"] == "capability"
            assert "capability_request" in caught.value.hint
            await give(opened, capability, to=actor)
            assert opened.grants.covers(actor, None, operation, does()) is not None


@pytest.mark.parametrize("actor", DRIVEN, ids=str)
async def test_agents_without_a_token_hold_what_the_settings_say(tmp_path: Path, actor: Actor) -> None:
    async with rig(tmp_path, trust=NARROW) as opened:
        assert opened.grants.require(actor, None, an_operation("read_files"), does()).grant_id == "settings"
        with pytest.raises(CapabilityDenied):
            opened.grants.require(actor, None, an_operation("write_files"), does())


async def test_an_agent_with_a_token_holds_what_it_says_and_not_what_the_settings_say(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        grants, held = opened.grants, token("read_files")
        assert grants.require(AGENT, held, an_operation("read_files"), does()).grant_id == "token"
        assert grants.covers(AGENT, None, an_operation("write_files"), does()) is not None
        assert grants.covers(AGENT, held, an_operation("write_files"), does()) is None


async def test_a_token_past_its_time_holds_nothing(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        held = token("read_files", expires_ns=opened.clock.now_ns() + 10**9)
        assert opened.grants.covers(AGENT, held, an_operation("read_files"), does()) is not None
        opened.clock.advance(1)
        assert opened.grants.covers(AGENT, held, an_operation("read_files"), does()) is None


async def test_the_system_itself_only_reads(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        assert opened.grants.covers(SYSTEM, None, an_operation("read_files"), does()) is not None
        await give(opened, "write_files", to=SYSTEM)
        assert opened.grants.covers(SYSTEM, None, an_operation("write_files"), does()) is None


async def test_an_operation_with_an_unknown_capability_is_for_nobody(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        for actor in (*PEOPLE, *DRIVEN):
            assert opened.grants.covers(actor, None, an_operation("everything"), does()) is None


@pytest.mark.parametrize(
    "tools", [("fixture.any",), ("fixture_any",), ("fixture.*",), ("*",), ("x", "fixture.a*"), None]
)
async def test_tools_that_are_allowed(tmp_path: Path, tools: tuple[str, ...] | None) -> None:
    async with rig(tmp_path) as opened:
        held = token("write_files", allowed_tools=tools)
        assert opened.grants.covers(AGENT, held, an_operation("write_files"), does()) is not None


@pytest.mark.parametrize("tools", [(), ("fixture",), ("fixture.an",), ("Fixture.any",), ("*.any",), ("fixture.any.*",)])
async def test_tools_that_are_not(tmp_path: Path, tools: tuple[str, ...]) -> None:
    async with rig(tmp_path) as opened:
        held = token("write_files", allowed_tools=tools)
        with pytest.raises(CapabilityDenied) as caught:
            opened.grants.require(AGENT, held, an_operation("write_files"), does())
        assert caught.value.details["missing"] == "tool"


async def test_one_source_covers_it_all_or_none_does(tmp_path: Path) -> None:
    async with rig(tmp_path, trust=NARROW) as opened:
        grants, operation = opened.grants, an_operation("write_files")
        await give(opened, "write_files", allowed_paths=("src/**",))
        await give(opened, "write_files", allowed_paths=("docs/**",), allowed_tools=("fixture.other",))
        await give(opened, "execute_tools")
        assert grants.covers(AGENT, None, operation, does("src/a", "src/b")) is not None
        for paths in (("docs/a",), ("src/a", "docs/a"), ("src/../x",), ("x",)):
            with pytest.raises(CapabilityDenied) as caught:
                grants.require(AGENT, None, operation, does(*paths))
            assert caught.value.details["missing"] == "paths"
        assert grants.covers(AGENT, None, an_operation("write_files", "fixture.other"), does("docs/a")) is not None


@pytest.mark.parametrize("capability", ["execute_tools", "execute_shell"])
async def test_what_runs_programs_is_not_covered_by_a_grant_for_some_paths(tmp_path: Path, capability: str) -> None:
    async with rig(tmp_path) as opened:
        for paths, covered in ((("src/**",), False), ((), False), (("/workspace/*",), True), (None, True)):
            held = token(capability, allowed_paths=paths)
            found = opened.grants.covers(AGENT, held, an_operation(capability), does())
            assert (found is not None) is covered
        with pytest.raises(CapabilityDenied, match="anywhere"):
            held = token(capability, allowed_paths=("src/**",))
            opened.grants.require(AGENT, held, an_operation(capability), does())


async def test_paths_learnt_of_while_planning(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        (tmp_path / "repo/src").mkdir()
        (tmp_path / "repo/src/out").symlink_to("..")
        check, held = opened.grants.check_path, token("read_files", "write_files", allowed_paths=("src/**",))
        check(AGENT, held, "src/a")
        check(AGENT, None, "anything")
        check(OWNER, None, "anything")
        for path in ("docs/a", "src/../x", "src/out/x", "SRC/a", "src\\a", ""):
            with pytest.raises(PathDenied):
                check(AGENT, held, path)
        # A grant for something else, wherever it reaches, lets nobody write.
        await give(opened, "read_files", verified=True)
        await give(opened, "execute_tools", verified=True)
        with pytest.raises(PathDenied):
            check(AGENT, held, "docs/a")
        await give(opened, "write_files", verified=True, allowed_paths=("docs/**",), allowed_tools=("undo",))
        check(AGENT, held, "docs/a")
        check(AGENT, held, "docs/a", an_operation("write_files", "undo"))
        with pytest.raises(PathDenied):
            check(AGENT, held, "docs/a", an_operation("write_files"))
        with pytest.raises(PathDenied):
            check(AGENT, token("read_files"), "src/a")


async def test_a_grant_belongs_to_whom_it_was_given(tmp_path: Path) -> None:
    async with rig(tmp_path, trust=NARROW) as opened:
        operation, held = an_operation("write_files"), token("read_files")
        await give(opened, "write_files", to=AGENT, verified=True)
        assert opened.grants.covers(AGENT, held, operation, does()) is not None
        # Whoever only calls itself so has no token of that name, and other kinds are others.
        assert opened.grants.covers(AGENT, None, operation, does()) is None
        for actor in (OTHER, ASSISTANT, JOB):
            assert opened.grants.covers(actor, held, operation, does()) is None
        await give(opened, "write_files", to=OTHER, verified=False)
        assert opened.grants.covers(OTHER, None, operation, does()) is not None
        assert opened.grants.covers(OTHER, held, operation, does()) is None


async def test_grants_end_by_time_and_no_clock_set_back_lengthens_them(tmp_path: Path) -> None:
    async with rig(tmp_path, trust=NARROW) as opened:
        operation = an_operation("write_files")
        grant = await give(opened, "write_files", seconds=100)
        opened.clock.advance(99)
        assert opened.grants.covers(AGENT, None, operation, does()) == grant
        opened.clock.jump(-50)
        opened.clock.advance(1)
        assert opened.grants.covers(AGENT, None, operation, does()) is None
        with pytest.raises(GrantNotFound):
            opened.grants.get_live(grant.grant_id)
        assert await opened.grants.sweep() == 1
        assert await opened.grants.sweep() == 0
        assert opened.differing() == []


async def test_a_clock_set_forward_ends_them(tmp_path: Path) -> None:
    async with rig(tmp_path, trust=NARROW) as opened:
        await give(opened, "write_files", seconds=100)
        opened.clock.jump(100)
        assert opened.grants.covers(AGENT, None, an_operation("write_files"), does()) is None


async def test_revoked_is_over_at_once(tmp_path: Path) -> None:
    async with rig(tmp_path, trust=NARROW) as opened:
        grant = await give(opened, "write_files")
        await opened.grants.revoke(grant, actor=OWNER, reason="enough", correlation=Correlation())
        assert opened.grants.covers(AGENT, None, an_operation("write_files"), does()) is None
        assert opened.differing() == []


async def test_a_restart_takes_up_what_lives_and_nothing_else(tmp_path: Path) -> None:
    clock = ManualClock()
    async with rig(tmp_path, trust=NARROW, clock=clock) as opened:
        long = await give(
            opened, "write_files", "spawn_agents", seconds=1000, allowed_paths=("src/**",), allowed_tools=(),
            max_agents=3, approval_mode="always",
        )  # fmt: skip
        await give(opened, "write_files", seconds=10)
        over = await give(opened, "execute_shell", verified=True)
        await opened.grants.revoke(over, actor=OWNER, reason="", correlation=Correlation())
    clock.advance(20)
    async with rig(tmp_path, trust=NARROW, clock=clock) as opened:
        assert await opened.grants.restore() == 1
        assert opened.grants.get_live(long.grant_id) == long
        assert opened.differing() == []


async def test_nobody_collects_grants_without_end(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        for _ in range(MAX_LIVE_PER_AGENT):
            await give(opened, "read_files")
        with pytest.raises(Overloaded):
            await give(opened, "read_files")
        await give(opened, "read_files", to=OTHER)


async def test_devices_are_people(tmp_path: Path) -> None:
    async with rig(tmp_path, trust=TrustConfig(agent_capabilities=())) as opened:
        assert opened.grants.covers(DEVICE, None, an_operation("execute_shell"), does()) is not None


ACTS = st.lists(st.sampled_from(["give", "refuse", "revoke", "wait", "sweep", "snapshot", "drop"]), max_size=12)


@settings(max_examples=15)
@given_any(ACTS)
async def test_live_and_rebuilt_are_equal(tmp_path_factory: pytest.TempPathFactory, acts: list[str]) -> None:
    clock = ManualClock()
    async with rig(tmp_path_factory.mktemp("g"), clock=clock) as opened:
        given: list[Grant] = []
        for act in acts:
            if act == "give":
                given.append(await give(opened, "write_files", seconds=10))
            elif act == "refuse":
                with pytest.raises(CapabilityDenied):
                    await opened.call("capability.request", {"capabilities": ["p2p_mesh"]}, AGENT)
            elif act == "revoke" and given:
                await opened.grants.revoke(given.pop(), actor=OWNER, reason="", correlation=Correlation())
            elif act == "wait":
                clock.advance(6)
            elif act == "sweep":
                await opened.grants.sweep()
            elif act == "snapshot":
                await Retention(log=opened.log, config=RetentionConfig(), clock=clock).snapshot()
            elif act == "drop" and given:
                streams: JsonObject = {
                    "idempotency_before_ns": 0,
                    "streams": [[f"capability/{given[0].grant_id}", 9]],
                }
                await opened.log.append([Draft(stream="system", type="retention.applied", payload=streams)])
        assert opened.differing() == []
        mirrored = {grant.grant_id for grant in opened.grants.of(Holder.of(AGENT, None))}
        await opened.grants.restore()
        if "drop" not in acts:
            assert {grant.grant_id for grant in opened.grants.of(Holder.of(AGENT, None))} == mirrored
