"""Names that a disk takes for others: what is guarded under one is guarded under all of them."""

from pathlib import Path

import pytest

from codeplane.kernel.disk_names import fold_path
from codeplane.kernel.reserved_folders import is_codeplanes, is_reserved
from codeplane.kernel.secret_paths import NOTHING_SHOWN
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.surfaces.http.wire import get_field

pytestmark = requirement("TRUST-67")

# One of each stretch of the characters that disks without case leave out.
IGNORED = (
    "\u00ad\u034f\u061c\u115f\u17b4\u180b\u200b\u200c\u202e\u2060\u2064\u206f\u3164\ufe00\ufe0f\ufeff\uffa0\ufff0"
    "\U0001bca0\U0001d173\U000e0001\U000e0100"
)
SECRETS = (
    *(".env", ".ENV.local", "deep/server.key", "id_rsa", "keys/id_ed25519", "id_dsa", "keys/id_ecdsa_sk", "a/x.ppk"),
    *(".envrc", "deep/.envrc.local", ".netrc", "_netrc", ".PyPiRc", "a/.git-credentials"),
)
ALIASES = (
    *("id_rsa.", "id_rsa ", "server.key.", "server.pem . ", "server.key::$DATA", ".env:x", "deep\\id_rsa", ".env /x"),
    *("ENV~1", "env~2.loc", "deep/ID_ED2~1", "SERVER.\u212aEY", "id_r\u017fa"),
    *("ENVRC~1", "netrc~1", "a/PYPIRC~2", "GIT-CR~1", "ID_ECD~1", "deep/.envrc/x", ".netrc."),
)
ORDINARY = (
    *("env", "env~", "notes.", "a b", "environment~1", "id~1", "key", "\u00e9nv", "x\ufe0f.py", "a:b"),
    *(".npmrc", ".envrc.example", ".envrc.sample", "netrc", "pypirc", "id_dsa.pub", ".netrc.py", "debug.keystore"),
)


@pytest.mark.parametrize("char", IGNORED, ids=lambda char: f"U+{ord(char):04X}")
def test_a_character_that_a_disk_leaves_out_changes_no_name(char: str) -> None:
    assert is_codeplanes(f".code{char}plane/policy/mine.rego") and is_reserved(f"a/.gi{char}t/config")
    assert fold_path(f".cplignore{char}") == (".cplignore",)
    for path in SECRETS:
        assert NOTHING_SHOWN.covers(f"{path[:-1]}{char}{path[-1]}"), path


@pytest.mark.parametrize("path", ALIASES, ids=repr)
def test_other_names_of_secrets_files_are_theirs(path: str) -> None:
    assert NOTHING_SHOWN.covers(path)


@pytest.mark.parametrize("path", ORDINARY, ids=repr)
def test_names_that_only_look_alike_are_ordinary(path: str) -> None:
    assert not NOTHING_SHOWN.covers(path) and not is_reserved(path)


async def test_an_agent_neither_reads_nor_writes_one_under_another_name(tmp_path: Path) -> None:
    # As a disk that takes both for one would answer.
    root = make_repo(tmp_path / "repo")
    for name in ("id_rsa.", ".e\u00adnv", ".envrc", ".netrc", ".pypirc", "id_dsa"):
        (root / name).write_text("hidden-from-agents\n")
    (root / ".code\u00adplane").write_text("token\n")
    async with asking(root) as ask:
        for name in ("id_rsa.", ".e\u00adnv", ".envrc", ".netrc", ".pypirc", "id_dsa", ".code\u00adplane"):
            read = await ask("read_files", paths=[name])
            written = await ask("write_files", edits=[{"path": name, "content": "x\n", "overwrite": True}])
            assert {get_field(answer, "error", "error") for answer in (read, written)} == {"PATH_DENIED"}, name
        for name in (".cplignore.", ".cplignore\u200b", ".CplIgnore "):
            written = await ask("write_files", edits=[{"path": name, "content": "*\n"}])
            assert get_field(written, "error", "error") == "PATH_DENIED", name
        assert "hidden-from-agents" not in str(await ask("search", query="hidden-from"))
