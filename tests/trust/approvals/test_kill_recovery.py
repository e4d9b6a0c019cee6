"""Killed between any two steps, an approved action runs once, or is shown as one that nobody saw the end of."""

import json
import sys
from pathlib import Path

from tests.harness import spawn
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-11")

STEPS = 21


def checked(folder: Path) -> list[dict[str, object]]:
    """Every step once; what must hold after each of them."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.trust.approvals.killed_server", str(folder), "1", str(STEPS)]
    with spawn(command, None) as ran:
        stdout, stderr = ran.communicate(timeout=600)
    assert ran.wait() == 0, stderr
    cases: list[dict[str, object]] = [json.loads(line) for line in stdout.splitlines()]
    assert len(cases) == STEPS
    for case in cases:
        known = case["ended"] == "done" and case["marks"] == 1 and case["actions"] == [["EXECUTED", "ok"]]
        unknown = case["ended"] == "OUTCOME_UNKNOWN" and case["actions"] == [["APPROVED", "OUTCOME_UNKNOWN"]]
        assert known or (unknown and case["marks"] in (0, 1)), case
        # Whoever follows the action is told the same, once.
        ended = "action.executed" if known else "action.interrupted"
        assert case["told"] == ["action.created", "action.approved", ended], case
    return cases


def test_no_effect_twice_and_none_lost_in_silence(tmp_path: Path) -> None:
    cases = checked(tmp_path)
    # The last one gets through, so that no step is left out; some die where the end is unknown, and some elsewhere.
    killed = [case["killed"] for case in cases]
    # One step more is taken where the caller, and not the server, runs the action: which of them comes first varies.
    assert all(killed[: STEPS - 2]) and not killed[-1]
    assert {case["ended"] for case in cases} == {"done", "OUTCOME_UNKNOWN"}
