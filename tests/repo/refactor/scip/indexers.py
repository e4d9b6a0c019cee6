"""Real SCIP indexers, pinned by `npm/package.json` and run by the Node that comes from PyPI.

`python -m tests.repo.refactor.scip.indexers` installs them; without them the tests that need them are skipped and
say so. `CODEPLANE_SCIP_MODULES` names a `node_modules` that has them already.
"""

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.clients.node import INSTALL_SECONDS, NODE, NPM

HERE: Final = Path(__file__).resolve().parent / "npm"
MODULES: Final = Path(os.environ.get("CODEPLANE_SCIP_MODULES") or HERE / "node_modules") / "@sourcegraph"
_SCRIPTS: Final = {
    "python": ("scip-python/index.js", "--project-name", "shop", "--project-version", "1"),
    "typescript": ("scip-typescript/dist/src/main.js",),
}


def indexed_by(language: str, root: Path) -> int:
    """Run an indexer over a folder and give its exit code; skips the test where it is not installed."""
    script, *arguments = _SCRIPTS[language]
    if not (MODULES / script).exists():
        pytest.skip(f"NOT TESTED: {script} is not installed (python -m tests.repo.refactor.scip.indexers)")
    done = subprocess.run(
        [NODE, MODULES / script, "index", *arguments], cwd=root, capture_output=True, timeout=120, check=False
    )
    return done.returncode


if __name__ == "__main__":
    subprocess.run(
        [NODE, NPM, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"],
        cwd=HERE,
        env={**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"},
        timeout=INSTALL_SECONDS,
        check=True,
    )
