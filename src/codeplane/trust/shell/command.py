"""A shell command: its request, its checks, and its preview for a person."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import Field, field_validator

from codeplane.disk.git_folders import git_folders
from codeplane.kernel.config import ShellConfig
from codeplane.kernel.errors import InvalidArgument, NotFound, PathDenied, PolicyDenied, SandboxMissing
from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.operation import Preview, Request
from codeplane.trust.shell.command_warnings import find_warnings
from codeplane.trust.shell.sandbox import ShellSandbox

DEFAULT_TIMEOUT_MS = 10_000
MAX_TIMEOUT_MS = 900_000
# It has to fit into one argument of a program, in UTF-8.
_MAX_COMMAND = 30_000
_MAX_SUMMARY = 160
_PROTECTED = frozenset({".git", ".codeplane"})


class BashRequest(Request):
    """A command and where it runs."""

    prose: ClassVar[frozenset[str]] = frozenset({"justification"})
    command: str = Field(min_length=1, max_length=_MAX_COMMAND, description="as for bash -c; it has no input")
    cwd: str = Field("", max_length=4096, description="a folder of the repository; else its root")
    timeout_ms: int = Field(DEFAULT_TIMEOUT_MS, ge=1, le=MAX_TIMEOUT_MS)
    network: bool = Field(False, description="ask for the network, where the owner's settings have it")
    justification: str = Field("", max_length=2000, description="why, for the person who decides")

    @field_validator("command", "cwd")
    @classmethod
    def _without_nul(cls, value: str) -> str:
        if "\0" in value:
            raise ValueError("must not contain NUL")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCommand:
    """A checked command: where it runs, and how it is sandboxed."""

    request: BashRequest
    cwd: Path
    folder: str
    enclosed: bool
    network: bool

    @property
    def effects(self) -> tuple[str, ...]:
        """The effects that a person should notice."""
        effects = ["runs a shell command", *find_warnings(self.request.command)]
        effects += ["reaches the network and this machine's own services"] if self.network else []
        effects += [] if self.enclosed else ["runs without a sandbox"]
        return tuple(effects)

    @property
    def bounds(self) -> tuple[str, ...]:
        """The command and its limits without the justification: equal only for equal calls."""
        return (
            f"$ {self.request.command}",
            f"folder {self.folder}",
            f"timeout {self.request.timeout_ms / 1000:g} s",
            f"network: {self._network()}",
            f"sandbox: {'yes' if self.enclosed else 'none'}",
        )

    def preview(self) -> Preview:
        """The preview: deterministic for the same request and settings."""
        request = self.request
        seconds = f"{request.timeout_ms / 1000:g} s"
        shown = escape_invisible(request.command, strict=True)
        first = " ".join(shown[: _MAX_SUMMARY + 1].split())
        cut = len(shown) > _MAX_SUMMARY
        how = "in the sandbox" if self.enclosed else "WITHOUT a sandbox"
        reach = "with the network" if self.network else "without the network" if self.enclosed else "network open"
        lines = [
            *(f"  $ {line}" if at == 0 else f"    {line}" for at, line in enumerate(shown.split("\n"))),
            f"folder: {escape_invisible(self.folder, strict=True)}",
            f"timeout: {seconds}",
            f"network: {self._network()}",
            f"sandbox: {self._sandbox()}",
            *(f"note: it {effect}" for effect in self.effects[1:]),
            "undo: files it changes are not kept for undo",
        ]
        if request.justification.strip():
            # On one line and quoted, so that the agent's words cannot pass for ours.
            lines.append(f"the agent says: {' '.join(escape_invisible(request.justification, strict=True).split())!r}")
        summary = f"run {first[:_MAX_SUMMARY]}{' …' if cut else ''} ({self.folder}; {how}, {reach}, {seconds})"
        return Preview(summary=escape_invisible(" ".join(summary.split()), strict=True), body="\n".join(lines))

    def _network(self) -> str:
        if not self.enclosed:
            return "whatever this machine reaches"
        return "yes, and this machine's own services" if self.network else "no"

    def _sandbox(self) -> str:
        if not self.enclosed:
            return "none (shell.sandbox is off): it can do whatever you can"
        return "bubblewrap: writes the repository but .git and .codeplane, sees no home; all else is read-only"


class CommandCheck:
    """Refuses commands before a person is asked."""

    def __init__(self, *, root: Path, config: ShellConfig, sandbox: ShellSandbox) -> None:
        self._root = root
        self._config = config
        self._sandbox = sandbox

    def check(self, request: BashRequest) -> CheckedCommand:
        """Check a request; blocks."""
        config = self._config
        if request.network and not config.network and config.sandbox != "off":
            raise PolicyDenied(
                "shell commands have no network here",
                hint="leave network out, or let the owner set shell.network: true",
            )
        if not request.command.strip():
            raise InvalidArgument("command is blank")
        cwd = self._folder(request.cwd)
        enclosed = config.sandbox != "off"
        if enclosed and (why := self._sandbox.unavailable_reason()):
            raise SandboxMissing(
                f"{why}, and shell commands run only in a sandbox",
                hint="install bubblewrap, or let the owner set shell.sandbox: off in .codeplane/config.yaml",
            )
        return CheckedCommand(
            request=request,
            cwd=cwd,
            folder=cwd.relative_to(self._root).as_posix(),
            enclosed=enclosed,
            network=request.network and config.network,
        )

    def _folder(self, path: str) -> Path:
        """Resolve the folder, links followed; it has to be in the repository."""
        if path.startswith(("/", "~")) or ".." in path.replace("\\", "/").split("/"):
            raise PathDenied(f"{path[:200]!r} is not a folder inside the repository", hint="name it from the root")
        try:
            real = Path(os.path.realpath(self._root / path, strict=True))
        except OSError as error:
            raise NotFound(f"there is no folder {path[:200]!r}", hint="look with list_dir") from error
        if real != self._root and self._root not in real.parents:
            raise PathDenied(f"{path[:200]!r} leads out of the repository", hint="name a folder that does not")
        relative = real.relative_to(self._root)
        if _PROTECTED & {part.casefold() for part in relative.parts} or git_folders(self._root).cover(
            relative.as_posix()
        ):
            raise PathDenied(f"{path[:200]!r} belongs to git or to CodePlane")
        if not real.is_dir():
            raise InvalidArgument(f"{path[:200]!r} is not a folder")
        return real


def program(command: str) -> list[str]:
    """The argv that runs a command in bash with limits per process: memory and file size in KB, no core dumps."""
    bounds = "ulimit -c 0; ulimit -u 4096; ulimit -d 8388608; ulimit -f 4194304"
    quiet = f"{{ {bounds}; }} 2>/dev/null"
    return ["bash", "--noprofile", "--norc", "-c", f'{quiet}; exec bash --noprofile --norc -c "$1"', "bash", command]
