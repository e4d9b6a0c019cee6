"""`cpl demo` in a process of its own, with a temporary folder of its own to leave nothing in."""

import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path

from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.owner_client import OwnerClient
from tests.harness import CPL, spawn
from tests.warm_process import WarmProcess

SECONDS = 120
# So long nobody waits: what is waited for here comes sooner, or never.
FOREVER = ("--answer-after", "600")


class Demo:
    """A demo that plays."""

    def __init__(self, process: "subprocess.Popen[bytes] | WarmProcess") -> None:
        assert process.stdout is not None and process.stderr is not None
        self._process = process
        self._stdout, self._stderr = TextIOWrapper(process.stdout), TextIOWrapper(process.stderr)
        self.lines: list[str] = []

    def until(self, text: str) -> str:
        """Read on to the line that has this in it."""
        for line in self._stdout:
            self.lines.append(line.rstrip("\n"))
            if text in line:
                return self.lines[-1]
        raise AssertionError(f"{text!r} was not said in {self.lines}: {self.end()}")

    def signal(self, number: signal.Signals) -> None:
        """Tell it something."""
        self._process.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Its exit code and what it complained about, once it has ended."""
        self.lines += self._stdout.read().splitlines()
        return self._process.wait(timeout=SECONDS), self._stderr.read()

    def kill(self) -> None:
        """End what a failed test left."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=SECONDS)
        for pipe in (self._stdout, self._stderr):
            pipe.close()

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    @property
    def workspace(self) -> Workspace:
        """The repository that it says it plays in."""
        return Workspace(root=Path(self.value_of("folder")))

    @property
    def pid(self) -> int:
        """The server that it says it started."""
        return int(self.value_of("server").rpartition("(pid ")[2].rstrip(")"))

    def owner(self) -> OwnerClient:
        """A second client, with the owner's token."""
        facts = find_server(self.workspace)
        assert facts is not None
        return OwnerClient(self.workspace, facts)

    def value_of(self, name: str) -> str:
        """What stands behind a word at the beginning of a line."""
        return next(line.partition(" ")[2].strip() for line in self.lines if line.startswith(f"{name} "))


@contextmanager
def start_demo(folder: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> Iterator[Demo]:
    """A demo without pauses that has `folder` for temporary files."""
    demo = Demo(spawn([CPL, "demo", "--pace", "0", *arguments], {"TMPDIR": str(folder), **(environ or {})}))
    try:
        yield demo
    finally:
        demo.kill()


def programs(folder: Path, *names: str) -> str:
    """A PATH with these programs and no other."""
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found is not None, name
        (folder / name).symlink_to(Path(found).resolve())
    return str(folder)


def processes_in(folder: Path) -> list[str]:
    """The commands of processes that name a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in command:
            found.append(command)
    return found
