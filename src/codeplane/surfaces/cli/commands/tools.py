"""`cpl tools`: servers of outside tools: list, test, trust, add, import and remove them, and keep their secrets."""

import getpass
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.commands.call import ask
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors
from codeplane.surfaces.cli.own_settings import (
    parse_pairs,
    prepare_settings_folder,
    reload_server,
    settings_folder,
    validate_settings,
)

tools = typer.Typer(help="Tools of other programs: MCP servers and plugins.", no_args_is_help=False)

Name = Annotated[str, typer.Argument(help="The server's name, the middle part of ext.NAME.TOOL.")]
_MAX_SECRET = 65_536


@tools.callback(invoke_without_command=True)
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the servers, their state, their tools with risk and identity, and their last errors."""
    if context.invoked_subcommand is None:
        ask("tools.list", {}, repo, as_json=as_json)


@tools.command("list")
@report_errors
def list_servers(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the servers and their tools."""
    ask("tools.list", {}, repo, as_json=as_json)


@tools.command()
@report_errors
def test(name: Name, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Connect a server again and list its tools; exits with 1 when it does not come up."""
    ask("tools.test", {"server": name}, repo, as_json=as_json)


@tools.command()
@report_errors
def trust(
    name: Name,
    tool: Annotated[list[str] | None, typer.Argument(help="Tools by the server's names; without any, all.")] = None,
    risk: Annotated[
        str, typer.Option("--risk", help="read, write, exfiltration, high or destructive; else what the server says.")
    ] = "",
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust them no longer.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Trust tools as they are now; one that its server changes asks again."""
    asked: JsonObject = {"server": name, "tools": list[JsonValue](tool or [])}
    asked |= {"risk": risk} if risk else {}
    ask("tools.distrust" if revoke else "tools.trust", asked, repo, as_json=as_json)


@tools.command()
@report_errors
def add(
    name: Name,
    command: Annotated[list[str] | None, typer.Argument(help="The program and its arguments, after --.")] = None,
    url: Annotated[str, typer.Option("--url", help="Of a server over HTTP, instead of a command.")] = "",
    env: Annotated[list[str] | None, typer.Option("--env", help="NAME=VALUE; ${SECRET} for a secret.")] = None,
    header: Annotated[list[str] | None, typer.Option("--header", help="NAME=VALUE; ${SECRET} for a secret.")] = None,
    identity: Annotated[str, typer.Option("--identity", help="Whose account it acts with: user, bot or none.")] = "",
    network: Annotated[bool, typer.Option("--network", help="Let it reach the network from the sandbox.")] = False,
    workspace: Annotated[str, typer.Option("--workspace", help="none, read or write the repository.")] = "",
    readable: Annotated[list[str] | None, typer.Option("--readable", help="A further folder that it reads.")] = None,
    writable: Annotated[list[str] | None, typer.Option("--writable", help="A further folder that it writes.")] = None,
    sandbox: Annotated[bool, typer.Option("--sandbox/--no-sandbox", help="Run it in the sandbox.")] = True,
) -> None:
    """Add an MCP server to your own settings: cpl tools add NAME -- COMMAND ARGS, or --url."""
    words = command or []
    entry: JsonObject = {
        **({"command": words[0]} if words else {}),
        **({"args": list[JsonValue](words[1:])} if words[1:] else {}),
        **({"url": url} if url else {}),
        **({"env": parse_pairs(env)} if env else {}),
        **({"headers": parse_pairs(header)} if header else {}),
        **({"identity": identity} if identity else {}),
        **({"network": True} if network else {}),
        **({"workspace": workspace} if workspace else {}),
        **({"readable": list[JsonValue](readable)} if readable else {}),
        **({"writable": list[JsonValue](writable)} if writable else {}),
        **({} if sandbox else {"sandbox": "off"}),
    }
    _store({name: entry})
    print(f"added {name}")
    reload_server(("tools.reload", {}))
    print(f"next: cpl tools test {name}, then cpl tools trust {name}", file=sys.stderr)


@tools.command("import")
@report_errors
def import_tools(
    source: Annotated[str, typer.Argument(help="A client, as in claude-code, cursor or codex; or a file of one.")],
    network: Annotated[bool, typer.Option("--network", help="Let them reach the network from the sandbox.")] = False,
    repo: RepoOption = None,
) -> None:
    """Import the MCP servers of another client; what looks like a secret is kept sealed."""
    from codeplane.adapters.coding_clients.clients import Host
    from codeplane.adapters.tool_import import import_servers
    from codeplane.adapters.tool_secrets import ToolSecrets

    host = Host(repo=(repo or Path()).resolve(), home=Path.home(), cpl=Path("cpl"), environ=os.environ)
    imported = import_servers(source, host)
    for entry in imported.servers.values():
        if network and "command" in entry:
            entry["network"] = True
    _store(imported.servers)
    secrets = ToolSecrets(prepare_settings_folder())
    for name, value in imported.secrets.items():
        secrets.store(name, value)
    for name in imported.servers:
        print(f"added {name}")
    for note in [*imported.notes, *(f"sealed {name}" for name in imported.secrets)]:
        print(note, file=sys.stderr)
    reload_server(("tools.reload", {}))
    if not network and any("command" in entry for entry in imported.servers.values()):
        print("they run in the sandbox without the network; with it: cpl tools import --network", file=sys.stderr)


@tools.command()
@report_errors
def remove(name: Name) -> None:
    """Remove a server that `cpl tools` added, with its token."""
    from codeplane.adapters.tool_secrets import ToolTokens
    from codeplane.adapters.tool_settings import NAME, ToolSettings

    folder = settings_folder()
    if not ToolSettings(folder).remove(name):
        raise NotFound(f"{folder / NAME} has no server {name!r}", hint="list them: cpl tools")
    ToolTokens(folder).remove(name)
    print(f"removed {name}")
    reload_server(("tools.reload", {}))


@tools.command()
@report_errors
def secret(
    name: Annotated[str, typer.Argument(help="As in ${NAME} of env and headers.")],
    forget: Annotated[bool, typer.Option("--remove", help="Forget it instead.")] = False,
) -> None:
    """Keep a secret of outside tools, read from the terminal or from stdin, sealed in your own settings folder."""
    from codeplane.adapters.tool_secrets import ToolSecrets

    secrets = ToolSecrets(settings_folder())
    if forget:
        if not secrets.remove(name):
            raise NotFound(f"there is no secret {name!r}", hint=f"cpl tools secret {name}")
        print(f"forgot {name}")
    else:
        value = getpass.getpass(f"{name}: ") if sys.stdin.isatty() else sys.stdin.readline(_MAX_SECRET)
        if not value.strip():
            raise InvalidArgument("no secret was given", hint=f"cpl tools secret {name}, then type or paste it")
        prepare_settings_folder()
        secrets.store(name, value.strip())
        print(f"{name} is kept, sealed")
    reload_server(("tools.reload", {}))


@tools.command()
@report_errors
def login(
    name: Name,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    repo: RepoOption = None,
) -> None:
    """Sign in to an MCP server over HTTP with your account; the token is kept sealed and refreshed by itself."""
    import asyncio

    from codeplane.surfaces.cli.output import resolve_workspace
    from codeplane.wiring.app import load_workspace_config
    from codeplane.wiring.tool_sign_in import sign_in

    def show(url: str) -> None:
        print(f"open this page to sign in:\n{url}", file=sys.stderr)
        if browser:
            import webbrowser

            webbrowser.open(url)

    loaded = load_workspace_config(resolve_workspace(repo), (), os.environ)
    asyncio.run(sign_in(name, loaded, show))
    print(f"signed in to {name}; the token is kept, sealed")
    reload_server(("tools.reload", {}), ("tools.test", {"server": name}))


def _store(servers: dict[str, JsonObject]) -> None:
    """Put servers into the file of settings, unless a server could not start with them."""
    from codeplane.adapters.tool_settings import ToolSettings
    from codeplane.kernel.config import McpConfig

    validate_settings(McpConfig, {"servers": servers}, hint="cpl tools add --help")
    folder = prepare_settings_folder()
    ToolSettings(folder).add(servers)
    own = folder / "config.yaml"
    if own.is_file() and "servers" in _own_mcp(own):
        print(f"warning: {own} has mcp.servers of its own, which count instead", file=sys.stderr)


def _own_mcp(path: Path) -> JsonObject:
    from codeplane.adapters.yaml_document import Document, Origin

    value = Document.parse(path.read_text(), Origin(name=str(path), is_file=True)).value
    mcp = value.get("mcp") if isinstance(value, dict) else None
    return mcp if isinstance(mcp, dict) else {}
