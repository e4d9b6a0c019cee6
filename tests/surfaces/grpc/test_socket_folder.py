"""The folder of gRPC's own sockets: gone with its server, however that ends."""

import os
import socket
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from codeplane.surfaces.grpc.socket_folder import remove_leftovers, socket_folder
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement

pytestmark = requirement("RPC-05")


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for temporary files with a short path."""
    return tmp_path_factory.mktemp("t")


def leftovers(place: Path) -> list[str]:
    return sorted(path.name for path in place.glob("codeplane-grpc-*"))


def test_it_goes_with_its_server_and_that_of_a_killed_one_with_the_next_start(place: Path, tmp_path: Path) -> None:
    # Its path is too long for the address of a socket.
    repo = make_repo(tmp_path / ("long" * 20) / "repo")
    other = make_repo(tmp_path / ("other" * 20) / "repo")
    with ExitStack() as ending:

        def started(root: Path) -> Server:
            server = start(root, environ={"TMPDIR": str(place)})
            ending.callback(server.stop)
            return server

        killed = started(repo)
        (left,) = leftovers(place)
        killed.kill()
        assert leftovers(place) == [left]
        living = started(other)
        (own,) = leftovers(place)
        assert own != left
        again = started(repo)
        assert own in leftovers(place) and len(leftovers(place)) == 2
        again.stop()
        assert leftovers(place) == [own]
        living.stop()
        assert leftovers(place) == []


def test_only_what_is_this_accounts_and_dead_is_removed(place: Path) -> None:
    for name in ("dead", "served"):
        (place / f"codeplane-grpc-{name}").mkdir()
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    (place / "codeplane-grpc-link").symlink_to(elsewhere)
    (place / "codeplane-grpc-file").touch()
    (place / "codeplane-other").mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(place / "codeplane-grpc-dead" / "own"))
    expected = ["codeplane-grpc-file", "codeplane-grpc-link", "codeplane-grpc-served"]
    if os.getuid() == 0:
        foreign = place / "codeplane-grpc-foreign"
        foreign.mkdir()
        os.chown(foreign, 65534, 65534)
        expected = sorted([*expected, foreign.name])
    with socket.socket(socket.AF_UNIX) as alive:
        alive.bind(str(place / "codeplane-grpc-served" / "own"))
        alive.listen()
        remove_leftovers(place)
        assert leftovers(place) == expected
    assert (elsewhere / "kept").exists() and (place / "codeplane-other").exists()


def test_a_folder_that_another_start_removes_before_it_is_locked_is_made_anew(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = tempfile.mkdtemp, list[str]()

    def make_and_lose(prefix: str, dir: Path) -> str:
        made.append(make(prefix=prefix, dir=dir))
        if len(made) == 1:
            remove_leftovers(place)
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_lose)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with socket_folder(place / ("long" * 30)) as folder:
        assert len(made) == 2 and folder == Path(made[1]) and folder.is_dir()
