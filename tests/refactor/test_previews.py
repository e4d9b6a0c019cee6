"""What a person is shown before a refactoring is applied."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import InvalidArgument, PlanNotFound
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Preview
from codeplane.wiring.app import Plane
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import NO_CALL, OWNER, plane
from tests.refactor.test_operations import FAMILY, SHOP
from tests.trust.approvals.agent_calls import action_of, call, decide, executed, refused, result

pytestmark = requirement("TRUST-38")

QUIET = ("embeddings.model=none", "index.watch=false")


async def shows(opened: Plane, operation: str, **arguments: object) -> Preview:
    """A preview, which is the same when it is asked for again."""
    found = opened.conveyor.catalogue.get(operation)
    assert found.preview is not None
    request = found.request.model_validate(arguments)
    first = await found.preview(NO_CALL, request)
    assert await found.preview(NO_CALL, request) == first
    return first


async def planned(opened: Plane, **arguments: str) -> str:
    done = await opened.conveyor.call("refactor.rename", dict(arguments), OWNER)
    assert done.error is None, done.error
    assert done.result is not None
    wire: JsonObject = done.result.model_dump(mode="json")
    return str(wire["refactor_id"])


async def test_a_plan_is_shown_by_its_id_with_its_files_edits_and_diff(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", SHOP)
    async with plane(root, *QUIET) as opened:
        plan = await planned(opened, symbol="price", new_name="cost")
        seen = await shows(opened, "refactor.apply", refactor_id=plan)
        assert f"plan {plan}" in seen.body and "+def cost(net: int) -> int:" in seen.body
        assert seen.summary.startswith("refactor: ") and "shop/prices.py (+1 -1)" in seen.summary
        assert "edits in" in seen.body
        assert await shows(opened, "refactor.rename", refactor_id=plan) == seen
        assert await shows(opened, "refactor.apply", refactor_id=plan, exclude=["documents"]) != seen
        with pytest.raises(InvalidArgument):
            await shows(opened, "refactor.apply", refactor_id=plan, include=["999999"])
        with pytest.raises(PlanNotFound):
            await shows(opened, "refactor.apply", refactor_id="plan_unknown")
        assert (root / "shop/prices.py").read_text() == SHOP["shop/prices.py"]


async def test_what_is_applied_at_once_is_planned_to_be_shown_and_no_plan_is_left(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", SHOP)
    async with plane(root, *QUIET) as opened:
        await planned(opened, symbol="total", new_name="sum_up")
        rename = {"symbol": "price", "new_name": "cost"}
        seen = await shows(opened, "refactor.rename", **rename, apply=True)
        assert "+def cost(net: int) -> int:" in seen.body
        assert (await shows(opened, "refactor.rename", **rename)).body == "Nothing is written."
        move = await shows(opened, "refactor.move", from_path="shop/till.py", to_path="shop/desk.py", apply=True)
        assert "shop/till.py → shop/desk.py (moved" in move.summary
        gone = await shows(opened, "refactor.delete", target="shop/till.py", apply=True)
        assert "shop/till.py (deleted)" in gone.summary
        replace = {"pattern": "price($A)", "rewrite": "cost($A)", "language": "python", "apply": True}
        assert "+" in (await shows(opened, "refactor.replace", **replace)).body
        (root / "shop/more.py").write_text("from shop import price\n\nprice(3)\n")
        after = await shows(opened, "refactor.rename", **rename, apply=True)
        assert after != seen and "shop/more.py" in after.summary


async def test_a_plan_that_waits_for_a_choice_says_that_nothing_is_written(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FAMILY)
    async with plane(root, *QUIET) as opened:
        plan = await planned(opened, symbol="Dog.speak", new_name="say")
        seen = await shows(opened, "refactor.apply", refactor_id=plan)
        assert "Nothing is written: a candidate has to be chosen first." in seen.body


RULE = """package codeplane.policy

{verdict} contains "the till is looked at first" if {{
    input.actor.kind == "agent"
    "shop/till.py" in input.paths
}}
"""


def ruled(root: Path, verdict: str) -> None:
    folder = root / ".codeplane" / "policy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.rego").write_text(RULE.format(verdict=verdict))


@pytest.mark.parametrize("operation", ["refactor.rename", "refactor.apply"])
async def test_a_rule_that_asks_about_a_file_asks_about_a_plan_that_writes_it(tmp_path: Path, operation: str) -> None:
    root = make_repo(tmp_path / "repo", SHOP)
    ruled(root, "ask")
    async with plane(root, *QUIET) as opened:
        plan = await planned(opened, symbol="price", new_name="cost")
        action = action_of(await call(opened, operation, refactor_id=plan))
        await decide(opened, "approval.approve", action_id=action)
        await executed(opened, action)
        assert "cost(one)" in (root / "shop/till.py").read_text()
        undone = action_of(await call(opened, "undo"))
        await decide(opened, "approval.approve", action_id=undone)
        await executed(opened, undone)
        assert (root / "shop/till.py").read_text() == SHOP["shop/till.py"]
        other = await planned(opened, symbol="test_price", new_name="test_cost")
        assert result(await call(opened, operation, refactor_id=other))["status"] == "applied"


async def test_a_rule_that_denies_a_file_denies_a_plan_that_writes_it(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", SHOP)
    ruled(root, "deny")
    async with plane(root, *QUIET) as opened:
        plan = await planned(opened, symbol="price", new_name="cost")
        assert refused(await call(opened, "refactor.apply", refactor_id=plan)) == "POLICY_DENIED"
        at_once = await call(opened, "refactor.rename", symbol="price", new_name="cost", apply=True)
        assert refused(at_once) == "POLICY_DENIED"
        assert (root / "shop/till.py").read_text() == SHOP["shop/till.py"]
        assert result(await decide(opened, "refactor.apply", refactor_id=plan))["status"] == "applied"


async def test_a_plan_of_another_process_is_judged_by_all_that_it_may_write(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", SHOP)
    ruled(root, "ask")
    async with plane(root, *QUIET) as opened:
        plan = await planned(opened, symbol="price", new_name="cost")
    async with plane(root, *QUIET) as opened:
        action = action_of(await call(opened, "refactor.apply", refactor_id=plan))
        await decide(opened, "approval.approve", action_id=action)
        await executed(opened, action)
        assert "cost(one)" in (root / "shop/till.py").read_text()


async def test_what_is_applied_at_once_and_has_to_be_asked_about_stays_a_plan(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", SHOP)
    ruled(root, "ask")
    async with plane(root, *QUIET) as opened:
        outcome = await call(opened, "refactor.rename", symbol="price", new_name="cost", apply=True)
        found = result(outcome)
        assert found["status"] == "previewed"
        assert any("a person is asked" in warning for warning in outcome.meta.warnings)
        assert (root / "shop/till.py").read_text() == SHOP["shop/till.py"]
        action_of(await call(opened, "refactor.apply", refactor_id=found["refactor_id"]))
