"""Imported SCIP indexes: for how many files they still hold."""

from codeplane.kernel.counted import counted
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, ok, warn
from codeplane.surfaces.cli.diagnosis.served import Served


def scip(workspace: Workspace, served: Served | None) -> Check:
    """Indexes of other tools that speak of files as they were: what they raised is no longer certain."""
    if not (workspace.home / "scip.db").exists():
        return ok("scip", "no index was imported")
    if served is None:
        return ok("scip", "not known without a server")
    listed = served.asked("scip.status").get("indexes")
    indexes = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    for one in indexes:
        if int(str(one["holding"])) < int(str(one["documents"])):
            files = counted(int(str(one["documents"])), "file")
            said = f"{one['path']} by {one['tool']} holds for {one['holding']} of {files}"
            fix = f"run the indexer again, then cpl call scip.import path={one['path']}"
            return warn("scip", said, fix)
    return ok("scip", ", ".join(f"{one['path']} by {one['tool']}" for one in indexes) or "no index was imported")
