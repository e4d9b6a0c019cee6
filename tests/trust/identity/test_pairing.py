"""Pairing: a code is good once, for minutes, and cannot be found by trying."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import (
    InvalidArgument,
    PairingRefused,
    PolicyDenied,
    RateLimited,
    SessionNotFound,
    StorageFull,
    Unauthorized,
)
from codeplane.kernel.json import JsonObject
from codeplane.trust.identity.device_operations import DeviceToken, PairingCode
from codeplane.trust.identity.pairing import ALPHABET
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock
from tests.trust.identity.identity_setup import MCP, NOBODY, OWNER, Desk, desk, holding

pytestmark = requirement("TRUST-20")


async def bind(opened: Desk, code: str, caller: Caller = NOBODY) -> DeviceToken:
    return await opened.call(DeviceToken, "pairing.bind", caller, code=code, device_name="phone")


async def test_a_code_becomes_a_device(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        made = await opened.call(PairingCode, "pairing.create")
        assert len(made.code) == 9 and set(made.code) <= {*ALPHABET, "-"}
        assert made.code in made.text()
        bound = await bind(opened, f" {made.code.lower()} ")
        assert bound.token.startswith("cpd_") and len(bound.token) >= 47
        assert bound.renew_after < bound.expires_at
        actor = opened.identities.identify(holding(bound.token))
        assert str(actor) == f"device:{bound.device_id}"


async def test_a_code_is_good_once(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        code = await opened.code()
        await bind(opened, code)
        with pytest.raises(PairingRefused):
            await bind(opened, code)


async def test_of_two_that_bind_one_code_at_once_one_gets_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        code = await opened.code()
        ends = await asyncio.gather(*(bind(opened, code) for _ in range(4)), return_exceptions=True)
        assert sorted(type(end).__name__ for end in ends) == ["DeviceToken"] + ["PairingRefused"] * 3
        assert len(list(opened.devices)) == 1


@pytest.mark.parametrize("jump", [0.0, -100_000.0, 100_000.0])
async def test_a_code_is_too_old_after_its_minutes_however_the_clock_jumps(tmp_path: Path, jump: float) -> None:
    async with desk(tmp_path, pairing_minutes=5) as opened:
        late, in_time = await opened.code(), await opened.code()
        opened.clock.advance(299)
        await bind(opened, in_time)
        opened.clock.jump(jump)
        opened.clock.advance(1)
        with pytest.raises(PairingRefused):
            await bind(opened, late)


async def test_a_restart_ends_every_code(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        code = await opened.code()
    async with desk(tmp_path) as opened:
        with pytest.raises(PairingRefused):
            await bind(opened, code)


async def test_trying_codes_is_limited_for_everyone_together(tmp_path: Path) -> None:
    async with desk(tmp_path, pairing_tries=5) as opened:
        code = await opened.code()
        for number in range(5):
            with pytest.raises(PairingRefused):
                await bind(opened, f"WRNG-{number}222", Caller(surface="grpc", client=f"client {number}"))
        with pytest.raises(RateLimited) as caught:
            await bind(opened, code)
        assert caught.value.details == {"retry_after_sec": 60}
        opened.clock.advance(59)
        with pytest.raises(RateLimited):
            opened.identities.identify(NOBODY, "pairing.bind")
        opened.clock.advance(1)
        assert (await bind(opened, code)).device_id


async def test_wrong_codes_burn_the_open_ones(tmp_path: Path) -> None:
    async with desk(tmp_path, pairing_tries=100) as opened:
        code = await opened.code()
        for _ in range(9):
            with pytest.raises(PairingRefused):
                await bind(opened, "WRNG-CODE")
        later = await opened.code()
        with pytest.raises(PairingRefused):
            await bind(opened, "WRNG-CODE")
        with pytest.raises(PairingRefused):
            await bind(opened, code)
        assert (await bind(opened, later)).device_id


async def test_a_flood_at_once_gets_no_more_tries_than_one_after_the_other(tmp_path: Path) -> None:
    async with desk(tmp_path, pairing_tries=5) as opened:
        code = await opened.code()
        ends = await asyncio.gather(*(bind(opened, f"WR{n:06d}") for n in range(50)), return_exceptions=True)
        names = [type(end).__name__ for end in ends]
        assert names.count("PairingRefused") == 5 and names.count("RateLimited") == 45
        # Sent by a person who passes the first look, while the limit holds: the log has its hash, so it is gone.
        with pytest.raises(RateLimited):
            await bind(opened, code, OWNER)
        opened.clock.advance(60)
        with pytest.raises(PairingRefused):
            await bind(opened, code)


async def test_codes_open_at_once_are_bounded(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        for _ in range(16):
            await opened.code()
        with pytest.raises(RateLimited):
            await opened.code()
        opened.clock.advance(300)
        assert await opened.code()
        assert len(opened.pairing) == 1


async def test_devices_are_bounded_and_a_revoked_one_makes_room(tmp_path: Path) -> None:
    async with desk(tmp_path, max_devices=2) as opened:
        code = await opened.code()
        first, _ = await opened.pair(), await opened.pair()
        with pytest.raises(PairingRefused):
            await bind(opened, code)
        with pytest.raises(PairingRefused):
            await opened.code()
        await opened.devices.revoke(opened.record, first.device_id, reason="")
        assert (await bind(opened, code)).device_id


@pytest.mark.parametrize("caller", [MCP, Caller(surface="mcp", client="x", token=OWNER.token)])
async def test_an_agent_neither_makes_codes_nor_becomes_a_device(tmp_path: Path, caller: Caller) -> None:
    async with desk(tmp_path) as opened:
        with pytest.raises(PolicyDenied):
            await opened.call(PairingCode, "pairing.create", caller)
        code = await opened.code()
        with pytest.raises(PolicyDenied):
            await bind(opened, code, caller)
        agent = holding((await opened.agent()).token)
        with pytest.raises(PolicyDenied):
            await opened.call(PairingCode, "pairing.create", agent)
        with pytest.raises(PolicyDenied):
            await bind(opened, code, agent)
        assert (await bind(opened, code)).device_id


@pytest.mark.parametrize("require_token", [False, True])
async def test_only_binding_is_open_to_those_without_a_token(tmp_path: Path, require_token: bool) -> None:
    async with desk(tmp_path, require_token=require_token) as opened:
        for surface in ("connect", "grpc"):
            caller = Caller(surface=surface)
            assert str(opened.identities.identify(caller, "pairing.bind")) == "system:pairing"
            for operation in ("pairing.create", "device.list", "status", "", "pairing_bind", "PAIRING.BIND"):
                with pytest.raises(Unauthorized):
                    opened.identities.identify(caller, operation)
        for surface in ("web", "approval", "", "Connect"):
            with pytest.raises(Unauthorized):
                opened.identities.identify(Caller(surface=surface), "pairing.bind")
        with pytest.raises(Unauthorized):
            opened.identities.identify(holding("wrong"), "pairing.bind")


@pytest.mark.parametrize(
    "arguments",
    [
        {"code": "", "device_name": "x"},
        {"code": "x" * 65, "device_name": "x"},
        {"code": "ABCD-2345", "device_name": ""},
        {"code": "ABCD-2345", "device_name": "x" * 81},
        {"code": "ABCD-2345", "device_name": "a\x1b[2Jb"},
        {"code": "ABCD-2345", "device_name": " x"},
        {"code": "ABCD-2345", "device_name": "x", "public_key": "k" * 2001},
        {"code": "ABCD-2345", "device_name": "x", "idempotency_key": "k1"},
        {"device_name": "x"},
    ],
)
async def test_what_is_no_request_is_refused_and_costs_no_try(tmp_path: Path, arguments: JsonObject) -> None:
    async with desk(tmp_path, pairing_tries=1) as opened:
        with pytest.raises(InvalidArgument):
            await opened.call(DeviceToken, "pairing.bind", NOBODY, **arguments)
        assert (await bind(opened, await opened.code())).device_id


async def test_neither_codes_nor_tokens_are_in_the_ledger(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        code = await opened.code()
        bound = await bind(opened, code)
        rotated = await opened.call(DeviceToken, "device.rotate", holding(bound.token))
        agent = await opened.agent()
        await opened.log.flush()
        written = opened.ledger_bytes()
        for secret in (code, code.replace("-", ""), bound.token, rotated.token, agent.token):
            assert secret.encode() not in written
            assert secret.removeprefix("cpd_").encode() not in written
        assert bound.device_id.encode() in written


async def test_a_code_whose_device_could_not_be_written_is_still_good(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        code = await opened.code()

        async def refuse(facts: object) -> None:
            raise StorageFull("the disk is full")

        slot = opened.pairing.take(code)
        with pytest.raises(StorageFull):
            await opened.devices.pair(refuse, opened.pairing, slot, name="x", public_key="")
        assert not list(opened.devices)
        assert (await bind(opened, code)).device_id


async def test_codes_differ(tmp_path: Path) -> None:
    async with desk(tmp_path, clock=ManualClock()) as opened:
        assert len({await opened.code() for _ in range(16)}) == 16


async def test_whoever_pairs_gets_into_nobodys_session(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        same_name = replace(NOBODY, client=OWNER.client)
        made = await opened.conveyor.call("pairing.create", {}, OWNER)
        arguments: JsonObject = {"code": "ABCD-2345", "device_name": "x"}
        tried = await opened.conveyor.call("pairing.bind", arguments, same_name)
        assert isinstance(tried.error, PairingRefused)
        assert tried.meta.session_id != made.meta.session_id
        named = {**arguments, "session_id": made.meta.session_id}
        assert isinstance((await opened.conveyor.call("pairing.bind", named, same_name)).error, SessionNotFound)
