"""Packs the extension of VS Code with `vsce`: `python -m tests.surfaces.lsp.pack_extension dist/codeplane.vsix`."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.clients.node import NODE, NPM
from tests.surfaces.lsp.npm_clients import HERE
from tests.testing.node import installed

ROOT: Final = Path(__file__).resolve().parents[3]


def pack(target: Path) -> None:
    """Write the package of the extension with what its lock pins."""
    vsce = installed(HERE) / "@vscode" / "vsce" / "vsce"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        copied, programs = Path(folder) / "vscode", Path(folder) / "bin"
        shutil.copytree(ROOT / "editors" / "vscode", copied)
        # vsce asks npm which packages belong to the extension, and finds it on PATH alone.
        programs.mkdir()
        (programs / "npm").write_text(f'#!/bin/sh\nexec "{NODE}" "{NPM}" "$@"\n')
        (programs / "npm").chmod(0o755)
        env = {**os.environ, "PATH": os.pathsep.join((str(programs), str(NODE.parent), "/usr/bin", "/bin"))}
        install = ["npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        for command in (
            install,
            [
                str(NODE),
                str(vsce),
                "package",
                "--out",
                str(target.resolve()),
                "--skip-license",
                "--allow-missing-repository",
            ],
        ):
            subprocess.run(command, cwd=copied, env=env, check=True, stdin=subprocess.DEVNULL, timeout=300)


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
