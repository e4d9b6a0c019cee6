"""Somebody who types what a document says, in a repository of their own."""

import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.owner_client import OwnerClient
from tests.docs.markdown import Command
from tests.docs.untold import ENDLESS, KEPT_RUNNING, OTHER_REPOSITORIES
from tests.harness import CPL, git
from tests.warm_process import WarmProcess, can_be_forked

_SECONDS: Final = 60
# What is named by chance: ids, hashes, pairing codes. A document shows those of the day it was written.
_PREFIXES: Final = "act|ans|art|grant|dev|tok|plan|mut|call|thr"
_NAMED: Final = {
    "id": re.compile(rf"\b(?:{_PREFIXES})_(?:[0-9a-f]+…?|…)"),
    "sha": re.compile(r"(?<![\w-])[0-9a-f]{7,40}(?:…|\b)(?![\w-])"),
    "code": re.compile(r"\b[0-9A-Z]{4}-[0-9A-Z]{4}\b"),
}
# What a day, a machine or chance decides: ids, hashes, codes, times, folders, durations, and what is left out.
_VARIES: Final = re.compile(
    rf"…|\b(?:{_PREFIXES}|run|task|session)_[0-9a-f]+|\b[0-9a-f]{{7,64}}\b|\b[0-9A-Z]{{4}}-[0-9A-Z]{{4}}\b"
    r"|\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?|\b\d+\.\d+(?= s\b)|(?<=127\.0\.0\.1:)\d+"
    r"|\bepoch \d+|(?<=\[)\d+ of \d+(?=;)|/home/me/\S*"
)
# What a shell reads otherwise than a program does.
_SHELL: Final = re.compile(r"[|&;<>$`*?()\[\]{}~#!\\\n]")
_ASSIGNED: Final = re.compile(r"^([A-Z]+)=(\S+)$")
_ERROR: Final = re.compile(r"^error: .*\(([A-Z_]+)\)$", re.MULTILINE)
_EXIT: Final = re.compile(r"\Aexit [1-9]\d*")


