"""CPU seconds of starting: `cpl --help`, the stdio shim, and a server until it is ready. `python -m bench.startup`."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.fixture import scratch
from bench.measure import machine, table
from bench.subjects.processes import as_installed

CPL = str(Path(sys.executable).with_name("cpl"))
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What a start took."""

    cpu: float
    wall: float


def to_its_end(command: Sequence[str], folder: Path) -> Started:
    """A command that ends by itself."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=as_installed(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{command} failed"
    return Started(cpu=usage.ru_utime + usage.ru_stime, wall=time.perf_counter() - began)


def until_ready(command: Sequence[str], folder: Path) -> Started:
    """A server, until it says where it is; it is ended afterwards."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=as_installed(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    wall = time.perf_counter() - began
    # The two fields of /proc/PID/stat after the name, which may hold spaces, count ticks of all threads.
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / _TICK
    process.send_signal(signal.SIGINT)
    process.wait(60)
    process.stdout.close()
    assert line, f"{command} did not start"
    return Started(cpu=cpu, wall=wall)


def main() -> None:
    """Start everything a few times and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="starts of each; figures are medians")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        folder = Path(name) / "repo"
        scratch(folder)
        starts: list[tuple[str, Callable[[], Started]]] = [
            ("python -c pass", lambda: to_its_end([sys.executable, "-c", "pass"], folder)),
            ("cpl mcp --help", lambda: to_its_end([CPL, "mcp", "--help"], folder)),
            ("cpl --help", lambda: to_its_end([CPL, "--help"], folder)),
            ("cpl up, until ready", lambda: until_ready([CPL, "up", "--json"], folder)),
        ]
        found: dict[str, list[Started]] = {what: [] for what, _ in starts}
        print(machine(folder))
        for _ in range(options.rounds):
            for what, start in starts:
                found[what].append(start())
    bare = median(started.cpu for started in found["python -c pass"])
    rows = []
    for what, several in found.items():
        cpu, wall = median(started.cpu for started in several), median(started.wall for started in several)
        rows.append([what, f"{cpu:.3f}", f"{cpu / bare:.0f}x", f"{wall:.3f}"])
    print(table(["", "CPU s", "of python -c pass", "wall s"], rows))


if __name__ == "__main__":
    main()
