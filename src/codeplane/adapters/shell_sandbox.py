"""bubblewrap around shell commands, with memory limits and without nested namespaces."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from codeplane.adapters.bubblewrap import Bubblewrap
from codeplane.adapters.linked_work_trees import git_files_inside
from codeplane.adapters.secret_files import SecretFiles
from codeplane.disk.program_path import path_outside

WorkspaceAccess = Literal["none", "read", "write"]
_PROBE_SEC = 20.0
_TMPFS_BYTES = 512 * 1024 * 1024
_BINDS = frozenset({"--bind", "--bind-try", "--ro-bind", "--ro-bind-try", "--dev-bind"})
# No further user namespaces inside: with them come the kernel's less tried parts.
_NO_NESTING = ("--unshare-user", "--disable-userns")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    root: Path
    network: bool
    writable: tuple[Path, ...] = ()
    tools: tuple[Path, ...] = ()
    copy: None = None
    secrets: tuple[str, ...] = ()


class ShellSandbox:
    """Wraps commands; only the workspace is writable, without git's and CodePlane's own folders."""

    def __init__(
        self,
        *,
        root: Path,
        own: Path,
        cache: Path,
        home: Path,
        environment: Mapping[str, str],
        secrets: SecretFiles,
    ) -> None:
        self._root = root
        self._inner = Bubblewrap(home=home, hidden=(own,), cache=cache, environment=environment, secrets=secrets)

    def unavailable_reason(self) -> str:
        """Return why the sandbox cannot be used here, or an empty text; tried once."""
        return self._inner.unavailable_reason()

    def command(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        network: bool,
        workspace: WorkspaceAccess = "write",
        readable: tuple[Path, ...] = (),
        writable: tuple[Path, ...] = (),
    ) -> list[str]:
        """Return the sandboxed command; its processes end with it or with us.

        `readable` and `writable` are folders beside the workspace.
        """
        reach = _Reach(root=self._root, network=network, tools=readable, writable=writable)
        words = self._inner.command(argv, cwd=cwd, enclosure=reach)
        at = words.index("--chdir")
        options, rest = words[:at], words[at:]
        if workspace != "write":
            options = _without_writing(options, self._root, writable)
        if workspace == "none":
            options += ["--tmpfs", str(self._root)]
        # They say where work trees in here have their git folder, and git follows them, outside of any sandbox.
        for place in git_files_inside(self._root):
            options += ["--ro-bind-try", str(place), str(place)]
        if self._knows_sizes:
            options = [word for option in options for word in _with_size(option)]
        return [*options, *self._no_nesting, *rest]

    def hidden_secrets(self) -> list[str]:
        """Return the secrets files below the root that are empty inside."""
        return self._inner.hidden_secrets(_Reach(root=self._root, network=False))

    @cached_property
    def _knows_sizes(self) -> bool:
        return "--size" in self._probe_output("--help")

    @cached_property
    def _no_nesting(self) -> tuple[str, ...]:
        tried = self._probe_output(
            *_NO_NESTING, "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "echo", "works"
        )
        return _NO_NESTING if tried.strip() == "works" else ()

    def _probe_output(self, *words: str) -> str:
        program = shutil.which("bwrap", path=path_outside(os.environ.get("PATH", ""), self._root))
        if program is None:
            return ""
        try:
            done = subprocess.run(
                [program, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SEC, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.decode(errors="replace")


def is_shown(command: Sequence[str], path: Path) -> bool:
    """Whether a sandboxed command sees what is at this path outside: the last mount over it decides."""
    shown, whole = False, path.resolve()
    for at, option in enumerate(command):
        if option in _BINDS and _covers(Path(command[at + 2]), path, whole):
            shown = True
        elif option == "--tmpfs" and _covers(Path(command[at + 1]), path, whole):
            shown = False
    return shown


def _covers(place: Path, *paths: Path) -> bool:
    return any(place == path or place in path.parents for path in paths)


def _without_writing(options: Sequence[str], root: Path, writable: tuple[Path, ...]) -> list[str]:
    """Return the options with the root, and what is mounted in it, read-only."""
    words = list(options)
    for at, option in enumerate(options):
        if option != "--bind":
            continue
        target = Path(options[at + 2])
        if (target == root or root in target.parents) and target not in writable:
            words[at] = "--ro-bind"
    return words


def _with_size(option: str) -> tuple[str, ...]:
    # What is written there is memory.
    return ("--size", str(_TMPFS_BYTES), option) if option == "--tmpfs" else (option,)
