"""Real SCIP indexers, pinned by `npm/package-lock.json` and run by the Node that comes from PyPI.

`python -m tests.refactor.scip.indexers` installs them; the tests do the same on first use, and where that fails
they are skipped and say so.
"""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.clients.node import NODE
from tests.testing.node import installed

HERE: Final = Path(__file__).resolve().parent / "npm"
_SCRIPTS: Final = {
    "python": ("scip-python/index.js", "--project-name", "shop", "--project-version", "1"),
    "typescript": ("scip-typescript/dist/src/main.js",),
}


def indexed_by(language: str, root: Path) -> int:
    """Run an indexer over a folder and give its exit code; skips the test where it cannot be had."""
    script, *arguments = _SCRIPTS[language]
    try:
        modules = installed(HERE)
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"NOT TESTED: {script} cannot be installed: {error}")
    done = subprocess.run(
        [NODE, modules / "@sourcegraph" / script, "index", *arguments],
        cwd=root,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode


if __name__ == "__main__":
    installed(HERE)
