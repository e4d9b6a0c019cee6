"""`read_files` by symbol and by id, beside paths."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.shop import SHOP


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", SHOP)


def files(envelope: JsonObject) -> list[JsonObject]:
    return cast(list[JsonObject], result(envelope)["files"])


@requirement("RDF-10")
def test_a_definition_is_read_by_name_and_by_id(root: Path) -> None:
    async def body(ask: Ask) -> None:
        (found,) = files(await ask("read_files", paths="symbol:ShoppingCart.grand_total"))
        assert (found["path"], found["start"], found["end"]) == ("shop/cart.py", 20, 23)
        assert str(found["content"]).startswith("    @property\n    def grand_total(self):\n")
        explained = result(await ask("explain_symbol", symbol="ShoppingCart.grand_total"))["explanation"]
        assert isinstance(explained, dict)
        both = files(await ask("read_files", paths=[explained["id"], "README.md"]))
        assert both[0]["content"] == found["content"] and both[1]["content"] == "# Shop\n"
        # What was edited since is read as it is.
        (root / "shop/cart.py").write_text("\n\n" + SHOP["shop/cart.py"])
        (moved,) = files(await ask("read_files", paths="symbol:ShoppingCart.grand_total"))
        assert (moved["start"], moved["content"]) == (22, found["content"])

    with_plane(root, body)


@requirement("RDF-10")
def test_a_name_that_several_have_lists_them(root: Path) -> None:
    async def body(ask: Ask) -> None:
        several, readme = files(await ask("read_files", paths=["symbol:save", "README.md"]))
        assert several["content"] == "" and readme["content"] == "# Shop\n"
        for part in ("2 definitions", "ShoppingCart.save shop/cart.py:25", "MoneyAmount.save shop/money.py:6"):
            assert part in str(several["error"])
        alone = (await ask("read_files", paths="symbol:save"))["error"]
        assert isinstance(alone, dict) and alone["error"] == "INVALID_ARGUMENT"
        assert "shop/money.py:6" in str(alone["message"])

    with_plane(root, body)


@requirement("RDF-10")
def test_names_that_lead_nowhere_and_files_called_like_an_id(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for path, name in (
            ("symbol:ShopingCart", "NOT_FOUND"),
            ("f" * 16, "NOT_FOUND"),
            ("symbol:", "INVALID_ARGUMENT"),
        ):
            error = (await ask("read_files", paths=path))["error"]
            assert isinstance(error, dict) and error["error"] == name, path
        missing, _ = files(await ask("read_files", paths=["symbol:ShopingCart", "README.md"]))
        assert "did you mean ShoppingCart" in str(missing["error"])
        (root / ("a" * 16)).write_text("a file after all\n")
        (found,) = files(await ask("read_files", paths="a" * 16))
        assert found["content"] == "a file after all\n"

    with_plane(root, body)
