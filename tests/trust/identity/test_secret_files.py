"""The files that secrets lie in: closed to others, whole, and never replaced in silence."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.kernel.errors import StorageFailed, StorageReadOnly
from codeplane.trust.identity.secret_file import read_secret, write_secret
from codeplane.trust.identity.server_key import ServerKey
from codeplane.trust.identity.signing_keys import SigningKeys
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock

pytestmark = requirement("TRUST-24")


def server_key(path: Path) -> None:
    ServerKey.at(path)


def signing_keys(path: Path) -> None:
    SigningKeys(path, clock=ManualClock()).signer()


MAKERS = pytest.mark.parametrize("make", [server_key, signing_keys])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@MAKERS
def test_a_key_is_made_once_and_closed(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "secret"
    mask = os.umask(0)
    try:
        make(path)
    finally:
        os.umask(mask)
    assert mode(path) == 0o600
    before = path.read_bytes()
    make(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@MAKERS
@pytest.mark.parametrize("open_to_others", [0o644, 0o666, 0o640])
def test_a_key_that_others_could_read_is_closed_to_them(
    tmp_path: Path, make: Callable[[Path], None], open_to_others: int
) -> None:
    path = tmp_path / "secret"
    make(path)
    path.chmod(open_to_others)
    make(path)
    assert mode(path) == 0o600


@MAKERS
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        b"\xff" * 64,
        b"{}",
        b"[" * 100_000,
        b'{"active": {"key_id": "k", "private": "00"}, "retired": []}',
        b'{"active": {"key_id": "k", "private": "zz"}}',
    ],
)
def test_what_is_no_key_is_said_and_left_alone(tmp_path: Path, make: Callable[[Path], None], content: bytes) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content)
    with pytest.raises(StorageFailed) as caught:
        make(path)
    assert str(path) in caught.value.hint
    assert path.read_bytes() == content


@MAKERS
def test_a_link_is_not_followed(tmp_path: Path, make: Callable[[Path], None]) -> None:
    elsewhere = tmp_path / "elsewhere"
    make(elsewhere)
    (tmp_path / "secret").symlink_to(elsewhere)
    with pytest.raises(StorageFailed):
        make(tmp_path / "secret")


@MAKERS
def test_a_folder_or_a_pipe_in_the_way_is_said(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(StorageFailed):
            make(tmp_path / name)
    with pytest.raises(StorageReadOnly):
        make(tmp_path / "nowhere" / "secret")


def test_a_half_written_file_of_before_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    (tmp_path / "secret.part").write_bytes(b"half")
    write_secret(path, b"whole")
    assert read_secret(path) == b"whole"
    assert mode(path) == 0o600
    assert read_secret(tmp_path / "none") is None


def test_seals_of_one_purpose_are_not_those_of_another(tmp_path: Path) -> None:
    key, other = ServerKey.at(tmp_path / "a"), ServerKey.at(tmp_path / "b")
    assert key.seal("device", "x") == ServerKey.at(tmp_path / "a").seal("device", "x")
    assert (
        len({key.seal("device", "x"), key.seal("pairing", "x"), key.seal("device", "y"), other.seal("device", "x")})
        == 4
    )
    assert key.seal("device", "\ud800")
