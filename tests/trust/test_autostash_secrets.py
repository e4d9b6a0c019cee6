"""Autostash: what git puts aside by itself holds no secrets file for an agent, and the owner is told of one."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.trust.test_secret_files import ENV, VALUE, _held_by_git

pytestmark = requirement("TRUST-52")

CALLS: dict[str, JsonObject] = {
    "git.merge": {"ref": "side"},
    "git.pull": {"remote": "origin", "ref": "side", "mode": "merge"},
    "git.rebase_execute": {},
}
SETTINGS = ("rebase.autoStash", "merge.autoStash")


def _repo(folder: Path) -> Path:
    """Two branches that went apart, with a tracked secrets file."""
    root = make_repo(folder, {"README.md": "# shop\n", ".env": "DB_PASSWORD=\n"})
    for name, value in (("user.name", "Test"), ("user.email", "test@example.com")):
        git(root, "config", name, value)
    main = git(root, "branch", "--show-current").strip()
    for branch, path in (("side", "a"), (main, "b")):
        git(root, "switch", "--quiet", *(["-c"] if branch == "side" else []), branch)
        (root / path).write_text(f"{path}\n")
        git(root, "add", path)
        git(root, "commit", "--quiet", "-m", path)
    git(root, "clone", "--quiet", "--bare", ".", str(folder.with_name("origin.git")))
    git(root, "remote", "add", "origin", str(folder.with_name("origin.git")))
    return root


def _set(root: Path, is_set: bool) -> None:
    for setting in SETTINGS:
        git(root, "config", setting, str(is_set).lower())


def _arguments(root: Path, name: str) -> JsonObject:
    steps = [{"action": "pick", "commit_sha": git(root, "rev-parse", "HEAD").strip()}]
    return CALLS[name] or {"plan": {"upstream": git(root, "rev-parse", "side").strip(), "steps": steps}}


@pytest.mark.parametrize("is_set", [True, False])
@pytest.mark.parametrize("name", CALLS)
async def test_git_puts_no_secrets_file_aside_for_an_agent(tmp_path: Path, name: str, is_set: bool) -> None:
    root = _repo(tmp_path / "repo")
    _set(root, is_set)
    (root / ".env").write_text(ENV)
    async with plane(root, "trust.mode=automatic") as opened:
        done = await opened.conveyor.call(name, _arguments(root, name), AGENT)
        assert done.error is not None
        if name == "git.rebase_execute":
            # As git says it without autostash.
            assert done.error.name == "GIT_REFUSED" and "unstaged changes" in done.error.message
        else:
            # Git puts changes aside before every real merge.
            assert done.error.name == "PATH_DENIED" and ".env holds secrets" in done.error.message
    assert (root / ".env").read_text() == ENV
    assert VALUE not in _held_by_git(root)


@pytest.mark.parametrize("name", ["git.merge", "git.pull"])
@pytest.mark.parametrize("ff", ["", "false"])
async def test_a_step_forward_stores_nothing_and_is_made(tmp_path: Path, name: str, ff: str) -> None:
    root = _repo(tmp_path / "repo")
    _set(root, True)
    git(root, "reset", "--quiet", "--hard", "HEAD~1")
    git(root, "config", f"branch.{git(root, 'branch', '--show-current').strip()}.mergeOptions", "--no-ff --autostash")
    if ff:
        git(root, "config", "merge.ff", ff)
    (root / ".env").write_text(ENV)
    async with plane(root, "trust.mode=automatic") as opened:
        done = await opened.conveyor.call(name, CALLS[name], AGENT)
        assert (done.error.name if done.error else "") == ("PATH_DENIED" if ff else ""), done
        only: JsonObject = {"ff": "only"} if name == "git.merge" else {"mode": "ff-only"}
        done = await opened.conveyor.call(name, CALLS[name] | only, AGENT)
        assert done.error is None, done.error
    assert (root / "a").exists() and (root / ".env").read_text() == ENV
    assert VALUE not in _held_by_git(root)


@pytest.mark.parametrize("name", CALLS)
async def test_other_changes_are_put_aside_as_the_owner_set_it(tmp_path: Path, name: str) -> None:
    root = _repo(tmp_path / "repo")
    _set(root, True)
    (root / "README.md").write_text("# changed\n")
    async with plane(root, "trust.mode=automatic") as opened:
        done = await opened.conveyor.call(name, _arguments(root, name), AGENT)
        assert done.error is None, done.error
    assert (root / "README.md").read_text() == "# changed\n"
    assert "# changed" in _held_by_git(root)


@pytest.mark.parametrize("name", CALLS)
async def test_the_owner_is_told_that_git_stores_it(tmp_path: Path, name: str) -> None:
    root = _repo(tmp_path / "repo")
    _set(root, True)
    (root / ".env").write_text(ENV)
    async with plane(root) as opened:
        done = await opened.conveyor.call(name, _arguments(root, name), OWNER)
        assert done.error is None, done.error
        assert any("git put aside what it holds" in warning for warning in done.meta.warnings), done.meta
    assert (root / ".env").read_text() == ENV
