"""Whatever is done to a program of several modules, it goes on doing the same, or the plan says what it cannot see.

`CODEPLANE_PROGRAMS=400` looks at as many programs; `make soak` does.
"""

import os
import tempfile
from pathlib import Path
from random import Random

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.refactor.programs.changes import Change, changes
from tests.refactor.programs.program import Program, outcome
from tests.refactor.programs.program_strategy import drawn
from tests.refactor.repository import repository
from tests.refactor.test_operations import made, texts

_PROGRAMS = int(os.environ.get("CODEPLANE_PROGRAMS", "24"))
_SHARE = 8
_CHANGES = 10


@requirement("REF-01")
@pytest.mark.parametrize("first", range(0, _PROGRAMS, _SHARE))
def test_a_plan_that_names_no_risk_changes_nothing_that_a_program_does(first: int) -> None:
    kept = 0
    for seed in range(first, first + _SHARE):
        program = drawn(seed)
        before = program.outcome()
        for change in _changes(program, seed):
            if change.files is not None and not change.risks:
                assert outcome(change.files, program.roots, program.runs) == before, (seed, change.spec)
                kept += 1
    assert kept > _SHARE * _CHANGES // 4


@requirement("REF-01")
async def test_what_was_refactored_is_undone_to_the_byte(tmp_path: Path) -> None:
    program = drawn(3)
    root = made(tmp_path, dict(program.files))
    spec = [
        one.spec for one in _changes(program, 3) if one.files not in (None, dict(program.files)) and not one.candidate
    ]
    async with asking(root) as ask:
        applied = 0
        for one in spec:
            envelope = await ask(f"refactor.{one.kind}", **_arguments(one.kind, one.symbol, one.new_name, one.options))
            if envelope.get("result") is None or texts(root) == program.files:
                continue
            applied += 1
            undone = await ask("undo")
            assert undone.get("result") is not None, undone
            assert texts(root) == program.files, one
        assert (applied) >= 3


def _arguments(kind: str, symbol: str, new_name: str, options: JsonObject) -> JsonObject:
    if kind == "rename":
        return {"symbol": symbol, "new_name": new_name, "apply": True}
    if kind == "move":
        return {"from_path" if options.get("files") else "symbol": symbol, "to_path": new_name, "apply": True}
    if kind == "delete":
        return {"target": symbol, "apply": True}
    return {"pattern": symbol, "rewrite": new_name, "language": "python", "apply": True}


def _changes(program: Program, seed: int) -> list[Change]:
    with tempfile.TemporaryDirectory() as folder, repository(Path(folder), program.files) as repo:
        return changes(repo, Path(folder), program, Random(seed), _CHANGES)
