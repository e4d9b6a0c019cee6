"""The JavaScript runners, pinned by `npm/package-lock.json` and run by the Node that comes from PyPI.

`python -m tests.repo.testing.node` installs them; the tests do the same on first use, so either order works.
"""

import functools
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.clients.node import INSTALL_SECONDS, NODE, NPM, alone

HERE: Final = Path(__file__).resolve().parent / "npm"
MODULES: Final = HERE / "node_modules"
STAMP: Final = MODULES / ".codeplane-installed"


@functools.cache
def install() -> Path:
    """Bring `node_modules` to what the lock says; nothing happens when it already is."""
    with alone(HERE):
        return _install()


def _install() -> Path:
    pins = b"".join((HERE / name).read_bytes() for name in ("package.json", "package-lock.json"))
    wanted = hashlib.sha256(pins).hexdigest()
    if not (STAMP.exists() and STAMP.read_text() == wanted):
        print("installing the JavaScript test runners (npm ci)", file=sys.stderr)
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
        STAMP.write_text(wanted)
    return MODULES


if __name__ == "__main__":
    install()
