"""What an earlier CodePlane left on a disk when it was killed is taken up by this one; see the fixture's README."""

import asyncio
import json
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, git, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.mcp.clients import connect_client, text_in

pytestmark = requirement("DSK-02")

STATE = Path(__file__).parent / "fixtures" / "state_389a0bc" / "state.tar.gz"
FIRST_EPOCH = 1
# The fixture grows old; what it holds must not be forgotten for that.
SETTINGS = ("embeddings.model=none", "edits.undo_days=40000", "git.recovery_days=40000", "retention.tasks_days=40000")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(STATE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.fixture
def edited(folder: Path) -> Iterator[Server]:
    """The present server on a repository with undo records, a question and a batch that was cut off."""
    server = start(folder / "edited", overrides=SETTINGS)
    yield server
    assert server.stop() == 0


@pytest.fixture
def rebased(folder: Path) -> Iterator[Server]:
    """The same on one whose rebase nobody saw the end of."""
    server = start(folder / "rebased", overrides=SETTINGS)
    yield server
    assert server.stop() == 0


def result(server: Server, operation: str, **arguments: object) -> JsonObject:
    envelope = server.call(operation, **arguments)
    assert "error" not in envelope, envelope["error"]
    return cast(JsonObject, envelope["result"])


def rows(server: Server, operation: str, name: str, **arguments: object) -> list[JsonObject]:
    return cast(list[JsonObject], result(server, operation, **arguments)[name])


def mutations(server: Server) -> dict[str, JsonObject]:
    """The mutations that can be undone or done again, by what they did."""
    return {str(one["what"]): one for one in rows(server, "mutation.list", "mutations")}


def told_as_recovered(server: Server) -> tuple[object, object]:
    """The one mutation that the server's log says was under way, and how it ended."""
    (line,) = [line for line in logged(server) if line["event"] == "a mutation was under way when the last run ended"]
    return line["mutation_id"], line["outcome"]


def state(server: Server, action: JsonObject) -> object:
    return result(server, "approval.show", action_id=action["action_id"])["state"]


async def push(server: Server, key: str) -> str:
    """What the agent is told that wants to push."""
    async with connect_client(server, toolset="all", name="maker") as client:
        return text_in(await client.call_tool("git_push", {"idempotency_key": key}))


def logged(server: Server) -> list[JsonObject]:
    return [json.loads(line) for line in server.workspace.log.read_text().splitlines()]


def test_a_batch_that_was_cut_off_is_completed_and_mutations_are_undone(edited: Server) -> None:
    root, found = edited.repo, mutations(edited)
    assert {what: one["state"] for what, one in found.items()} == {
        "create_branch later": "applied",
        "write_files shop/prices.py": "applied",
        "write_files notes.md": "undone",
        "write_files README.md, shop/stock.py": "applied",
    }
    # The server was killed between these two files.
    assert (root / "README.md").read_text() == "# The shop\n"
    assert (root / "shop" / "stock.py").read_text() == 'STOCK = {"tea": 1}\n'
    assert list((root / ".codeplane" / "journal").iterdir()) == []
    batch = found["write_files README.md, shop/stock.py"]
    assert (batch["actor"], batch["insertions"], batch["deletions"]) == ("agent:maker", 2, 1)
    assert told_as_recovered(edited) == (batch["mutation_id"], "applied")
    undo = partial(result, edited, "undo")
    undo(mutation_id=batch["mutation_id"])
    assert (root / "README.md").read_text() == "# shop\n"
    assert not (root / "shop" / "stock.py").exists()
    undo(mutation_id=found["write_files shop/prices.py"]["mutation_id"])
    assert '"milk": 2' in (root / "shop" / "prices.py").read_text()
    assert "later" in git(root, "branch")
    undo(mutation_id=found["create_branch later"]["mutation_id"])
    assert "later" not in git(root, "branch")
    result(edited, "redo", mutation_id=found["write_files notes.md"]["mutation_id"])
    assert (root / "notes.md").read_text() == "to be undone\n"


def test_a_waiting_question_is_decided(edited: Server) -> None:
    (waiting,) = rows(edited, "approval.list", "items")
    assert (waiting["state"], waiting["tool"], waiting["actor"]) == ("PENDING", "git.push", "agent:maker")
    assert waiting["deterministic_summary"] == "Push refs/heads/main to origin (../origin.git)"
    far, head = edited.repo.parent / "origin.git", git(edited.repo, "rev-parse", "main")
    result(edited, "approval.approve", action_id=waiting["action_id"])
    # This version words the question otherwise, so that what was agreed to is not what would be run.
    until(lambda: state(edited, waiting) == "NOT_RUN")
    assert git(far, "rev-parse", "main") != head
    assert "APPROVAL_PENDING" in asyncio.run(push(edited, "push-2"))
    (again,) = rows(edited, "approval.list", "items", status="PENDING")
    result(edited, "approval.approve", action_id=again["action_id"])
    until(lambda: state(edited, again) == "EXECUTED")
    assert git(far, "rev-parse", "main") == head


def test_log_and_index_go_on(edited: Server) -> None:
    verified = result(edited, "ledger.verify")
    assert (verified["ok"], verified["gaps"], verified["differing_tables"]) == (True, [], [])
    events = rows(edited, "ledger.events", "results", limit=1000)
    ended = [cast(JsonObject, one["payload"]) for one in events if one["type"] == "call.finished"]
    assert [one["status"] for one in ended if one["operation"] == "write_files"] == ["ok", "ok", "OUTCOME_UNKNOWN"]
    assert int(str(cast(JsonObject, result(edited, "status")["index"])["version"])) > FIRST_EPOCH
    (hit,) = rows(edited, "search", "results", query="def price", mode="literal")
    assert hit["path"] == "shop/prices.py"
    (hit,) = rows(edited, "search", "results", query="total", mode="symbol")
    assert hit["path"] == "shop/cart.py"
    answer = {str(line["event"]): str(line.get("reason")) for line in logged(edited)}
    assert "the index was remade" not in answer
    # The tables of languages have changed since.
    assert answer["symbols are indexed again"].startswith("schema ")


def test_a_rebase_that_was_cut_off_is_told_and_undone(rebased: Server) -> None:
    root = rebased.repo
    status = result(rebased, "git.status")
    assert status["state"] == "rebase" and str(status["progress"]).endswith("step 2 of 2")
    assert list((root / ".codeplane" / "git").iterdir()) == []
    found = mutations(rebased)["rebase (stopped)"]
    assert told_as_recovered(rebased) == (found["mutation_id"], "applied")
    result(rebased, "undo", mutation_id=found["mutation_id"])
    status = result(rebased, "git.status")
    assert (status["state"], status["branch"], status["is_clean"]) == ("none", "topic", True)
    assert (root / "README.md").read_text() == "# shop of gifts\n"
    assert git(root, "log", "-1", "--format=%s").strip() == "title"
