"""The protos: generated code that is what they say, and words on the wire that stay."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.surfaces.connect.npm_clients import CHECKS, ROOT, buf, require_npm_clients

pytestmark = requirement("RPC-06")

GENERATED = ROOT / "src" / "codeplane" / "_gen"


def test_generating_again_gives_the_same_files(tmp_path: Path) -> None:
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("NOT TESTED: grpcio-tools is not installed")
    spec = importlib.util.spec_from_file_location("generate", ROOT / "proto" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = {path.relative_to(tmp_path) for path in module.generate(tmp_path)}
    there = {path.relative_to(GENERATED) for path in GENERATED.rglob("*.py*") if "__pycache__" not in path.parts}
    assert written == there
    for path in written:
        assert (tmp_path / path).read_text() == (GENERATED / path).read_text(), "run `make protos`"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check[0])
def test_buf_has_nothing_to_say(check: tuple[str, ...]) -> None:
    require_npm_clients()
    done = buf(*check)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("approvals.proto", "string action_id = 1;", "string action_id = 21;"),
        ("types.proto", "  EXECUTED = 4;\n", ""),
        ("auth.proto", "  rpc RotateToken(RotateTokenRequest) returns (RotateTokenResponse);\n", ""),
        ("events.proto", "uint64 from_sequence = 2;", "string from_sequence = 2;"),
    ],
)
def test_a_change_that_breaks_clients_is_refused(tmp_path: Path, file: str, old: str, new: str) -> None:
    require_npm_clients()
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    changed = tmp_path / "proto" / "codeplane" / "v1" / file
    text = changed.read_text()
    assert old in text
    changed.write_text(text.replace(old, new, 1))
    done = buf("breaking", "--against", "proto/baseline.binpb", cwd=tmp_path)
    # What buf gives when it found something, in contrast to when it could not look.
    assert (done.returncode, file in done.stdout) == (100, True), done
