"""Output of a model that cannot be used: repaired, then another model, then a failure that says so."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import Answer, ScriptedModel, finish, text, tool

pytestmark = requirement("TURN-03")

_BROKEN: dict[str, Answer] = {
    "empty": [finish()],
    "unknown tool": [tool("fixture_raed"), finish()],
    "no JSON": [{**tool("fixture_read"), "arguments": '{"text": '}, finish()],
    "too deep": [{**tool("fixture_read"), "arguments": '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}"}, finish()],
    "not an object": [{**tool("fixture_read"), "arguments": "[1]"}, finish()],
    "wrong arguments": [tool("fixture_read", "a", txet="x"), finish()],
    "equal ids": [tool("fixture_read", "a"), tool("fixture_read", "a"), finish()],
}


@pytest.mark.parametrize("kind", _BROKEN)
async def test_it_is_asked_again_with_what_was_wrong(tmp_path: Path, kind: str) -> None:
    ops, model = FixtureOps(), ScriptedModel(_BROKEN[kind], text("Better."))
    async with conversing(tmp_path, model, ops=ops) as thread:
        turn = await thread.send("Go")
        assert (turn["status"], turn["assistant_message"], ops.ran) == ("COMPLETED", "Better.", [])
        (repair,) = await thread.events("model.repair_attempted")
        assert (repair.payload["repair_attempt"], repair.payload["fallback_model_used"]) == (1, False)
        note = str(model.asked[1].messages[-1]["text"])
        assert note.startswith("That answer could not be used: ")


async def test_a_model_that_stays_unusable_fails_the_turn(tmp_path: Path) -> None:
    model = ScriptedModel(_BROKEN["empty"])
    async with conversing(tmp_path, model) as thread:
        turn = await thread.send("Go")
        assert (turn["status"], turn["code"]) == ("FAILED", "FAILED_MODEL_OUTPUT")
        assert "the answer is empty" in str(turn["message"])
        (failed,) = await thread.events("turn.failed")
        assert failed.payload["retryable"] is True
        audited = await thread.ask("audit.list", event_type="turn.failed")
        rows: JsonObject = audited.result.model_dump(mode="json") if audited.result else {}
        assert "FAILED_MODEL_OUTPUT" in str(rows)
