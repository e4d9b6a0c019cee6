"""Symbols through the door: definitions, references by tier, names in part, scopes and pages."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.query.search.references import COUNTED
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.surfaces.http.wire import get_field

FILES = {
    "src/shop/__init__.py": "from .cart import Cart\n",
    "src/shop/cart.py": (
        "class Cart:\n"
        "    def add_item(self, item):\n"
        "        self.items.append(item)\n"
        "\n"
        "    def total(self):\n"
        "        return sum(self.prices())\n"
        "\n"
        "    def prices(self):\n"
        "        return [1]\n"
    ),
    "src/shop/till.py": (
        "from shop import Cart\n\n\ndef pay(cart: Cart, other):\n    cart.total()\n    return other.total()\n"
    ),
    "tests/test_cart.py": "from shop import Cart\n\n\ndef test_total():\n    assert Cart().total() == 1\n",
    "web/cart.ts": "export function total(): number {\n  return 1;\n}\n",
}


def places(found: JsonObject) -> list[str]:
    hits = found["results"]
    assert isinstance(hits, list)
    return [f"{hit['path']}:{hit['line']}" for hit in hits]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


def test_a_definition_is_shown_where_its_name_stands_on_its_line(tmp_path: Path) -> None:
    files = {
        "one.py": "import os\r\n\nété = 1; twice = lambda x: x; twice_more = twice = 2\nlast = last_one = 3",
        "two.ts": "\n\nexport const type = 1, kind = type;",
    }

    async def body(ask: Ask) -> None:
        for name, path, line, columns in (
            ("twice", "one.py", 3, [10]),
            ("twice_more", "one.py", 3, [31]),
            ("last_one", "one.py", 4, [8]),
            ("kind", "two.ts", 3, [24]),
            ("type", "two.ts", 3, [14]),
        ):
            for mode in ("definitions", "symbol"):
                hits = result(await ask("search", query=name, mode=mode))["results"]
                assert isinstance(hits, list)
                here = [hit for hit in hits if get_field(hit, "symbol", "name") == name]
                assert {(hit["path"], hit["line"]) for hit in here} == {(path, line)}, (name, mode)
                assert [hit["column"] for hit in here][:1] == columns, (name, mode)
                (span,) = here[0]["spans"]
                raw = str(here[0]["snippet"]).encode()
                assert raw[span[0] : span[1]] == name.encode()

    with_plane(make_repo(tmp_path / "repo", files), body)


@requirement("SRC-10")
def test_definitions_by_name_dotted_name_place_and_id(root: Path) -> None:
    async def body(ask: Ask) -> None:
        total = result(await ask("search", query="total", mode="definitions"))
        assert places(total) == ["src/shop/cart.py:5", "web/cart.ts:1"]
        for query in ("Cart.total", "shop.cart.Cart.total", "Cart::total", "src/shop/cart.py:5"):
            found = result(await ask("search", query=query, mode="definitions"))
            assert places(found) == ["src/shop/cart.py:5"], query
        symbol = get_field(found, "results", 0, "symbol")
        assert get_field(symbol, "container") == "Cart" and get_field(symbol, "kind") == "method"
        by_id = result(await ask("search", query=get_field(symbol, "id"), mode="definitions"))
        assert places(by_id) == ["src/shop/cart.py:5"]
        inside = result(await ask("search", query="src/shop/cart.py:6", mode="definitions"))
        assert places(inside) == ["src/shop/cart.py:5"]
        given = result(await ask("search", query="shop.Cart.total", mode="references"))
        assert given["of"] == ["method Cart.total (src/shop/cart.py:5)"]
        refused = await ask("search", query="total", mode="definitions", kinds=["gadget"])
        assert "method" in str(get_field(refused, "error", "hint"))
        nothing = await ask("search", query="no_such_name", mode="definitions")
        assert "nothing found" in str(nothing["text"])

    with_plane(root, body)


def test_a_line_with_two_references_is_shown_once(tmp_path: Path) -> None:
    files = {"a.py": "def price():\n    return 1\n\n\ntwice = price() + price()\n"}

    async def body(ask: Ask) -> None:
        envelope = await ask("search", query="price", mode="references")
        assert places(result(envelope)) == ["a.py:1", "a.py:5", "a.py:5"]
        text = str(envelope["text"])
        assert text.count("twice = price() + price()") == 1 and "[3 of 3 places in 1 file, references" in text
        bare = await ask("search", query="price", mode="references", include_snippets=False)
        assert "a.py:1,5\n" in str(bare["text"])
        explained = str((await ask("explain_symbol", symbol="price"))["text"])
        assert explained.count("twice = price() + price()") == 1 and "more, listed by" not in explained

    with_plane(make_repo(tmp_path / "repo", files), body)


@requirement("SRC-10")
def test_references_come_with_their_tiers(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("search", query="Cart.total", mode="references")
        found = result(envelope)
        assert places(found) == [
            "src/shop/cart.py:5",
            "src/shop/till.py:5",
            "tests/test_cart.py:5",
            "src/shop/till.py:6",
        ]
        assert found["tiers"] == {"PROVEN": 1, "STRONG": 2, "ANCHORED": 1}
        assert found["of"] == ["method Cart.total (src/shop/cart.py:5)"]
        text = str(envelope["text"])
        assert "return other.total()  (anchored)" in text and "1 proven, 2 strong, 1 anchored" in text
        both = result(await ask("search", query="total", mode="references"))
        assert get_field(both, "of", 1) is not None

    with_plane(root, body)


@requirement("SRC-10")
def test_names_in_part(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for query in ("add_item", "additem", "AddItem", "item", "ai"):
            found = result(await ask("search", query=query, mode="symbol"))
            assert places(found)[:1] == ["src/shop/cart.py:2"], query

    with_plane(root, body)


@requirement("SRC-12")
def test_an_abbreviation_is_found_before_a_page_of_names_that_hold_its_letters(root: Path) -> None:
    (root / "src/shop/words.py").write_text("".join(f"def d{at}_maid():\n    pass\n\n\n" for at in range(30)))

    async def body(ask: Ask) -> None:
        for query in ("AI", "AdIt", "a_item"):
            found = result(await ask("search", query=query, mode="symbol"))
            assert places(found)[:1] == ["src/shop/cart.py:2"], query

    with_plane(root, body)


@requirement("SRC-10")
def test_scopes(root: Path) -> None:
    async def body(ask: Ask) -> None:
        typed = result(await ask("search", query="total", mode="definitions", languages=["ts"]))
        assert places(typed) == ["web/cart.ts:1"]
        methods = result(await ask("search", query="total", mode="definitions", kinds=["method"]))
        assert places(methods) == ["src/shop/cart.py:5"]
        tests = result(await ask("search", query="total", tests="only"))
        assert set(places(tests)) == {"tests/test_cart.py:4", "tests/test_cart.py:5"}
        rest = result(await ask("search", query="Cart", tests="exclude"))
        assert "tests/test_cart.py:1" not in places(rest)
        refused = await ask("search", query="total", languages=["klingon"])
        assert get_field(refused, "error", "error") == "INVALID_ARGUMENT"

    with_plane(root, body)


@requirement("SRC-10")
def test_pages_and_edits_in_between(root: Path) -> None:
    async def body(ask: Ask) -> None:
        first = result(await ask("search", query="Cart.total", mode="references", limit=2))
        cursor = get_field(first, "pagination", "next_cursor")
        rest = result(await ask("search", query="Cart.total", mode="references", limit=2, cursor=cursor))
        assert len({*places(first), *places(rest)}) == 4
        (root / "src/shop/more.py").write_text("from shop import Cart\nCart().total()\n")
        (root / "src/shop/cart.py").write_text(FILES["src/shop/cart.py"].replace("total", "sum_up"))
        found = result(await ask("search", query="sum_up", mode="definitions", fresh="strict"))
        assert places(found) == ["src/shop/cart.py:5"]
        gone = result(await ask("search", query="Cart.total", mode="definitions"))
        assert places(gone) == []

    with_plane(root, body)


@requirement("SRC-15")
def test_a_popular_name_is_counted_in_part_and_paged_in_full(tmp_path: Path) -> None:
    use = "def f(x):\n    x.run()\n    Job().run()\n"
    files = {f"m{number:03}.py": f"from job import Job\n{use * 3}" for number in range(COUNTED // 6 + 20)}
    root = make_repo(tmp_path / "repo", {"job.py": "class Job:\n    def run(self):\n        pass\n", **files})
    total = 1 + 6 * len(files)

    async def body(ask: Ask) -> None:
        envelope = await ask("search", query="run", mode="references", limit=100)
        found = result(envelope)
        assert (found["total"], found["total_is_exact"]) == (COUNTED, False)
        assert f"of {COUNTED}+ places" in str(envelope["text"]) and "at least 1 proven" in str(envelope["text"])
        seen, cursor = places(found), get_field(found, "pagination", "next_cursor")
        while cursor:
            page = result(await ask("search", query="run", mode="references", limit=100, cursor=cursor))
            assert (page["total"], page["total_is_exact"]) == (total, True)
            seen += places(page)
            pagination = page["pagination"]
            cursor = pagination.get("next_cursor") if isinstance(pagination, dict) else None
        assert len(seen) == len(set(seen)) == total
        sure = seen[: 1 + 3 * len(files)]
        assert sure == sorted(sure, key=lambda one: (one.split(":")[0], int(one.split(":")[1])))
        scoped = result(await ask("search", query="run", mode="references", paths=["m000.py"]))
        assert (scoped["total"], scoped["total_is_exact"]) == (6, True)

    with_plane(root, body)


def test_uses_are_as_true_after_every_line_ends_otherwise(tmp_path: Path) -> None:
    block = "def f{0}(a):\n    kept = a\n    return kept\n\nkept = f{0}(1)\n"
    text = "".join(block.format(number) for number in range(30))
    root = make_repo(tmp_path / "repo", {"m.py": text})

    async def body(ask: Ask) -> None:
        async def uses(line: int) -> list[str]:
            return places(result(await ask("search", query=f"m.py:{line}:5", mode="references", limit=100)))

        before = await uses(102), await uses(150)
        assert before[0] == ["m.py:102", "m.py:103"]
        for converted in (text.replace("\n", "\r\n"), text):
            (root / "m.py").write_bytes(converted.encode())
            assert (await uses(102), await uses(150)) == before

    with_plane(root, body, "index.watch=false")
