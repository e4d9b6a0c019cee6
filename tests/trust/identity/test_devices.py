"""Devices: leases that end, tokens that are replaced, revocation that is felt at once."""

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import ActorKind, Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import DeviceNotFound, PolicyDenied, TokenExpired, Unauthorized
from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import differences
from codeplane.trust.identity.device import DeviceTable
from codeplane.trust.identity.device_operations import DeviceList, DeviceToken, RevokedDevice
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock
from tests.trust.identity.identity_setup import MCP, OWNER, Desk, Waited, desk, holding

pytestmark = requirement("TRUST-21")

DAY = 86_400.0


def is_let_in(opened: Desk, token: str) -> bool:
    try:
        return opened.identities.identify(holding(token)).kind is ActorKind.DEVICE
    except (Unauthorized, TokenExpired):
        return False


async def rotate(opened: Desk, token: str) -> DeviceToken:
    return await opened.call(DeviceToken, "device.rotate", holding(token))


async def revoke(opened: Desk, device_id: str, caller: Caller = OWNER) -> RevokedDevice:
    return await opened.call(RevokedDevice, "device.revoke", caller, device_id=device_id, reason="lost")


async def test_a_forged_token_is_nobodys(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        token = (await opened.pair()).token
        assert is_let_in(opened, token)
        for forged in (token[:-1], token + "x", token.upper(), token[4:], f"{token} ", "cpd_", "cpd_" + "x" * 43):
            assert not is_let_in(opened, forged)
        seal = next(iter(opened.devices)).token_seal
        assert not is_let_in(opened, seal) and not is_let_in(opened, f"cpd_{seal}")


async def test_a_lease_ends_unless_it_is_renewed(tmp_path: Path) -> None:
    async with desk(tmp_path, token_days=30) as opened:
        kept, left = await opened.pair("kept"), await opened.pair("left")
        opened.clock.advance(20 * DAY)
        fresh = await rotate(opened, kept.token)
        assert fresh.device_id == kept.device_id and fresh.expires_at > kept.expires_at
        opened.clock.advance(10 * DAY - 1)
        assert is_let_in(opened, left.token)
        opened.clock.advance(1)
        with pytest.raises(TokenExpired):
            opened.identities.identify(holding(left.token))
        with pytest.raises(TokenExpired):
            await rotate(opened, left.token)
        assert is_let_in(opened, fresh.token)
        listed = await opened.call(DeviceList, "device.list", holding(fresh.token))
        assert [(item.name, item.state, item.is_current) for item in listed.items] == [
            ("kept", "live", True),
            ("left", "expired", False),
        ]


async def test_a_clock_that_is_set_back_makes_no_lease_longer(tmp_path: Path) -> None:
    async with desk(tmp_path, token_days=30) as opened:
        token = (await opened.pair()).token
        opened.clock.jump(-1000 * DAY)
        opened.clock.advance(30 * DAY - 1)
        assert is_let_in(opened, token)
        opened.clock.advance(1)
        assert not is_let_in(opened, token)
        clock = opened.clock
    async with desk(tmp_path, clock=clock, token_days=30) as opened:
        # After a restart the log knows no more than the wall clock says, but never more than one whole lease.
        clock.advance(30 * DAY)
        assert not is_let_in(opened, token)


async def test_a_clock_that_is_set_forward_ends_leases(tmp_path: Path) -> None:
    async with desk(tmp_path, token_days=30) as opened:
        token = (await opened.pair()).token
        opened.clock.jump(31 * DAY)
        assert not is_let_in(opened, token)


async def test_the_old_token_ends_when_the_new_one_is_used(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        old = (await opened.pair()).token
        new = (await rotate(opened, old)).token
        assert is_let_in(opened, old)
        assert is_let_in(opened, new)
        assert not is_let_in(opened, old)


async def test_the_old_token_ends_after_a_minute_and_a_lost_answer_can_be_asked_for_again(tmp_path: Path) -> None:
    clock = ManualClock()
    async with desk(tmp_path, clock=clock) as opened:
        old = (await opened.pair()).token
        lost = (await rotate(opened, old)).token
    async with desk(tmp_path, clock=clock) as opened:
        clock.advance(59)
        new = (await rotate(opened, old)).token
        assert not is_let_in(opened, lost)
        clock.advance(1)
        assert not is_let_in(opened, old)
        assert is_let_in(opened, new)


async def test_a_restart_revives_no_token_that_was_replaced(tmp_path: Path) -> None:
    clock = ManualClock()
    async with desk(tmp_path, clock=clock) as opened:
        old, other = (await opened.pair()).token, (await opened.pair("other")).token
        new, unused = (await rotate(opened, old)).token, (await rotate(opened, other)).token
        # Through the door, as a device does it; the other one's answer was lost.
        await opened.call(DeviceList, "device.list", holding(new))
    async with desk(tmp_path, clock=clock) as opened:
        with pytest.raises(Unauthorized):
            await opened.call(DeviceList, "device.list", holding(old))
        assert is_let_in(opened, new)
        # The minute of one that nobody knows to have arrived goes on, and ends when it would have.
        assert is_let_in(opened, other)
        clock.advance(61)
        assert not is_let_in(opened, other)
        assert is_let_in(opened, unused)


async def test_a_clock_that_was_set_back_gives_a_replaced_token_no_second_minute(tmp_path: Path) -> None:
    clock = ManualClock()
    async with desk(tmp_path, clock=clock) as opened:
        old = (await opened.pair()).token
        new = (await rotate(opened, old)).token
        clock.advance(61)
    clock.jump(-3600)
    async with desk(tmp_path, clock=clock) as opened:
        assert not is_let_in(opened, old)
        assert is_let_in(opened, new)


async def test_two_rotations_at_once_leave_one_new_token(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        old = (await opened.pair()).token
        first, second = await asyncio.gather(rotate(opened, old), rotate(opened, old))
        assert sorted([is_let_in(opened, first.token), is_let_in(opened, second.token)]) == [False, True]


@pytest.mark.parametrize("caller", [OWNER, MCP])
async def test_only_a_device_renews_its_token(tmp_path: Path, caller: Caller) -> None:
    async with desk(tmp_path) as opened:
        with pytest.raises(PolicyDenied):
            await opened.call(DeviceToken, "device.rotate", caller)
        with pytest.raises(PolicyDenied):
            token = (await opened.pair()).token
            await opened.call(DeviceToken, "device.rotate", holding(token, "mcp"))


async def test_a_revoked_device_stays_out_after_a_restart_too(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        gone, stays = await opened.pair("gone"), await opened.pair("stays")
        assert (await revoke(opened, gone.device_id)).device_id == gone.device_id
        assert not is_let_in(opened, gone.token)
        assert is_let_in(opened, stays.token)
        # Twice changes nothing.
        await revoke(opened, gone.device_id)
    async with desk(tmp_path) as opened:
        with pytest.raises(Unauthorized, match="revoked"):
            opened.identities.identify(holding(gone.token))
        assert is_let_in(opened, stays.token)


async def test_a_person_revokes_and_an_agent_does_not(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        device = await opened.pair()
        for agent in (MCP, holding(device.token, "mcp"), holding((await opened.agent()).token)):
            with pytest.raises(PolicyDenied):
                await revoke(opened, device.device_id, agent)
        with pytest.raises(DeviceNotFound):
            await revoke(opened, "dev_none")
        await revoke(opened, device.device_id, holding(device.token))
        assert not is_let_in(opened, device.token)


async def test_with_another_server_key_no_device_is_let_in(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        token = (await opened.pair()).token
    (tmp_path / "server.key").unlink()
    async with desk(tmp_path) as opened:
        assert not is_let_in(opened, token)


async def test_revocation_is_felt_by_what_runs(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        gone, stays = await opened.pair("gone"), await opened.pair("stays")
        ends = [
            asyncio.ensure_future(opened.identities.wait_for_end(caller))
            for caller in (holding(gone.token), holding(gone.token, "mcp"), holding(stays.token), OWNER, MCP)
        ]
        await asyncio.sleep(0)
        # Renewing the token does not end what the device watches.
        await rotate(opened, gone.token)
        await asyncio.sleep(0)
        assert not any(end.done() for end in ends)
        await revoke(opened, gone.device_id)
        assert all(isinstance(error, Unauthorized) for error in await asyncio.gather(*ends[:2]))
        assert not any(end.done() for end in ends[2:])
        for end in ends[2:]:
            end.cancel()
        assert isinstance(await opened.identities.wait_for_end(holding(gone.token)), Unauthorized)


async def test_a_stream_ends_when_its_device_is_revoked(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        device = await opened.pair()
        items = opened.conveyor.stream("fixture.watch", {}, holding(device.token))
        assert isinstance(await anext(aiter(items)), Waited)
        following = asyncio.ensure_future(anext(aiter(items)))
        await asyncio.sleep(0)
        await revoke(opened, device.device_id)
        end = await asyncio.wait_for(following, 1)
        assert isinstance(end, Outcome) and isinstance(end.error, Unauthorized)


async def test_a_lease_that_ends_is_felt_by_what_runs(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        token = (await opened.pair()).token
        other = await opened.pair()
        end = asyncio.ensure_future(opened.identities.wait_for_end(holding(token)))
        await asyncio.sleep(0)
        opened.clock.advance(31 * DAY)
        # Whatever changes makes everyone look at the clock.
        opened.clock.jump(0)
        await opened.devices.revoke(opened.record, other.device_id, reason="")
        assert isinstance(await end, TokenExpired)


async def test_a_caller_that_leaves_does_not_part_memory_from_the_log(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        device = await opened.pair()
        reached, go_on = asyncio.Event(), asyncio.Event()

        async def slowly(facts: Sequence[tuple[str, str, JsonObject]]) -> None:
            reached.set()
            await go_on.wait()
            await opened.record(facts)

        leaving = asyncio.ensure_future(opened.devices.revoke(slowly, device.device_id, reason=""))
        await reached.wait()
        leaving.cancel()
        go_on.set()
        await asyncio.gather(leaving, return_exceptions=True)
        # The next change waits for the one before.
        await opened.devices.revoke(opened.record, device.device_id, reason="")
        assert not is_let_in(opened, device.token)


async def test_the_table_is_a_function_of_the_log(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        first, second = await opened.pair(), await opened.pair()
        assert is_let_in(opened, (await rotate(opened, first.token)).token)
        await revoke(opened, second.device_id)
        await opened.log.flush()
        connection = sqlite3.connect(tmp_path / "ledger.db")
        assert differences(connection, DeviceTable()) == []
        assert len(connection.execute("SELECT * FROM devices").fetchall()) == 2
        connection.close()
        before = {device.device_id: device for device in opened.devices}
    async with desk(tmp_path) as opened:
        assert {device.device_id: device for device in opened.devices} == before


async def test_an_action_of_a_device_lives_as_long_as_the_device(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        device = await opened.pair()
        person = opened.identities.identify(holding(device.token))
        agent = opened.identities.identify(holding(device.token, "mcp"))
        assert opened.identities.is_live(person) and opened.identities.is_live(agent)
        await revoke(opened, device.device_id)
        assert not opened.identities.is_live(person) and not opened.identities.is_live(agent)
        assert opened.identities.is_live(replace(agent, actor_id="claude"))
