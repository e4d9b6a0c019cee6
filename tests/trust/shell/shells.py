"""Shell operations over a repository of the test's own, in the real sandbox."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from codeplane.adapters.secret_files import SecretFiles
from codeplane.adapters.shell_processes import ShellProcesses
from codeplane.adapters.shell_sandbox import ShellSandbox
from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import ShellConfig
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonValue
from codeplane.kernel.secret_paths import NOTHING_SHOWN
from codeplane.trust.shell.command_run import RunLimits
from codeplane.trust.shell.models import BashResult
from codeplane.trust.shell.operations import ShellOperations, ShellParts
from codeplane.trust.shell.sandbox import MARK
from tests.harness import make_repo
from tests.trust.door import AGENT, Door, door

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="NOT TESTED: the shell's sandbox, since bubblewrap is not installed"
)
BOUNDS = RunLimits(processes=200, grace_sec=0.5)


class Missing:
    """A machine without a sandbox."""

    def unavailable_reason(self) -> str:
        return "bubblewrap (bwrap) is not installed"

    def command(self, argv: object, *, cwd: Path, network: bool) -> list[str]:
        raise AssertionError("nothing is enclosed here")

    def hidden_secrets(self) -> list[str]:
        raise AssertionError("nothing is enclosed here")


@dataclass(kw_only=True)
class Shell:
    """A repository with secrets around it, and the way to its shell."""

    door: Door
    root: Path
    home: Path
    ingested: list[tuple[str, str]] = field(default_factory=list)

    async def run(self, command: str, *, caller: Caller = AGENT, **arguments: JsonValue) -> BashResult:
        """A command that is answered."""
        outcome = await self.door.call("run_bash", caller=caller, command=command, **arguments)
        assert outcome.error is None, outcome.error
        assert isinstance(outcome.result, BashResult)
        return outcome.result

    async def refused(self, **arguments: JsonValue) -> str:
        """The name of the error that a call gets."""
        outcome = await self.door.conveyor.call("run_bash", arguments, AGENT)
        assert outcome.error is not None
        return outcome.error.name

    async def output(self, stream: str) -> list[Event]:
        """What was recorded of one stream of the newest command."""
        found = await self.door.events("shell.output")
        return [event for event in found if event.payload["stream"] == stream]


@asynccontextmanager
async def shell(
    tmp_path: Path, *, missing: bool = False, bounds: RunLimits = BOUNDS, **config: object
) -> AsyncIterator[Shell]:
    """A shell as the owner's settings make it."""
    root = make_repo(tmp_path.resolve() / "repo", {"README.md": "# example\n", "src/a.py": "a = 1\n"})
    home = tmp_path.resolve() / "home"
    for path, text in {
        root / ".codeplane" / "owner.token": "owner-secret",
        root / ".codeplane" / "policy" / "own.rego": "package codeplane",
        root / ".codeplane" / "config.yaml": "trust: {}\n",
        home / ".ssh" / "id_ed25519": "key-secret",
        home / ".aws" / "credentials": "cloud-secret",
        home / ".netrc": "netrc-secret",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    ingested: list[tuple[str, str]] = []

    async def ingest(call: Call, source: str, what: str) -> None:
        ingested.append((source, what))

    def environment(*, network: bool) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}

    enclosing = ShellSandbox(
        root=root,
        own=root / ".codeplane",
        cache=tmp_path / "cache",
        home=home,
        environment=os.environ,
        secrets=SecretFiles(serving=root, rules=NOTHING_SHOWN, empty=tmp_path / "empty"),
    )
    operations = ShellOperations(
        ShellParts(
            root=root,
            config=ShellConfig.model_validate(config),
            clock=SystemClock(),
            sandbox=Missing() if missing else enclosing,
            processes=ShellProcesses(variable=MARK),
            environment=environment,
            ingest=ingest,
            bounds=bounds,
        )
    )
    async with door(tmp_path / "log", operations) as opened:
        yield Shell(door=opened, root=root, home=home, ingested=ingested)
