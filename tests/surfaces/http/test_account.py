"""Without a token an MCP client is the owner's by its account; programs of others are not served."""

import asyncio
import socket
import time

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import CodePlaneError, Unauthorized
from codeplane.surfaces.connections.connections import Connection, Connections, Limits
from codeplane.surfaces.http.activity import Activity
from codeplane.surfaces.http.guard import Guard
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-23")

HOST = "http://127.0.0.1"


async def _served(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(0)
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


class _Accounts:
    """Everyone is the owner's, or nobody is."""

    def __init__(self, *, own: bool) -> None:
        self._own = own
        self.asked = 0

    def account(self, client: tuple[str, int], server: tuple[str, int]) -> int | None:
        self.asked += 1
        return None

    def is_own(self, client: tuple[str, int], account: int | None) -> bool:
        return self._own


def _identify(caller: Caller) -> Actor:
    if caller.token != "good":
        raise Unauthorized("unknown token")
    return Actor(kind=ActorKind.AGENT, actor_id="agent_good")


async def _record_refusal(surface: str, caller: Caller, error: CodePlaneError) -> None:
    await asyncio.sleep(0)


def _connection(accounts: _Accounts) -> Connection:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        found = Connections(accounts, Limits(all=9, per_account=9)).admit(client, may_use_reserve=False)
    assert found is not None
    return found


def _client(*, own: bool, accounts: _Accounts | None = None) -> TestClient:
    connection = _connection(accounts or _Accounts(own=own))

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        await guard({**scope, "state": {"connection": connection}}, receive, send)

    guard = Guard(
        _served,
        config=ServerConfig(),
        host="127.0.0.1",
        ports=[80],
        activity=Activity(time.monotonic_ns),
        is_owner=lambda token: False,
        identify=_identify,
        record_refusal=_record_refusal,
    )
    return TestClient(counted, base_url=HOST, client=("127.0.0.1", 5000))


@pytest.mark.parametrize("path", ["/mcp", "/mcp/stdio", "/acp", "/lsp"])
def test_of_another_account_only_whoever_shows_a_good_token_is_let_through(path: str) -> None:
    strangers, owners = _client(own=False), _client(own=True)
    assert strangers.post(path).status_code == 401
    assert strangers.post(path, headers={"authorization": ""}).status_code == 401
    assert owners.post(path).status_code == 204
    assert strangers.post(path, headers={"authorization": "Bearer good"}).status_code == 204
    for wrong in ("Bearer x", "Bearer", "Basic good", "good", "Bearer good, Bearer good"):
        assert strangers.post(path, headers={"authorization": wrong}).status_code == 401
        assert owners.post(path, headers={"authorization": wrong}).status_code == 401


@requirement("SRV-16")
def test_whose_program_calls_is_asked_once_for_a_connection() -> None:
    accounts = _Accounts(own=True)
    client = _client(own=True, accounts=accounts)
    assert [client.post("/mcp").status_code for _ in range(5)] == [204] * 5
    assert accounts.asked == 1
