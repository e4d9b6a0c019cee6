"""Real servers for tests, in processes of their own, ended by their pid."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import IO, TypeVar
from urllib.parse import urlsplit

import pygit2

from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.owner_client import OwnerClient
from tests.warm_process import WarmProcess, can_be_forked

T = TypeVar("T")
AnyProcess = subprocess.Popen[bytes] | WarmProcess

CPL = str(Path(sys.executable).with_name("cpl"))
START_SEC = 60
# How long a test waits for what certainly comes: a machine that does much else at once may take long.
PATIENCE_SEC = 120.0


def make_repo(folder: Path, files: Mapping[str, str] | None = None) -> Path:
    """A git repository with a commit, the same that `git init`, `git add` and `git commit` make.

    Without their processes: of them alone, thousands of repositories took the tests longer than most of what they test.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (files or {"README.md": "# example\n"}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    repository = pygit2.init_repository(str(folder), initial_head="main")
    repository.index.add_all()
    repository.index.write()
    who = pygit2.Signature("Test", "test@example.com")
    before = [] if repository.head_is_unborn else [repository.head.target]
    repository.create_commit("HEAD", who, who, "first\n", repository.index.write_tree(), before)
    return folder


def until(condition: Callable[[], T], *, sec: float = PATIENCE_SEC) -> T:
    """What the condition gives once it holds; for what no event tells of, such as another process's files."""
    deadline = time.monotonic() + sec
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)
    return found


def git(folder: Path, *arguments: str) -> str:
    """What git prints, with a name of its own so that no machine's settings matter."""
    # Without a second process after each commit that looks for something to tidy.
    given = ("user.name=Test", "user.email=test@example.com", "commit.gpgsign=false", "maintenance.auto=false")
    named = [word for setting in given for word in ("-c", setting)]
    done = subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@dataclass
class Server:
    """A CodePlane server in a process of its own."""

    repo: Path
    process: AnyProcess
    facts: JsonObject
    arguments: Sequence[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return str(self.facts["url"])

    @property
    def mcp_url(self) -> str:
        return f"{self.url}/mcp"

    @property
    def stdio(self) -> list[str]:
        return [CPL, "mcp", "--repo", str(self.repo)]

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        return int(str(self.facts["port"]))

    @property
    def workspace(self) -> Workspace:
        return Workspace(root=self.repo.resolve())

    @property
    def token(self) -> str:
        return self.workspace.owner_token.read_text().strip()

    def client(self) -> OwnerClient:
        """The owner's client."""
        facts = find_server(self.workspace)
        assert facts is not None
        return OwnerClient(self.workspace, facts)

    def call(self, operation: str, /, **arguments: object) -> JsonObject:
        """The envelope of one call by the owner."""
        return self.client().call(operation, arguments)  # type: ignore[arg-type]  # tests pass plain JSON values

    def request(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """One HTTP exchange."""
        connection = HTTPConnection(self.host, self.port, timeout=PATIENCE_SEC)
        try:
            connection.request(method, path, body=body, headers=dict(headers or {}))
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.process.kill()
        self.process.wait(timeout=PATIENCE_SEC)

    def stop(self) -> int:
        """End it as Ctrl+C does; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE_SEC)


def start(
    repo: Path, *, overrides: Sequence[str] = (), program: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> Server:
    """Start a server in the foreground and wait until it says where it is; `program` stands in for `cpl up`."""
    command = [*(program or (CPL, "up", "--json")), "--repo", str(repo)]
    # Whoever waits for a person here says so: nobody else would answer.
    command += [part for item in ("approvals.wait_sec=0", *overrides) for part in ("--set", item)]
    process = spawn(command, environ)
    line = _first_line(process)
    if not line:
        output = process.stderr.read().decode() if process.stderr else ""
        process.wait(timeout=PATIENCE_SEC)
        raise RuntimeError(f"the server did not start: {output}")
    # Its log would fill the pipe; nobody reads it from here on.
    _discard(process.stderr)
    return Server(repo=repo, process=process, facts=json.loads(line), arguments=command)


def spawn(command: Sequence[str], environ: Mapping[str, str] | None) -> AnyProcess:
    """Start a process with pipes, forked where it can be; only `cpl` and modules of ours can."""
    if can_be_forked(environ) and command[0] == CPL:
        return WarmProcess(command, environ=environ)
    if can_be_forked(environ) and command[:2] == [sys.executable, "-m"]:
        return WarmProcess(command[2:], module=command[2], environ=environ)
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(environ or {})}
    )


@contextmanager
def talking(*arguments: str, cwd: Path | None = None) -> "Iterator[tuple[AnyProcess, IO[bytes]]]":
    """`cpl` with pipes, and the end of the one that it reads; killed at the end if it still runs."""
    typed, typing = os.pipe()
    with os.fdopen(typing, "wb") as stdin, os.fdopen(typed, "rb") as given:
        process: AnyProcess
        if can_be_forked(None):
            process = WarmProcess([CPL, *arguments], cwd=cwd, stdin=given.fileno())
        else:
            pipe = subprocess.PIPE
            process = subprocess.Popen([CPL, *arguments], cwd=cwd, stdin=given, stdout=pipe, stderr=pipe)
        given.close()
        with process:
            try:
                yield process, stdin
            finally:
                process.kill()


def _first_line(process: AnyProcess) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def _discard(stream: IO[bytes] | None) -> None:
    if stream is not None:
        threading.Thread(target=lambda: [None for _ in stream], daemon=True).start()


def cpl(
    *arguments: str, cwd: Path | None = None, environ: Mapping[str, str] | None = None, stdin: str | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run `cpl` to its end."""
    if not can_be_forked(environ):
        return subprocess.run(
            [CPL, *arguments],
            cwd=cwd,
            env={**os.environ, **(environ or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SEC,
        )
    with tempfile.TemporaryFile() as typed:
        if stdin is not None:
            typed.write(stdin.encode())
            typed.seek(0)
        number = typed.fileno() if stdin is not None else None
        with WarmProcess([CPL, *arguments], cwd=cwd, environ=environ, stdin=number) as process:
            stdout, stderr = process.communicate(PATIENCE_SEC)
    return subprocess.CompletedProcess(process.args, process.wait(), _text(stdout), _text(stderr))


def _text(written: bytes) -> str:
    return written.decode().replace("\r\n", "\n")
