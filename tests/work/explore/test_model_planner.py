"""A model that plans beside the rules: while it writes, coerced, under the policy, and not at all where it fails."""

import json
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.kernel.model_provider import ProviderFault
from codeplane.work.explore import model_planner
from codeplane.work.explore.model_plan import MAX_MODEL_OPS, ModelPlan, coerce
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.work.explore.explore_plane import SHOP, explore_plane
from tests.work.turns.scripted_model import ScriptedModel, finish, text

pytestmark = requirement("EXR-08")

PLAN = json.dumps(
    {
        "goals": ["prices"],
        "nextOps": [
            {"kind": "grep", "pattern": " Money ", "pathPrefix": "shop"},
            {"kind": "destroy", "path": "/"},
            {"kind": "readSpan", "path": "shop/money.py", "startLine": -5, "endLine": 9_999_999},
            {"kind": "semantic", "query": "totals of carts", "k": 100_000},
        ],
    }
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", SHOP)


class FailingModel(ScriptedModel):
    """Is not ready so many times, then answers."""

    def __init__(self, failures: int) -> None:
        super().__init__(text(PLAN))
        self.failures = failures

    async def stream(self, request):  # type: ignore[no-untyped-def]  # as the port has it
        if self.failures:
            self.failures -= 1
            raise ProviderFault("overloaded", "it is loading")
        async for item in super().stream(request):
            yield item


async def test_what_the_model_writes_is_planned_while_it_writes(shop: Path) -> None:
    pieces = [PLAN[start : start + 20] for start in range(0, len(PLAN), 20)]
    model = ScriptedModel(text(*pieces))
    async with explore_plane(shop, models={"scripted": model}) as plane:
        explored = await plane.explore()
        explored.check_stream()
        (question,) = explored.cases("llmCall")
        assert question["expectsType"] == "ExplorePlan" and len(str(question["promptHash"])) >= 16
        assert "A small shop" not in str(question)
        prompt = str(model.asked[0].messages[-1]["text"])
        assert "A small shop" in prompt and "shop/cli.py" in prompt
        planned = [(op["kind"], op["params"]) for op in explored.ops.values()]
        assert ("grep", {"pattern": "Money", "pathPrefix": "shop", "k": 20}) in planned
        assert ("semantic", {"query": "totals of carts", "k": 200}) in planned
        assert ("readSpan", {"path": "shop/money.py", "startLine": 1, "endLine": 120, "context": 0}) in planned
        assert all(kind != "destroy" for kind, _ in planned)
        assert {str(value["opId"]) for value in explored.cases("result")} >= explored.ops.keys()
        assert explored.summary["partial"] == []
        replayed = await plane.ask("orchestrate.explore.replay", trace_id=explored.session_id)
        assert replayed.result is not None and replayed.result.model_dump()["different"] == 0


async def test_a_model_that_is_not_ready_is_asked_again_and_the_rules_go_on(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert model_planner.PAUSES_SEC == (0.5, 1.0, 2.0, 4.0, 8.0)
    monkeypatch.setattr(model_planner, "PAUSES_SEC", (0.0, 0.0, 0.0))
    for failures, is_planned in ((2, True), (99, False)):
        model = FailingModel(failures)
        async with explore_plane(shop, "models.retries=0", models={"scripted": model}) as plane:
            explored = await plane.explore()
            explored.check_stream()
            assert explored.cases("llmCall"), explored.summary
            assert ("semantic" in {op["kind"] for op in explored.ops.values()}) == is_planned
            codes = [error["code"] for error in explored.cases("error")]
            assert codes == ["ERR_MODEL_UNAVAILABLE"] * (2 if is_planned else 4)
            assert explored.summary["entrypoints"]
            assert ("the rules planned alone" in str(explored.summary["partial"])) != is_planned


async def test_an_answer_that_is_no_plan_leaves_the_rules(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_planner, "PAUSES_SEC", (0.0,))
    async with explore_plane(shop, models={"scripted": ScriptedModel(text("I would rather talk."))}) as plane:
        explored = await plane.explore()
        assert "wrote no plan" in str(explored.summary["partial"]) and explored.summary["languages"]


async def test_rules_are_enough_where_they_are_asked_for_or_nothing_is_configured(shop: Path) -> None:
    model = ScriptedModel([finish()])
    async with explore_plane(shop, models={"scripted": model}) as plane:
        assert (await plane.explore(planner="rules")).cases("llmCall") == [] and model.asked == []
    async with explore_plane(shop) as plane:
        explored = await plane.explore(planner="model")
        assert "no model is configured" in str(explored.summary["partial"])


async def test_a_model_elsewhere_is_not_asked_without_leave(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_planner, "PAUSES_SEC", ())
    far = '[{"name": "far", "kind": "openai", "base_url": "https://models.example.com/v1", "models": ["m"]}]'
    settings = (f"models.providers={far}", "models.external=true", "models.default=far/m")
    async with explore_plane(shop, *settings) as plane:
        explored = await plane.explore()
        (error,) = explored.cases("error")
        assert error["code"] == "ERR_EXTERNAL_LLM_DISABLED" and error["retryable"] is False
        assert "the rules planned alone" in str(explored.summary["partial"])


def test_every_way_to_cut_an_answer_gives_the_same_plan() -> None:
    whole = ModelPlan()
    expected = [(op.kind, op.params) for op in [*whole.add(f"Here:\n```json\n{PLAN}\n```\n"), *whole.finish()]]
    assert len(expected) == 3 and whole.dropped == 1
    for size in range(1, 40):
        plan, found = ModelPlan(), []
        written = f"```json\n{PLAN}\n```"
        for start in range(0, len(written), size):
            found += plan.add(written[start : start + size])
        found += plan.finish()
        assert [(op.kind, op.params) for op in found] == expected, size


def test_what_a_model_writes_is_coerced() -> None:
    cases: list[tuple[object, JsonObject | None]] = [
        ({"kind": " grep ", "pattern": " x "}, {"pattern": "x", "k": 20}),
        ({"grep": {"pattern": "x"}, "kind": "grep"}, {"pattern": "x", "k": 20}),
        ({"kind": "listDir", "depth": 99}, {"path": "", "depth": 5}),
        ({"kind": "semantic", "query": "q", "k": "7"}, {"query": "q", "k": 7}),
        ({"kind": "summarize", "paths": [" a ", ""]}, {"paths": ["a"]}),
        ({"kind": "summarize", "paths": []}, None),
        ({"kind": "grep"}, None),
        ({"kind": "indexRepo", "path": ""}, None),
        ("grep", None),
        (None, None),
    ]
    for wire, params in cases:
        op = coerce(wire)  # type: ignore[arg-type]  # whatever a model writes
        assert (dict(op.params) if op is not None else None) == params, wire
    many = json.dumps({"nextOps": [{"kind": "grep", "pattern": str(number)} for number in range(40)]})
    plan = ModelPlan()
    assert len([*plan.add(many), *plan.finish()]) == MAX_MODEL_OPS and plan.dropped == 40 - MAX_MODEL_OPS
