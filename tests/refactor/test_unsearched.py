"""Plans for which there was no time to look at all files: they are shown, and not applied at once."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.refactor import plan_builder
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import SHOP, made, texts


@requirement("REF-40")
async def test_a_rename_that_ran_out_of_time_is_not_applied_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_builder, "PLANNING_SEC", -1.0)
    root = made(tmp_path, SHOP)
    async with asking(root) as ask:
        found = result(await ask("refactor.rename", symbol="shop/prices.py:1:5", new_name="cost", apply=True))
        assert found["status"] != "applied"
        manifest = cast(JsonObject, found["manifest"])
        assert "unsearched" in cast(JsonObject, manifest["risk_kinds"])
    assert texts(root) == SHOP
