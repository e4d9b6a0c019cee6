"""Kills planes of a shared log at random while they append, and compares what is left."""

import asyncio
import random
import shutil
import sqlite3
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from codeplane.ledger.projection import differences
from codeplane.wiring.app import tables
from tests.harness import AnyProcess, spawn
from tests.shared_planes import level, sharing

_NAMES = ("a", "b")
_PATIENCE_SEC = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Siege:
    """What was seen."""

    appends: int
    conflicts: int
    calls: int
    kills: int


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every event, and every table that planes keep of the log."""
    with closing(sqlite3.connect(path)) as connection:
        names = ["events", "streams", "shared_batches", *(name for table in tables() for name in table.tables)]
        return {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}


async def besiege(folder: Path, *, appends: int, kills: int, seed: int) -> Siege:
    """Let two planes append until both have done so much, killing one of them now and then."""
    journals = {name: folder / f"{name}.txt" for name in _NAMES}
    await asyncio.to_thread(_run, folder, journals, appends, kills, random.Random(seed))
    lines = {name: journals[name].read_text().splitlines() for name in _NAMES}
    kinds = Counter(line.partition(" ")[0] for found in lines.values() for line in found)
    paths = [folder / name / ".codeplane" / "ledger.db" for name in _NAMES]
    async with sharing(folder, "a") as a, sharing(folder, "b") as b:
        await level(a, b)
        for opened in (a, b):
            rebuilt = await opened.log.readers.run(
                lambda connection: [name for table in tables() for name in differences(connection, table)]
            )
            assert rebuilt == []
        first, second = map(rows_of, paths)
        for name, rows in first.items():
            assert rows == second[name], f"{name} differs"
    _check_acknowledged(lines, first["events"])
    _check_calls(paths[0])
    return Siege(appends=kinds["appended"], conflicts=kinds["conflict"], calls=kinds["called"], kills=kills)


def _run(folder: Path, journals: dict[str, Path], appends: int, kills: int, chance: random.Random) -> None:
    running: dict[str, AnyProcess] = {}
    deaths = dict.fromkeys(_NAMES, kills // 2)
    try:
        while True:
            for name in _NAMES:
                # What a plane that was killed did counts, too.
                left = appends // 2 - _done(journals[name])
                if (name not in running or running[name].poll() is not None) and (left > 0 or deaths[name]):
                    running[name] = _start(folder, name, chance.randrange(10**6), max(left, 20), journals[name])
            for name in _NAMES:
                done, share = _done(journals[name]), appends // 2 // (kills // 2 + 1)
                if deaths[name] and done >= share * (kills // 2 - deaths[name] + 1):
                    running[name].kill()
                    running[name].wait()
                    deaths[name] -= 1
            if not any(deaths.values()) and all(_done(journals[name]) >= appends // 2 for name in _NAMES):
                break
            time.sleep(0.01)  # Looks at files that other processes write.
        for process in running.values():
            process.wait(_PATIENCE_SEC)
    finally:
        for process in running.values():
            process.kill()
            process.wait()


def _start(folder: Path, name: str, seed: int, count: int, journal: Path) -> AnyProcess:
    command = [sys.executable, "-m", "tests.shared_worker", str(folder), name, str(seed), str(count), str(journal)]
    process = spawn(command, None)
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        threading.Thread(target=_keep, args=(stream, folder / f"{name}.err"), daemon=True).start()
    return process


def _keep(stream: IO[bytes], file: Path) -> None:
    """What a worker writes, where somebody who looks for the cause finds it."""
    with stream, file.open("ab") as kept:
        shutil.copyfileobj(stream, kept)


def _done(journal: Path) -> int:
    if not journal.exists():
        return 0
    return sum(line.startswith((b"appended", b"conflict", b"called")) for line in journal.read_bytes().splitlines())


def _check_acknowledged(lines: dict[str, list[str]], events: list[tuple[object, ...]]) -> None:
    """Everything that was acknowledged is there, at the place that was given."""
    there = {f"{stream}@{sequence}" for _, stream, sequence, *_ in events}
    claimed: Counter[str] = Counter()
    for found in lines.values():
        for line in found:
            if line.startswith("appended "):
                claimed.update(line.split()[1:])
    assert claimed.keys() <= there
    assert set(claimed.values()) <= {1}, "a place was given twice"


def _check_calls(path: Path) -> None:
    """No key ran twice: of each, one call at most was not refused, replayed or cut off."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            """SELECT json_extract(payload, '$.idempotency_key'), count(*) FROM events WHERE type = 'call.started'
               GROUP BY 1"""
        ).fetchall()
        claims = dict(connection.execute("SELECT stream, count(*) FROM events WHERE type = 'key.claimed' GROUP BY 1"))
    assert rows and all(count == 1 for _, count in rows), rows
    assert len(claims) == len(rows)
