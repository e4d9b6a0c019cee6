"""Disks that are full, closed to writing, or damaged; root is not stopped by less than a mount."""

import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest


def _mount(*arguments: str | Path) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount here, so nothing is proved: {done.stderr.strip()}")


@contextmanager
def _mounted(folder: Path, *steps: Sequence[str | Path]) -> Iterator[None]:
    first, *more = steps
    _mount(*first)
    try:
        for step in more:
            _mount(*step)
        yield
    finally:
        # Idle processes of the index may still have files open there.
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder, closed to writing for a while."""
    with _mounted(folder, ["--bind", folder, folder], ["-o", "remount,ro,bind", folder]):
        yield


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk with room for only so much."""
    folder.mkdir()
    with _mounted(folder, ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]):
        yield folder


def damage(path: Path, table: str, children: slice = slice(1, 4)) -> None:
    """Overwrite some of the pages that a table's first page points to."""
    connection = sqlite3.connect(path)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    data = bytearray(path.read_bytes())
    page = data[(root - 1) * size : root * size]
    assert page[0] == 5, "an inner page of a table"
    for at in _cells(page)[children]:
        child = int.from_bytes(page[at : at + 4], "big")
        data[(child - 1) * size : child * size] = b"\xff" * size
    path.write_bytes(data)


def _cells(page: bytearray) -> list[int]:
    count = int.from_bytes(page[3:5], "big")
    return [int.from_bytes(page[12 + 2 * i : 14 + 2 * i], "big") for i in range(count)]
