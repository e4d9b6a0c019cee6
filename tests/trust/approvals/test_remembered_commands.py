"""A trusted command is what runs and within what, whatever reason is given for it."""

from pathlib import Path

import pytest

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import plane
from tests.trust.approvals.agent_calls import action_of, call, decide, executed, items, refused
from tests.trust.shell.shells import needs_bubblewrap

pytestmark = requirement("TRUST-10")

COMMAND = "echo one\necho two"
TRUSTED: JsonObject = {"command": COMMAND, "cwd": "src", "timeout_ms": 20_000, "justification": "to see"}
OTHERS: tuple[JsonObject, ...] = (
    {"command": "echo one\necho three"},
    {"cwd": ""},
    {"timeout_ms": 30_000},
    {"network": True},
)


async def trust(opened: Plane, name: str, /, arguments: JsonObject) -> Outcome:
    """The call, approved with trust."""
    first = await call(opened, name, **arguments)
    return await decide(opened, "approval.approve", action_id=action_of(first), trust=True)


@needs_bubblewrap
async def test_another_reason_is_the_same_command_and_another_bound_is_not(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"src/a.txt": "a\n"})
    async with plane(root, "shell.network=true") as opened:
        approved = await trust(opened, "run_bash", TRUSTED)
        assert approved.result is not None
        await executed(opened, str(approved.result.model_dump()["action_id"]))
        for why in ("because it is needed again", ""):
            again = await call(opened, "run_bash", **(TRUSTED | {"justification": why}))
            assert again.error is None, again.error
        for other in OTHERS:
            assert refused(await call(opened, "run_bash", **(TRUSTED | other))) == "APPROVAL_PENDING", other
        (known,) = items(await decide(opened, "approval.trusted"))
        assert "$ echo one ⏎ echo two; folder src; timeout 20 s; network: no" in str(known["covers"])
        assert "to see" not in str(known["covers"])


@needs_bubblewrap
async def test_a_folder_that_leads_elsewhere_by_now_is_another_command(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"one/a.txt": "a\n", "two/a.txt": "b\n"})
    (root / "here").symlink_to("one")
    arguments: JsonObject = {"command": "cat a.txt", "cwd": "here"}
    async with plane(root) as opened:
        await trust(opened, "run_bash", arguments)
        assert (await call(opened, "run_bash", **arguments)).error is None
        (root / "here").unlink()
        (root / "here").symlink_to("two")
        assert refused(await call(opened, "run_bash", **arguments)) == "APPROVAL_PENDING"


PROSE: tuple[tuple[str, JsonObject, JsonObject, JsonObject], ...] = (
    (
        "capability.request",
        {"capabilities": ["execute_shell"], "allowed_paths": ["docs"]},
        {"justification": "other words"},
        {"allowed_paths": ["docs", "src"]},
    ),
    (
        "session.create",
        {"limits": {"max_mutations": 5000}},
        {"description": "words"},
        {"limits": {"max_mutations": 6000}},
    ),
)


@pytest.mark.parametrize(("name", "arguments", "prose", "other"), PROSE, ids=[one[0] for one in PROSE])
async def test_prose_is_not_part_of_what_is_trusted_and_all_else_is(
    tmp_path: Path, name: str, arguments: JsonObject, prose: JsonObject, other: JsonObject
) -> None:
    async with plane(tmp_path) as opened:
        assert (await trust(opened, name, arguments)).error is None
        assert (await call(opened, name, **(arguments | prose))).error is None
        assert refused(await call(opened, name, **(arguments | other))) == "APPROVAL_PENDING"


async def test_every_word_for_people_is_a_field_that_is_there(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        for one in opened.conveyor.catalogue:
            assert one.request.prose <= one.request.model_fields.keys(), one.name
