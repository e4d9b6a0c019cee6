"""`python -m tests.surfaces.lsp.npm_clients` installs language clients of npm, pinned by `npm/package-lock.json`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final, cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.clients.node import NODE
from tests.testing.node import installed

HERE: Final = Path(__file__).resolve().parent / "npm"
PATIENCE_SEC: Final = 110


def run_client(tmp_path: Path, script: str, *arguments: str, given: str = "") -> JsonObject:
    """Run a client of this folder under node and return what it prints."""
    try:
        modules = installed(HERE)
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"NOT TESTED: vscode-languageserver-protocol cannot be installed: {error}")
    (tmp_path / "node_modules").symlink_to(modules)
    copied = tmp_path / script
    copied.write_text((HERE.parent / script).read_text())
    done = subprocess.run(
        [NODE, copied, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_SEC, input=given
    )
    assert done.returncode == 0, done.stderr
    return cast(JsonObject, json.loads(done.stdout))


def main() -> int:
    """Install them; 1 where npm cannot bring them."""
    try:
        installed(HERE)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"the language clients cannot be installed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
