"""`session.replay`: what was read is asked again, and what changed since is told."""

from pathlib import Path

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.surfaces.http.wire import get_field


@requirement("RPL-01")
async def test_reads_are_asked_again_and_differences_told(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "def alpha():\n    pass\n", "b.py": "BETA = 1\n"})
    async with asking(root) as ask:
        first = await ask("search", query="alpha", mode="definitions")
        await ask("search", query="BETA")
        await ask("read_files", paths=["b.py"])
        await ask("search", query="(", mode="regex")
        await ask("status")
        await ask("index.rebuild")
        task = get_field(first, "meta", "task_id")
        again = result(await ask("session.replay", task_id=task))
        assert (again["same"], again["different"], again["not_asked"]) == (4, 0, 0)
        twice = result(await ask("session.replay", task_id=task))
        assert twice["same"] == 4, "asking again is not recorded as having been asked"
        (root / "b.py").write_text("GAMMA = 1\n")
        later = await ask("session.replay", task_id=task, limit=4)
        assert get_field(later, "result", "different") == 2
        assert "different: search" in str(later["text"]) and "different: read_files" in str(later["text"])
        assert "against the present state" in str(later["text"])
        only = result(await ask("session.replay", task_id=task, operations=["read_files"], limit=1))
        assert (only["different"], only["left_out"]) == (1, 0)
        first_only = result(await ask("session.replay", task_id=task, limit=1))
        assert first_only["left_out"] == 3
        of_session = result(await ask("session.replay", in_session=get_field(later, "meta", "session_id"), limit=1))
        assert of_session["calls"] == first_only["calls"]
        others = result(await ask("session.replay", task_id=task, limit=2, skip=1))
        assert (len(others["calls"]), others["left_out"]) == (2, 1)  # type: ignore[arg-type]


@requirement("RPL-01")
async def test_what_cannot_be_asked_again_is_said(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "x = 1\nx = 2\nx = 3\n"})
    async with asking(root) as ask:
        first = await ask("search", query="x", limit=1)
        await ask("search", query="x", limit=1, cursor=get_field(first, "result", "pagination", "next_cursor"))
        await ask("search", query="x" * 4090)
        answer = await ask("session.replay", task_id=get_field(first, "meta", "task_id"))
        assert get_field(answer, "result", "not_asked") == 2
        assert "cursor is gone" in str(answer["text"]) and "too long to record" in str(answer["text"])
        for arguments in ({}, {"task_id": "none such"}):
            refused = await ask("session.replay", **arguments)
            assert get_field(refused, "error", "error") in ("INVALID_ARGUMENT", "NOT_FOUND")
