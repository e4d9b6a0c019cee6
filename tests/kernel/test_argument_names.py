"""Names that agents know from elsewhere mean the arguments of our operations."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from codeplane.kernel.arguments import normalise_arguments, parse
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config
from tests.interaction.requirements import requirement
from tests.kernel.plane import running_here

pytestmark = requirement("DOOR-03")


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """Every operation there is."""

    async def listed() -> Catalogue:
        with tempfile.TemporaryDirectory() as folder:
            workspace = Workspace(root=Path(folder))
            loaded = load_workspace_config(workspace, (), {}).without_terminal()
            async with running_here(workspace, loaded=loaded) as plane:
                return plane.conveyor.catalogue

    return asyncio.run(listed())


@pytest.mark.parametrize(
    ("operation", "given", "meant"),
    [
        ("approval.show", {"id": "act_1"}, {"action_id": "act_1"}),
        ("approval.approve", {"action": "act_1"}, {"action_id": "act_1"}),
        ("job.diff", {"job": "job_1"}, {"job_id": "job_1"}),
        ("undo", {"id": "mut_1"}, {"mutation_id": "mut_1"}),
        ("turn.send", {"thread": "thr_1", "text": "hi"}, {"thread_id": "thr_1", "user_text": "hi"}),
        ("git.checkout", {"branch": "main"}, {"ref": "main"}),
        ("git.create_branch", {"branch": "topic"}, {"name": "topic"}),
        ("git.show", {"commit": "HEAD~1"}, {"ref": "HEAD~1"}),
        ("git.diff", {"from": "HEAD~1", "to": "HEAD"}, {"base": "HEAD~1", "target": "HEAD"}),
        ("semantic_diff", {"from": "v1", "to": "v2"}, {"base": "v1", "target": "v2"}),
        ("facts.definitions", {"symbol": "load"}, {"name": "load"}),
        ("refactor.delete", {"symbol": "load"}, {"target": "load"}),
        ("refactor.delete", {"path": "a.py"}, {"target": "a.py"}),
        ("refactor.move", {"from": "a.py", "to": "b.py"}, {"from_path": "a.py", "to_path": "b.py"}),
        ("refactor.rename", {"name": "load", "to": "read"}, {"symbol": "load", "new_name": "read"}),
        ("context_for", {"task": "it crashes"}, {"text": "it crashes"}),
        ("search.structural", {"query": "f($A)", "lang": "go"}, None),
        ("search.structural", {"pattern": "f($A)", "lang": "go"}, {"pattern": "f($A)", "language": "go"}),
        ("test.run", {"tests": "a_test.py", "timeout": 5}, {"targets": ["a_test.py"], "timeout_sec": 5}),
        ("run_bash", {"cmd": "ls", "timeout": 5000}, {"command": "ls", "timeout_ms": 5000}),
        ("job.create", {"prompt": "fix it"}, {"goal": "fix it"}),
        ("search", {"id": "x"}, None),
        ("proposal.close", {"id": "p", "proposal": "q", "outcome": "done"}, None),
    ],
)
def test_a_name_from_elsewhere(
    catalogue: Catalogue, operation: str, given: JsonObject, meant: JsonObject | None
) -> None:
    if meant is None:
        with pytest.raises(InvalidArgument):
            parse(catalogue.get(operation), given)
    else:
        assert normalise_arguments(parse(catalogue.get(operation), given)) == meant