@dataclass
class Reader:
    """A person with a shell, a home and what was printed to them so far."""

    repo: Path
    home: Path
    variables: dict[str, str] = field(default_factory=dict)
    meant: dict[str, str] = field(default_factory=dict)
    printed: str = ""
    running: list[subprocess.Popen[str]] = field(default_factory=list)
    asked: int = 0
    # Whether `cpl` is forked where nothing else is typed beside it: an interpreter of its own takes longer than most
    # of what it does.
    forks: bool = False

    def type(self, command: Command) -> str | None:
        """Run a command; gives what is wrong with what came of it, if anything."""
        text = self.resolved(command.text)
        if assigned := _ASSIGNED.match(text):
            self.variables[assigned[1]] = assigned[2]
            return None
        if text in ENDLESS:
            return self._start(text)
        code, output = self._run_forked(text) if self.forks and _is_cpl_alone(text) else self._run(text)
        self.remember(command.shown, output)
        return _judged(command, text, code, output)

    def environment(self) -> dict[str, str]:
        """The reader's own: no settings of this machine's, no browser that would open."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CODEPLANE", "XDG_", "GIT_"))}
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
        return {**kept, "HOME": str(self.home), "PATH": path, "BROWSER": "true", **self.variables, **self._addresses()}

    def _run(self, text: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", text],
            cwd=self.repo,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        return done.returncode, done.stdout + done.stderr

    def _run_forked(self, text: str) -> tuple[int, str]:
        own = self.environment()
        environ = {**dict.fromkeys(os.environ.keys() - own.keys()), **own}
        command = [CPL, *shlex.split(text)[1:]]
        with (
            Path(os.devnull).open("rb") as nothing,
            WarmProcess(command, cwd=self.repo, environ=environ, stdin=nothing.fileno()) as process,
        ):
            stdout, stderr = process.communicate(_SECONDS)
        return process.wait(), (stdout + stderr).decode()

    def resolved(self, text: str) -> str:
        """A command with the names of today in place of those that are shown."""
        for pattern in _NAMED.values():
            text = pattern.sub(lambda found: self._today(found[0]), text)
        return text

    def remember(self, shown: str, output: str) -> None:
        """What is shown stands for what was printed in its place."""
        self.printed += output
        for pattern in _NAMED.values():
            pairs = zip(dict.fromkeys(pattern.findall(shown)), dict.fromkeys(pattern.findall(output)), strict=False)
            self.meant |= dict(pairs)

    def call(self, operation: str, **arguments: object) -> JsonObject:
        """What the server answers its owner."""
        envelope = self._client().call(operation, arguments)  # type: ignore[arg-type]  # plain JSON values
        result = envelope.get("result")
        assert isinstance(result, dict), envelope
        return result

    def let_an_agent_ask(self) -> str:
        """The action of an agent that wants to throw something away; each time another agent."""
        self.asked += 1
        token = self.call("agent.token", agent=f"asker-{self.asked}", capabilities=["read_files", "write_files"])
        # A file of its own: what was approved before may still be about to run.
        name = f"asked-{self.asked}.txt"
        (self.repo / name).write_text("to be thrown away\n")
        facts = find_server(self._workspace())
        assert facts is not None
        connection = http.client.HTTPConnection(facts.host, facts.port, timeout=_SECONDS)
        body = json.dumps({"operation": "git.discard", "arguments": {"paths": [name], "untracked": True}})
        headers = {"Authorization": f"Bearer {token['token']}", "Content-Type": "application/json"}
        connection.request("POST", "/codeplane.v1.OperationService/Call", body=body, headers=headers)
        answered = connection.getresponse().read().decode()
        connection.close()
        assert "APPROVAL_PENDING" in answered, answered
        return self._pending()[0]

    def leave(self, *ended: subprocess.Popen[str]) -> list[str]:
        """End what goes on, or some of it; gives those that did not end well."""
        wrong = []
        for process in ended or tuple(self.running):
            self.running.remove(process)
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=_SECONDS)[0]
            if process.returncode not in (0, 130):
                wrong.append(f"{process.args!r} ended with {process.returncode}: {output}")
        return wrong

    def _today(self, shown: str) -> str:
        if shown in self.meant:
            return self.meant[shown]
        kind = shown.partition("_")[0]
        if kind == "act":
            pending = self._pending()
            return pending[0] if pending else self.let_an_agent_ask()
        last = re.findall(rf"\b{kind}_[0-9a-f]{{8,}}", self.printed) if "_" in shown else []
        return last[-1] if last else shown

    def _pending(self) -> list[str]:
        items = self.call("approval.list", status="PENDING")["items"]
        assert isinstance(items, list)
        return [str(item["action_id"]) for item in items if isinstance(item, dict)]

    def _start(self, text: str) -> str | None:
        process = subprocess.Popen(
            text.split(),
            cwd=self.repo,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        self.running.append(process)
        if not process.stdout.readline():
            return f"{text} said nothing"
        return None if text in KEPT_RUNNING else "\n".join(self.leave(process)) or None

    def _addresses(self) -> dict[str, str]:
        facts = find_server(self._workspace())
        return {"URL": facts.url, "TOKEN": self._workspace().owner_token.read_text().strip()} if facts else {}

    def _client(self) -> OwnerClient:
        facts = find_server(self._workspace())
        assert facts is not None, "no server runs"
        return OwnerClient(self._workspace(), facts)

    def _workspace(self) -> Workspace:
        return Workspace(root=self.repo.resolve())


def _is_cpl_alone(text: str) -> bool:
    return text.startswith("cpl ") and not _SHELL.search(text) and can_be_forked(None)


def tidy(repo: Path, at: str) -> None:
    """The repository as it was at a commit, whatever was done to it."""
    git(repo, "checkout", "--quiet", "--force", "-B", "main", at)
    git(repo, "clean", "--quiet", "--force", "-d")
    for name in git(repo, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags").split():
        if name != "refs/heads/main":
            git(repo, "update-ref", "-d", name)


def not_shown(shown: str, output: str) -> list[str]:
    """Lines of a shown output that were not printed, in that order; what is named by chance may be another."""
    if shown.startswith("{"):
        return []  # JSON, laid out for reading.
    printed, missing = [line.rstrip() for line in output.splitlines()], []
    for line in shown.splitlines():
        if line.strip() in ("", "…"):
            continue
        pattern = _pattern(line)
        at = next((number for number, one in enumerate(printed) if pattern.fullmatch(one)), None)
        if at is None:
            missing.append(line)
        else:
            del printed[: at + 1]
    return missing


def _pattern(line: str) -> re.Pattern[str]:
    """A shown line as what it may look like on another day, in another folder, on another machine."""
    parts, at = [], 0
    for found in _VARIES.finditer(line.rstrip()):
        parts += [
            re.escape(line[at : found.start()]),
            ".*" if found[0] == "…" else " ".join([r"\S+"] * len(found[0].split())),
        ]
        at = found.end()
    return re.compile("".join((*parts, re.escape(line.rstrip()[at:]))))


def _judged(command: Command, text: str, code: int, output: str) -> str | None:
    wanted, promised = 0, ""
    if ended := _EXIT.match(command.shown):
        wanted, promised = 1, ended[0]
    elif error := _ERROR.search(command.shown):
        wanted, promised = 1, f"({error[1]})"
    if code != wanted or promised not in output:
        return f"{command}\n  as {text!r}\n  exit {code}, not {wanted} {promised}:\n{output}"
    missing = [] if command.document in OTHER_REPOSITORIES else not_shown(command.shown, output)
    return (
        f"{command}\n  shown, but not printed:\n" + "\n".join(missing) + f"\n  printed:\n{output}" if missing else None
    )
