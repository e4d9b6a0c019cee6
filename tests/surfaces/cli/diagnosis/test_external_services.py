"""Endpoints that do not answer, and variables and files that are not there."""

import socket
from pathlib import Path

import pytest

from codeplane.adapters.model_settings import ModelSettings
from codeplane.adapters.provider_keys import ProviderKeys
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from tests.interaction.requirements import requirement
from tests.surfaces.cli.diagnosis.doctor_run import run_check, unused_port

pytestmark = requirement("CLI-22")

_ENDPOINTS = {
    "embeddings.base_url": "embeddings: {model: endpoint, endpoint_model: m, dimensions: 8, base_url: 'ADDRESS/v1'}",
    "web.search_url": "web: {search_url: 'ADDRESS/search'}",
    "observe.otlp_endpoint": "observe: {otlp_endpoint: 'ADDRESS'}",
}


@pytest.mark.parametrize("setting", _ENDPOINTS)
def test_an_endpoint_that_does_not_answer(workspace: Workspace, setting: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"http://127.0.0.1:{there.getsockname()[1]}"
        workspace.config.write_text(_ENDPOINTS[setting].replace("ADDRESS", address))
        assert (run_check(workspace, "outside").verdict, run_check(workspace, "outside").found) == (
            "ok",
            f"answers: {setting}",
        )
    with unused_port() as port:
        address = f"http://127.0.0.1:{port}"
        workspace.config.write_text(_ENDPOINTS[setting].replace("ADDRESS", address))
        found = run_check(workspace, "outside")
    assert found.verdict == "warn" and f"{setting} {address}" in found.found and setting in found.fix


def test_a_variable_that_is_not_set(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"http://127.0.0.1:{there.getsockname()[1]}"
        workspace.config.write_text(
            f"observe: {{otlp_endpoint: '{address}', otlp_header_variable: COLLECTOR_HEADER}}\n"
        )
        found = run_check(workspace, "outside")
        assert found.verdict == "warn" and "names COLLECTOR_HEADER, which is not set" in found.found
        monkeypatch.setenv("COLLECTOR_HEADER", "a=b")
        assert run_check(workspace, "outside").verdict == "ok"


def test_a_model_that_is_not_there(workspace: Workspace) -> None:
    workspace.config.write_text("embeddings: {model: onnx, folder: /nowhere/at/all}\n")
    found = run_check(workspace, "outside")
    assert found.verdict == "warn" and "'/nowhere/at/all' is not there" in found.found


def test_all_that_is_wrong_is_named(workspace: Workspace) -> None:
    with unused_port() as port:
        address = f"http://127.0.0.1:{port}"
        names = ("web.search_url", "observe.otlp_endpoint")
        lines = [_ENDPOINTS[name].replace("ADDRESS", address) for name in names]
        workspace.config.write_text("\n".join([*lines, "workspaces: {roots: [/nope, .]}\n"]))
        found = run_check(workspace, "outside")
    assert (
        found.verdict == "warn" and "workspaces.roots names /nope, " in found.found and "names ., " not in found.found
    )
    assert all(name in found.found and name in found.fix for name in (*names, "workspaces.roots"))


def test_nothing_is_named(workspace: Workspace) -> None:
    assert run_check(workspace, "outside").found == "nothing outside is named in the settings"


def test_a_provider_of_models(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own))
    with socket.create_server(("127.0.0.1", 0)) as there:
        provider: JsonObject = {
            "name": "mine",
            "kind": "openai",
            "base_url": f"http://127.0.0.1:{there.getsockname()[1]}/v1",
            "models": ["small"],
            "api_key_env": "MINE_KEY",
        }
        ModelSettings(own / "codeplane").add(provider, is_default=True, is_external=False)
        found = run_check(workspace, "outside")
        assert found.verdict == "warn" and "mine names MINE_KEY, which is not set" in found.found
        ProviderKeys(own / "codeplane").store("mine", "the key")
        assert run_check(workspace, "outside").found == "answers: models.providers: mine"
    found = run_check(workspace, "outside")
    assert found.verdict == "warn" and "models.providers: mine http://127.0.0.1" in found.found
