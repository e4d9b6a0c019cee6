"""One process serves a workspace, and however it ends, the next one can."""

import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.adapters.file_lock import FileLock
from codeplane.kernel.errors import ServerRunning, StorageReadOnly
from tests.interaction.requirements import requirement

pytestmark = requirement("SRV-06")

HOLDER = """
import sys
from pathlib import Path
from codeplane.adapters.file_lock import FileLock
lock = FileLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    first.acquire()
    with pytest.raises(ServerRunning):
        second.acquire()
    first.release()
    second.acquire()
    second.release()


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(ServerRunning):
            FileLock(path).acquire()
        holder.kill()
        holder.wait(timeout=30)
        lock = FileLock(path)
        lock.acquire()
        lock.release()


def test_a_lock_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(StorageReadOnly):
        FileLock(tmp_path).acquire()
