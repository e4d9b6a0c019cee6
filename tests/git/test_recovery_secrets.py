"""Recovery refs of earlier versions that hold secrets files: named by `cpl doctor`, and cleared at the start."""

import asyncio
import subprocess
from pathlib import Path

from codeplane.kernel.workspace import Workspace
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, plane
from tests.surfaces.cli.diagnosis.doctor_run import run_check

pytestmark = requirement("TRUST-52")

OLD = "refs/codeplane/recovery/mut_a1e0/work"
CLEAN = "refs/codeplane/recovery/mut_a1e1/work"
VALUE = "hunter2-correct-horse"
FILES = {"config/.env": f"DB_PASSWORD={VALUE}\n", ".codeplane/owner.token": "cpl_token", "notes.txt": "work\n"}
ROLES = ("AUTHOR", "COMMITTER")


def _keep(root: Path, ref: str, files: dict[str, str], email: str = "codeplane@localhost") -> None:
    """Keep files as the version before did."""
    lines = []
    for path, text in files.items():
        oid = _git(root, "hash-object", "-w", "--stdin", text=text)
        lines.append(f"100644 {oid}\t{path}\n")
    index = {"GIT_INDEX_FILE": str(root.parent / "index")}
    (root.parent / "index").unlink(missing_ok=True)
    _git(root, "update-index", "--add", "--index-info", text="".join(lines), **index)
    parts = (("NAME", "CodePlane"), ("EMAIL", email), ("DATE", "@1794000000 +0000"))
    who = {f"GIT_{role}_{part}": text for role in ROLES for part, text in parts}
    tree = _git(root, "write-tree", **index)
    git(root, "update-ref", ref, _git(root, "commit-tree", tree, "-p", "HEAD", text="Kept before reset\n", **who))


def _git(root: Path, *words: str, text: str = "", **variables: str) -> str:
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(root.parent), **variables}
    done = subprocess.run(
        ["git", *words], cwd=root, input=text, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _objects(root: Path) -> str:
    command = ["git", "cat-file", "--batch", "--batch-all-objects"]
    return subprocess.run(command, cwd=root, capture_output=True, check=False).stdout.decode("latin-1")


async def test_doctor_names_them_and_a_start_clears_them(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    workspace = Workspace(root=root)
    _keep(root, CLEAN, {"notes.txt": "other work\n"})
    assert run_check(workspace, "recovery").verdict == "ok"
    _keep(root, OLD, FILES)
    # What is nobody's but the owner's is left alone.
    _keep(root, "refs/heads/mine", {".env": "PLAIN=1\n"}, email="me@example.com")
    before = {ref: git(root, "rev-parse", ref) for ref in (CLEAN, OLD, "refs/heads/mine", "HEAD")}
    found = run_check(workspace, "recovery")
    assert found.verdict == "warn" and OLD in found.found and CLEAN not in found.found
    assert "config/.env" in found.found and ".codeplane/owner.token" in found.found and VALUE not in found.found
    async with plane(root) as opened:
        while VALUE in _objects(root) or "cpl_token" in _objects(root):
            await asyncio.to_thread(opened.secrets.walk)
        assert (await opened.conveyor.call("status", {}, OWNER)).error is None
    assert git(root, "ls-tree", "-r", "--name-only", OLD) == "notes.txt\n"
    answer = f"1794000000 {before['HEAD'].strip()} Kept before reset\n"
    assert git(root, "log", "-1", "--format=%at %P %s", OLD) == answer
    assert all(git(root, "rev-parse", ref) == before[ref] for ref in (CLEAN, "refs/heads/mine"))
    assert "missing" not in git(root, "fsck", "--strict")
    kept = list((root / ".codeplane" / "overwritten-secrets").iterdir())
    assert [file.read_text() for file in kept] == [FILES["config/.env"]]
    assert run_check(workspace, "recovery").verdict == "ok"
