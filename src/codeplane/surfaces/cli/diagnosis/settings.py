"""Checks of the settings: readable, valid, and in force."""

import os
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn
from codeplane.surfaces.cli.diagnosis.server_probe import ServerProbe, restart_command

if TYPE_CHECKING:
    from codeplane.kernel.config import Config

_CORE, _ALL = "core", "all"


def settings(workspace: Workspace, served: ServerProbe | None) -> tuple[Check, "Config | None"]:
    """Check for settings that are unreadable or changed since the start; return the check and the settings."""
    from codeplane.adapters.yaml_config import load_workspace_config

    try:
        loaded = load_workspace_config(workspace, (), os.environ)
    except CodePlaneError as error:
        return fail("settings", error.message, error.hint), None
    if served is not None and (changed := _pending_settings(served)):
        return warn("settings", changed, restart_command(served.facts)), loaded.config
    return ok("settings", ", ".join(loaded.sources) or "defaults"), loaded.config


def names(workspace: Workspace, config: "Config", served: ServerProbe | None) -> Check:
    """Check for settings that name unknown operations, which have no effect."""
    toolsets = [name for name in map(str.strip, config.mcp.toolset.lower().split(",")) if name not in ("", _CORE, _ALL)]
    if not config.trust.allow and not toolsets:
        return ok("names", "no operation is named in the settings")
    known = _operations(served)
    for name in config.trust.allow:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            advice = f"write {near[0]} instead" if near else "cpl call lists the operations"
            return fail("names", f"trust.allow names {name!r}, no operation", advice)
    families = {name.partition(".")[0] for name in known if "." in name}
    for name in toolsets:
        if name not in families:
            return fail(
                "names", f"mcp.toolset names {name!r}, no family", f"use {_CORE}, {_ALL} or one that cpl call lists"
            )
    return ok("names", f"all {len(config.trust.allow) + len(toolsets)} that the settings name are there")


def contexts(workspace: Workspace) -> Check:
    """Check for a contexts.yaml that cannot be used."""
    from codeplane.index.contexts.contexts_file import NAME, ContextsFile

    try:
        choices = ContextsFile(workspace.home / NAME).load()
    except CodePlaneError as error:
        return warn("contexts", error.message, error.hint)
    decided = len(choices.entries)
    return ok("contexts", f"{decided} decided by you" if decided else "as they are found")


def _pending_settings(served: ServerProbe) -> str:
    """Return the changed settings that the server does not use yet."""
    from codeplane.observe.status import describe_changed_settings

    try:
        return describe_changed_settings(served.result_of("status", {"include": ["config"]}).get("config")).partition(
            "; then:"
        )[0]
    except CodePlaneError:
        # What keeps us from asking has a check of its own.
        return ""


def _operations(served: ServerProbe | None) -> set[str]:
    if served is not None:
        listed = served.result_of("operation.list").get("operations")
        return {str(row["name"]) for row in listed if isinstance(row, dict)} if isinstance(listed, list) else set()

    # Slow to import, and rarely needed.
    import asyncio

    from codeplane.wiring.app import load_workspace_config, run_plane

    async def catalogue() -> set[str]:
        with TemporaryDirectory() as folder:
            elsewhere = Workspace(root=Path(folder))
            loaded = load_workspace_config(elsewhere, (), {}).without_terminal()
            async with run_plane(elsewhere, loaded=loaded) as plane:
                return {operation.name for operation in plane.conveyor.catalogue}

    return asyncio.run(catalogue())
