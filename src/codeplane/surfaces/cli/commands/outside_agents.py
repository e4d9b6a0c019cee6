"""`cpl agents acp|test|add|remove`: outside agents that run threads."""

import os
import sys
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.commands.agents import agents
from codeplane.surfaces.cli.commands.call import ask
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors
from codeplane.surfaces.cli.own_settings import (
    parse_pairs,
    prepare_settings_folder,
    reload_server,
    settings_folder,
    validate_settings,
)

Name = Annotated[str, typer.Argument(help="The agent's name, as in claude-code.")]


@agents.command("acp")
@report_errors
def list_outside(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the outside agents that can run threads: how they are started, and what they may see."""
    ask("acp_agent.list", {}, repo, as_json=as_json)


@agents.command()
@report_errors
def test(name: Name, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Start an outside agent in an empty folder and end it again; exits with 1 when it does not come up."""
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
        entry["env"] = {**(known if isinstance(known, dict) else {}), **parse_pairs(env)}
    _store(name, entry)
    print(f"added {name}")
    for line in _sees(entry):
        print(line, file=sys.stderr)
    reload_server(("acp_agent.reload", {}))
    print(f"next: cpl agents test {name}, then cpl chat --agent {name}", file=sys.stderr)


@agents.command()
@report_errors
def remove(name: Name) -> None:
    """Remove an agent that `cpl agents add` added."""
    from codeplane.adapters.agent_settings import NAME, AgentSettings

    folder = settings_folder()
    if not AgentSettings(folder).remove(name):
        raise NotFound(f"{folder / NAME} has no agent {name!r}", hint="list them: cpl agents acp")
    print(f"removed {name}")
    reload_server(("acp_agent.reload", {}))


def _sees(entry: JsonObject) -> list[str]:
    """Describe what an agent may see, a line each."""
    home, env = entry.get("home"), entry.get("env")
    lines = [f"it gets a copy of ~/{name}" for name in home] if isinstance(home, list) else []
    lines += [f"it is given ${name}" for name in env] if isinstance(env, dict) else []
    reach = "reaches the network" if entry.get("network") else "does not reach the network"
    return [*lines, f"it {reach}, and works in a sandbox: your checkout changes only when you apply its diff"]


def _store(name: str, entry: JsonObject) -> None:
    """Put an agent into the file of settings, unless a server could not start with it."""
    from codeplane.adapters.agent_settings import AgentSettings
    from codeplane.kernel.config import AgentsConfig

    validate_settings(AgentsConfig, {"acp": {name: entry}}, hint="cpl agents add --help")
    AgentSettings(prepare_settings_folder()).add({name: entry})
