"""Mail and a calendar over HTTP, with the person's account and with one of the bot's; tokens by OAuth, sealed."""

import json
import threading
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codeplane.adapters.mcp_http import is_within_reach
from codeplane.adapters.tool_secrets import ToolTokens
from codeplane.adapters.yaml_config import LoadedConfig, load_config
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import Plane
from codeplane.wiring.tool_sign_in import sign_in
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, NO_WAIT, OWNER, events, running_here
from tests.trust.approvals.agent_calls import action_of, refused, result
from tests.work.tools.mail_server import BOT_ID, BOT_SECRET, MailServer, mail_server
from tests.work.tools.tool_plane import FAST, listed, ready

pytestmark = requirement("TOOL-05")


def settings(server: MailServer) -> JsonObject:
    """The same mail with two accounts, as the guide shows it."""
    bot: JsonObject = {
        "grant": "client_credentials",
        "client_id": BOT_ID,
        "client_secret": "${BOT_SECRET}",
        "issuer": server.url,
    }
    return {
        "gmail": {"url": f"{server.url}/mcp", "identity": "user"},
        "gmail-bot": {"url": f"{server.url}/mcp", "identity": "bot", "oauth": bot},
    }


def load(folder: Path, servers: JsonObject, *more: str) -> LoadedConfig:
    """Settings with a folder of the owner's, where tokens are kept."""
    (folder / "repo").mkdir(exist_ok=True)
    return load_config(
        workspace=Workspace(root=folder / "repo"),
        user_config=folder / "owner" / "config.yaml",
        environ={"BOT_SECRET": BOT_SECRET},
        overrides=(f"mcp.servers={dumps(servers)}", NO_WAIT, *FAST, "tools.restarts=0", *more),
    ).without_terminal()


@asynccontextmanager
async def mail_plane(loaded: LoadedConfig, folder: Path) -> AsyncIterator[Plane]:
    async with running_here(Workspace(root=folder / "repo"), loaded=loaded) as opened:
        await opened.tools.start_servers()
        yield opened


async def browse(loaded: LoadedConfig, name: str = "gmail") -> None:
    """Sign in as a person does: open the page that is shown, and follow it back."""
    opened: list[object] = []

    def open_page(url: str) -> None:
        thread = threading.Thread(target=lambda: urllib.request.urlopen(url, timeout=20).read(), daemon=True)
        thread.start()
        opened.append(thread)

    await sign_in(name, loaded, open_page)
    assert opened


async def test_the_person_signs_in_and_tools_act_with_their_account(tmp_path: Path) -> None:
    with mail_server() as server:
        loaded = load(tmp_path, settings(server))
        async with mail_plane(loaded, tmp_path) as opened:
            failed = await opened.conveyor.call("tools.test", {"server": "gmail"}, OWNER)
            assert refused(failed) == "TOOL_SIGN_IN_NEEDED" and failed.error is not None
            assert failed.error.hint == "cpl tools login gmail"
            assert (await listed(opened, "gmail"))["state"] == "needs_sign_in"
            await browse(loaded)
            assert (await ready(opened, "gmail"))["state"] == "ready"
            outcome = await opened.conveyor.call("ext.gmail.gmail_send", {"to": "bo", "body": "hi"}, AGENT)
            waiting = result(await opened.conveyor.call("approval.show", {"action_id": action_of(outcome)}, OWNER))
            assert waiting["identity"] == "IDENTITY_USER" and "acts with: your account" in str(waiting["preview"])
            assert server.sent == []
            sent = await opened.conveyor.call("ext.gmail.calendar_create", {"day": "1", "title": "x"}, OWNER)
            assert result(sent)["content"] == "calendar_create as ada@example.com"
            texts = [dumps(event.payload) for event in await events(opened)]
            tokens = [*server.access, *server.refresh]
            assert tokens and not [text for text in texts for token in tokens if token in text]
        sealed = (tmp_path / "owner" / "oauth-tokens.sealed").read_bytes()
        assert not [token for token in tokens if token.encode() in sealed]


