"""The test operations of a repository of the test's own, through the door."""

import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.actor import Caller, Progress
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.query.knowledge import Knowledge
from codeplane.testing.operations import TestOperations
from codeplane.testing.sandbox import Sandbox
from codeplane.testing.suite import Suite
from codeplane.wiring.app import load_workspace_config
from codeplane.wiring.edit import TestTools
from tests.kernel.plane import running_here


@dataclass(frozen=True, kw_only=True)
class Door:
    """Calls operations, and holds what is behind them."""

    conveyor: Conveyor
    suite: Suite
    knowledge: Knowledge
    root: Path
    said: list[Progress]

    async def ask(self, operation: str, **arguments: object) -> JsonObject:
        """The envelope of a call, text included."""
        caller = Caller(surface="mcp", client="test", connection_id="test", on_progress=self._note)
        outcome = await self.conveyor.call(operation, arguments, caller)  # type: ignore[arg-type]  # plain JSON
        envelope: JsonObject = json.loads(outcome.to_json(with_text=True))
        return envelope

    async def run(self, **arguments: object) -> JsonObject:
        """The result of a run that is no error."""
        envelope = await self.ask("test.run", **arguments)
        found = envelope.get("result")
        assert isinstance(found, dict), envelope
        return {**found, "text": envelope["text"], "warnings": envelope["meta"].get("warnings", [])}  # type: ignore[union-attr]

    async def parsed(self) -> None:
        """Wait until what syntax says of every file is known: what is near is told with less before that."""
        snapshot = await (await self.knowledge.fresh()).snapshot(strict=True)
        while (await self.knowledge.wait_for_facts(snapshot)).files:
            pass

    async def _note(self, progress: Progress) -> None:
        self.said.append(progress)


def written(root: Path, files: Mapping[str, str]) -> Path:
    """A git repository with these files, committed."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    quiet = {"cwd": root, "check": True, "capture_output": True}
    subprocess.run([*git, "init", "-q"], **quiet)  # type: ignore[call-overload]
    subprocess.run([*git, "add", "-A"], **quiet)  # type: ignore[call-overload]
    subprocess.run([*git, "commit", "-qm", "first", "--allow-empty"], **quiet)  # type: ignore[call-overload]
    return root.resolve()


@asynccontextmanager
async def open_door(
    root: Path,
    *settings: str,
    sandbox: Sandbox | None = None,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Door]:
    """The operations over a root; without another sandbox, with the machine's own."""
    workspace = Workspace(root=root.resolve())
    loaded = load_workspace_config(workspace, settings, {}).without_terminal()
    async with running_here(workspace, loaded=loaded) as plane:
        variables = dict(os.environ) if environment is None else dict(environment)
        tools = TestTools.at(workspace.home, variables, plane.secrets, sandbox=sandbox)
        knowledge = plane.edits.knowledge
        suite = tools.suite(root=workspace.root, home=workspace.home, knowledge=knowledge, config=loaded.config.tests)
        operations = TestOperations(root=workspace.root, suite=suite, cursors=Cursors(clock=plane.clock))
        # The same stages as everyone's; only the catalogue is the test's own.
        conveyor = Conveyor(catalogue=Catalogue([operations]), ports=plane.conveyor.ports)
        try:
            yield Door(conveyor=conveyor, suite=suite, knowledge=knowledge, root=workspace.root, said=[])
        finally:
            await suite.stop()
