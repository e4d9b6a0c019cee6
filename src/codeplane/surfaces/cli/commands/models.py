"""`cpl models`: list, test, add and remove language models, and keep their keys."""

import getpass
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument, NotFound, WorkspaceNotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.commands.call import show as print_answer
from codeplane.surfaces.cli.diagnosis.server_probe import restart_command
from codeplane.surfaces.cli.discovery import find_server, find_workspace
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.own_settings import prepare_settings_folder, settings_folder, validate_settings
from codeplane.surfaces.cli.owner_client import open_owner_client

models = typer.Typer(help="Language models: which may be asked, and whether they answer.", no_args_is_help=False)

Name = Annotated[str, typer.Argument(help="The provider's name, the first part of provider/model.")]
_MAX_KEY = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class _Preset:
    """The defaults of a known provider."""

    kind: str = "openai"
    url: str = ""
    key_env: str = ""
    model: str = ""


_PRESETS = {
    "openai": _Preset(url="https://api.openai.com/v1", key_env="OPENAI_API_KEY"),
    "anthropic": _Preset(kind="anthropic", url="https://api.anthropic.com", key_env="ANTHROPIC_API_KEY"),
    "openrouter": _Preset(url="https://openrouter.ai/api/v1", key_env="OPENROUTER_API_KEY"),
    "ollama": _Preset(url="http://127.0.0.1:11434/v1"),
    "lmstudio": _Preset(url="http://127.0.0.1:1234/v1"),
    "llamacpp": _Preset(url="http://127.0.0.1:8080/v1"),
    "vllm": _Preset(url="http://127.0.0.1:8000/v1"),
    "embedded": _Preset(kind="embedded", model="smollm2-135m"),
}


@models.callback(invoke_without_command=True)
@report_errors
def show(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the models that may be asked, what was used today, and what is wrong with the settings."""
    if context.invoked_subcommand is None:
        _ask("model.list", {}, repo, as_json=as_json)


@models.command()
@report_errors
def test(
    model: Annotated[str, typer.Argument(help="provider/model; without it, the default.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a model a short question and print how it answers; exits with 1 when it does not."""
    _ask("model.test", {"model": model}, repo, as_json=as_json)


@models.command()
@report_errors
def add(
    name: Name,
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="A model that may be asked.")] = None,
    url: Annotated[str, typer.Option("--url", help="Its address, up to and with /v1.")] = "",
    kind: Annotated[str, typer.Option("--kind", help="openai, anthropic or embedded.")] = "",
    key_env: Annotated[str, typer.Option("--key-env", help="The environment variable that holds its key.")] = "",
    price: Annotated[
        str, typer.Option("--price", metavar="IN,OUT", help="US dollars for a million tokens of prompt and answer.")
    ] = "",
    default: Annotated[bool, typer.Option("--default", help="Ask it where a call names no model.")] = False,
    external: Annotated[bool, typer.Option("--external", help="Agree that prompts leave this machine.")] = False,
) -> None:
    """Add a provider to your own settings; openai, anthropic, openrouter, ollama, lmstudio, llamacpp, vllm and embedded
    are known by name."""
    from codeplane.adapters.model_http import is_loopback
    from codeplane.adapters.model_settings import ModelSettings
    from codeplane.kernel.config import ModelProviderConfig

    known = _PRESETS.get(name, _Preset())
    address, names = url or known.url, list(model or ([known.model] if known.model else []))
    chosen = kind or known.kind
    if not names:
        raise InvalidArgument(f"no model of {name} is named", hint=f"cpl models add {name} --model MODEL")
    if not address and chosen == "openai":
        raise InvalidArgument(f"the address of {name} is not known", hint=f"cpl models add {name} --url URL --model …")
    is_external = bool(address) and not is_loopback(address)
    if is_external and not external:
        raise InvalidArgument(
            f"{address} is another machine: prompts, with code of yours in them, would leave this one",
            hint="add --external if they may",
        )
    provider: JsonObject = {"name": name, "kind": chosen, "models": list[JsonValue](names)}
    variable = key_env or ("" if url else known.key_env)
    provider |= {"base_url": address} if address else {}
    provider |= {"api_key_env": variable} if variable else {}
    provider |= {"prices": [_price(entry, price) for entry in names]} if price else {}
    validate_settings(ModelProviderConfig, provider, hint="cpl models add --help")
    ModelSettings(prepare_settings_folder()).add(provider, is_default=default, is_external=is_external)
    print(f"added {name}: {', '.join(f'{name}/{entry}' for entry in names)}")
    if variable and not os.environ.get(variable):
        print(f"next: export {variable}=…, or keep the key sealed: cpl models key {name}", file=sys.stderr)
    _say_restart()


@models.command()
@report_errors
def remove(name: Name) -> None:
    """Remove a provider that `cpl models add` added, with its key."""
    from codeplane.adapters.model_settings import NAME, ModelSettings
    from codeplane.adapters.provider_keys import ProviderKeys

    folder = settings_folder()
    if not ModelSettings(folder).remove(name):
        raise NotFound(f"{folder / NAME} has no provider {name!r}", hint="list them: cpl models")
    ProviderKeys(folder).remove(name)
    print(f"removed {name}")
    _say_restart()


@models.command()
@report_errors
def key(
    name: Name,
    forget: Annotated[bool, typer.Option("--remove", help="Forget the key instead.")] = False,
) -> None:
    """Keep a provider's key, read from the terminal or from stdin, sealed in your own settings folder."""
    from codeplane.adapters.provider_keys import ProviderKeys

    keys = ProviderKeys(settings_folder())
    if forget:
        if not keys.remove(name):
            raise NotFound(f"there is no key of {name!r}", hint="see what is configured: cpl models")
        print(f"forgot the key of {name}")
    else:
        secret = getpass.getpass(f"key of {name}: ") if sys.stdin.isatty() else sys.stdin.readline(_MAX_KEY)
        if not secret.strip():
            raise InvalidArgument("no key was given", hint=f"cpl models key {name}, then type or paste it")
        prepare_settings_folder()
        keys.store(name, secret.strip())
        print(f"the key of {name} is kept, sealed")
    _say_restart()


def _ask(operation: str, asked: JsonObject, repo: Path | None, *, as_json: bool) -> None:
    """Call an operation and print its answer, with a warning when the server runs with settings of before."""
    from codeplane.observe.status import describe_changed_settings

    with open_owner_client(resolve_workspace(repo)) as client:
        envelope = client.call(operation, asked, text=not as_json)
        status = client.call("status", {"include": ["config"]}).get("result")
    if isinstance(status, dict) and (changed := describe_changed_settings(status.get("config"))):
        print(f"warning: {changed}", file=sys.stderr)
        error = envelope.get("error")
        if isinstance(error, dict) and "models." in changed:
            # What the server says to do may have been done already.
            envelope = {**envelope, "error": {**error, "hint": changed}}
    print_answer(envelope, as_json=as_json)


def _price(model: str, price: str) -> JsonObject:
    try:
        given, made = (float(part) for part in price.split(","))
    except ValueError as error:
        raise InvalidArgument(f"--price {price} is not IN,OUT", hint="as in --price 1.25,10") from error
    return {"model": model, "input": given, "output": made}


def _say_restart() -> None:
    try:
        facts = find_server(find_workspace(Path(), explicit=False))
    except WorkspaceNotFound:
        facts = None
    if facts is not None:
        print(f"next: {restart_command(facts)}, since a server reads its settings once", file=sys.stderr)
