"""Small files are written whole, and the disk's refusals say what to do."""

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codeplane.adapters.file_replacement import replace_file, storage_error
from codeplane.kernel.errors import CodePlaneError, StorageFailed, StorageFull, StorageReadOnly
from tests.interaction.requirements import requirement


def test_a_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "port"
    replace_file(path, "1\n")
    replace_file(path, "2\n")
    assert path.read_text() == "2\n"
    assert list(tmp_path.iterdir()) == [path]


@requirement("SRV-06")
def test_many_replace_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "repo_id"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: replace_file(path, f"{number}\n"), range(400)))
    assert path.read_text().strip().isdigit()
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_is_taken_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "port"
    path.mkdir()
    with pytest.raises(StorageFailed):
        replace_file(path, "1\n")
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file() -> None:
    with pytest.raises(StorageFull):
        raise storage_error(OSError(errno.ENOSPC, "No space left on device"), Path("x"))


@requirement("SRV-11")
@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StorageFull),
        (errno.EDQUOT, StorageFull),
        (errno.EROFS, StorageReadOnly),
        (errno.EACCES, StorageReadOnly),
        (errno.EPERM, StorageReadOnly),
        (errno.EEXIST, StorageFailed),
        (errno.EIO, StorageFailed),
    ],
)
def test_each_refusal_has_its_name(number: int, kind: type[CodePlaneError]) -> None:
    error = storage_error(OSError(number, "no", "/x/y"), Path("z"))
    assert type(error) is kind
    assert error.message == "/x/y cannot be written: no"


def test_what_is_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageFailed) as caught:
        replace_file(tmp_path / "file" / "port", "1\n")
    assert f"move away what is at {tmp_path}/file" in caught.value.hint


def test_a_folder_in_the_files_place_is_named_and_not_the_part(tmp_path: Path) -> None:
    (tmp_path / "port").mkdir()
    with pytest.raises(StorageFailed, match=rf"{tmp_path}/port cannot be written"):
        replace_file(tmp_path / "port", "1\n")
