"""Where short work runs: on the event loop if the disk is local, in a thread elsewhere."""

import threading
from pathlib import Path

import pytest

from codeplane.disk.short_work import ShortWork, is_local
from tests.interaction.requirements import requirement

pytestmark = requirement("SRV-18")

LINE = "36 35 8:1 / {point} rw,relatime shared:1 - {kind} /dev/disk rw\n"


def mounts(folder: Path, **points: str) -> Path:
    """A table of mounts: the kind of what is mounted at each folder."""
    table = folder / "mountinfo"
    lines = [LINE.format(point="/", kind="ext4")]
    lines += [LINE.format(point=str(folder / name).replace(" ", "\\040"), kind=kind) for name, kind in points.items()]
    table.write_text("".join(lines))
    return table


@pytest.mark.parametrize(
    ("kind", "expected"), [("ext4", True), ("tmpfs", True), ("nfs4", False), ("fuse.sshfs", False), ("9p", False)]
)
def test_only_disks_of_this_machine_are_local(kind: str, expected: bool, tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "repository"
    folder.mkdir(parents=True)

    assert is_local(folder, mounts(tmp_path, **{"a b": kind})) is expected
    assert is_local(tmp_path, mounts(tmp_path, **{"a b": kind}))


def test_the_last_of_several_mounts_at_one_place_counts(tmp_path: Path) -> None:
    (tmp_path / "at").mkdir()
    table = mounts(tmp_path, at="ext4")
    table.write_text(table.read_text() + LINE.format(point=tmp_path / "at", kind="cifs"))

    assert not is_local(tmp_path / "at", table)


def test_what_is_not_known_is_not_local(tmp_path: Path) -> None:
    assert not is_local(tmp_path / "missing", mounts(tmp_path))
    assert not is_local(tmp_path, tmp_path / "no table")


async def test_only_what_is_short_runs_on_the_event_loop(tmp_path: Path) -> None:
    short = ShortWork(tmp_path)

    assert await short.run_if(False, threading.get_ident) != threading.get_ident()
    if is_local(tmp_path):
        assert await short.run_if(True, threading.get_ident) == threading.get_ident()
    # Where there is no folder nothing is known about its disk.
    assert await ShortWork(tmp_path / "missing").run(threading.get_ident) != threading.get_ident()


def test_many_large_or_missing_files_are_not_short(tmp_path: Path) -> None:
    if not is_local(tmp_path):
        pytest.skip("needs a local disk")
    for name in "abcde":
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    short = ShortWork(tmp_path)

    assert short.is_small(["a", "b"])
    assert not short.is_small("abcde")
    assert not short.is_small(["a", "large"])
    assert not short.is_small(["missing"])
    assert not short.is_small(["a\0"])


def test_files_of_another_disk_are_not_short(tmp_path: Path) -> None:
    shared = Path("/dev/shm")  # another disk than the tests'
    if not is_local(tmp_path) or not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs two local disks")
    (tmp_path / "elsewhere").symlink_to(shared)

    assert not ShortWork(tmp_path).is_small(["elsewhere"])