async def test_the_bot_has_an_account_of_its_own_and_rules_know_which(tmp_path: Path) -> None:
    with mail_server() as server:
        loaded = load(tmp_path, settings(server))
        rules = tmp_path / "repo" / ".codeplane" / "policy"
        rules.mkdir(parents=True)
        (rules / "mail.rego").write_text(
            "package codeplane.policy\nimport rego.v1\n"
            'deny contains "agents do not use my mail" if {\n'
            '\tinput.identity == "IDENTITY_USER"\n\tinput.actor.kind == "agent"\n\tinput.operation.family == "ext"\n}\n'
        )
        async with mail_plane(loaded, tmp_path) as opened:
            await browse(loaded)
            await ready(opened, "gmail")
            await ready(opened, "gmail-bot")
            await opened.conveyor.call("tools.trust", {"server": "gmail-bot", "risk": "read"}, OWNER)
            denied = await opened.conveyor.call("ext.gmail.gmail_search", {"query": "x"}, AGENT)
            assert refused(denied) == "POLICY_DENIED"
            answer = await opened.conveyor.call("ext.gmail-bot.gmail_search", {"query": "x"}, AGENT)
            assert result(answer)["content"] == "gmail_search as bot@example.com"


async def test_an_old_token_is_refreshed_also_after_a_restart(tmp_path: Path) -> None:
    with mail_server() as server:
        loaded = load(tmp_path, settings(server))
        await browse(loaded)
        # As if it had been long ago.
        file = ToolTokens(tmp_path / "owner")
        record = json.loads(file.read()["gmail"])
        file.store("gmail", json.dumps({**record, "expires_at": 1.0}))
        server.access.clear()
        async with mail_plane(load(tmp_path, settings(server)), tmp_path) as opened:
            await ready(opened, "gmail")
            assert result(await opened.conveyor.call("ext.gmail.calendar_list", {"day": "1"}, OWNER))
        assert server.refreshes == 1


async def test_a_token_is_not_sent_to_another_address(tmp_path: Path) -> None:
    with mail_server() as server, mail_server() as other:
        loaded = load(tmp_path, settings(server))
        await browse(loaded)
        moved = load(tmp_path, {"gmail": {"url": f"{other.url}/mcp"}})
        async with mail_plane(moved, tmp_path) as opened:
            assert (
                refused(await opened.conveyor.call("tools.test", {"server": "gmail"}, OWNER)) == "TOOL_SIGN_IN_NEEDED"
            )


async def test_a_server_cannot_have_the_secret_sent_to_another_issuer(tmp_path: Path) -> None:
    with mail_server() as server, mail_server() as thief:
        server.metadata = {"issuer": thief.url, "token_endpoint": f"{thief.url}/token"}
        async with mail_plane(load(tmp_path, settings(server)), tmp_path) as opened:
            failed = await opened.conveyor.call("tools.test", {"server": "gmail-bot"}, OWNER)
            assert failed.error is not None
        assert thief.secrets_seen == [] and server.secrets_seen == []


@pytest.mark.parametrize("trick", ["large", "packed"])
async def test_an_answer_that_is_too_large_or_packed_is_refused(tmp_path: Path, trick: str) -> None:
    with mail_server() as server:
        loaded = load(tmp_path, settings(server), "tools.message_kb=64")
        async with mail_plane(loaded, tmp_path) as opened:
            await ready(opened, "gmail-bot")
            server.body_bytes, server.encoding = (200_000, "") if trick == "large" else (0, "gzip")
            outcome = await opened.conveyor.call("ext.gmail-bot.calendar_list", {"day": "1"}, OWNER)
            assert outcome.error is not None or result(outcome)["is_error"]
            assert "zzz" not in outcome.to_json()


async def test_a_server_that_is_gone_is_found_out_and_comes_back(tmp_path: Path) -> None:
    with mail_server() as server:
        loaded = load(tmp_path, settings(server))
        async with mail_plane(loaded, tmp_path) as opened:
            await ready(opened, "gmail-bot")
            server.access.clear()
            # A token that is no longer taken is got again, since nobody has to be asked for it.
            answer = await opened.conveyor.call("ext.gmail-bot.calendar_list", {"day": "1"}, OWNER)
            assert result(answer)["content"] == "calendar_list as bot@example.com"


@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("https://mail.example.com/token", True),
        ("https://login.example.org/token", True),
        ("http://login.example.org/token", False),
        ("https://169.254.169.254/latest", False),
        ("https://localhost/token", False),
        ("https://10.0.0.7/token", False),
        ("https://vault.internal/token", False),
    ],
)
def test_requests_go_to_the_server_or_out_by_tls(url: str, is_allowed: bool) -> None:
    assert is_within_reach(url, "https://mail.example.com/mcp") is is_allowed
