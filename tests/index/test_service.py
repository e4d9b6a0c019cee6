"""The index as a running part: rebuilt on request, within budget, told by status and by events."""

import os
from pathlib import Path

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result


@requirement("REPO-07")
async def test_rebuilding_counts_against_the_tasks_budget(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    async with asking(root) as ask:
        await ask("session.create", limits={"max_mutations": 1})
        assert result(await ask("index.rebuild"))["files"] == 1
        refused = await ask("index.rebuild")
        assert refused["error"]["error"] == "TASK_BUDGET_EXCEEDED"  # type: ignore[index,call-overload]  # JSON
        assert refused["meta"]["task_state"] == "CLOSED_FAILED"  # type: ignore[index,call-overload]  # JSON
        await ask("session.create")
        assert "result" in await ask("index.rebuild")


@requirement("REPO-07")
async def test_status_and_events_tell_of_epochs(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    (root / "blob.bin").write_bytes(b"\0")
    async with asking(root) as ask:
        await ask("search", query="example")
        envelope = await ask("status", include=["index"])
        index = result(envelope)["index"]
        assert isinstance(index, dict)
        assert (index["version"], index["file_count"], index["skipped"]) == (1, 1, {"binary": 1})
        assert "epoch 1, 1 file" in str(envelope["text"])
        await ask("index.rebuild")
        events = result(await ask("ledger.events", stream="index", types=["index.epoch_published"]))["results"]
        assert isinstance(events, list)
        assert [event["payload"]["epoch"] for event in events] == [1, 2]


async def test_files_with_syntax_errors_are_not_left_out(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"broken.py": "def broken(:\n    needle = 1\n"})
    (root / "blob.bin").write_bytes(b"\0")
    async with asking(root) as ask:
        await ask("search", query="needle", mode="definitions")
        envelope = await ask("status", include=["index"])
        index = result(envelope)["index"]
        assert isinstance(index, dict)
        assert (index["skipped"], index["parse_problems"]) == ({"binary": 1}, {"with syntax errors": 1})
        output = "; left out: 1 binary; searched, but symbols may be missing: 1 with syntax errors"
        assert output in str(envelope["text"])


@requirement("IDX-43")
async def test_content_that_is_cut_off_is_made_again_whoever_reads_it(tmp_path: Path) -> None:
    files = {f"{number}.py": f"needle = {number}\n" * 5 for number in range(40)}
    root = make_repo(tmp_path / "repo", files)
    async with asking(root) as ask:
        for length in (0, 2000, 0):
            assert result(await ask("search", query="needle", mode="literal", limit=1))["total"] == 200
            # What follows an epoch (facts, text, vectors) reads on meanwhile.
            for file in (root / ".codeplane" / "content").iterdir():
                os.truncate(file, length)
        assert result(await ask("search", query="needle", mode="literal", limit=1))["total"] == 200
        for mode in ("definitions", "ranked", "semantic"):
            assert result(await ask("search", query="needle", mode=mode))["total"], mode
        index = result(await ask("status", include=["index"]))["index"]
        assert isinstance(index, dict) and index["last_error"] is None and index["skipped"] == {}
