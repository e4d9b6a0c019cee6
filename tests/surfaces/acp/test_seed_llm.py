"""Questions to a model in the dialect 0.2.1."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.harness import PATIENCE_SEC, Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import AcpClient, AcpError, acp_client
from tests.surfaces.acp.conftest import FILES
from tests.surfaces.acp.test_seed_dialect import opened, shown
from tests.work.models.model_plane import QUICK, openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ScriptedProvider,
    answer,
    chunks,
    hang,
    openai_chunk,
    openai_text,
    scripted_provider,
)

pytestmark = requirement("ACP-16")

ALLOWED = {"allow_external_llms": True}
SUMMARY = {"repo_name": "shop", "languages": {"python": 3}, "entrypoints": [], "top_files": ["a.py"], "followups": []}


@asynccontextmanager
async def asking(tmp_path: Path, *script: Act) -> AsyncIterator[tuple[AcpClient, str, ScriptedProvider]]:
    """A client with a session, on a server whose model answers by a script."""
    with scripted_provider(*script) as provider:
        settings = [providers(openai("local", provider.url, "small", "large")), *QUICK]
        server = start(make_repo(tmp_path / "repo", FILES), overrides=settings)
        try:
            async with acp_client(server) as client:
                yield client, await opened(client), provider
        finally:
            server.stop()


@pytest.fixture(scope="module")
def llm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, ScriptedProvider]]:
    """A server with a model that nobody is to ask."""
    with scripted_provider() as provider:
        settings = [providers(openai("local", provider.url)), *QUICK]
        server = start(make_repo(tmp_path_factory.mktemp("llm") / "repo", FILES), overrides=settings)
        yield server, provider
        server.stop()


def question(session: str, **more: Any) -> dict[str, Any]:
    return {"session_id": session, "provider": "codex", "prompt": "what is here?", "policy": ALLOWED, **more}


async def test_all_fields_reach_the_model(tmp_path: Path) -> None:
    async with asking(tmp_path, answer(openai_text("A ", "shop."))) as (client, session, provider):
        policy = {**ALLOWED, "model_id": "large", "max_tokens": 77, "temp": 0.5}
        result = await client.call("llm.call", question(session, instructions="Be short.", policy=policy))
        payload = result["payload"]
        assert (payload["text"], payload["model"], payload["truncated"]) == ("A shop.", "local/large", False)
        assert result["type"] == "Text"
        (asked,) = provider.requests
        assert asked.body["temperature"] == 0.5
        assert asked.body["model"] == "large" and 77 in asked.body.values()
        messages = asked.body["messages"]
        assert isinstance(messages, list)
        told = [message["content"] for message in messages if isinstance(message, dict)]
        assert told == ["Be short.", "what is here?"]
        (call,) = shown(client, "tool_call")
        assert call["name"] == "llm.call" and call["arguments"]["prompt_hash"].startswith("sha256:")
        assert "what is here?" not in json.dumps(client.updates)


async def test_a_structured_answer_grows_in_snapshots(tmp_path: Path) -> None:
    text = json.dumps(SUMMARY)
    script = answer(openai_text(*(text[at : at + 20] for at in range(0, len(text), 20))))
    async with asking(tmp_path, script) as (client, session, _):
        asked = question(session, provider="appleOnDevice", policy={}, expects_type="ExploreSummary")
        result = await client.call("llm.call", {**asked, "stream_structured": True})
        assert (result["type"], result["payload"]["value"]) == ("ExploreSummary", SUMMARY)
        partial = [
            one["output"]["value"] for one in shown(client, "tool_call_update") if "partial" in one.get("output", {})
        ]
        assert partial and all(one.keys() <= SUMMARY.keys() for one in partial)


async def test_an_answer_of_another_type_is_an_error(tmp_path: Path) -> None:
    async with asking(tmp_path, answer(openai_text("{}"))) as (client, session, _):
        with pytest.raises(AcpError) as refused:
            await client.call("llm.call", question(session, expects_type="ExplorePlan"))
        assert refused.value.data["error"] == "FAILED_MODEL_OUTPUT"
        assert shown(client, "tool_call_update")[-1]["status"] == "error"


async def test_one_question_at_a_time_in_a_session(tmp_path: Path) -> None:
    waiting = hang(chunks(openai_chunk({"content": "Half "})))
    async with asking(tmp_path, waiting, answer(openai_text("Whole."))) as (client, session, provider):
        first = await client.start("llm.call", question(session))
        for method in ("llm.call", "session/prompt"):
            params = {"session_id": session, "prompt": [{"type": "text", "text": "hi"}]}
            with pytest.raises(AcpError) as refused:
                await client.call(method, question(session) if method == "llm.call" else params)
            assert (refused.value.data["code"], refused.value.data["retryable"]) == ("ERR_RATE_LIMIT", True)
        # The answer that hangs is the one of this question.
        await asyncio.to_thread(until, lambda: bool(provider.requests))
        await client.notify("session/cancel", {"session_id": session})
        with pytest.raises(AcpError) as cancelled:
            await client.answer(first)
        assert cancelled.value.data["code"] == "ERR_OP_CANCELED"
        assert shown(client, "tool_call_update")[-1]["error"].startswith("ERR_OP_CANCELED")
        assert (await client.call("llm.call", question(session)))["payload"]["text"] == "Whole."


async def test_one_question_at_a_time_also_over_several_connections(tmp_path: Path) -> None:
    waiting = hang(chunks(openai_chunk({"content": "Half "})))
    with scripted_provider(waiting, answer(openai_text("Whole."))) as provider:
        settings = [providers(openai("local", provider.url)), *QUICK]
        server = start(make_repo(tmp_path / "repo", FILES), overrides=settings)
        try:
            async with acp_client(server) as one, acp_client(server) as two:
                session = await opened(one)
                await opened(two)
                await two.call("session/load", {"session_id": session})
                await one.start("llm.call", question(session))
                await asyncio.to_thread(until, lambda: bool(provider.requests))
                with pytest.raises(AcpError) as refused:
                    await two.call("llm.call", question(session))
                assert refused.value.data["code"] == "ERR_RATE_LIMIT"
                # A client that vanishes keeps the session from nobody.
                await one.drop()

                async def asked() -> Any:
                    try:
                        return (await two.call("llm.call", question(session)))["payload"]["text"]
                    except AcpError as error:
                        assert error.data["code"] == "ERR_RATE_LIMIT"
                        return None

                async with asyncio.timeout(PATIENCE_SEC):
                    while (text := await asked()) is None:
                        await asyncio.sleep(0)
                assert text == "Whole."
        finally:
            server.stop()


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"policy": {}}, "ERR_EXTERNAL_LLM_DISABLED"),
        ({"policy": {**ALLOWED, "model_id": "other"}}, "ERR_EXTERNAL_LLM_DISABLED"),
        ({"provider": "claudeCode"}, "ERR_MODEL_UNAVAILABLE"),
        ({"provider": "gemini"}, "ERR_INTERNAL"),
        ({"expects_type": "Weather"}, "ERR_INTERNAL"),
        ({"stream_structured": True}, "ERR_INTERNAL"),
        ({"prompt": "x" * 65_537}, "ERR_INTERNAL"),
        ({"session_id": "thr_none"}, "ERR_INTERNAL"),
    ],
)
async def test_what_policy_or_bounds_forbid_asks_no_model(
    llm: tuple[Server, ScriptedProvider], wrong: dict[str, object], code: str
) -> None:
    server, provider = llm
    async with acp_client(server) as client:
        session = await opened(client)
        with pytest.raises(AcpError) as refused:
            await client.call(
                "llm.call", question(session, **wrong) if "session_id" not in wrong else question("thr_none")
            )
        assert refused.value.data["code"] == code, refused.value.data
    assert list(provider.requests) == []


async def test_without_a_model_it_says_so(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await opened(client)
        with pytest.raises(AcpError) as refused:
            await client.call("llm.call", question(session, provider="appleOnDevice"))
        assert refused.value.data["code"] == "ERR_MODEL_UNAVAILABLE"
