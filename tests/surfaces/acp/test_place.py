"""Who may open `/acp`: the owner's programs and those with a token, and no page."""

import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.accounts import NOBODY, acting_as, needs_root

pytestmark = requirement("ACP-03")


async def refusal(server: Server, *, origin: str | None = None, token: str | None = None) -> str | None:
    """The error that a connection is refused with; None when it is served."""
    headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
    try:
        async with connect(
            f"ws://{server.host}:{server.port}/acp",
            origin=Origin(origin) if origin else None,
            additional_headers=headers,
        ) as socket:
            await socket.send(
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}})
            )
            assert "result" in json.loads(await socket.recv())
            return None
    except InvalidStatus as refused:
        return str(json.loads(refused.response.body or b"{}")["error"]["error"])


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
async def test_a_page_from_elsewhere_does_not_get_in(codeplane_server: Server, origin: str) -> None:
    assert await refusal(codeplane_server, origin=origin) == "ORIGIN_DENIED"


async def test_programs_of_the_owner_need_no_token_and_a_wrong_one_is_refused(codeplane_server: Server) -> None:
    assert await refusal(codeplane_server) is None
    assert await refusal(codeplane_server, token=codeplane_server.token) is None
    assert await refusal(codeplane_server, token="wrong") == "UNAUTHORIZED"


@needs_root
async def test_another_account_needs_a_token(codeplane_server: Server) -> None:
    with acting_as(NOBODY):
        assert await refusal(codeplane_server) == "UNAUTHORIZED"
