"""Dry runs and plans that are not applied: no mutation is counted, claimed or recorded, and no task is closed."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Budget
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, events, plane

FILES = {
    "shop.py": "def price():\n    return 1\n",
    "cart.py": "from shop import price\n\nprice()\n",
    "old.py": "def unused():\n    pass\n",
}
EDIT: JsonObject = {"edits": [{"path": "shop.py", "old_text": "return 1", "new_text": "return 2"}]}
RENAME: JsonObject = {"symbol": "price", "new_name": "cost"}
# What each operation with such a flag is asked, without the flag that makes it a change.
DRY: dict[str, JsonObject] = {
    "write_files": {**EDIT, "dry_run": True},
    "refactor.rename": RENAME,
    "refactor.move": {"from_path": "shop.py", "to_path": "store.py"},
    "refactor.delete": {"target": "unused"},
    "refactor.replace": {"pattern": "price()", "rewrite": "cost()", "language": "python"},
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", FILES)


@requirement("TASK-02")
async def test_they_are_not_counted_whatever_the_operation(repo: Path) -> None:
    async with plane(repo, "limits.max_mutations=1") as opened:
        flagged = {
            found.name
            for found in opened.conveyor.catalogue
            if found.mark.budget is Budget.MUTATION and {"dry_run", "apply"} & found.request.model_fields.keys()
        }
        assert flagged == DRY.keys()
        for name, arguments in DRY.items():
            for _ in range(2):
                outcome = await opened.conveyor.call(name, arguments, AGENT)
                assert outcome.error is None, (name, outcome.error)
                assert outcome.meta.task_state == "OPEN" and not outcome.meta.signals
        info = await opened.conveyor.call("session.info", {}, AGENT)
        assert '"mutations":0' in info.result_json.replace(" ", "")
        await opened.log.flush()
        counted = "SELECT mutation_count, state FROM tasks"
        assert await opened.log.select(counted) == [(0, "OPEN")]
        # The passing twin is counted, and the one after it is over the limit.
        done = await opened.conveyor.call("write_files", EDIT, AGENT)
        assert done.error is None
        again = await opened.conveyor.call("write_files", EDIT, AGENT)
        assert again.error is not None and again.error.name == "TASK_BUDGET_EXCEEDED"
        # A task whose mutations are used up can still be asked what would change.
        for name, arguments in DRY.items():
            outcome = await opened.conveyor.call(name, arguments, AGENT)
            assert outcome.error is None or outcome.error.name != "TASK_BUDGET_EXCEEDED", (name, outcome.error)
        await opened.log.flush()
        assert [row[0] for row in await opened.log.select(counted)] == [1]


@requirement("TASK-02")
async def test_a_key_that_a_dry_run_was_sent_with_is_free_for_the_change(repo: Path) -> None:
    async with plane(repo) as opened:
        key: JsonObject = {"idempotency_key": "k1"}
        shown = await opened.conveyor.call("write_files", {**EDIT, "dry_run": True, **key}, AGENT)
        assert shown.error is None and (repo / "shop.py").read_text() == FILES["shop.py"]
        done = await opened.conveyor.call("write_files", {**EDIT, **key}, AGENT)
        assert done.error is None and not done.meta.replayed
        assert "return 2" in (repo / "shop.py").read_text()
        # The key is the change's from then on.
        repeated = await opened.conveyor.call("write_files", {**EDIT, **key}, AGENT)
        assert repeated.meta.replayed


@requirement("TASK-02")
async def test_what_a_dry_run_would_write_is_not_in_the_log(repo: Path) -> None:
    async with plane(repo) as opened:
        asked: JsonObject = {"edits": [{"path": "a.py", "content": "NOT_FOR_THE_LOG = 1\n"}], "dry_run": True}
        assert (await opened.conveyor.call("write_files", asked, AGENT)).error is None
        (finished,) = await events(opened, "call.finished")
        assert finished.payload["operation"] == "write_files" and finished.payload["mutates"] is False
        assert "NOT_FOR_THE_LOG" not in str(finished.payload)
        assert await events(opened, "call.started") == []
