"""The envelope around every answer."""

import json

from codeplane.kernel.envelope import Meta, Outcome
from codeplane.kernel.errors import NotFound
from tests.interaction.requirements import requirement
from tests.kernel.plane import Answered

META = Meta(request_id="req_1", timestamp_ms=1, call_id="call_1")


@requirement("DOOR-07")
def test_a_result_has_its_meta_and_nothing_that_says_nothing() -> None:
    result = Answered(answer="x")
    outcome = Outcome(operation=None, meta=META, result=result, result_json=result.model_dump_json())
    assert json.loads(outcome.to_json()) == {
        "result": {"answer": "x"},
        "meta": {
            "session_id": None,
            "request_id": "req_1",
            "timestamp_ms": 1,
            "task_id": None,
            "task_state": None,
            "call_id": "call_1",
        },
    }


def test_text_comes_along_on_request() -> None:
    result = Answered(answer="x")
    outcome = Outcome(operation=None, meta=META, result=result, result_json=result.model_dump_json())
    assert json.loads(outcome.to_json(with_text=True))["text"] == '{"answer":"x"}'


def test_an_error_takes_the_place_of_the_result() -> None:
    outcome = Outcome(operation=None, meta=META, error=NotFound("gone"))
    envelope = json.loads(outcome.to_json(with_text=True))
    assert set(envelope) == {"error", "meta"}
    assert envelope["error"]["error"] == "NOT_FOUND"


def test_meta_says_all_it_knows() -> None:
    meta = Meta(
        request_id="r",
        timestamp_ms=1,
        call_id="c",
        idempotency_key="k",
        replayed=True,
        warnings=("late",),
        signals=({"kind": "no_op"},),
        fingerprints={"mutation": "m"},
    )
    wire = meta.to_wire()
    assert wire["idempotency_key"] == "k"
    assert wire["replayed"] is True
    assert wire["warnings"] == ["late"]
    assert wire["signals"] == [{"kind": "no_op"}]
    assert wire["fingerprints"] == {"mutation": "m"}
