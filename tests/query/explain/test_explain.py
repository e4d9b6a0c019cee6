"""`explain_symbol` through the door: one symbol in one answer, several as a choice, none with what is near."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.shop import SHOP
from tests.surfaces.http.wire import get_field


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", SHOP)


def explanation(envelope: JsonObject) -> JsonObject:
    found = result(envelope)["explanation"]
    assert isinstance(found, dict), envelope["text"]
    return found


@requirement("EXP-01")
def test_a_class_with_all_that_is_worth_knowing(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("explain_symbol", symbol="ShoppingCart")
        found, text = explanation(envelope), str(envelope["text"])
        assert (found["kind"], found["path"], found["line"], found["end_line"]) == ("class", "shop/cart.py", 11, 29)
        assert found["signature"] == "class ShoppingCart(BaseBasket)"
        assert found["doc"] == "Holds what a customer wants."
        assert found["bases"] == ["BaseBasket (shop/cart.py:6)"]
        members = found["members"]
        assert isinstance(members, list)
        assert [one["name"] for one in members] == ["grand_total", "save", "items", "__init__", "_hidden"]
        references = found["references"]
        assert isinstance(references, dict)
        assert references["tiers"] == {"STRONG": 5}
        assert references["tests"] == {"tests/test_cart.py": 2}
        assert "shop/cli.py\n  1: from shop.cart import ShoppingCart\n  6: cart = ShoppingCart()" in text
        assert "tests: tests/test_cart.py:1,5\n" in text
        assert len(text) <= 4_000

    with_plane(root, body)


@requirement("EXP-01")
def test_every_way_to_name_a_symbol(root: Path) -> None:
    async def body(ask: Ask) -> None:
        method = explanation(await ask("explain_symbol", symbol="ShoppingCart.save"))
        assert (method["qualified_name"], method["container"]) == ("ShoppingCart.save", "ShoppingCart")
        same = [
            await ask("explain_symbol", symbol=name)
            for name in (method["id"], "shop/cart.py:25", "./shop/cart.py:25:10", "shop.cart.ShoppingCart.save")
        ]
        assert [explanation(one)["id"] for one in same] == [method["id"]] * 4
        # A use leads to what it means.
        used = explanation(await ask("explain_symbol", symbol="shop/cli.py:6:12"))
        assert used["qualified_name"] == "ShoppingCart"
        local = explanation(await ask("explain_symbol", symbol="shop/cli.py:6:5"))
        assert (local["kind"], local["name"], local["line"]) == ("name", "cart", 6)
        typescript = explanation(await ask("explain_symbol", symbol="drawPage"))
        assert typescript["doc"] == "Draws the page."

    with_plane(root, body)


@requirement("EXP-01")
def test_a_name_that_several_have_is_never_guessed(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("explain_symbol", symbol="save")
        found = result(envelope)
        assert found["explanation"] is None
        candidates = found["candidates"]
        assert isinstance(candidates, list)
        assert [one["qualified_name"] for one in candidates] == ["ShoppingCart.save", "MoneyAmount.save"]
        assert all(str(one["id"]) in str(envelope["text"]) for one in candidates)
        # Others in tests alone leave no doubt, and are mentioned.
        envelope = await ask("explain_symbol", symbol="render_invoice")
        assert explanation(envelope)["path"] == "shop/report/pdf.py"
        assert "1 more of this name in tests" in str(envelope["text"])

    with_plane(root, body)


@requirement("EXP-01")
def test_what_is_not_there_is_said_with_what_is_near(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for symbol, near in (("ShopingCart", "ShoppingCart"), ("Cart.grand_totl", "grand_total")):
            error = (await ask("explain_symbol", symbol=symbol))["error"]
            assert isinstance(error, dict)
            assert error["error"] == "NOT_FOUND" and near in str(error["hint"])
        nothing = (await ask("explain_symbol", symbol="shop/cart.py:4"))["error"]
        assert isinstance(nothing, dict) and nothing["error"] == "NOT_FOUND"
        refused = (await ask("explain_symbol", symbol=""))["error"]
        assert isinstance(refused, dict) and refused["error"] == "INVALID_ARGUMENT"

    with_plane(root, body)


@requirement("EXP-01")
def test_a_large_class_stays_within_the_budget(tmp_path: Path) -> None:
    methods = "".join(f"    def method_number_{n}(self, argument_{n}=None):\n        pass\n" for n in range(300))
    uses = "from big import Big\n" + "Big()\n" * 300
    root = make_repo(tmp_path / "big", {"big.py": f"class Big:\n{methods}", "use.py": uses})

    async def body(ask: Ask) -> None:
        for budget in (1_000, 4_000):
            text = str((await ask("explain_symbol", symbol="Big", budget=budget))["text"])
            assert len(text) <= budget
            assert "members (300)" in text and "references: 301 in 1 file: 301 strong" in text
            assert "more" in text

    with_plane(root, body)


@requirement("EXP-10")
def test_paths_pick_among_those_of_one_name(tmp_path: Path) -> None:
    files = {"a/run.py": "def start():\n    'Of a.'\n", "b/run.py": "def start():\n    'Of b.'\n"}
    root = make_repo(tmp_path / "repo", files)

    async def body(ask: Ask) -> None:
        several = await ask("explain_symbol", symbol="start")
        assert result(several)["candidate_count"] == 2 and "an id or paths" in str(several["text"])
        assert explanation(await ask("explain_symbol", symbol="start", paths=["b"]))["doc"] == "Of b."
        assert explanation(await ask("explain_symbol", symbol="start", path="a/*.py"))["doc"] == "Of a."
        refused = await ask("explain_symbol", symbol="start", paths=["c/**"])
        assert refused["error"]["error"] == "NOT_FOUND"  # type: ignore[index,call-overload]  # JSON
        assert "a/run.py:1" in refused["error"]["hint"]  # type: ignore[index,call-overload,operator]  # JSON

    with_plane(root, body)


def test_overloads_without_a_word_show_what_the_implementation_says(tmp_path: Path) -> None:
    silent = "export function f(x: number): number;\nexport function f(x: string): string;\n"
    whole = "export function f(x: any): any {\n  return x;\n}\n"
    files = {
        "silent.ts": f"{silent}/** Gives it back. */\n{whole}",
        "said.ts": f"/** Of numbers. */\n{silent.replace(' f(', ' g(')}/** Inside. */\n{whole.replace(' f(', ' g(')}",
    }
    root = make_repo(tmp_path / "repo", files)

    async def body(ask: Ask) -> None:
        assert explanation(await ask("explain_symbol", symbol="f"))["doc"] == "Gives it back."
        assert explanation(await ask("explain_symbol", symbol="g"))["doc"] == "Of numbers."

    with_plane(root, body)


@requirement("EXP-01")
def test_a_file_is_explained_by_its_outline_and_its_tests(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("explain_symbol", symbol="./shop/cart.py")
        found, text = explanation(envelope), str(envelope["text"])
        assert (found["kind"], found["path"], found["line"]) == ("file", "shop/cart.py", 1)
        members = found["members"]
        assert isinstance(members, list)
        lines = [one["line"] for one in members]
        assert lines == sorted(lines)
        assert {"ShoppingCart", "save", "BaseBasket"} <= {one["name"] for one in members}
        assert "\n  11 class ShoppingCart(BaseBasket)\n" in text and "\n  25   def save(" in text
        assert "references" not in text
        assert found["test_files"] == ["tests/test_cart.py"]
        assert text.startswith("file shop/cart.py:1-")
        assert text.splitlines()[1] == "tests: tests/test_cart.py"
        test = await ask("explain_symbol", symbol="tests/test_cart.py")
        assert explanation(test)["test_files"] is None and "tests: " not in str(test["text"])
        refused = await ask("explain_symbol", symbol="shop/none.py")
        assert refused["error"]["error"] == "NOT_FOUND"  # type: ignore[index,call-overload]  # JSON

    with_plane(root, body)


@requirement("EXP-01")
def test_every_reference_has_its_place_and_what_has_none_is_counted(tmp_path: Path) -> None:
    uses = "from a import price\n\n" + "price()\n" * 25
    files = {"a.py": "def price():\n    return 1\n", "b.py": "from a import price\n\nprice()\nprice()\n"}
    root = make_repo(tmp_path / "few", {**files, "tests/test_a.py": "from a import price\n\nprice()\n"})
    more = make_repo(tmp_path / "more", {**files, "c.py": uses})

    async def few(ask: Ask) -> None:
        envelope = await ask("explain_symbol", symbol="price")
        text, references = str(envelope["text"]), explanation(envelope)["references"]
        assert isinstance(references, dict)
        assert (references["total"], references["not_shown"]) == (5, 0)
        # Lines of code have their text, and those of tests their numbers.
        assert "b.py\n  1: from a import price\n  3: price()\n  4: price()\ntests: tests/test_a.py:1,3\n" in text
        assert "more, listed by" not in text

    async def many(ask: Ask) -> None:
        envelope = await ask("explain_symbol", symbol="price")
        text, references = str(envelope["text"]), explanation(envelope)["references"]
        assert isinstance(references, dict)
        lines, others = references["lines"], references["others"]
        assert isinstance(lines, list) and isinstance(others, list)
        counts = [place["count"] for place in others]
        assert references["not_shown"] == 29 - len(lines) - sum(counts) > 0 and max(counts) == 20
        assert "\nalso " in text and f"  {references['not_shown']} more, listed by search mode=references" in text

    with_plane(root, few)
    with_plane(more, many)


@requirement("EXP-01")
def test_places_of_references_that_are_not_sure_are_marked(tmp_path: Path) -> None:
    code = (
        "class Shop:\n    def price(self):\n        return 1\n\n\n"
        "def total(shop):\n    return shop.price() + Shop().price()\n"
    )
    test = (
        "from a import Shop\n\n\ndef test_price(shop):\n    assert Shop().price() and shop.price()\n    shop.price()\n"
    )
    root = make_repo(tmp_path / "repo", {"a.py": code, "tests/test_a.py": test})

    async def body(ask: Ask) -> None:
        text = str((await ask("explain_symbol", symbol="Shop.price"))["text"])
        assert "tests: tests/test_a.py:5,6?\n" in text, text

    with_plane(root, body)


@requirement("EXP-01")
def test_a_short_definition_is_shown_whole_and_a_long_one_by_its_head(tmp_path: Path) -> None:
    long = "def long():\n    'Says a lot.'\n" + "    print()\n" * 40
    files = {"a.py": f"class Shop:\n    def price(self):\n        # Net.\n        return 1\n\n\n{long}"}
    files["b.py"] = "class Long:\n" + "".join(f"    field{number} = {number}\n" for number in range(60))
    root = make_repo(tmp_path / "repo", files)

    async def body(ask: Ask) -> None:
        short = await ask("explain_symbol", symbol="Shop.price")
        assert explanation(short)["source"] == "    def price(self):\n        # Net.\n        return 1"
        assert "\n    def price(self):\n        # Net.\n        return 1\nreferences" in str(short["text"])
        whole = await ask("explain_symbol", symbol="long")
        assert str(explanation(whole)["source"]).count("print()") == 28
        assert "    print()\n… 12 more lines: a.py:37-48\nreferences" in str(whole["text"])
        outlined = await ask("explain_symbol", symbol="Long")
        assert explanation(outlined)["source"] is None
        assert "\n  class Long\nmembers (60):\n" in str(outlined["text"])

    with_plane(root, body)


@requirement("EXP-01")
def test_several_files_are_outlined_at_once_with_their_tests(tmp_path: Path) -> None:
    files = {f"shop/{name}.py": f"def {name}():\n    return 1\n" for name in ("price", "stock")}
    files |= {"shop/__init__.py": "", "notes.txt": "x\n"}
    files |= {f"tests/test_{name}.py": f"from shop.{name} import {name}\n\n{name}()\n" for name in ("price", "stock")}
    root = make_repo(tmp_path / "repo", files)

    async def body(ask: Ask) -> None:
        both = str((await ask("explain_symbol", symbol="shop/price.py ./shop/stock.py"))["text"])
        assert "file shop/price.py:1-2\ntests: tests/test_price.py" in both
        assert "file shop/stock.py:1-2\ntests: tests/test_stock.py" in both and both.count("[epoch") == 1
        for wrong in ("shop/price.py shop/other.py", "shop/price.py notes.txt"):
            assert get_field(await ask("explain_symbol", symbol=wrong), "error", "error") == "NOT_FOUND"
        many = await ask("explain_symbol", symbol=" ".join(["shop/price.py"] * 12))
        assert "the first 10 of 12 files" in str(many)

    with_plane(root, body)


@requirement("EXP-01")
def test_what_a_budget_cuts_from_the_references_is_counted(tmp_path: Path) -> None:
    files = {"a.py": "def price():\n    return 1\n"}
    files |= {f"b{at}.py": f"from a import price\n\n{'x' * 100} = price()  # {'y' * 100}\n" for at in range(8)}
    root = make_repo(tmp_path / "many", files)

    async def body(ask: Ask) -> None:
        text = str((await ask("explain_symbol", symbol="price", budget=800))["text"])
        shown = sum(line.startswith("  ") and "price()" in line for line in text.splitlines()[3:])
        places = sum(line.count(":") for line in text.splitlines() if line.startswith("also "))
        assert 0 < shown < 8
        assert f"  {16 - shown - places} more, listed by search mode=references" in text

    with_plane(root, body)


@requirement("EXP-01")
def test_only_tests_that_exist_are_named(tmp_path: Path) -> None:
    files = {"a.py": "def price():\n    return 1\n"}
    files |= {f"b{at}.py": "from a import price\n\nprice()\nprice()\n" for at in range(5)}
    files |= {f"tests/test_{name}.py": "from a import price\n\nprice()\n" for name in ("kept", "gone")}
    root = make_repo(tmp_path / "tested", files)

    async def body(ask: Ask) -> None:
        before = explanation(await ask("explain_symbol", symbol="price"))["references"]
        assert isinstance(before, dict)
        assert before["tests"] == {"tests/test_gone.py": 2, "tests/test_kept.py": 2}
        (root / "tests/test_gone.py").unlink()
        envelope = await ask("explain_symbol", symbol="price")
        references = explanation(envelope)["references"]
        assert isinstance(references, dict)
        assert references["tests"] == {"tests/test_kept.py": 2}
        assert "test_gone" not in str(envelope["text"])

    with_plane(root, body)


@requirement("EXP-01")
def test_a_symbol_may_be_sent_as_name(root: Path) -> None:
    async def body(ask: Ask) -> None:
        assert explanation(await ask("explain_symbol", name="ShoppingCart"))["name"] == "ShoppingCart"
        neither = await ask("explain_symbol")
        error = neither["error"]
        assert isinstance(error, dict)
        assert error["error"] == "INVALID_ARGUMENT"

    with_plane(root, body)
