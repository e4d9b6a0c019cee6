"""`cpl up`: serve a repository."""

import gc
import os
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import CodePlaneError, ServerRunning
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import (
    ServerFacts,
    addresses,
    addresses_to_json,
    facts_from_json,
    find_server,
    not_ready,
)
from codeplane.surfaces.cli.output import (
    JsonOption,
    RepoOption,
    SetOption,
    command_prefix,
    print_rows,
    report_errors,
    resolve_workspace,
)
from codeplane.surfaces.cli.owner_client import OwnerClient
from codeplane.surfaces.cli.server_process import POLL_SEC, START_TIMEOUT_SEC, start_server


@report_errors
def up(
    repo: RepoOption = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Start it in the background and return.")] = False,
    overrides: SetOption = None,
    no_refactor: Annotated[bool, typer.Option("--no-refactor", help="Without the refactor operations.")] = False,
    install: Annotated[
        bool, typer.Option("--install", help="Have systemd start it when you log in, also after a reboot.")
    ] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Undo --install.")] = False,
    as_json: JsonOption = False,
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
) -> None:
    """Start the server for a repository; Ctrl+C stops it. Does nothing when it already runs."""
    workspace = resolve_workspace(repo)
    if install or uninstall:
        _set_unit(workspace, install=install, overrides=overrides or [])
        return
    if no_refactor:
        overrides = [*(overrides or ()), "refactor.enabled=false"]
    running = find_server(workspace)
    if running is not None:
        _show(workspace, running, as_json=as_json, note="already running")
        if overrides:
            print("warning: --set has no effect on it; cpl down first", file=sys.stderr)
        return
    if detach:
        facts, started = start_server(workspace, overrides=overrides or ())
        problem = _wait_until_ready(workspace, facts)
        _show(workspace, facts, as_json=as_json, note="started" if started else "already running")
        if problem is not None:
            print(f"warning: not ready yet: {problem}; see: cpl status", file=sys.stderr)
        return
    deadline = time.monotonic() + START_TIMEOUT_SEC
    while running is None:
        try:
            _serve(workspace, overrides or [], background=background, as_json=as_json)
            return
        except ServerRunning:
            # Another one starts or ends this very moment, or a command has the repository for a moment.
            if time.monotonic() > deadline:
                raise
        time.sleep(POLL_SEC)
        running = find_server(workspace)
    _show(workspace, running, as_json=as_json, note="already running")


def _set_unit(workspace: Workspace, *, install: bool, overrides: list[str]) -> None:
    """Write the unit of systemd that starts the server, or remove it."""
    from codeplane.adapters.coding_clients.install_record import record_folders
    from codeplane.adapters.systemd_unit import UserUnit

    unit = UserUnit.of(workspace.root, home=Path.home(), environ=os.environ)
    if not install:
        print(f"deleted    {unit.path}" if unit.remove() else f"unchanged  {unit.path} is not there")
        return
    was_there, running = unit.is_installed, find_server(workspace)
    settings = [part for item in overrides for part in ("--set", item)]
    # -P as for any server: modules of the repository must not stand in for ours.
    command = [sys.executable, "-P", "-m", "codeplane", "up", "--repo", str(unit.root), *settings]
    with record_folders(unit.path):
        unit.install(command, start=running is None)
    print(f"{'updated' if was_there else 'created'}    {unit.path}")
    print("undo it: cpl up --uninstall", file=sys.stderr)
    if running is not None:
        print(f"the server that runs (pid {running.pid}) goes on; systemd starts one when you log in", file=sys.stderr)
    print("to start it before you log in: loginctl enable-linger", file=sys.stderr)


def _wait_until_ready(workspace: Workspace, facts: ServerFacts) -> str | None:
    """Wait until the server is ready, with a progress bar on a terminal; return why it is not, or None."""
    if sys.stderr.isatty() and not_ready(facts) is not None:
        _show_progress(workspace, facts)
    deadline = time.monotonic() + START_TIMEOUT_SEC
    # Wait only for the first index; report a full disk at once.
    while "INDEX_NOT_READY" in ((problem := not_ready(facts)) or "") and time.monotonic() < deadline:
        time.sleep(POLL_SEC)
    return problem


