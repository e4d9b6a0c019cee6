"""`cpl agents acp|test|add|remove`: agents of others that run threads."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument, NotFound, WorkspaceNotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.commands.agents import agents
from codeplane.surfaces.cli.commands.call import ask
from codeplane.surfaces.cli.discovery import find_server, find_workspace
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors
from codeplane.surfaces.cli.owner_client import open_owner_client

Name = Annotated[str, typer.Argument(help="The agent's name, as in claude-code.")]


@agents.command("acp")
@report_errors
def list_outside(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the agents of others that can run threads: how they are started, and what they may see."""
    ask("acp_agent.list", {}, repo, as_json=as_json)


@agents.command()
@report_errors
def test(name: Name, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Start an agent of others in an empty folder and end it again; exits with 1 when it does not come up."""
    ask("acp_agent.test", {"agent": name}, repo, as_json=as_json)


@agents.command()
@report_errors
def add(
    name: Name,
    command: Annotated[list[str] | None, typer.Argument(help="The program and its arguments, after --.")] = None,
    env: Annotated[list[str] | None, typer.Option("--env", help="NAME=VALUE; ${SECRET} for a secret.")] = None,
    home: Annotated[list[str] | None, typer.Option("--home", help="What of your home it gets a copy of.")] = None,
    readable: Annotated[list[str] | None, typer.Option("--readable", help="A further folder that it reads.")] = None,
    network: Annotated[bool, typer.Option("--network", help="Let it reach the network.")] = False,
) -> None:
    """Add an agent that speaks ACP to your own settings: one by its name (claude-code, codex, gemini, goose, opencode),
    or any with its command: cpl agents add NAME -- COMMAND ARGS."""
    from codeplane.adapters.known_agents import KNOWN

    if command:
        entry: JsonObject = {"command": command[0], "args": list[JsonValue](command[1:]), "network": network}
    elif name in KNOWN:
        entry = KNOWN[name].settings(os.environ)
    else:
        raise InvalidArgument(
            f"{name!r} is not known", hint=f"use {', '.join(sorted(KNOWN))}; or: cpl agents add {name} -- COMMAND ARGS"
        )
    entry |= {"home": list[JsonValue](home)} if home else {}
    entry |= {"readable": list[JsonValue](readable)} if readable else {}
    if env:
        known = entry.get("env")
        entry["env"] = {**(known if isinstance(known, dict) else {}), **_pairs(env)}
    _store(name, entry)
    print(f"added {name}")
    for line in _sees(entry):
        print(line, file=sys.stderr)
    _reload()
    print(f"next: cpl agents test {name}, then cpl chat --agent {name}", file=sys.stderr)


@agents.command()
@report_errors
def remove(name: Name) -> None:
    """Remove an agent that `cpl agents add` added."""
    from codeplane.adapters.agent_settings import NAME, AgentSettings

    folder = _folder()
    if not AgentSettings(folder).remove(name):
        raise NotFound(f"{folder / NAME} has no agent {name!r}", hint="list them: cpl agents acp")
    print(f"removed {name}")
    _reload()


def _sees(entry: JsonObject) -> list[str]:
    """What an agent may see, a line each."""
    home, env = entry.get("home"), entry.get("env")
    lines = [f"it gets a copy of ~/{name}" for name in home] if isinstance(home, list) else []
    lines += [f"it is given ${name}" for name in env] if isinstance(env, dict) else []
    reach = "reaches the network" if entry.get("network") else "does not reach the network"
    return [*lines, f"it {reach}, and works in a sandbox: your checkout changes only when you apply its diff"]


def _pairs(given: list[str]) -> JsonObject:
    pairs: JsonObject = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InvalidArgument(f"{pair!r} is not NAME=VALUE")
        pairs[name] = value
    return pairs


def _store(name: str, entry: JsonObject) -> None:
    """Put an agent into the file of settings, unless a server could not start with it."""
    from pydantic import ValidationError

    from codeplane.adapters.agent_settings import AgentSettings
    from codeplane.kernel.config import AgentsConfig

    try:
        AgentsConfig.model_validate({"acp": {name: entry}})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"] if part != "[key]")
        raise InvalidArgument(f"{where}: {first['msg']}", hint="cpl agents add --help") from error
    AgentSettings(_folder()).add({name: entry})


def _folder() -> Path:
    from codeplane.adapters.yaml_config import user_folder

    folder = user_folder(os.environ)
    if folder is None:
        raise InvalidArgument("there is no home folder to keep settings in", hint="set HOME or XDG_CONFIG_HOME")
    return folder


def _reload() -> None:
    """Have the server of this repository take the settings over, if one runs."""
    try:
        workspace = find_workspace(Path(), explicit=False)
    except WorkspaceNotFound:
        return
    if find_server(workspace) is not None:
        with open_owner_client(workspace) as client:
            answer = client.call("acp_agent.reload", {})
        if isinstance(error := answer.get("error"), dict):
            print(f"warning: the running server did not take it over: {error['message']}", file=sys.stderr)
