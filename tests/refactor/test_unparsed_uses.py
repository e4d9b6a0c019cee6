"""Plans about names that are said in files which could not be parsed: nothing is applied before somebody looked."""

from pathlib import Path

import pytest

from codeplane.code.facts.extract import MAX_PARSED
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import SHOP, made

pytestmark = requirement("REF-40")

HUGE = "shop/tables.py"
TEXT = "from shop.prices import price\n\nTABLE = [\n" + "    0,\n" * (MAX_PARSED // 7 + 1) + "]\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("refactor.rename", {"symbol": "price", "new_name": "cost"}),
        ("refactor.move", {"from_path": "shop/prices.py", "to_path": "shop/costs.py"}),
        ("refactor.move", {"symbol": "shop/prices.py:price", "to_path": "shop/costs.py"}),
    ],
)
async def test_what_is_said_in_a_file_that_is_not_parsed_is_looked_at_first(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    root = made(tmp_path, {**SHOP, HUGE: TEXT})
    async with asking(root) as ask:
        answer = await ask(tool, **arguments, apply=True)
        found = result(answer)
        assert found["status"] != "applied" and (root / "shop/prices.py").exists()
        assert "look at unparsed_use first" in str(answer)
        assert f"{HUGE} could not be parsed" in str(found)


async def test_a_file_that_is_not_parsed_and_says_nothing_of_it_is_no_matter(tmp_path: Path) -> None:
    root = made(tmp_path, {**SHOP, HUGE: TEXT.replace("price", "other")})
    async with asking(root) as ask:
        found = result(await ask("refactor.move", from_path="shop/prices.py", to_path="shop/costs.py", apply=True))
        assert found["status"] == "applied"
