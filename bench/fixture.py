"""What every benchmark of ours runs on: a scratch repository and two operations that do nothing."""

import os
import subprocess
from pathlib import Path

from codeplane.adapters.yaml_config import LoadedConfig
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Budget, Request, Result, Risk, operation
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config, prepare_home


class Value(Request):
    """A number."""

    value: int


class Done(Result):
    """The number after it."""

    value: int

    def text(self) -> str:
        return str(self.value)


class BenchOperations:
    """The least a read and a write can be, so that what is measured is everything around them."""

    @operation("bench.read", risk=Risk.READ, toolset="core")
    async def read(self, call: Call, request: Value) -> Done:
        """Answer with the next number."""
        return Done(value=request.value + 1)

    @operation("bench.write", risk=Risk.WRITE, budget=Budget.MUTATION, toolset="core")
    async def write(self, call: Call, request: Value) -> Done:
        """Answer with the next number, as a mutation."""
        return Done(value=request.value + 1)


_LIMITS = ("limits.max_mutations=1000000",)


def scratch(folder: Path, *settings: str) -> tuple[Workspace, LoadedConfig]:
    """A repository with one commit and the default settings, but for limits that a benchmark would use up."""
    folder.mkdir(parents=True, exist_ok=True)
    named = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "--message", "first"]):
        subprocess.run(["git", *named, *arguments], cwd=folder, check=True)
    workspace = Workspace(root=folder.resolve())
    prepare_home(workspace)
    loaded = load_workspace_config(workspace, [*_LIMITS, *settings], {"PATH": os.environ.get("PATH", "")})
    return workspace, loaded.without_terminal()
