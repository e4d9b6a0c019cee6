"""Checks of external services: models, search, collectors."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, ok, warn
from codeplane.surfaces.cli.diagnosis.server_probe import restart_command
from codeplane.surfaces.cli.discovery import ServerFacts

if TYPE_CHECKING:
    from codeplane.kernel.config import Config

_CONNECT_SEC = 3.0
_PORTS = {"http": 80, "https": 443}


def external_services(workspace: Workspace, config: "Config", facts: ServerFacts | None) -> Check:
    """Check for endpoints that do not answer, unset variables, and missing files and folders."""
    if problems := [*_problems(config, facts), *_folders(workspace, config)]:
        messages, ways = zip(*problems, strict=True)
        return warn("outside", "; ".join(messages), "; ".join(ways))
    named = [setting for setting, address in _addresses(config) if address]
    return ok("outside", f"answers: {', '.join(named)}" if named else "nothing outside is named in the settings")


def _problems(config: "Config", facts: ServerFacts | None) -> Iterator[tuple[str, str]]:
    embeddings, observe = config.embeddings, config.observe
    if embeddings.model in ("model2vec", "onnx") and not Path(embeddings.folder or "/nowhere").is_dir():
        message = f"embeddings.folder {embeddings.folder!r} is not there: nothing is found by meaning"
        yield message, f"set it to where the files of the {embeddings.model} model are"
    wanted = {
        "embeddings.key_variable": embeddings.key_variable if embeddings.model == "endpoint" else "",
        "observe.otlp_header_variable": observe.otlp_header_variable if observe.otlp_endpoint else "",
    }
    stored = _stored_keys() if config.models.providers else {}
    for provider in config.models.providers:
        if provider.name not in stored:
            wanted[f"models.providers: {provider.name}"] = provider.api_key_env
    for setting, variable in wanted.items():
        if variable and not os.environ.get(variable):
            yield (
                f"{setting} names {variable}, which is not set here",
                f"export {variable}=…, then {restart_command(facts)}",
            )
    for setting, address in _addresses(config):
        if address and (message := _unreachable(address)):
            yield f"{setting} {address} does not answer: {message}", f"start what should be there, or change {setting}"


def _stored_keys() -> dict[str, str]:
    from codeplane.adapters.provider_keys import ProviderKeys
    from codeplane.adapters.yaml_config import user_folder

    folder = user_folder(os.environ)
    return ProviderKeys(folder).read() if folder is not None else {}


def _folders(workspace: Workspace, config: "Config") -> Iterator[tuple[str, str]]:
    for root in config.workspaces.roots:
        if not (workspace.root / Path(root).expanduser()).is_dir():
            yield f"workspaces.roots names {root}, which is not a folder", "change workspaces.roots"


def _addresses(config: "Config") -> tuple[tuple[str, str], ...]:
    return (
        ("embeddings.base_url", config.embeddings.base_url if config.embeddings.model == "endpoint" else ""),
        ("web.search_url", config.web.search_url if config.web.enabled else ""),
        ("observe.otlp_endpoint", config.observe.otlp_endpoint),
        *((f"models.providers: {provider.name}", provider.base_url) for provider in config.models.providers),
    )


def _unreachable(address: str) -> str:
    """Return why nothing accepts a connection there; empty when something does."""
    try:
        url = urlsplit(address)
        port = url.port or _PORTS[url.scheme]
        socket.create_connection((url.hostname or "", port), timeout=_CONNECT_SEC).close()
    except (ValueError, KeyError):
        return "it is no address"
    except OSError as error:
        return error.strerror or str(error)
    return ""
