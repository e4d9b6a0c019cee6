"""Jobs that change files do so in a work tree of their own; a person applies or discards the diff."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest

from codeplane.edit.engine import Engine
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.scope import Scope
from codeplane.git.safety.command import Git
from codeplane.git.write import job_trees
from codeplane.kernel.config import GitConfig
from codeplane.kernel.errors import FileChanged, StorageFailed
from codeplane.kernel.event import Draft
from codeplane.kernel.job_tree import FileChange
from codeplane.kernel.json import JsonObject
from tests.edit.folder_swaps import swap_folders
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import events
from tests.trust.approvals.agent_calls import refused, result
from tests.work.jobs.job_plane import JobPlane, folders_of, job_repository
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("JOB-02")

FILES = {"shop.py": "price = 1\n", "docs/old.md": "old\n", "run.sh": "echo\n"}
EDITS: JsonObject = {
    "edits": [
        {"path": "shop.py", "old_text": "price = 1", "new_text": "price = 2"},
        {"path": "new/tax.py", "content": "tax = 3\n"},
        {"path": "docs/old.md", "action": "delete"},
    ]
}


def _changing_model(*more: JsonObject) -> ScriptedModel:
    return ScriptedModel([tool("write_files", "a", **EDITS), *more, finish("tool_calls")], text("Changed."))


async def _changed(jobs: JobPlane, **arguments: bool) -> JsonObject:
    """A job that has changed files, once the changes wait for a person."""
    created = await jobs.create("Raise the price", toolset="core", **{"changes_files": True, **arguments})
    assert (await jobs.reached(created["job_id"]))["status"] == "JOB_COMPLETED"
    settled = await jobs.happened(created["job_id"], "job.tree_finished", "job.tree_discarded")
    assert settled.type == "job.tree_finished", settled.payload
    return await jobs.show(created["job_id"])


async def test_the_checkout_stays_as_it_is_until_the_diff_is_applied_and_undo_takes_it_back(tmp_path: Path) -> None:
    async with job_repository(tmp_path, FILES, _changing_model()) as (jobs, repo, trees):
        job = await _changed(jobs)
        assert (job["tree"], job["changed_files"]) == ("JOB_TREE_OPEN", 3)
        assert (repo / "shop.py").read_text() == "price = 1\n" and (repo / "docs/old.md").exists()
        assert git(repo, "status", "--porcelain") == ""

        diff = result(await jobs.ask("job.diff", job_id=job["job_id"]))
        assert diff["conflicts"] == [] and not diff["truncated"]
        assert diff["files"] == [
            {"path": "docs/old.md", "change": "deleted"},
            {"path": "new/tax.py", "change": "created"},
            {"path": "shop.py", "change": "changed"},
        ]
        assert "-price = 1\n+price = 2" in str(diff["diff"])

        applied = result(await jobs.ask("job.apply", job_id=job["job_id"]))
        assert (repo / "shop.py").read_text() == "price = 2\n" and not (repo / "docs/old.md").exists()
        assert (repo / "new/tax.py").read_text() == "tax = 3\n"
        shown = await jobs.show(job["job_id"])
        assert (shown["tree"], shown["mutation_id"]) == ("JOB_TREE_APPLIED", applied["mutation_id"])
        assert folders_of(trees) == [] and "tree" not in git(repo, "worktree", "list")
        assert refused(await jobs.ask("job.apply", job_id=job["job_id"])) == "JOB_TREE_GONE"

        result(await jobs.ask("undo", mutation_id=applied["mutation_id"]))
        assert (repo / "shop.py").read_text() == "price = 1\n" and (repo / "docs/old.md").read_text() == "old\n"
        assert not (repo / "new").exists() and git(repo, "status", "--porcelain") == ""
        assert await jobs.is_rebuilt_equal()


async def test_changes_that_were_applied_before_a_cut_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with job_repository(tmp_path, FILES, _changing_model()) as (jobs, repo, _):
        job, append = await _changed(jobs), jobs.opened.log.append

        async def stop_before_record(drafts: Sequence[Draft], **options: Any) -> Any:
            if any(draft.type == "job.tree_applied" for draft in drafts):
                raise StorageFailed("the disk is gone")
            return await append(drafts, **options)

        monkeypatch.setattr(jobs.opened.log, "append", stop_before_record)
        assert refused(await jobs.ask("job.apply", job_id=job["job_id"])) == "STORAGE_FAILED"
        monkeypatch.undo()
        # The change is made, and nothing says yet that it was the job's.
        assert (repo / "shop.py").read_text() == "price = 2\n"
        assert (await jobs.show(job["job_id"]))["tree"] == "JOB_TREE_OPEN"
        again = result(await jobs.ask("job.apply", job_id=job["job_id"]))
        # The first one is the job's own, in its work tree.
        _, made = [event.payload["mutation_id"] for event in await events(jobs.opened, "mutation.applied")]
        assert again["mutation_id"] == made
        shown = await jobs.show(job["job_id"])
        assert (shown["tree"], shown["mutation_id"]) == ("JOB_TREE_APPLIED", made)
        result(await jobs.ask("undo", mutation_id=made))
        assert (repo / "shop.py").read_text() == "price = 1\n"


async def test_many_who_look_at_the_same_changes_see_all_of_them(tmp_path: Path) -> None:
    async with job_repository(tmp_path, FILES, _changing_model()) as (jobs, _, trees):
        job = await _changed(jobs)
        found = await asyncio.gather(*(jobs.ask("job.diff", job_id=job["job_id"]) for _ in range(30)))
        seen = [result(outcome) for outcome in found]
        assert all(diff["files"] == seen[0]["files"] != [] for diff in seen)
        assert len({str(diff["diff"]) for diff in seen}) == 1
        # Nothing of it stays behind.
        assert sorted(path.name for path in trees.glob("*/*/*")) == ["home", "tree"]


async def test_a_tree_that_goes_while_it_is_applied_deletes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with job_repository(tmp_path, FILES, _changing_model()) as (jobs, repo, trees):
        job, list_changes = await _changed(jobs), job_trees._list_changes

        async def remove_after(*arguments: Any) -> list[FileChange]:
            listed = await list_changes(*arguments)
            next(trees.glob("*/*/tree/shop.py")).unlink()
            return listed

        monkeypatch.setattr(job_trees, "_list_changes", remove_after)
        assert refused(await jobs.ask("job.apply", job_id=job["job_id"])) == "JOB_TREE_GONE"
        assert (repo / "shop.py").read_text() == "price = 1\n"
        assert not (repo / "new").exists() and (repo / "docs/old.md").exists()


async def test_a_checkout_that_moved_is_left_alone_and_the_conflicts_are_named(tmp_path: Path) -> None:
    async with job_repository(tmp_path, FILES, _changing_model()) as (jobs, repo, _):
        job = await _changed(jobs)
        (repo / "shop.py").write_text("price = 5\n")
        (repo / "new").mkdir()
        (repo / "new/tax.py").write_text("mine\n")
        diff = result(await jobs.ask("job.diff", job_id=job["job_id"]))
        assert diff["conflicts"] == ["new/tax.py", "shop.py"]
        outcome = await jobs.ask("job.apply", job_id=job["job_id"])
        assert refused(outcome) == "JOB_CONFLICT" and outcome.error is not None
        assert outcome.error.details["conflicts"] == ["new/tax.py", "shop.py"]
        # Nothing of it was applied, also not where nothing stood in the way.
        assert (repo / "docs/old.md").exists() and (repo / "new/tax.py").read_text() == "mine\n"
        # Back as it was, or as the job left it, it can be applied, also when the branch has moved on elsewhere.
        (repo / "shop.py").write_text("price = 1\n")
        (repo / "new/tax.py").write_text("tax = 3\n")
        (repo / "other.txt").write_text("other\n")
        git(repo, "add", "other.txt")
        git(repo, "commit", "--quiet", "--message", "other")
        result(await jobs.ask("job.apply", job_id=job["job_id"]))
        assert (repo / "shop.py").read_text() == "price = 2\n"


async def test_discard_removes_the_tree_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with job_repository(tmp_path, FILES, _changing_model()) as (jobs, repo, trees):
        job = await _changed(jobs)
        assert folders_of(trees) == [job["job_id"]]
        discarded = result(await jobs.ask("job.discard", job_id=job["job_id"]))
        assert discarded["tree"] == "JOB_TREE_DISCARDED" and folders_of(trees) == []
        assert len(git(repo, "worktree", "list").splitlines()) == 1
        assert [*(repo / ".git" / "worktrees").glob("*")] == []
        assert git(repo, "status", "--porcelain") == "" and (repo / "shop.py").read_text() == "price = 1\n"
        assert refused(await jobs.ask("job.diff", job_id=job["job_id"])) == "JOB_TREE_GONE"


async def test_cancelling_and_changing_nothing_leave_no_tree(tmp_path: Path) -> None:
    model = ScriptedModel([tool("run_bash", "a", command="true"), finish("tool_calls")], text("Nothing to do."))
    async with job_repository(tmp_path, FILES, model) as (jobs, _, trees):
        waits = await jobs.create("Wait", toolset="core,run_bash", changes_files=True)
        await jobs.reached(waits["job_id"], "JOB_WAITING_APPROVAL")
        assert folders_of(trees) == [waits["job_id"]]
        assert refused(await jobs.ask("job.discard", job_id=waits["job_id"])) == "JOB_UNFINISHED"
        cancelled = result(await jobs.ask("job.cancel", job_id=waits["job_id"]))
        assert cancelled["status"] == "JOB_CANCELLED"
        await jobs.happened(waits["job_id"], "job.tree_discarded")
        idle = await jobs.create("Look", toolset="core", changes_files=True)
        assert (await jobs.reached(idle["job_id"]))["status"] == "JOB_COMPLETED"
        gone = await jobs.happened(idle["job_id"], "job.tree_discarded")
        assert gone.payload["reason"] == "it changed nothing"
        while folders_of(trees):
            await jobs.opened.work._tree_lifecycle.sweep()


async def test_a_job_that_may_not_change_files_only_reads(tmp_path: Path) -> None:
    model = ScriptedModel(
        [tool("write_files", "a", **EDITS), tool("read_files", "b", paths=["shop.py"]), finish("tool_calls")],
        text("I could not."),
    )
    async with job_repository(tmp_path, FILES, model) as (jobs, repo, trees):
        job = await jobs.reached((await jobs.create("Try", toolset="core"))["job_id"])
        answers = await jobs.events(f"thread/{job['thread_id']}", "tool.finished")
        assert [event.payload["status"] for event in answers] == ["POLICY_DENIED", "ok"]
        assert (repo / "shop.py").read_text() == "price = 1\n" and folders_of(trees) == []
        assert job["tree"] == "JOB_TREE_NONE"
        assert refused(await jobs.ask("job.diff", job_id=job["job_id"])) == "JOB_TREE_GONE"


async def test_a_job_leaves_the_branches_and_tags_of_the_repository_alone(tmp_path: Path) -> None:
    model = ScriptedModel(
        [tool("git_create_branch", "a", name="sneaky"), tool("git_status", "b"), finish("tool_calls")],
        text("Not allowed."),
    )
    async with job_repository(tmp_path, FILES, model) as (jobs, repo, _):
        created = await jobs.create("Branch", toolset="core,git", changes_files=True)
        job = await jobs.reached(created["job_id"])
        answers = await jobs.events(f"thread/{job['thread_id']}", "tool.finished")
        assert [event.payload["status"] for event in answers] == ["POLICY_DENIED", "ok"]
        assert "sneaky" not in git(repo, "branch", "--list")


async def test_leftovers_of_jobs_that_are_gone_are_swept(tmp_path: Path) -> None:
    async with job_repository(tmp_path, FILES, _changing_model()) as (jobs, repo, trees):
        job = await _changed(jobs)
        left = trees / next(trees.iterdir()).name / "job_nobody" / "tree"
        git(repo, "worktree", "add", "--quiet", "--detach", str(left), "HEAD")
        await jobs.opened.work._tree_lifecycle.remove_leftovers()
        assert folders_of(trees) == [job["job_id"]]
        assert len(git(repo, "worktree", "list").splitlines()) == 2


async def test_a_repository_without_a_commit_is_refused_in_words(tmp_path: Path) -> None:
    repo = tmp_path / "empty"
    repo.mkdir()
    git(repo, "init", "--quiet")
    async with job_repository(tmp_path, FILES, _changing_model()) as (jobs, _, trees):
        git(tmp_path / "shop", "update-ref", "-d", "HEAD")
        job = await jobs.reached((await jobs.create("Change", toolset="core", changes_files=True))["job_id"])
        assert job["status"] == "JOB_FAILED" and "commit" in str(job["last_error"])
        assert folders_of(trees) == []


def test_what_a_program_of_the_job_swaps_for_a_link_is_not_read_through_it(tmp_path: Path) -> None:
    files = {"shop.py": "price = 1\n", "docs/old.md": "old\n"}
    repo, tree = make_repo(tmp_path / "repo", files), make_repo(tmp_path / "job" / job_trees.TREE, files)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "old.md").write_text("outside\n")
    for name in files:
        (tree / name).write_text("changed\n")
    (tree / "link").symlink_to(outside / "old.md")
    (tree / "folder").symlink_to(outside)
    # A plan needs neither.
    engine, mutations = cast(Engine, None), cast(MutationStore, None)
    trees = job_trees.GitJobTrees(
        folder=tmp_path,
        git=Git(repo, GitConfig(), dict),
        scope=Scope(repo),
        engine=engine,
        mutations=mutations,
        diff_bytes=1,
    )
    changed = [FileChange(path=name, change="changed") for name in files]
    read: set[bytes | Path | None] = set()
    end = time.monotonic() + 2
    with swap_folders(tree / "shop.py", tree / "link"), swap_folders(tree / "docs", tree / "folder"):
        while time.monotonic() < end:
            with suppress(FileChanged, FileNotFoundError):
                read |= {change.content for change in trees._plan(tree, changed) if not change.link}
    assert read == {b"changed\n"}
