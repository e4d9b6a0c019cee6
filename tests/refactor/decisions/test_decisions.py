"""Decisions about open places: committed with proof, remembered for the same question, shown and taken back."""

import sqlite3
from pathlib import Path
from typing import cast

from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import differences
from codeplane.refactor.decisions.table import DecisionTable
from tests.interaction.requirements import requirement
from tests.kernel.plane import Ask, asking
from tests.query.asking import result
from tests.refactor.test_operations import FAMILY, edits, failed, made, texts

UNSURE = {
    "doors.py": "class Door:\n    def open(self):\n        return 1\n",
    "use.py": "def enter(thing):\n    return thing.open()\n\n\ndef read(path):\n    return path.open()\n",
    "main.py": "from doors import Door\nfrom use import enter\n\nenter(Door())\n",
}
RIGHT = {
    "doors.py": UNSURE["doors.py"].replace("open", "unlock"),
    "use.py": UNSURE["use.py"].replace("thing.open", "thing.unlock"),
    "main.py": UNSURE["main.py"],
}
PROOF: JsonObject = {
    "symbol_identity": "Door.open",
    "file_line_evidence": [
        {"file": "use.py", "line": 2, "content": "return thing.open()"},
        {"file": "use.py", "line": 1, "content": "def enter(thing):"},
    ],
}
ASKED = {"symbol": "doors.py:2:9", "new_name": "unlock"}


def _number(plan: JsonObject, line: int) -> str:
    return next(str(one["id"]) for one in edits(plan) if one["path"] == "use.py" and one["line"] == line)


async def _committed(ask: Ask) -> str:
    """Decide that one of two open places is a use; the id of the decision."""
    plan = result(await ask("refactor.rename", **ASKED, apply=True))
    assert plan["status"] == "needs_decision"
    done = result(await ask("decision.commit", plan_id=plan["refactor_id"], include=[_number(plan, 2)], proof=PROOF))
    assert done["status"] == "applied"
    return str(done["decision_id"])


@requirement("REF-43")
async def test_a_receiver_is_decided_by_including_places_with_proof(tmp_path: Path) -> None:
    root = made(tmp_path, UNSURE)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", **ASKED))
        capsules = cast(list[JsonObject], plan["decision_capsules"])
        (capsule,) = [capsule for capsule in capsules if capsule["type"] == "receiver_resolution"]
        assert capsule["places"] == [{"file": "use.py", "line": 2}, {"file": "use.py", "line": 6}]
        decision = {"plan_id": plan["refactor_id"], "include": [_number(plan, 2)]}
        elsewhere: JsonObject = {"file_line_evidence": [{"file": "use.py", "line": 1, "content": "def enter(thing):"}]}
        false: JsonObject = {"file_line_evidence": [{"file": "use.py", "line": 2, "content": "thing.close()"}]}
        for proof in ({}, elsewhere, false):
            assert failed(await ask("decision.commit", **decision, proof=proof)) == "INVALID_ARGUMENT"
        assert failed(await ask("decision.commit", **{**decision, "include": ["#999"]}, proof=PROOF)) == (
            "INVALID_ARGUMENT"
        )
        open_still = result(await ask("decision.commit", plan_id=plan["refactor_id"], proof=PROOF))
        assert open_still["status"] == "needs_decision"
        assert texts(root) == UNSURE
        assert result(await ask("decision.commit", **decision, proof=PROOF))["status"] == "applied"
    assert texts(root) == RIGHT


@requirement("REF-43")
async def test_the_same_question_is_answered_as_before_and_another_is_not(tmp_path: Path) -> None:
    root = made(tmp_path, UNSURE)
    async with asking(root) as ask:
        decision = await _committed(ask)
        assert texts(root) == RIGHT
        result(await ask("undo"))
    assert texts(root) == UNSURE
    async with asking(root) as ask:
        # Another process, and another new name: what the places mean is the same.
        shown = await ask("refactor.rename", symbol="Door.open", new_name="push")
        assert f"decided before: {decision}" in str(shown["text"])
        again = await ask("refactor.rename", symbol="Door.open", new_name="push", apply=True)
        assert result(again)["status"] == "applied"
        assert result(again)["decision_id"] == decision
        assert texts(root)["use.py"] == RIGHT["use.py"].replace("unlock", "push")
        result(await ask("undo"))
        # A file that the question is about has changed.
        await ask("write_files", edits=[{"path": "use.py", "old": "def read(path):", "new": "def read(path: Door):"}])
        asked = result(await ask("refactor.rename", **ASKED, apply=True))
        assert (asked["status"], asked["decision_id"]) == ("needs_decision", None)


@requirement("REF-43")
async def test_a_decision_is_listed_and_forgotten(tmp_path: Path) -> None:
    root = made(tmp_path, UNSURE)
    async with asking(root) as ask:
        assert result(await ask("decision.list"))["decisions"] == []
        decision = await _committed(ask)
        result(await ask("undo"))
        (listed,) = cast(list[JsonObject], result(await ask("decision.list"))["decisions"])
        assert (listed["id"], listed["included"]) == (decision, 1)
        assert "Door.open" in str(listed["title"])
        assert failed(await ask("decision.forget")) == "INVALID_ARGUMENT"
        assert failed(await ask("decision.forget", ids=["decision_none"])) == "NOT_FOUND"
        assert result(await ask("decision.forget", ids=[decision]))["forgotten"] == 1
        assert result(await ask("decision.list"))["decisions"] == []
        assert result(await ask("refactor.rename", **ASKED, apply=True))["status"] == "needs_decision"
    assert texts(root) == UNSURE


@requirement("REF-43")
async def test_a_candidate_is_remembered_too(tmp_path: Path) -> None:
    root = made(tmp_path, FAMILY)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="zoo.py:7:9", new_name="say"))
        proof = {"file_line_evidence": [{"file": "zoo.py", "line": 2, "content": "def speak(self):"}]}
        decision = {"plan_id": plan["refactor_id"], "selected_candidate_id": "family"}
        assert result(await ask("decision.commit", **decision, proof=proof))["status"] == "applied"
        result(await ask("undo"))
        again = result(await ask("refactor.rename", symbol="zoo.py:7:9", new_name="talk", apply=True))
        assert again["status"] == "applied"
        assert "speak" not in texts(root)["zoo.py"]


@requirement("REF-43")
async def test_the_table_of_decisions_is_the_log_s(tmp_path: Path) -> None:
    root = made(tmp_path, UNSURE)
    async with asking(root) as ask:
        await _committed(ask)
        result(await ask("undo"))
        forgotten = await _committed_again(ask)
        result(await ask("decision.forget", ids=[forgotten]))
    connection = sqlite3.connect(root / ".codeplane/ledger.db")
    try:
        assert differences(connection, DecisionTable()) == []
    finally:
        connection.close()


async def _committed_again(ask: Ask) -> str:
    plan = result(await ask("refactor.rename", **ASKED))
    decision = {"plan_id": plan["refactor_id"], "exclude": ["anchored"]}
    return str(result(await ask("decision.commit", **decision, proof=PROOF))["decision_id"])
