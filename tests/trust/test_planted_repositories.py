"""What can be written into the work tree, a git folder of its own included, is not run by looking at it."""

import shutil
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonValue
from tests.git.desk import simple
from tests.git.test_guarded_programs import SECRET, Guarded, needs_bubblewrap
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane

pytestmark = requirement("TRUST-48")

MAIN = {"README.md": "# shop\n", "src/app.py": "x = 1\n"}


def _trap(folder: Path, mark: Path) -> None:
    """A repository whose settings have git run something as soon as it looks at a file."""
    git(folder, "config", "filter.trap.clean", f"touch '{mark}'; cat")
    git(folder, "config", "core.fsmonitor", f"touch '{mark}'; false")
    (folder / ".gitattributes").write_text("* filter=trap\n")
    (folder / "f.txt").write_text("changed, and longer\n")


def _planted(folder: Path, mark: Path) -> None:
    make_repo(folder, {"f.txt": "one\n"})
    _trap(folder, mark)


@needs_bubblewrap
async def test_a_folder_inside_is_read_without_running_what_it_names(tmp_path: Path) -> None:
    repo, mark = make_repo(tmp_path / "shop", MAIN), tmp_path / "ran"
    _planted(repo / "nested", mark)
    async with plane(repo) as opened:
        assert (await opened.conveyor.call("workspace.attach", {"path": "nested"}, OWNER)).error is None
        for operation in ("git.status", "git.diff", "semantic_diff", "git.log"):
            outcome = await opened.conveyor.call(operation, {"workspace": "nested"}, AGENT)
            assert outcome.error is None, (operation, outcome.error)
        outcome = await opened.conveyor.call("git.blame", {"workspace": "nested", "path": "f.txt"}, AGENT)
        assert outcome.error is None, outcome.error
        status = await opened.conveyor.call("git.status", {"workspace": "nested"}, AGENT)
        assert "f.txt" in status.result_json
    assert not mark.exists()


def _fetching_trap(folder: Path, mark: Path) -> None:
    """A partial clone that lacks a `.gitignore`, and runs something to fetch it as soon as git lists its files."""
    far = make_repo(folder.parent / f"{folder.name}-far", {"a.txt": "a\n", "d/.gitignore": "x\n", "d/b.txt": "b\n"})
    for name in ("allowFilter", "allowAnySHA1InWant"):
        git(far, "config", f"uploadpack.{name}", "true")
    git(folder.parent, "clone", "--quiet", "--filter=blob:none", "--sparse", f"file://{far}", str(folder))
    git(folder, "config", "remote.origin.uploadpack", f"touch '{mark}'; git-upload-pack")
    (folder / "d").mkdir()
    (folder / "d" / "new.txt").write_text("new\n")


@pytest.mark.parametrize("place", ["a submodule", "attached"])
async def test_listing_files_fetches_nothing_and_runs_no_program_for_it(tmp_path: Path, place: str) -> None:
    """Tests of an agent can put a repository where a submodule was not checked out."""
    repo, mark = make_repo(tmp_path / "shop", MAIN), tmp_path / "ran"
    _fetching_trap(tmp_path / "trap", mark)
    commit = git(tmp_path / "trap", "rev-parse", "HEAD").strip()
    if place == "a submodule":
        (repo / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = https://example.org/lib\n')
        git(repo, "update-index", "--add", "--cacheinfo", f"160000,{commit},lib")
        git(repo, "commit", "--quiet", "--message", "lib")
    shutil.copytree(tmp_path / "trap", repo / "lib", symlinks=True)
    async with plane(repo) as opened:
        if place == "attached":
            assert (await opened.conveyor.call("workspace.attach", {"path": "lib"}, OWNER)).error is None
        listed = await opened.conveyor.call("search", {"query": "shop", "mode": "literal"}, AGENT)
        assert listed.error is None and "README.md" in listed.result_json
    assert not mark.exists()
    # Git by itself runs it.
    git(repo / "lib", "ls-files", "--others", "--exclude-standard")
    assert mark.exists()


async def test_a_work_tree_whose_git_folder_was_replaced_is_not_entered(tmp_path: Path) -> None:
    repo, mark = make_repo(tmp_path / "shop", MAIN), tmp_path / "ran"
    git(repo, "worktree", "add", "--quiet", str(repo / "trees" / "t"))
    kept = (repo / "trees" / "t" / ".git").read_bytes()

    async def removed() -> list[JsonValue]:
        async with plane(repo) as opened:
            output: list[JsonValue] = []
            for operation, more in (("git.worktree_open", {}), ("git.worktree_remove", {"force": True})):
                outcome = await opened.conveyor.call(operation, {"name": "t", **more}, AGENT)
                output.append(outcome.error.name if outcome.error is not None else None)
            return output

    (repo / "trees" / "t" / ".git").unlink()
    _planted(repo / "trees" / "t", mark)
    mark.unlink(missing_ok=True)
    assert await removed() == ["GIT_REFUSED", "GIT_REFUSED"]
    assert not mark.exists()
    # Put back where it belongs, it is entered and removed.
    shutil.rmtree(repo / "trees" / "t" / ".git")
    (repo / "trees" / "t" / ".git").write_bytes(kept)
    assert await removed() == [None, "APPROVAL_PENDING"]


async def test_a_submodule_whose_git_folder_was_replaced_is_not_entered(tmp_path: Path) -> None:
    lib, mark = make_repo(tmp_path / "lib", {"f.txt": "one\n"}), tmp_path / "ran"
    repo = make_repo(tmp_path / "shop", MAIN)
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lib), "sub")
    git(repo, "commit", "--quiet", "--message", "sub")
    (repo / "sub" / ".git").unlink()
    _planted(repo / "sub", mark)
    mark.unlink(missing_ok=True)

    async def tried() -> list[str | None]:
        async with plane(repo, "trust.mode=automatic") as opened:
            output: list[str | None] = []
            for operation, arguments in (
                ("git.submodule_deinit", {"path": "sub", "force": True}),
                ("git.submodule_deinit", {"path": "sub"}),
                ("git.submodule_remove", {"path": "sub"}),
                ("git.submodule_update", {}),
                ("git.submodule_update", {"paths": ["sub"], "recursive": True}),
            ):
                outcome = await opened.conveyor.call(operation, arguments, AGENT)  # type: ignore[arg-type]  # JSON
                output.append(outcome.error.name if outcome.error is not None else None)
            return output

    assert await tried() == ["GIT_REFUSED"] * 5
    assert not mark.exists()


@needs_bubblewrap
async def test_a_filter_of_the_owners_that_runs_the_work_trees_code_reaches_no_token_by_looking(tmp_path: Path) -> None:
    desk = Guarded(simple(tmp_path).made)
    repo = desk.made.root
    git(repo, "config", "filter.strip.clean", "sh tool.sh")
    (repo / "tool.sh").write_text("cat .codeplane/owner.token >> seen 2>&1; echo ran >> seen; cat\n")
    (repo / ".gitattributes").write_text("*.txt filter=strip\n")
    (repo / "a.txt").write_text("changed\n")
    shutil.rmtree(desk.home)
    async with plane(repo) as opened:
        (repo / ".codeplane" / "owner.token").write_text(SECRET)
        outcome = await opened.conveyor.call("git.diff", {}, AGENT)
        assert outcome.error is None, outcome.error
    assert "ran" in (repo / "seen").read_text()
    assert SECRET not in (repo / "seen").read_text()
