"""Clients that are not ours: buf and Connect for Node, pinned by `npm/package-lock.json`.

`python -m tests.surfaces.connect.npm_clients` checks the protos with buf, and says so where npm cannot bring it.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.clients.node import NODE
from tests.testing.node import installed

HERE: Final = Path(__file__).resolve().parent / "npm"
ROOT: Final = Path(__file__).resolve().parents[3]
CHECKS: Final = (
    ("lint",),
    ("format", "--diff", "--exit-code"),
    ("breaking", "--against", "proto/baseline.binpb"),
)


def buf(*arguments: str, cwd: Path = ROOT, seconds: float = 60) -> "subprocess.CompletedProcess[str]":
    """Run buf to its end; the caller looks at how it ended."""
    return subprocess.run(
        _words(arguments), cwd=cwd, env=_environment(), capture_output=True, text=True, timeout=seconds
    )


def start_buf(*arguments: str) -> "subprocess.Popen[str]":
    """buf in a session of its own, for what is read while it runs; a process that it starts does not end with it."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        _words(arguments), cwd=ROOT, env=_environment(), stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def _words(arguments: Sequence[str]) -> list[str]:
    folder = installed(HERE) / "@bufbuild"
    # The program itself, which is in a package for each platform; else what looks for it, in Node.
    program = next((str(found) for found in folder.glob("buf-*/bin/buf")), None)
    return [*((program,) if program else (str(NODE), str(folder / "buf" / "bin" / "buf"))), *arguments]


def _environment() -> dict[str, str]:
    path = os.pathsep.join((str(installed(HERE) / ".bin"), str(NODE.parent), "/usr/bin", "/bin"))
    return {**os.environ, "PATH": path}


def node(script: Path, *arguments: str, cwd: Path, seconds: float = 60) -> "subprocess.CompletedProcess[str]":
    """Run a script with the packages of the lock beside it."""
    modules = cwd / "node_modules"
    if not modules.exists():
        modules.symlink_to(installed(HERE))
    copied = cwd / script.name
    copied.write_text(script.read_text())
    return subprocess.run([NODE, copied, *arguments], cwd=cwd, capture_output=True, text=True, timeout=seconds)


@cache
def built_protos() -> Path:
    """Our protos, compiled once for all that read them."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    image = folder / "protos.binpb"
    done = buf("build", "proto", "--output", str(image))
    assert done.returncode == 0, done.stderr
    return image


def require_npm_clients() -> None:
    """Skip the test, and say so, where the outside clients cannot be had."""
    try:
        installed(HERE)
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"NOT TESTED: buf and the Connect client for Node cannot be installed: {error}")


def main() -> int:
    """Every check of the protos that buf has."""
    try:
        installed(HERE)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"WARNING: the protos are NOT CHECKED, buf cannot be installed: {error}", file=sys.stderr)
        return 0
    worst = 0
    for check in CHECKS:
        done = buf(*check)
        print(done.stdout + done.stderr, end="", file=sys.stderr)
        worst = max(worst, done.returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
