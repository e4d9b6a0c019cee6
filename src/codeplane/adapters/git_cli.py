"""The git command line, in a clean environment and with NUL-separated output."""

import os
import subprocess
from pathlib import Path

from codeplane.disk.git_variables import NO_FETCH
from codeplane.disk.program_path import path_outside
from codeplane.kernel.errors import NotFound, StorageFailed

_TIMEOUT_SEC = 120.0
_PARTIAL_HINT = "this partial clone lacks files that say what git ignores: git fetch --refetch --no-filter"
_KEPT = (
    *("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT"),
    # Whose agents sign and open doors.
    *("SSH_AUTH_SOCK", "GNUPGHOME", "XDG_RUNTIME_DIR"),
    # How this machine reaches others.
    *("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)


def clean_environment(*outside: Path) -> dict[str, str]:
    """Return an environment for git without GIT_ variables and without password prompts.

    Programs are found `outside` of these work trees.
    """
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    if outside and "PATH" in environment:
        environment["PATH"] = path_outside(environment["PATH"], *outside)
    return environment | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


class GitCli:
    """Runs git in one repository; programs inside it or inside the `serving` one are not used."""

    def __init__(self, root: Path, *, serving: Path | None = None) -> None:
        self._root = root
        self._outside = (root, serving or root)

    def list_tracked(self) -> list[tuple[str, int]]:
        """Return every file in git's index with its mode; submodules have mode 0o160000."""
        entries = []
        for line in self._lines("ls-files", "-z", "--stage", "--cached"):
            facts, _, name = line.partition(b"\t")
            entries.append((os.fsdecode(name), int(facts.split(b" ", 1)[0], 8)))
        return entries

    def list_untracked(self) -> list[str]:
        """Return the files that git neither tracks nor ignores."""
        return [os.fsdecode(line) for line in self._lines("ls-files", "-z", "--others", "--exclude-standard")]

    def list_ignored(self) -> list[str]:
        """Return what git ignores; a wholly ignored folder is one entry ending in `/`."""
        found = self._lines("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        return [os.fsdecode(line) for line in found]

    def _lines(self, *arguments: str) -> list[bytes]:
        return [line for line in self._run(*arguments).split(b"\0") if line]

    def _run(self, *arguments: str) -> bytes:
        # A folder's own settings can name a program to ask for changes; listing its files must not run it, nor take the
        # work tree for a git folder, nor fetch from where they say.
        settings = ("core.quotepath=off", "core.fsmonitor=false", "safe.bareRepository=explicit")
        command = ["git", *(word for setting in settings for word in ("-c", setting)), *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=self._root,
                env=clean_environment(*self._outside) | NO_FETCH,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_SEC,
                check=False,
            )
        except FileNotFoundError as error:
            raise NotFound("git is not installed, or not on PATH", hint="install git") from error
        except subprocess.TimeoutExpired as error:
            raise StorageFailed(f"git {arguments[0]} took longer than {_TIMEOUT_SEC:.0f} s") from error
        if done.returncode != 0:
            message = done.stderr.decode(errors="replace").strip()[:500]
            hint = _PARTIAL_HINT if "promisor" in message else "check the repository: git status"
            raise StorageFailed(f"git {arguments[0]} failed: {message}", hint=hint)
        return done.stdout
