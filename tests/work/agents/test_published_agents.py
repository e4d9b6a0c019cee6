"""Published agents and libraries are driven: an edit is refused, another approved, applied and undone."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import git
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import result
from tests.work.agents.agent_plane import NAME, AgentThread, agent_thread
from tests.work.agents.published_agents import (
    claude_code,
    claude_model,
    gemini,
    gemini_model,
    python_agent,
    typescript_agent,
)
from tests.work.models.scripted_provider import Act, ReceivedRequest, scripted_provider

pytestmark = requirement("OAG-05")

ASKS = ("trust.mode=always", "trust.allow=[agent_tool.enter, write_files]", "agents.start_sec=120")
Decide = Callable[[ReceivedRequest], Act]


async def _asked(thread: AgentThread, text: str) -> tuple[str, JsonObject]:
    """Send a message, and wait for the question that the agent puts."""
    turn = await thread.send(text, wait_sec=120)
    assert turn["status"] == "PAUSED", turn
    action = await thread.pending()
    assert action["tool"] == "agent_tool.edit", action
    return str(turn["turn_id"]), action


@pytest.mark.parametrize("agent", (typescript_agent, python_agent))
async def test_an_agent_on_a_published_library(agent: Callable[[], JsonObject], tmp_path: Path) -> None:
    async with agent_thread(tmp_path, agent(), *ASKS) as thread:
        turn_id, action = await _asked(thread, "Raise the price.")
        result(await thread.ask("approval.reject", action_id=action["action_id"]))
        turn = await thread.reached(turn_id, "COMPLETED", "FAILED")
        assert turn["assistant_message"] == "I leave it.", turn
        assert (await thread.diff())["files"] == []

        turn_id, action = await _asked(thread, "Raise it all the same.")
        result(await thread.ask("approval.approve", action_id=action["action_id"]))
        turn = await thread.reached(turn_id, "COMPLETED", "FAILED")
        assert turn["assistant_message"] == "Raised.", turn
        assert (thread.repo / "shop.py").read_text() == "price = 1\n"
        applied = result(await thread.ask("thread.apply", thread_id=thread.thread_id))
        assert (thread.repo / "shop.py").read_text() == "price = 2\n"
        result(await thread.ask("undo", mutation_id=applied["mutation_id"]))
        assert (thread.repo / "shop.py").read_text() == "price = 1\n"


@pytest.mark.parametrize(
    ("agent", "model", "path", "before", "after"),
    (
        # It writes no file that is there and that it has not read.
        (claude_code, claude_model, "tax.py", None, "tax = 3\n"),
        (gemini, gemini_model, "shop.py", "price = 1\n", "price = 2\n"),
    ),
    ids=("claude", "gemini"),
)
async def test_an_agent_that_people_use(
    agent: Callable[[str], JsonObject],
    model: Callable[..., object],
    path: str,
    before: str | None,
    after: str,
    tmp_path: Path,
) -> None:
    for verb in ("reject", "approve"):
        # A conversation each, whose model starts over.
        folder = tmp_path / verb
        decide = cast(Decide, model(folder / "trees", name=path, content=after))
        with scripted_provider(decide=decide) as provider:
            settings = agent(provider.url.removesuffix("/v1"))
            async with agent_thread(folder, settings, *ASKS) as thread:
                tested = result(await thread.ask("acp_agent.test", agent=NAME))
                assert tested["protocol"] == 1 and tested["version"], tested
                turn_id, action = await _asked(thread, "Do it.")
                shown = result(await thread.ask("approval.show", action_id=action["action_id"]))
                assert f"+{after.strip()}" in str(shown["preview"])
                result(await thread.ask(f"approval.{verb}", action_id=action["action_id"]))
                turn = await thread.reached(turn_id, "COMPLETED", "FAILED")
                assert _text(thread.repo / path) == before
                if verb == "reject":
                    assert _text(thread.tree / path) == before, turn
                    continue
                assert turn["status"] == "COMPLETED" and "Done." in str(turn["assistant_message"]), turn
                change = "created" if before is None else "changed"
                assert (await thread.diff())["files"] == [{"path": path, "change": change}]
                applied = result(await thread.ask("thread.apply", thread_id=thread.thread_id))
                assert _text(thread.repo / path) == after
                result(await thread.ask("undo", mutation_id=applied["mutation_id"]))
                assert _text(thread.repo / path) == before and git(thread.repo, "status", "--porcelain") == ""


def _text(path: Path) -> str | None:
    return path.read_text() if path.exists() else None
