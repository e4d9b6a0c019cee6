"""`cpl artifacts`: keep files, list them, get their bytes back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement

pytestmark = requirement("ARTIFACT-03")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("artifacts") / "repo", {"a.txt": "x\n"}))
    yield running
    running.stop()


def _run(server: Server, *arguments: str, code: int = 0) -> str:
    done = cpl("artifacts", *arguments, cwd=server.repo)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


def test_a_file_of_several_parts_comes_back_as_it_was(server: Server, tmp_path: Path) -> None:
    content = bytes(range(256)) * 20_000
    (tmp_path / "data.bin").write_bytes(content)
    artifact_id = _run(server, "put", str(tmp_path / "data.bin"), "--description", "numbers").split()[0]
    assert f"{artifact_id} data.bin (application/octet-stream, 5,120,000 bytes)" in _run(server)
    copy = tmp_path / "copy.bin"
    _run(server, "get", artifact_id, "--output", str(copy))
    assert copy.read_bytes() == content
    assert "is there already" in _run(server, "get", artifact_id, "--output", str(copy), code=2)
    _run(server, "delete", artifact_id)
    assert artifact_id not in _run(server)
    assert "no artifact" in _run(server, "get", artifact_id, code=1)


def test_a_file_that_is_too_large_leaves_nothing(server: Server, tmp_path: Path) -> None:
    (tmp_path / "large.bin").write_bytes(b"x" * (8 * 1024 * 1024 + 1))
    assert "8388609 bytes" in _run(server, "put", str(tmp_path / "large.bin"), code=1)
    assert "no artifacts" in _run(server)
