"""A partial clone lacks objects: only operations that are known to reach a remote fetch them."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane

pytestmark = requirement("TRUST-60")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    far = make_repo(tmp_path / "far", {"a.txt": "a\n", ".gitignore": ".codeplane/\n"})
    git(far, "config", "uploadpack.allowFilter", "true")
    git(far, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(far, "checkout", "--quiet", "-b", "other")
    (far / "b.txt").write_text("b\n")
    git(far, "add", "b.txt")
    git(far, "commit", "--quiet", "--message", "b")
    git(far, "checkout", "--quiet", "main")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", f"file://{far}", "near")
    return tmp_path / "near"


def _missing(repo: Path) -> list[str]:
    listed = git(repo, "rev-list", "--objects", "--all", "--missing=print").splitlines()
    return [line for line in listed if line.startswith("?")]


WRITES: dict[str, tuple[str, JsonObject]] = {
    "checkout": ("git.checkout", {"ref": "origin/other"}),
    "files": ("git.checkout", {"ref": "origin/other", "paths": ["b.txt"]}),
    "work tree": ("git.worktree_add", {"path": "tree", "ref": "origin/other"}),
    "merge": ("git.merge", {"ref": "origin/other", "ff": "never"}),
    "cherry-pick": ("git.cherrypick", {"commit": "origin/other"}),
}


async def test_a_local_operation_fetches_nothing(clone: Path) -> None:
    missing = _missing(clone)
    ends = []
    async with plane(clone) as opened:
        for operation, arguments in WRITES.values():
            outcome = await opened.conveyor.call(operation, arguments, AGENT)
            assert outcome.error is not None, operation
            ends.append((outcome.error.name, outcome.error.hint or ""))
    assert [name for name, _ in ends] == ["GIT_REFUSED"] * len(WRITES)
    assert all("git_fetch with complete=true" in hint for _, hint in ends), ends
    assert missing and _missing(clone) == missing
    assert not (clone / "b.txt").exists()


async def test_a_complete_fetch_brings_what_it_lacks(clone: Path) -> None:
    ends = []
    async with plane(clone) as opened:
        for operation, arguments, by in (
            ("git.fetch", {"complete": True}, AGENT),
            ("git.fetch", {"complete": True}, OWNER),
            ("git.checkout", {"ref": "origin/other"}, AGENT),
        ):
            outcome = await opened.conveyor.call(operation, arguments, by)
            ends.append(outcome.error.name if outcome.error is not None else None)
    assert (ends) == ["APPROVAL_PENDING", None, None]
    assert _missing(clone) == [] and (clone / "b.txt").read_text() == "b\n"


async def test_a_pull_fetches_what_it_merges(clone: Path) -> None:
    async def pulled() -> str | None:
        async with plane(clone) as opened:
            outcome = await opened.conveyor.call("git.pull", {"remote": "origin", "ref": "other"}, OWNER)
            return outcome.error.message if outcome.error is not None else None

    assert await pulled() is None
    assert (clone / "b.txt").read_text() == "b\n"
