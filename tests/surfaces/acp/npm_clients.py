"""ACP clients that are not ours: the protocol's SDK for Node and acpx, pinned by `npm/package-lock.json`.

`python -m tests.surfaces.acp.npm_clients` installs them; the tests do the same on first use.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.clients.node import NODE
from tests.testing.node import installed

HERE: Final = Path(__file__).resolve().parent / "npm"


def run_script(
    script: Path, *arguments: str, folder: Path, environ: Mapping[str, str] | None = None, seconds: float = 300
) -> "subprocess.CompletedProcess[str]":
    """Run a script with the packages of the lock beside it."""
    folder.mkdir(exist_ok=True)
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(installed(HERE))
    copied = folder / script.name
    copied.write_text(script.read_text())
    return _run([str(NODE), str(copied), *arguments], cwd=folder, environ=environ, seconds=seconds)


def acpx(*arguments: str, cwd: Path, home: Path, seconds: float = 120) -> "subprocess.CompletedProcess[str]":
    """Run acpx to its end, with a home of its own."""
    words = [str(NODE), str(installed(HERE) / "acpx" / "dist" / "cli.js"), *arguments]
    return _run(words, cwd=cwd, environ={"HOME": str(home)}, seconds=seconds)


def _run(
    words: list[str], *, cwd: Path, environ: Mapping[str, str] | None, seconds: float
) -> "subprocess.CompletedProcess[str]":
    path = f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, "PATH": path, **(environ or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
    )


if __name__ == "__main__":
    installed(HERE)