def _serve(workspace: Workspace, overrides: list[str], *, background: bool, as_json: bool) -> None:
    from codeplane.adapters.allocator import share_one_arena
    from codeplane.adapters.home import prepare_home
    from codeplane.adapters.yaml_config import load_workspace_config

    # Until the server is ready hardly anything goes away, and looking for it would be an eighth of the start.
    gc.disable()
    share_one_arena()
    prepare_home(workspace)
    loaded = load_workspace_config(workspace, overrides, os.environ)
    if background:
        loaded = loaded.without_terminal()

    import asyncio

    import uvloop

    from codeplane.processes.home_core import HomeCore
    from codeplane.wiring.serve import Serving

    def announce(wire: JsonObject) -> None:
        if not background:
            facts = facts_from_json(wire)
            _show(workspace, facts, as_json=as_json, note="Ctrl+C ends it")
            sys.stdout.flush()
            if sys.stderr.isatty() and not as_json:
                threading.Thread(target=_show_progress, args=(workspace, facts), daemon=True).start()

    async def run() -> None:
        binding = asyncio.ensure_future(HomeCore().follow()) if loaded.config.server.one_core else None
        try:
            await Serving(workspace, loaded=loaded, detached=background, announce=announce).run()
        finally:
            if binding is not None:
                binding.cancel()

    uvloop.run(run())


def _show_progress(workspace: Workspace, facts: ServerFacts) -> None:
    """Show the progress of the index until it is built."""
    from codeplane.surfaces.cli.progress import follow

    def index() -> JsonObject | None:
        try:
            result = OwnerClient(workspace, facts).call("status", {"include": ["index"]}).get("result")
        except CodePlaneError:
            return None
        state = result.get("index") if isinstance(result, dict) else None
        return state if isinstance(state, dict) else None

    follow(index)


def _show(workspace: Workspace, facts: ServerFacts, *, as_json: bool, note: str) -> None:
    if as_json:
        address: JsonObject = {"url": facts.url, "pid": facts.pid, "port": facts.port, "repo": str(workspace.root)}
        print(dumps({**address, **addresses_to_json(facts), "note": note}))
        return
    from codeplane.adapters.coding_clients.own_entry import cpl_path

    clients = _clients(workspace)
    cpl, repo_option = command_prefix(cpl_path(), workspace.root, cwd=Path.cwd())
    rows = [
        ("CodePlane", f"{facts.version}, pid {facts.pid}, {note}"),
        ("repository", str(workspace.root)),
        ("dashboard", f"{facts.url}/dashboard"),
        ("sign in", f"{cpl} dashboard{repo_option}"),
        ("MCP", f"{facts.url}/mcp"),
        ("Connect", f"{facts.url}/codeplane.v1"),
        *addresses(facts),
        ("events", f"{facts.url}/events"),
        ("health", f"{facts.url}/health"),
        ("status", f"{facts.url}/status"),
        ("metrics", f"{facts.url}/metrics"),
        ("clients", clients),
        ("next", _next(clients, cpl=cpl, meant=repo_option)),
    ]
    there = find_spec("codeplane.surfaces.web") is not None
    print_rows([(name, value) for name, value in rows if value and (there or name not in ("dashboard", "sign in"))])


def _clients(workspace: Workspace) -> str:
    """Return the coding clients found here, and which are registered."""
    from codeplane.adapters.coding_clients.own_entry import plan_workspace

    try:
        planned = plan_workspace(workspace, [])
    except Exception:  # cpl init reports broken client settings
        return ""
    known = {change.client: change.action == "unchanged" for change in planned}
    clients = [f"{name} (registered)" if there else f"{name} (not registered)" for name, there in known.items()]
    return ", ".join(clients) or "none found; any MCP client can start: cpl mcp"


def _next(clients: str, *, cpl: str, meant: str) -> str:
    first = f"{cpl} search WORDS{meant}" if "(registered)" in clients else f"{cpl} init{meant} registers your clients"
    return f"{first}; also: dashboard, status, log -f, down"
