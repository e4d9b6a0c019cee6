"""Jobs that an outside agent works on, in the work tree of the job."""

from pathlib import Path

from codeplane.kernel.json import dumps
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import refused, result
from tests.work.agents.agent_plane import FILES, NAME, agent_plane, scripted
from tests.work.jobs.job_plane import JobPlane

pytestmark = requirement("OAG-06")


async def test_an_agent_works_on_a_job_whose_changes_are_applied_like_any_jobs(tmp_path: Path) -> None:
    repo, trees = make_repo(tmp_path / "shop", FILES), tmp_path / "trees"
    async with agent_plane(repo, trees, {NAME: scripted()}) as opened:
        jobs = JobPlane(opened)
        goal = dumps(
            [["tool", "edit", "Edit it", "shop.py", "price = 2\n"], ["fs_write", "a.py", "a = 1\n"], ["say", "Done."]]
        )
        created = result(await jobs.ask("job.create", goal=goal, agent=NAME))
        assert created["agent"] == NAME and created["changes_files"] is True
        job = await jobs.reached(created["job_id"])
        assert job["status"] == "JOB_COMPLETED" and "Done." in str(job["result"])
        settled = await jobs.happened(job["job_id"], "job.tree_finished", "job.tree_discarded")
        assert settled.payload["files"] == 2
        assert (repo / "shop.py").read_text() == "price = 1\n" and not (repo / "a.py").exists()
        applied = result(await jobs.ask("job.apply", job_id=job["job_id"]))
        assert (repo / "shop.py").read_text() == "price = 2\n" and (repo / "a.py").read_text() == "a = 1\n"
        result(await jobs.ask("undo", mutation_id=applied["mutation_id"]))
        assert (repo / "shop.py").read_text() == "price = 1\n" and not (repo / "a.py").exists()
        assert await jobs.is_rebuilt_equal()


async def test_a_job_whose_agent_asks_waits_for_a_person_and_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    repo, trees = make_repo(tmp_path / "shop", FILES), tmp_path / "trees"
    async with agent_plane(repo, trees, {NAME: scripted()}) as opened:
        jobs = JobPlane(opened)
        assert refused(await jobs.ask("job.create", goal="x", agent="nobody")) == "OUTSIDE_AGENT_UNKNOWN"
        goal = dumps([["tool", "execute", "Run it", "", "touch ran"]])
        created = result(await jobs.ask("job.create", goal=goal, agent=NAME))
        async for _ in opened.log.watch(streams={f"thread/{created['thread_id']}": 0}, heartbeat_sec=60):
            if await jobs.events(f"thread/{created['thread_id']}", "turn.paused"):
                break
        assert result(await jobs.ask("job.cancel", job_id=created["job_id"]))["status"] == "JOB_CANCELLED"
        assert result(await jobs.ask("approval.list", status="PENDING"))["items"] == []
        await jobs.happened(created["job_id"], "job.tree_discarded")
        assert not (repo / "ran").exists()
