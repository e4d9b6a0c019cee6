"""A plane with providers, and what its models answer."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Result
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import Plane, load_workspace_config
from codeplane.work.models.schema import ModelItem
from tests.kernel.plane import NO_WAIT, OWNER, running_here

# Retries follow each other at once.
QUICK = ("models.backoff_sec=0.001", "models.max_backoff_sec=0.001")


def providers(*entries: JsonObject) -> str:
    """The setting for these providers."""
    return f"models.providers={json.dumps(list(entries))}"


def openai(name: str, url: str, *models: str, **more: JsonValue) -> JsonObject:
    """A provider with OpenAI's API."""
    return {"name": name, "kind": "openai", "base_url": url, "models": list(models or ("small",)), **more}


@asynccontextmanager
async def model_plane(root: Path, *settings: str, environ: Mapping[str, str] | None = None) -> AsyncIterator[Plane]:
    """CodePlane on a folder, with the settings and environment of its owner."""
    root.mkdir(parents=True, exist_ok=True)
    workspace = Workspace(root=root)
    loaded = load_workspace_config(workspace, (NO_WAIT, *QUICK, *settings), environ or {}).without_terminal()
    async with running_here(workspace, loaded=loaded) as opened:
        yield opened


async def ask_model(
    opened: Plane, text: str = "say something", *, caller: Caller = OWNER, **arguments: JsonValue
) -> tuple[list[ModelItem], Outcome]:
    """The items of an answer, and how the call ended."""
    asked: JsonObject = {"messages": [{"role": "user", "text": text}], **arguments}
    items: list[Result | Outcome] = [item async for item in opened.conveyor.stream("model.call", asked, caller)]
    outcome = items.pop()
    assert isinstance(outcome, Outcome)
    return [item for item in items if isinstance(item, ModelItem)], outcome


def text_of(items: list[ModelItem]) -> str:
    """The text that counts: what was superseded does not."""
    text = ""
    for item in items:
        text = "" if item.kind in ("retry", "fallback") else text + (item.delta or "" if item.kind == "text" else "")
    return text


def kinds(items: list[ModelItem]) -> list[str]:
    """The kinds of items, in their order."""
    return [item.kind for item in items]
