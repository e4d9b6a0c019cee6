"""Threads and models as the protocol shows them."""

from codeplane import __version__
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.app_server.folded_turn import milliseconds
from codeplane.surfaces.app_server.params import REVIEWER, approval_policy

PROVIDER = "codeplane"
# The name of what answers where no model is configured.
INDEX = "index"
_NOT_LOADED: JsonObject = {"type": "notLoaded"}


def thread_json(
    view: JsonObject,
    *,
    cwd: str,
    status: JsonObject | None = None,
    turns: list[JsonValue] | None = None,
    older: str | None = None,
) -> JsonObject:
    """Return a thread; `older` is the cursor of turns that are not among those shown."""
    created, updated = _seconds(view, "created_at"), _seconds(view, "updated_at")
    title, model = str(view.get("title") or ""), str(view.get("model") or "")
    return {
        "id": view["thread_id"],
        "sessionId": view["thread_id"],
        "name": title or None,
        "preview": title,
        "createdAt": created,
        "updatedAt": updated,
        "recencyAt": updated,
        "cwd": cwd,
        "cliVersion": __version__,
        "source": "appServer",
        "originator": view.get("created_by"),
        "modelProvider": model.partition("/")[0] or PROVIDER,
        "model": model or None,
        "reasoningEffort": None,
        "ephemeral": False,
        "path": None,
        "projectId": None,
        "gitInfo": None,
        "historyMode": "paginated",
        "forkedFromId": view.get("forked_from"),
        "parentThreadId": None,
        "threadSource": None,
        "agentNickname": None,
        "agentRole": None,
        "section": None,
        "sectionEnteredAt": None,
        "status": status or _NOT_LOADED,
        "turns": turns or [],
        "olderTurnsCursor": older,
    }


def started_json(thread: JsonObject, *, model: str, mode: str, cwd: str) -> JsonObject:
    """Return the answer to what opens a thread: the thread and the settings that hold in it."""
    sandbox: JsonObject = {
        "type": "workspaceWrite",
        "writableRoots": [],
        "networkAccess": False,
        "excludeSlashTmp": False,
        "excludeTmpdirEnvVar": False,
    }
    return {
        "thread": {**thread, "model": model},
        "model": model,
        "modelProvider": model.partition("/")[0] or PROVIDER,
        "cwd": cwd,
        "approvalPolicy": approval_policy(mode),
        "approvalsReviewer": REVIEWER,
        "sandbox": sandbox,
        "serviceTier": None,
        "reasoningEffort": None,
        "instructionSources": [],
        "disabledPluginIds": [],
    }


def model_names(listed: JsonObject) -> list[str]:
    """Return the models that may be asked."""
    return [str(model["model"]) for model in _models(listed)]


def models_json(listed: JsonObject) -> list[JsonValue]:
    """Return the models that may be asked; where there are none, the index that answers instead."""
    models: list[JsonValue] = [
        _model(str(model["model"]), str(model["model"]), "", is_default=model.get("default") is True)
        for model in _models(listed)
    ]
    why = "No model is configured: a turn is answered with the passages of the index that fit best."
    return models or [_model(INDEX, "CodePlane's index", why, is_default=True)]


def _models(listed: JsonObject) -> list[JsonObject]:
    providers = listed.get("providers")
    found: list[JsonObject] = []
    for provider in providers if isinstance(providers, list) else ():
        models = provider.get("models") if isinstance(provider, dict) else None
        found += [model for model in models if isinstance(model, dict)] if isinstance(models, list) else []
    return [model for model in found if model.get("allowed")]


def _model(name: str, title: str, description: str, *, is_default: bool) -> JsonObject:
    return {
        "id": name,
        "model": name,
        "displayName": title,
        "description": description,
        "hidden": False,
        "isDefault": is_default,
        "inputModalities": ["text"],
        "defaultReasoningEffort": "none",
        "supportedReasoningEfforts": [{"reasoningEffort": "none", "description": "as its settings say"}],
    }


def _seconds(view: JsonObject, name: str) -> int:
    return milliseconds(str(view[name])) // 1000
