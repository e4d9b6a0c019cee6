"""What processes take, read from /proc: CPU seconds and proportional memory of a process and all below it."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_TICK = os.sysconf("SC_CLK_TCK")
_EVERY_SEC = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a piece of work took."""

    wall: float
    cpu: float
    peak_mb: float = float("nan")
    said: str = ""


def as_installed() -> dict[str, str]:
    """An environment in which byte code is kept, as it is in every installation: pip compiles what it installs."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def tree(root: int) -> list[int]:
    """A process and everything below it."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))) is not None:
            below.setdefault(int(fields[1]), []).append(int(entry.name))
    found, next_up = [], [root]
    while next_up:
        process = next_up.pop()
        found.append(process)
        next_up += below.get(process, [])
    return found


def cpu(root: int) -> float:
    """CPU seconds so far of a process, of those below it, and of those that were below it and ended."""
    total = 0
    for process in tree(root):
        fields = _stat(process)
        total += sum(map(int, fields[11:15])) if fields is not None else 0
    return total / _TICK


def memory(root: int) -> float:
    """MB that a process and those below it hold, shared pages counted once."""
    total, own = 0, _command(root)
    for process in tree(root):
        # Between its start and its own program a child is in its parent's memory, which would count twice.
        if process != root and _command(process) == own:
            continue
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return total / 1024


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


class Memory:
    """Looks at a process tree several times a second and keeps the most it held."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True, name="memory")
        self.peak_mb = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_EVERY_SEC):
            self.peak_mb = max(self.peak_mb, memory(self._root))


def ran(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Spent:
    """Run a command to its end; what it printed is kept, and an exit code above 1 is an error."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with Memory(process.pid) as watched:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode > 1:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    spent = usage.ru_utime + usage.ru_stime
    return Spent(wall=time.perf_counter() - began, cpu=spent, peak_mb=watched.peak_mb, said=output)


def on_disk(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _stat(process: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the name, which may hold spaces."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
