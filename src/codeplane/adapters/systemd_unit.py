"""A unit of systemd's user manager that starts a repository's server at log-in."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.file_replacement import replace_file, storage_error
from codeplane.kernel.errors import ServiceManagerMissing
from codeplane.kernel.ids import digest

_PROGRAM = "systemctl"
_TIMEOUT_SEC = 30.0
_PREFIX = "codeplane-"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserUnit:
    """The unit of one repository."""

    root: Path
    # Where the account has its units.
    folder: Path

    @classmethod
    def of(cls, root: Path, *, home: Path, environ: Mapping[str, str]) -> "UserUnit":
        """The unit of a repository, in the account's folder of units."""
        named = environ.get("XDG_CONFIG_HOME", "")
        config = Path(named) if named.startswith("/") else home / ".config"
        return cls(root=root.resolve(), folder=config / "systemd" / "user")

    @property
    def name(self) -> str:
        """Its name, by the path of the repository."""
        return f"{_PREFIX}{digest(str(self.root).encode())[:12]}.service"

    @property
    def path(self) -> Path:
        """The file it is in."""
        return self.folder / self.name

    @property
    def is_installed(self) -> bool:
        """Whether the file is there."""
        return self.path.is_file()

    def text(self, command: Sequence[str]) -> str:
        """The unit that keeps a command running."""
        return "\n".join(
            (
                "[Unit]",
                f"Description=CodePlane for {_escape(str(self.root))}",
                "",
                "[Service]",
                f"ExecStart={' '.join(map(_quote, command))}",
                f"WorkingDirectory={_escape(str(self.root))}",
                "Restart=on-failure",
                "RestartSec=5",
                "",
                "[Install]",
                "WantedBy=default.target",
                "",
            )
        )

    def install(self, command: Sequence[str], *, start: bool) -> None:
        """Write the unit and enable it; ServiceManagerMissing where no user manager runs, and nothing is written."""
        _control("show-environment")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.path, self.text(command))
        except OSError as error:
            raise storage_error(error, self.path) from error
        _control("daemon-reload")
        _control("enable", *(["--now"] if start else []), self.name)

    def remove(self) -> bool:
        """Disable the unit and delete its file, also where no user manager runs; returns whether there was one.

        A server that the unit started goes on until it is ended.
        """
        if not self.is_installed:
            return False
        try:
            _control("disable", self.name)
        except ServiceManagerMissing:
            # Nobody is there who would start it; its links are of no use without the file.
            (self.folder / "default.target.wants" / self.name).unlink(missing_ok=True)
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error(error, self.path) from error
        return True


def _control(*arguments: str) -> None:
    """Ask the account's systemd to do something; ServiceManagerMissing when it cannot be reached or refuses."""
    program = shutil.which(_PROGRAM)
    if program is None:
        raise ServiceManagerMissing("this system has no systemd")
    try:
        done = subprocess.run(
            [program, "--user", *arguments], capture_output=True, text=True, timeout=_TIMEOUT_SEC, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServiceManagerMissing(f"systemctl --user {arguments[0]} failed: {error}") from error
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().partition("\n")[0]
        raise ServiceManagerMissing(f"systemctl --user {arguments[0]} failed: {reason}")


def _escape(text: str) -> str:
    """Text in which systemd expands nothing."""
    return text.replace("%", "%%").replace("\n", " ")


def _quote(word: str) -> str:
    """A word of a command line that systemd passes on as it is."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$").replace("%", "%%")
    return f'"{escaped}"'
