"""An append is acknowledged only when it is on disk: proved from the system calls of a program that appends."""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.event import Draft
from codeplane.ledger import writer
from codeplane.ledger.log import SqliteLog
from tests.interaction.requirements import requirement

APPENDS = 40
# Appends some one after another and some at once, and says `ack N` when append N has returned.
PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.event import Draft
from codeplane.ledger import log as ledger

folder, synchronous, appends = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
open_writer = ledger.open_writer

def open_with(path, *arguments):
    connection = open_writer(path, *arguments)
    if synchronous != "as it is":
        connection.execute(f"PRAGMA synchronous={synchronous}")
    return connection

ledger.open_writer = open_with

async def append(log, number):
    await log.append([Draft(stream=f"s/{number % 3}", type="fact", payload={"mark": f"<mark {number}>"})])
    os.write(1, f"<ack {number}>".encode())

async def main():
    log = ledger.SqliteLog(path=folder / "ledger.db", projections=(), config=LedgerConfig(), clock=SystemClock())
    for number in range(appends // 2):
        await append(log, number)
    await asyncio.gather(*(append(log, number) for number in range(appends // 2, appends)))
    os.write(1, b"<end>")
    await asyncio.to_thread(log.close)

asyncio.run(main())
"""


@dataclass(frozen=True, kw_only=True)
class SystemCall:
    """One system call: the lines of the trace on which it began and ended."""

    name: str
    text: str
    began: int
    ended: int


def system_calls(trace: Iterable[str]) -> list[SystemCall]:
    """The calls of all threads, with those that others interrupted put together again."""
    calls: list[SystemCall] = []
    unfinished: dict[tuple[str, str], tuple[int, str]] = {}
    for number, line in enumerate(trace):
        thread, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        if resumed := re.match(r"<\.\.\. (\w+) resumed>(.*)", rest):
            began, head = unfinished.pop((thread, resumed[1]))
            calls.append(SystemCall(name=resumed[1], text=head + resumed[2], began=began, ended=number))
        elif started := re.match(r"(\w+)\(", rest):
            if rest.endswith("<unfinished ...>"):
                unfinished[thread, started[1]] = (number, rest.removesuffix("<unfinished ...>"))
            else:
                calls.append(SystemCall(name=started[1], text=rest, began=number, ended=number))
    return calls


def check_order(trace: Iterable[str], *, appends: int) -> None:
    """Every acknowledgement follows a sync of the write-ahead log that follows the write of what it acknowledges."""
    calls = sorted(system_calls(trace), key=lambda call: call.began)
    # Before `<end>`: closing the log syncs too, and would do for any append.
    end = next(call.began for call in calls if "<end>" in call.text)
    syncs = [call for call in calls if call.name in ("fsync", "fdatasync") and "ledger.db-wal" in call.text]
    writes = [call for call in calls if call.name in ("pwrite64", "write") and "ledger.db-wal" in call.text]
    for number in range(appends):
        acked = next(call for call in calls if call.name == "write" and f"<ack {number}>" in call.text)
        assert acked.began < end
        written = next((call for call in writes if f"<mark {number}>" in call.text), None)
        assert written is not None, f"append {number} was never written to the log's WAL"
        assert any(
            written.ended < sync.began and sync.ended < acked.began and sync.text.rstrip().endswith("= 0")
            for sync in syncs
        ), f"append {number} was acknowledged before it was synced"


def traced(folder: Path, *, synchronous: str) -> list[str]:
    """The trace of the program, with the content of what it writes."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is NOT INSTALLED: the order of writes, syncs and acknowledgements was not checked")
    probe = subprocess.run([strace, "-f", "-o", "/dev/null", "true"], capture_output=True, text=True)
    if probe.returncode:
        pytest.skip(f"strace MAY NOT TRACE here, so the order was not checked: {probe.stderr.strip()[-200:]}")
    trace = folder / "trace"
    options = ["-f", "-y", "-s", "9000", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o", str(trace)]
    program = [sys.executable, "-c", PROGRAM, str(folder), synchronous, str(APPENDS)]
    done = subprocess.run([strace, *options, *program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("<ack ") == APPENDS
    return trace.read_text(errors="replace").splitlines()


@requirement("LOG-03")
def test_every_append_is_synced_before_it_is_acknowledged(tmp_path: Path) -> None:
    check_order(traced(tmp_path, synchronous="as it is"), appends=APPENDS)


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_a_log_that_does_not_sync_is_found_out(tmp_path: Path, synchronous: str) -> None:
    with pytest.raises(AssertionError, match="before it was synced"):
        check_order(traced(tmp_path, synchronous=synchronous), appends=APPENDS)


SOUND = (
    '10 pwrite64(5</x/ledger.db-wal>, "<mark 0>", 4096, 0) = 4096',
    "10 fdatasync(5</x/ledger.db-wal> <unfinished ...>",
    '11 write(2</dev/null>, "something else", 14) = 14',
    "10 <... fdatasync resumed>) = 0",
    '11 write(1<pipe:[1]>, "<ack 0>", 7) = 7',
    '11 write(1<pipe:[1]>, "<end>", 5) = 5',
    "10 fdatasync(5</x/ledger.db-wal>) = 0",
)
DOCTORED: Mapping[str, tuple[str, ...]] = {
    "acknowledged while the sync was under way": (*SOUND[:3], SOUND[4], SOUND[3], *SOUND[5:]),
    "synced before it was written": (*SOUND[1:4], SOUND[0], *SOUND[4:]),
    "the sync failed": (*SOUND[:3], "10 <... fdatasync resumed>) = -1 EIO (Input/output error)", *SOUND[4:]),
    "another file was synced": (*(line.replace("sync(5</x/ledger.db-wal", "sync(6</x/ledger.db") for line in SOUND),),
    "nothing was synced until the end": (SOUND[0], SOUND[2], *SOUND[4:]),
    "it was not written": SOUND[1:],
}


def test_a_sound_trace_passes() -> None:
    check_order(SOUND, appends=1)


@pytest.mark.parametrize("trace", DOCTORED.values(), ids=DOCTORED)
def test_a_doctored_trace_does_not_pass(trace: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError):
        check_order(trace, appends=1)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that would let unawaited events linger for longer than any test."""
    monkeypatch.setattr(writer, "LINGER_SEC", 3600.0)


def opened(folder: Path) -> SqliteLog:
    return SqliteLog(path=folder / "ledger.db", projections=(), config=LedgerConfig(), clock=SystemClock())


def draft(number: int) -> Draft:
    return Draft(stream="s", type="fact", payload={"number": number})


@pytest.mark.usefixtures("patient")
async def test_what_nobody_waits_for_shares_one_commit_with_the_next_that_somebody_does(tmp_path: Path) -> None:
    log = opened(tmp_path)
    for number in range(5):
        assert log.append_soon([draft(number)])
        await asyncio.sleep(0)
    appended = await asyncio.wait_for(log.append([draft(5)]), 60)
    assert appended.last_position == 6
    # Counted after the acknowledgement; closing waits for that.
    await asyncio.to_thread(log.close)
    assert log.counters.commits == 1


@pytest.mark.usefixtures("patient")
async def test_closing_writes_what_lingers(tmp_path: Path) -> None:
    log = opened(tmp_path)
    assert log.append_soon([draft(0)])
    await asyncio.wait_for(asyncio.to_thread(log.close), 60)
    again = opened(tmp_path)
    assert [event.payload for event in await again.read(stream="s")] == [{"number": 0}]
    await asyncio.to_thread(again.close)
