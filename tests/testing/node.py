"""The JavaScript runners, pinned by `npm/package-lock.json` and run by the Node that comes from PyPI.

`python -m tests.testing.node` installs them; the tests do the same on first use, so either order works.
"""

import functools
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.clients.node import INSTALL_SECONDS, NODE, NPM, install_lock

HERE: Final = Path(__file__).resolve().parent / "npm"
MODULES: Final = HERE / "node_modules"
_STAMP: Final = ".codeplane-installed"


def install() -> Path:
    """Bring the runners to what their lock says; nothing happens when they already are."""
    return installed(HERE)


@functools.cache
def installed(folder: Path) -> Path:
    """The `node_modules` of a folder with a lock, brought to what that says."""
    with install_lock(folder):
        pins = b"".join((folder / name).read_bytes() for name in ("package.json", "package-lock.json"))
        wanted, modules = hashlib.sha256(pins).hexdigest(), folder / "node_modules"
        stamp = modules / _STAMP
        if not (stamp.exists() and stamp.read_text() == wanted):
            print(f"installing what {folder.parent.name} is tested with (npm ci)", file=sys.stderr)
            path = f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
            subprocess.run(
                [NODE, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                cwd=folder,
                env={**os.environ, "PATH": path},
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                timeout=INSTALL_SECONDS,
                check=True,
            )
            stamp.write_text(wanted)
        return modules


if __name__ == "__main__":
    install()
