"""Which tests reach a change, and why."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

from codeplane.code.resolve.world import World
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.json import JsonObject
from codeplane.testing.changes import Changes
from codeplane.testing.impact import Impact, Reached, Selection
from codeplane.testing.import_graph import ImportCache, ImportGraph
from codeplane.testing.ranking import likeness
from codeplane.testing.target import Target
from tests.interaction.requirements import requirement
from tests.testing.door import Door, open_door, written

Select = Callable[[dict[str, str]], Awaitable[Selection]]


async def _selections(tmp_path: Path, files: dict[str, str], changes: list[dict[str, str | None]]) -> list[Selection]:
    """What is selected for each change, each made alone."""
    root = written(tmp_path / "repo", files)
    async with open_door(root) as door:
        found = []
        for change in changes:
            for path, text in change.items():
                if text is None:
                    (root / path).unlink()
                else:
                    (root / path).parent.mkdir(parents=True, exist_ok=True)
                    (root / path).write_text(text)
            found.append(await door.suite.impact.selection())
            for path in change:
                if path in files:
                    (root / path).write_text(files[path])
                else:
                    (root / path).unlink()
        return found


def _paths(selection: Selection) -> list[str]:
    return sorted(one.path for one in selection.reached)


@requirement("TST-08")
async def test_python_imports_fixtures_data_and_tests_themselves(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/money.py": "def cents(x):\n    return x\n",
        "shop/cart.py": "from shop.money import cents\n\n\ndef total(prices):\n    return sum(map(cents, prices))\n",
        "shop/report.py": "def report():\n    return 1\n",
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef prices():\n    return [1]\n",
        "tests/data/prices.csv": "1\n",
        "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_it(prices):\n    assert total(prices) == 1\n",
        "tests/test_report.py": "import shop.report\n\n\ndef test_report():\n    assert open('data/prices.csv')\n",
        "tests/test_alone.py": "def test_alone():\n    pass\n",
        "README.md": "# Shop\n",
    }
    found = await _selections(
        tmp_path,
        files,
        [
            {"shop/money.py": "def cents(x):\n    return x + 0\n"},
            {"tests/data/prices.csv": "2\n"},
            {"tests/conftest.py": files["tests/conftest.py"] + "# more\n"},
            {"tests/test_alone.py": "def test_alone():\n    assert 1\n"},
            {"README.md": "# The shop\n"},
            {"shop/report.py": None},
            {"tests/test_new.py": "def test_new():\n    pass\n"},
        ],
    )
    assert found[0].reached == (
        Reached(path="tests/test_cart.py", reason="imports shop/cart.py → shop/money.py", distance=2),
    )
    assert found[1].reached == (Reached(path="tests/test_report.py", reason="names prices.csv", distance=1),)
    assert _paths(found[2]) == ["tests/test_alone.py", "tests/test_cart.py", "tests/test_report.py"]
    assert found[3].reached == (Reached(path="tests/test_alone.py", reason="changed itself", distance=0),)
    assert (found[4].reached, found[4].notes) == ((), ("no test reaches README.md",))
    assert _paths(found[5]) == ["tests/test_report.py"]
    assert _paths(found[6]) == ["tests/test_new.py"]


@requirement("TST-08")
async def test_javascript_imports(tmp_path: Path) -> None:
    files = {
        "package.json": '{"jest": {}}',
        "src/money.ts": "export const cents = (x: number) => x;\n",
        "src/index.ts": "export * from './money';\n",
        "src/cart.test.ts": "import { cents } from './index';\ntest('x', () => { cents(1); });\n",
        "src/other.test.ts": "test('x', () => {});\n",
    }
    (found,) = await _selections(tmp_path, files, [{"src/money.ts": "export const cents = (x: number) => x + 0;\n"}])
    assert found.reached == (
        Reached(path="src/cart.test.ts", reason="imports src/index.ts → src/money.ts", distance=2),
    )


@requirement("TST-08")
async def test_other_languages_by_package_and_by_name(tmp_path: Path) -> None:
    files = {
        "go.mod": "module x\n",
        "cart/cart.go": "package cart\n\nfunc Total() int { return 1 }\n",
        "cart/cart_test.go": "package cart\n\nfunc TestTotal() {}\n",
        "price/price_test.go": "package price\n\nfunc TestPrice() {}\n",
        "shop/shop.go": 'package shop\n\nimport "x/cart"\n\nfunc Sum() int { return cart.Total() }\n',
        "api/api_test.go": 'package api_test\n\nimport "x/shop"\n\nfunc TestApi() { shop.Sum() }\n',
        "other/other_test.go": "package other\n\nfunc TestTotal() { Total() }\n",
        "app/pom.xml": "<project/>",
        "app/src/main/java/x/Basket.java": "package x;\nclass Basket { int total() { return 1; } }\n",
        "app/src/test/java/x/BasketTest.java": "package x;\nclass BasketTest { void t() { new Basket(); } }\n",
        "app/src/test/java/x/OtherTest.java": "package x;\nclass OtherTest { }\n",
    }
    go, java = await _selections(
        tmp_path,
        files,
        [
            {"cart/cart.go": "package cart\n\nfunc Total() int { return 2 }\n"},
            {"app/src/main/java/x/Basket.java": "package x;\nclass Basket { int total() { return 2; } }\n"},
        ],
    )
    assert {one.path: one.reason for one in go.reached} == {
        "cart": "in the package of cart/cart.go",
        "api": "imports shop/shop.go → cart/cart.go",
    }
    assert {one.path: one.reason for one in java.reached} == {
        "x.BasketTest": "is called after app/src/main/java/x/Basket.java"
    }


@requirement("TST-08")
async def test_settings_reach_every_test_of_their_runner(tmp_path: Path) -> None:
    files = {
        "api/pyproject.toml": "[tool.pytest.ini_options]\n",
        "api/test_a.py": "",
        "web/package.json": '{"jest": {}}',
        "web/a.test.js": "",
    }
    (found,) = await _selections(
        tmp_path, files, [{"api/pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n"}]
    )
    assert _paths(found) == ["api/test_a.py"]


@requirement("TST-08")
async def test_a_hub_is_narrowed_by_the_changed_definitions(tmp_path: Path) -> None:
    parts = [f"part{at}" for at in range(12)]
    files = {"hub/__init__.py": "".join(f"from hub.{name} import make_{name}\n" for name in parts)}
    for name in parts:
        files[f"hub/{name}.py"] = (
            f"def make_{name}():\n    return _inner_{name}()\n\n\ndef _inner_{name}():\n    return 1\n"
        )
        files[f"tests/test_of_{name}.py"] = f"import hub\n\n\ndef test_it():\n    assert hub.make_{name}() == 1\n"
    changed = files["hub/part7.py"].replace("return 1", "return 2")
    (found,) = await _selections(tmp_path, files, [{"hub/part7.py": changed}])
    assert found.reached[0].path == "tests/test_of_part7.py"
    assert len(found.reached) <= 5
    assert found.left_out == 12 - len(found.reached)
    assert "of 12 targets that import what changed" in found.notes[0]


SHOP = {
    "shop/__init__.py": "",
    "shop/money.py": "def cents(x):\n    return x\n",
    "shop/cart.py": "from shop.money import cents\n\n\ndef total(prices):\n    return sum(map(cents, prices))\n",
    "tests/test_money.py": "import shop.money\n\n\ndef test_money():\n    assert shop.money\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_cents():\n    assert total([]) == 0\n",
    "tests/test_uses.py": "from shop.cart import cents\n\n\ndef test_uses():\n    assert cents(1)\n",
    "tests/test_alone.py": "def cents():\n    pass\n\n\ndef test_alone():\n    cents()\n",
}


async def _snapshot(door: Door) -> Snapshot:
    """The newest state, with all facts of it."""
    await door.ask("test.discover")
    knowledge = door.suite._knowledge
    snapshot = await (await knowledge.fresh()).snapshot(strict=True)
    while (await knowledge.wait_for_facts(snapshot)).line():
        await asyncio.sleep(0)
    return snapshot


async def test_an_edit_does_not_wait_for_whoever_is_finding_out(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", SHOP)
    async with open_door(root) as door:
        snapshot = await _snapshot(door)
        asked, answer = threading.Event(), threading.Event()

        def slow(state: Snapshot) -> tuple[Target, ...]:
            asked.set()
            answer.wait(60)
            return door.suite.targets_of(state)

        impact = Impact(knowledge=door.suite._knowledge, targets=slow, changes=Changes(root))
        first = asyncio.ensure_future(impact.after_edit(snapshot, ["shop/money.py"]))
        await asyncio.to_thread(asked.wait, 60)
        assert await impact.after_edit(snapshot, ["shop/money.py"]) is None
        answer.set()
        found = await first
        assert found is not None and "tests/test_money.py" in _paths(found)
        assert await impact.after_edit(snapshot, ["shop/money.py"]) == found


async def test_files_that_come_and_go_are_noticed_by_what_was_kept(tmp_path: Path) -> None:
    javascript = {
        "web/package.json": '{"jest": {}}',
        "web/a.test.js": "import { b } from './lib';\nimport { c } from './gone';\n",
        "web/gone.js": "export const c = 1;\n",
    }
    late = {"tests/test_late.py": "import shop.late\nfrom shop import later\nimport outer.inner\n"}
    root = written(tmp_path / "repo", {**SHOP, **javascript, **late})
    steps: list[dict[str, str | None]] = [
        {"shop/late.py": "x = 1\n"},
        {"shop/later.py": "x = 1\n", "outer/inner.py": ""},
        {"shop/money.py": None},
        {"outer/__init__.py": ""},
        {"web/lib/index.js": "export const b = 1;\n"},
        {"outer/inner.py": None, "web/gone.js": None},
        {"tests/test_late.py": "import shop.later\nimport shop.late\n"},
        {"web/a.test.js": "export const nothing = 1;\n", "shop/late.py": "import shop.later\n"},
        {"conftest.py": ""},
        {"tests/test_late.py": "import conftest\n"},
        {"tests/test_late.py": ""},
    ]
    async with open_door(root) as door:
        knowledge = door.suite._knowledge
        kept = ImportCache(knowledge.modules)
        for step in [{}, *steps]:
            for path, text in step.items():
                (root / path).parent.mkdir(exist_ok=True, parents=True)
                (root / path).write_text(text) if text is not None else (root / path).unlink()
            snapshot = await _snapshot(door)
            gone = [path for path, text in step.items() if text is None]

            def importers(by: ImportCache, gone: list[str], state: Snapshot = snapshot) -> object:
                world = World(state, knowledge.store, knowledge.modules)
                return ImportGraph(world, by, gone=gone).importers

            for without in ([], gone):
                assert importers(kept, without) == importers(ImportCache(knowledge.modules), without), step
            found = await door.suite.impact.after_edit(snapshot, list(step))
            if step and "outer/__init__.py" not in step:
                assert found is not None and found.reached, step


async def test_a_file_that_is_gone_is_reached_in_javascript_too(tmp_path: Path) -> None:
    files = {
        "package.json": '{"jest": {}}',
        "src/money.ts": "export const cents = 1;\n",
        "src/a.test.ts": "import { cents } from './money';\n",
        "src/b.test.ts": "test('x', () => {});\n",
    }
    (found,) = await _selections(tmp_path, files, [{"src/money.ts": None}])
    assert found.reached == (Reached(path="src/a.test.ts", reason="imports src/money.ts", distance=1),)


@requirement("EXP-01")
def test_a_test_is_called_after_a_file_or_after_the_folder_that_it_stands_for() -> None:
    assert likeness("shop/money.py", "tests/test_money.py") == 1.0
    assert likeness("src/jwk/jwk.ts", "src/jwk/index.test.ts") == 1.0
    assert likeness("src/jwt/index.ts", "src/jwt/index.test.ts") == 1.0
    assert likeness("src/jwt/index.ts", "runtime/node/index.test.ts") == 0.0
    assert likeness("shop/money_format.py", "tests/test_money.py") == 0.5


@requirement("EXP-01")
async def test_the_tests_of_a_file_are_test_files_nearest_first(tmp_path: Path) -> None:
    files = {
        "money.py": "def parse(text):\n    return int(text)\n",
        "shop.py": "from money import parse\n\n\ndef total(items):\n    return parse(items[0])\n",
        "tests/test_all.py": "from shop import total\n\n\ndef test_total():\n    assert total(['1'])\n",
        "tests/test_money.py": "from money import parse\n\n\ndef test_parse():\n    assert parse('1')\n",
        "tests/test_other.py": "def test_other():\n    assert True\n",
    }
    root = written(tmp_path / "repo", files)
    async with open_door(root) as door:
        snapshot = await (await door.knowledge.fresh()).snapshot(strict=True)
        found = await door.suite.impact.test_files(snapshot, "money.py")
        assert found == ("tests/test_money.py", "tests/test_all.py")
        assert await door.suite.impact.test_files(snapshot, "tests/test_other.py") == ("tests/test_other.py",)


@requirement("TST-08")
async def test_the_tests_that_reach_a_definition_are_listed_without_a_change(tmp_path: Path) -> None:
    files = {
        "shop.py": "def total(prices):\n    return sum(prices)\n",
        "alone.py": "x = 1\n",
        "test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
        "test_other.py": "def test_other():\n    pass\n",
    }
    async with open_door(written(tmp_path / "repo", files)) as door:
        reaching = await door.ask("test.reaching", path="shop.py", line=1, end_line=2)
        found = cast(JsonObject, reaching["result"])
        assert found["targets"] == [{"target_id": "test_shop.py", "reason": "imports shop.py"}]
        assert found["total"] == 1
        nothing = cast(JsonObject, (await door.ask("test.reaching", path="alone.py"))["result"])
        assert nothing["targets"] == [] and "no test reaches alone.py" in str(nothing["notes"])
        refused = await door.ask("test.reaching", path="gone.py")
        assert cast(JsonObject, refused["error"])["error"] == "NOT_FOUND"
