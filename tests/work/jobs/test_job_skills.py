"""Skills of jobs: those of turns, with the same rules."""

from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import refused, result
from tests.work.jobs.job_plane import JobPlane, job_plane
from tests.work.turns.scripted_model import ModelCallRequest, ScriptedModel, finish, text, tool

pytestmark = requirement("SKILL-02")


def _write(root: Path, allowed: str = "") -> None:
    folder = root / ".agents/skills/review"
    folder.mkdir(parents=True)
    front = f"name: review\ndescription: Reviews a change.\n{f'allowed-tools: {allowed}' if allowed else ''}"
    (folder / "SKILL.md").write_text(f"---\n{front}\n---\nLook twice.\n")


async def _trust(jobs: JobPlane) -> None:
    shown = result(await jobs.ask("skill.show", name="review"))
    result(await jobs.ask("skill.trust", name="review", hash=shown["hash"]))


async def test_a_job_follows_a_skill_that_was_chosen_and_is_trusted(tmp_path: Path) -> None:
    seen: list[ModelCallRequest] = []

    def answer(asked: ModelCallRequest) -> list[JsonObject]:
        seen.append(asked)
        return text("Done.")

    async with job_plane(tmp_path, ScriptedModel(choose=answer)) as jobs:
        _write(tmp_path)
        refusal = await jobs.ask("job.create", goal="Review", toolset="fixture", skills=["review"])
        assert refused(refusal) == "SKILL_NOT_TRUSTED"
        assert result(await jobs.ask("job.list"))["results"] == []
        await _trust(jobs)
        job = await jobs.create("Review", skills=["review"])
        assert (await jobs.reached(job["job_id"]))["status"] == "JOB_COMPLETED"
        assert "Look twice." in str(seen[-1].messages[0]["text"])
        await jobs.reached((await jobs.create("Without"))["job_id"])
        assert "Look twice." not in str(seen[-1].messages[0]["text"])


async def test_a_skill_narrows_the_tools_of_a_job(tmp_path: Path) -> None:
    asked: list[ModelCallRequest] = []

    def answer(question: ModelCallRequest) -> list[JsonObject]:
        asked.append(question)
        return [tool("fixture_write", text="x"), finish()] if len(asked) == 1 else text("Then not.")

    async with job_plane(tmp_path, ScriptedModel(choose=answer)) as jobs:
        _write(tmp_path, allowed="fixture_read")
        await _trust(jobs)
        job = await jobs.create("Review", skills=["review"])
        assert (await jobs.reached(job["job_id"]))["status"] == "JOB_COMPLETED"
        assert [offered["name"] for offered in asked[0].tools] == ["fixture_read"]
        assert "there is no tool 'fixture_write'" in str(asked[1].messages[-1]["text"])
