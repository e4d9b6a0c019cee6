"""Reading where git is unusual or broken: no repository, bare, shallow, sha256, damaged, work trees, submodules."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codeplane.git.read.blame import BlameResult
from codeplane.git.read.log import LogResult
from codeplane.git.read.merge_analysis import MergeAnalysisResult
from codeplane.git.read.refs import BranchesResult
from codeplane.git.read.remote_list import RemotesResult
from codeplane.git.read.repository import open_repository
from codeplane.git.read.status import StatusResult
from codeplane.git.read.submodule_list import SubmodulesResult
from codeplane.git.read.worktree_list import WorktreesResult
from codeplane.kernel.errors import (
    CodePlaneError,
    CursorExpired,
    DeadlineExceeded,
    GitRefused,
    InvalidArgument,
    NotFound,
    NotGit,
    RefNotFound,
    TooLarge,
)
from tests.git.random_repository import RandomRepository
from tests.git.read_operations import Reads
from tests.git.test_reader_matches_git import of, same_diffs, same_log, same_show, same_status
from tests.harness import until
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking

EVERY = (
    "git.status",
    "git.diff",
    "git.log",
    "git.show",
    "git.branches",
    "git.tags",
    "git.remotes",
    "git.stash_list",
    "git.submodules",
    "git.worktrees",
)


@pytest.fixture
def repository(tmp_path: Path) -> RandomRepository:
    made = RandomRepository.empty(tmp_path / "made")
    made.write("a.txt", "one\ntwo\nthree\n")
    made.commit("first")
    return made


@requirement("GIT-04")
def test_a_folder_without_git_does_not_speak_for_the_one_around_it(repository: RandomRepository) -> None:
    inner = repository.root / "inner"
    inner.mkdir()
    for name in EVERY:
        with pytest.raises(NotGit) as refused:
            Reads(inner)(name)
        assert refused.value.hint == "run: git init"
    with pytest.raises(NotGit):
        open_repository(inner)


@requirement("GIT-04")
def test_a_bare_repository_says_so(tmp_path: Path) -> None:
    bare = RandomRepository.empty(tmp_path / "bare.git", "--bare")
    for name in EVERY:
        with pytest.raises(NotGit, match="bare"):
            Reads(bare.root)(name)
    with pytest.raises(NotGit, match="bare"):
        open_repository(bare.root)
    folder = tmp_path / "marked"
    marked = RandomRepository.empty(folder)
    marked.git("config", "core.bare", "true")
    with pytest.raises(NotGit, match="bare"):
        open_repository(folder)
    with pytest.raises(NotGit, match="bare"):
        Reads(folder)("git.status")


@requirement("GIT-04")
def test_before_the_first_commit(tmp_path: Path) -> None:
    reads = Reads(RandomRepository.empty(tmp_path / "empty").root)
    assert reads("git.log").text() == "no commits"
    assert reads("git.branches").text() == "* main (no commits yet)\nno branches"
    assert reads("git.diff").text() == reads("git.diff", staged=True).text() == "no differences"
    assert reads("git.tags").text() == "no tags"
    assert reads("git.stash_list").text() == "no stashes"
    assert reads("git.remotes").text() == "no remotes"
    assert reads("git.submodules").text() == "no submodules"
    assert "no commit" in reads("git.worktrees").text()
    (tmp_path / "empty/a.txt").write_text("x\n")
    for name, arguments in (("git.show", {}), ("git.diff", {"base": "HEAD"}), ("git.blame", {"path": "a.txt"})):
        with pytest.raises(RefNotFound, match="no commits yet"):
            reads(name, **arguments)


@requirement("GIT-04")
def test_objects_named_by_sha256_are_read(tmp_path: Path) -> None:
    made = RandomRepository.empty(tmp_path / "sha256", "--object-format=sha256", seed=3)
    made.history(4)
    made.unfinished()
    reads = Reads(made.root)
    same_status(made, reads)
    same_diffs(made, reads)
    same_log(made, reads)
    same_show(made, reads)
    for name in EVERY:
        assert reads(name).text()
    with pytest.raises(GitRefused, match="sha256") as refused:
        open_repository(made.root)
    assert "git_status" in refused.value.hint


@requirement("GIT-04")
def test_a_shallow_clone_says_where_history_ends(tmp_path: Path, repository: RandomRepository) -> None:
    repository.write("a.txt", "changed\n")
    repository.commit("second")
    clone = RandomRepository(root=tmp_path / "shallow")
    clone.root.mkdir()
    clone.git("clone", "--quiet", "--depth=1", f"file://{repository.root}", ".")
    reads = Reads(clone.root)
    answer = of(LogResult, reads("git.log"))
    assert len(answer.commits) == 1 and "shallow" in answer.text()
    assert "+changed" in reads("git.show").text()
    assert of(BlameResult, reads("git.blame", path="a.txt")).hunks[0].boundary
    with pytest.raises(RefNotFound):
        reads("git.show", ref="HEAD~1")


def test_a_work_tree_and_a_submodule_as_root(tmp_path: Path, repository: RandomRepository) -> None:
    there = tmp_path / "there"
    repository.git("worktree", "add", "--quiet", "-b", "side", str(there))
    repository.git("worktree", "lock", "--reason", "on a disk", str(there))
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "gone"))
    shutil.rmtree(tmp_path / "gone")
    reads = Reads(there)
    assert of(StatusResult, reads("git.status")).branch == "side"
    assert open_repository(there).workdir == f"{there}/"
    main, locked, gone = of(WorktreesResult, reads("git.worktrees")).worktrees
    if locked.path.endswith("gone"):
        locked, gone = gone, locked
    assert main.is_main and main.branch == "main" and not main.current
    assert (locked.path, locked.branch, locked.lock_reason, locked.current) == (str(there), "side", "on a disk", True)
    assert gone.prunable and gone.detached and gone.prune_reason
    one = next(branch for branch in of(BranchesResult, reads("git.branches")).branches if branch.name == "side")
    assert one.current and one.worktree == str(there)
    host = RandomRepository.empty(tmp_path / "host")
    host.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository.root), "lib")
    host.commit("with lib")
    inner = Reads(host.root / "lib")
    assert of(StatusResult, inner("git.status")).branch == "main"
    assert of(LogResult, inner("git.log")).commits[0].subject == "first"
    shutil.rmtree(host.root / ".git/modules")
    with pytest.raises(GitRefused, match="not there"):
        inner("git.status")


def test_submodules_in_every_state(tmp_path: Path, repository: RandomRepository) -> None:
    host = RandomRepository.empty(tmp_path / "host")
    for name in ("same", "ahead", "absent", "with space"):
        host.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository.root), name)
    (host.root / "nested").mkdir()
    nested = RandomRepository.empty(host.root / "nested")
    nested.commit("no mapping")
    host.commit("all")
    host.git("submodule", "--quiet", "deinit", "--force", "absent")
    RandomRepository(root=host.root / "ahead").commit("more")
    (host.root / "same/a.txt").write_text("dirty\n")
    found = {one.path: one for one in of(SubmodulesResult, Reads(host.root)("git.submodules")).submodules}
    assert {path: one.status for path, one in found.items()} == {
        "same": "current",
        "ahead": "changed",
        "absent": "uninitialized",
        "with space": "current",
        "nested": "current",
    }
    assert found["same"].dirty == "modified content" and found["ahead"].head != found["ahead"].oid
    assert found["nested"].url is None and found["same"].url == str(repository.root)
    # That they are at another commit is seen from outside; what changed in their files is for who looks into them.
    assert " M ahead (new commits)" in Reads(host.root)("git.status").text()


@pytest.mark.parametrize("left", [None, "", '[submodule "other"]\n\tpath = lib\n\turl = ./elsewhere\n'])
def test_a_submodule_is_known_whatever_the_file_in_the_work_tree_says(
    tmp_path: Path, repository: RandomRepository, left: str | None
) -> None:
    host = RandomRepository.empty(tmp_path / "host")
    host.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository.root), "lib")
    host.commit("with lib")
    RandomRepository(root=host.root / "lib").commit("more")
    modules = host.root / ".gitmodules"
    if left is None:
        modules.unlink()
    else:
        modules.write_text(left)
    for staged in (False, True):
        if staged:
            host.git("add", ".gitmodules")
        (found,) = of(SubmodulesResult, Reads(host.root)("git.submodules")).submodules
        assert (found.path, found.status) == ("lib", "changed")
        assert (found.name, found.url) == (("other", "./elsewhere") if left else ("lib", str(repository.root)))


def test_a_damaged_repository_is_a_typed_error(repository: RandomRepository) -> None:
    oid = repository.git("rev-parse", "HEAD^{tree}").decode().strip()
    kept = repository.root / ".git/objects" / oid[:2] / oid[2:]
    kept.chmod(0o644)
    kept.write_bytes(b"garbage")
    for name, arguments in (("git.show", {}), ("git.diff", {"base": "HEAD"}), ("git.status", {})):
        with pytest.raises(GitRefused) as refused:
            Reads(repository.root)(name, **arguments)
        assert "fsck" in refused.value.hint
    (repository.root / ".git/refs/heads/main").write_text("1" * 40 + "\n")
    for name in ("git.log", "git.show", "git.branches"):
        with pytest.raises(GitRefused):
            Reads(repository.root)(name)
    (repository.root / ".git/HEAD").unlink()
    for name in EVERY:
        with pytest.raises(GitRefused):
            Reads(repository.root)(name)
    with pytest.raises(GitRefused):
        open_repository(repository.root)


def test_a_broken_git_file_and_a_broken_index(tmp_path: Path, repository: RandomRepository) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / ".git").write_text("nonsense")
    with pytest.raises(GitRefused):
        Reads(folder)("git.status")
    (repository.root / ".git/index").write_bytes(b"DIRCgarbage")
    with pytest.raises(GitRefused):
        Reads(repository.root)("git.status")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_somebody_elses_repository_is_not_trusted(repository: RandomRepository) -> None:
    for path in (repository.root, repository.root / ".git"):
        os.chown(path, 12345, 12345)
    for asked in (lambda: Reads(repository.root)("git.status"), lambda: open_repository(repository.root)):
        with pytest.raises(NotGit) as refused:
            asked()
        assert "safe.directory" in refused.value.hint


def test_nothing_reaches_the_network_and_no_program_of_the_repository_runs(
    tmp_path: Path, repository: RandomRepository
) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = RandomRepository(root=tmp_path / "partial")
    clone.root.mkdir()
    clone.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{repository.root}", ".")
    with pytest.raises(GitRefused) as refused:
        Reads(clone.root)("git.show", ref="HEAD:a.txt")
    assert refused.value.hint == "git_fetch gets them"
    repository.git("config", "core.fsmonitor", "touch ran; false")
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "gpg.program", "touch ran; false")
    for name in EVERY:
        Reads(repository.root)(name)
    assert not repository.path("ran").exists()


def test_git_that_is_missing_or_hangs(tmp_path: Path, repository: RandomRepository) -> None:
    with pytest.raises(NotFound, match="git is not installed"):
        Reads(repository.root, env={"PATH": str(tmp_path)})("git.status")
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    with pytest.raises(DeadlineExceeded):
        Reads(repository.root, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, timeout_sec=0.2)("git.status")


def test_git_that_floods_is_ended(tmp_path: Path, repository: RandomRepository) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nexec yes\n")
    (tmp_path / "git").chmod(0o755)
    with pytest.raises(TooLarge):
        Reads(repository.root, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})("git.status")


async def test_a_call_that_is_cancelled_ends_its_git(tmp_path: Path, repository: RandomRepository) -> None:
    script = ("#!/bin/sh", f"cd {tmp_path}", "echo $$ > new", "mv new pid", "exec sleep 60")
    (tmp_path / "git").write_text("\n".join(script))
    (tmp_path / "git").chmod(0o755)
    reads = Reads(repository.root, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})

    with pytest.raises(ProcessLookupError):
        asked = asyncio.create_task(reads.ask("git.status"))
        await asyncio.to_thread(until, (tmp_path / "pid").exists)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        os.kill((int((tmp_path / "pid").read_text())), 0)


def test_remotes_are_shown_without_what_is_secret(repository: RandomRepository) -> None:
    for name, url in (
        ("token", "https://ghp_secret@example.com/a.git"),
        ("both", "https://me:secret@example.com/b.git"),
        ("ssh", "ssh://git:secret@example.com/c.git"),
        ("scp", "git@example.com:d.git"),
        ("here", "/srv/e.git"),
    ):
        repository.git("remote", "add", name, url)
    repository.git("remote", "set-url", "--push", "here", "https://x:secret@example.com/push.git")
    answer = of(RemotesResult, Reads(repository.root)("git.remotes"))
    assert "secret" not in answer.text() and "secret" not in answer.model_dump_json()
    assert answer.text().splitlines() == [
        "both https://example.com/b.git",
        "here /srv/e.git (push: https://example.com/push.git)",
        "scp git@example.com:d.git",
        "ssh ssh://git@example.com/c.git",
        "token https://example.com/a.git",
    ]


def test_branches_with_upstreams_and_odd_names(repository: RandomRepository) -> None:
    repository.git("branch", "feature/ö-x")
    repository.git("branch", "--track", "follows", "main")
    repository.commit("ahead")
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    reads = Reads(repository.root)
    answer = of(BranchesResult, reads("git.branches"))
    found = {one.name: one for one in answer.branches}
    assert found["main"].current and answer.current == "main"
    assert (found["follows"].upstream, found["follows"].ahead, found["follows"].behind) == ("main", 0, 1)
    assert found["feature/ö-x"].upstream is None
    assert [one.name for one in of(BranchesResult, reads("git.branches", remote=True)).branches] == ["origin/main"]
    assert len(of(BranchesResult, reads("git.branches", limit=2)).branches) == 2
    (repository.root / ".git/refs/heads/broken").write_text("nonsense\n")
    assert "main" in reads("git.branches").text()


def test_blame_and_log_refuse_what_makes_no_sense(repository: RandomRepository) -> None:
    reads = Reads(repository.root)
    repository.write("new.txt", "x\n")
    refusals: tuple[tuple[str, dict[str, object], type[CodePlaneError]], ...] = (
        ("git.blame", {"path": "a.txt", "line_range": [3, 1]}, InvalidArgument),
        ("git.blame", {"path": "a.txt", "line_range": [9, 12]}, InvalidArgument),
        ("git.blame", {"path": "new.txt"}, NotFound),
        ("git.blame", {"path": "nowhere.txt"}, NotFound),
        ("git.log", {"since": "the day before"}, InvalidArgument),
        ("git.log", {"ref": "main...main"}, InvalidArgument),
        ("git.log", {"ref": "nowhere"}, RefNotFound),
        ("git.log", {"paths": ["nowhere.txt"]}, NotFound),
        ("git.merge_analysis", {"ref": "nowhere"}, RefNotFound),
    )
    for name, arguments, kind in refusals:
        with pytest.raises(kind):
            reads(name, **arguments)
    assert of(LogResult, reads("git.log", since="10000 days ago")).commits
    assert not of(LogResult, reads("git.log", since="2100-01-01")).commits
    assert of(LogResult, reads("git.log", until="2023-11-14")).commits
    repository.write("a.txt", "one\nTWO\nthree\n")
    assert reads("git.blame", path="a.txt", line_range=[2, 3]).text().splitlines()[0] == "2 not committed"


@requirement("TRUST-48")
def test_blame_shows_nothing_of_a_file_that_settings_name(tmp_path: Path, repository: RandomRepository) -> None:
    """The settings may include a file of the work tree, which agents write."""
    private = tmp_path / "private.txt"
    private.write_text("a line for nobody\n")
    repository.git("config", "blame.ignoreRevsFile", str(private))
    reads = Reads(repository.root)
    with pytest.raises(GitRefused, match=r"blame\.ignoreRevsFile names has a line that is no commit") as refused:
        reads("git.blame", path="a.txt")
    assert "a line for nobody" not in str(refused.value)
    private.write_bytes(repository.git("rev-parse", "HEAD"))
    assert reads("git.blame", path="a.txt").text()


def test_pages_of_history_speak_of_where_they_began(repository: RandomRepository) -> None:
    for number in range(5):
        repository.commit(f"commit {number}")
    reads = Reads(repository.root)
    first = of(LogResult, reads("git.log", limit=2))
    repository.commit("meanwhile")
    second = of(LogResult, reads("git.log", limit=2, cursor=first.pagination.next_cursor))
    assert [one.subject for one in (*first.commits, *second.commits)] == [f"commit {n}" for n in (4, 3, 2, 1)]
    assert [one.subject for one in of(LogResult, reads("git.log", ref="HEAD~2..")).commits] == ["meanwhile", "commit 4"]
    analysis = of(MergeAnalysisResult, reads("git.merge_analysis", ref="HEAD", into="HEAD~2"))
    assert (analysis.analysis, analysis.behind) == ("fastforward", 2)


def test_a_replaced_commit_is_read_as_git_reads_it(repository: RandomRepository) -> None:
    repository.commit("second")
    repository.git("replace", "--graft", "HEAD")
    assert [one.subject for one in of(LogResult, Reads(repository.root)("git.log")).commits] == ["second"]


def test_pages_of_blame_go_on_while_lines_are_not_committed(repository: RandomRepository) -> None:
    repository.write("a.txt", "one\nTWO\nthree\nFOUR\n")
    reads = Reads(repository.root)
    first = of(BlameResult, reads("git.blame", path="a.txt", limit=2))
    second = of(BlameResult, reads("git.blame", path="a.txt", limit=2, cursor=first.pagination.next_cursor))
    assert [hunk.oid is None for hunk in (*first.hunks, *second.hunks)] == [False, True, False, True]
    repository.write("a.txt", "one\nTWO!\nthree\nFOUR\n")
    with pytest.raises(CursorExpired):
        reads("git.blame", path="a.txt", limit=2, cursor=first.pagination.next_cursor)


async def test_a_repository_inside_is_not_entered(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    for folder in (root, root / "nested"):
        folder.mkdir()
        for command in (
            ("init", "-q"),
            ("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm1", "--allow-empty"),
        ):
            subprocess.run(["git", *command], cwd=folder, check=True)
    subprocess.run(["git", "add", "nested"], cwd=root, check=True, capture_output=True)
    (root / "nested" / "a.txt").write_text("a\n")
    subprocess.run(["git", "add", "a.txt"], cwd=root / "nested", check=True)
    ran = tmp_path / "ran"
    for name, value in (("filter.e.clean", f"touch {ran}; cat"), ("core.fsmonitor", f"touch {ran}")):
        subprocess.run(["git", "config", name, value], cwd=root / "nested", check=True)
    (root / "nested" / ".git" / "info" / "attributes").write_text("* filter=e\n")
    (root / "nested" / "a.txt").write_text("b\n")
    async with asking(root) as ask:
        for operation in ("git.status", "git.diff", "git.submodules"):
            assert "error" not in await ask(operation), operation
    assert not ran.exists()
