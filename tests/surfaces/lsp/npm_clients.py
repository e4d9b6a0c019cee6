"""`python -m tests.surfaces.lsp.npm_clients` installs language clients of npm, pinned by `npm/package-lock.json`."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.testing.node import installed

HERE: Final = Path(__file__).resolve().parent / "npm"


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
