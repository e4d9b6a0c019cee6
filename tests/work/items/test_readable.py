"""What the owner's rules say of resources: lists are judged by one evaluation, and abbreviated ids do not evade it."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.trust.approvals.agent_calls import refused, result

pytestmark = requirement("TRUST-49")

GRANT = 'trust.agent_capabilities=["read_files", "spawn_agents"]'
HEAD = "package codeplane.policy\n\nimport rego.v1\n\n"


def write_rule(root: Path, rule: str) -> None:
    folder = Workspace(root=root).policy
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.rego").write_text(HEAD + rule)


def hiding(word: str, *ids: str, kind: str = "agent") -> str:
    listed = ", ".join(f'"work/{id}"' for id in ids)
    return (
        f'{word} contains "not for agents" if {{\n\tinput.actor.kind == "{kind}"\n'
        f"\tsome id in input.resources\n\tid in [{listed}]\n}}\n"
    )


async def started(opened: Plane, count: int) -> list[str]:
    arguments: JsonObject = {"steps": [{"operation": "status"}]}
    outcomes = [await opened.conveyor.call("work.start", arguments, AGENT) for _ in range(count)]
    return [str(result(outcome)["work_id"]) for outcome in outcomes]


async def listed(opened: Plane) -> tuple[set[str], JsonObject]:
    page = result(await opened.conveyor.call("work.list", {}, AGENT))
    items = page["results"]
    assert isinstance(items, list)
    return {str(item["work_id"]) for item in items if isinstance(item, dict)}, page


@pytest.mark.parametrize("word", ["deny", "ask"])
async def test_a_list_leaves_out_what_a_rule_hides_and_says_how_many(tmp_path: Path, word: str) -> None:
    async with plane(tmp_path, GRANT) as opened:
        first, second, third = await started(opened, 3)
        shown, page = await listed(opened)
        assert shown == {first, second, third} and page["hidden"] == 0
    write_rule(tmp_path, hiding(word, second))
    async with plane(tmp_path, GRANT) as opened:
        shown, page = await listed(opened)
        assert shown == {first, third} and page["hidden"] == 1
        outcome = await opened.conveyor.call("work.list", {}, AGENT)
        assert outcome.result is not None and "1 item hidden by the owner's rules" in outcome.result.text()
        assert len(result(await opened.conveyor.call("work.list", {}, OWNER))["results"]) == 3  # type: ignore[arg-type]


async def test_a_part_of_an_id_does_not_evade_a_rule(tmp_path: Path) -> None:
    async with plane(tmp_path, GRANT) as opened:
        open_id, hidden_id = await started(opened, 2)
    write_rule(tmp_path, hiding("deny", hidden_id))
    async with plane(tmp_path, GRANT) as opened:
        ask = opened.conveyor.call
        assert refused(await ask("work.show", {"work_id": hidden_id}, AGENT)) == "POLICY_DENIED"
        for name in ("work.show", "work.cancel"):
            assert refused(await ask(name, {"work_id": hidden_id[-12:]}, AGENT)) == "WORK_NOT_FOUND"
        assert result(await ask("work.show", {"work_id": open_id[-12:]}, AGENT))["work_id"] == open_id
        assert result(await ask("work.show", {"work_id": hidden_id}, OWNER))["work_id"] == hidden_id


async def test_a_rule_that_fails_hides_the_whole_list(tmp_path: Path) -> None:
    async with plane(tmp_path, GRANT) as opened:
        await started(opened, 1)
    broken = 'deny contains "x" if {\n\tsome id in input.resources\n\tto_number(id) > 3\n}\n'
    write_rule(tmp_path, broken)
    async with plane(tmp_path, GRANT) as opened:
        assert refused(await opened.conveyor.call("work.list", {}, AGENT)) == "POLICY_DENIED"
