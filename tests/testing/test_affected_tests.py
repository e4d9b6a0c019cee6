"""The tests that the answer of an edit names are those that `test_run` takes for it."""

import subprocess
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import Ask, asking
from tests.query.asking import result
from tests.testing.door import written

pytestmark = requirement("TST-35")

TOO_LATE = "affected tests are not known yet"
WIDE = 12

PYTHON = {
    "pytest.ini": "[pytest]\n",
    "shop/__init__.py": "",
    "shop/money.py": "def cents(x):\n    return x\n\n\ndef euros(x):\n    return x / 100\n",
    "shop/cart.py": "from shop.money import cents\n\n\ndef total(prices):\n    return sum(map(cents, prices))\n",
    "shop/report.py": "from shop.cart import total\n\n\ndef report(prices):\n    return f'{total(prices)}'\n",
    "tests/conftest.py": "VALUE = 1\n",
    "tests/prices.csv": "1\n",
    "tests/test_money.py": "from shop.money import cents\n\n\ndef test_cents():\n    assert cents(1)\n",
    "tests/test_report.py": "from shop.report import report\n\n\ndef test_report():\n    assert report([1])\n",
    "tests/test_data.py": "def test_data():\n    assert open('prices.csv')\n",
    # More than are run for one change: those nearest to what changed are chosen.
    **{
        f"tests/test_wide_{at}.py": f"import shop.report\n\n\ndef test_{at}():\n    assert shop.report.total([{at}])\n"
        for at in range(WIDE)
    },
}
TYPESCRIPT = {
    "package.json": '{"devDependencies": {"vitest": "1"}}\n',
    "src/money.ts": "export function cents(x: number) {\n  return x\n}\n\nexport const rate = 19\n",
    "src/cart.ts": "import { cents } from './money'\n\nexport const total = (p: number[]) => p.map(cents)\n",
    "src/index.ts": "export * from './cart'\nexport { rate } from './money'\n",
    "src/money.test.ts": "import { cents } from './money'\ntest('cents', () => cents(1))\n",
    "test/cart.test.ts": "import { total } from '../src'\ntest('total', () => total([1]))\n",
    "test/alone.test.ts": "test('alone', () => {})\n",
}
GO = {
    "go.mod": "module example.org/shop\n\ngo 1.20\n",
    "money/money.go": "package money\n\nfunc Cents(x int) int {\n\treturn x\n}\n",
    "money/money_test.go": 'package money\n\nimport "testing"\n\nfunc TestCents(t *testing.T) { Cents(1) }\n',
    "cart/cart.go": (
        'package cart\n\nimport "example.org/shop/money"\n\nfunc Total(x int) int {\n\treturn money.Cents(x)\n}\n'
    ),
    "cart/cart_test.go": 'package cart\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) { Total(1) }\n',
    "other/other_test.go": 'package other\n\nimport "testing"\n\nfunc TestOther(t *testing.T) {}\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub mod cart;\npub mod money;\npub mod other;\n",
    "src/money.rs": (
        "pub fn cents(x: u32) -> u32 {\n    x\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
        "    #[test]\n    fn whole() {\n        assert_eq!(cents(1), 1);\n    }\n}\n"
    ),
    "src/cart.rs": (
        "use crate::money::cents;\n\npub fn total(x: u32) -> u32 {\n    cents(x)\n}\n\n#[cfg(test)]\nmod tests {\n"
        "    #[test]\n    fn sums() {\n        assert_eq!(super::total(1), 1);\n    }\n}\n"
    ),
    "src/other.rs": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn alone() {}\n}\n",
    "tests/outer.rs": "use shop::cart::total;\n\n#[test]\nfn outer() {\n    assert_eq!(total(1), 1);\n}\n",
}

Edit = dict[str, object]


def changed(path: str, old: str, new: str) -> Edit:
    return {"path": path, "old_text": old, "new_text": new}


EDITS: dict[str, tuple[dict[str, str], list[list[Edit]]]] = {
    "python": (
        PYTHON,
        [
            [changed("shop/money.py", "return x\n", "return int(x)\n")],
            [changed("shop/money.py", "/ 100", "/ 100.0")],
            [changed("shop/report.py", "f'{total(prices)}'", "str(total(prices))")],
            [changed("tests/test_money.py", "cents(1)", "cents(2)")],
            [changed("tests/conftest.py", "1", "2")],
            [changed("tests/prices.csv", "1", "2")],
            [changed("pytest.ini", "[pytest]", "[pytest]\naddopts = -q")],
            [{"path": "shop/tax.py", "content": "RATE = 19\n"}],
            [
                {
                    "path": "tests/test_new.py",
                    "content": "from shop.money import euros\n\n\ndef test_euros():\n    pass\n",
                }
            ],
            [{"path": "shop/cart.py", "action": "delete"}],
            [{"path": "shop/money.py", "action": "move", "new_path": "shop/coins.py"}],
            [changed("shop/money.py", "/ 100", "/ 1"), changed("tests/test_data.py", "assert", "assert not")],
        ],
    ),
    "typescript": (
        TYPESCRIPT,
        [
            [changed("src/money.ts", "return x", "return +x")],
            [changed("src/money.ts", "rate = 19", "rate = 7")],
            [changed("src/cart.ts", "p.map(cents)", "[...p].map(cents)")],
            [changed("test/alone.test.ts", "{})", "{ return })")],
            [changed("package.json", '"1"', '"2"')],
            [{"path": "src/tax.ts", "content": "export const tax = 1\n"}],
        ],
    ),
    "go": (
        GO,
        [
            [changed("money/money.go", "return x", "return +x")],
            [changed("cart/cart.go", "return money", "return 1 * money")],
            [changed("other/other_test.go", "{}", "{ t.Log() }")],
            [{"path": "cart/tax.go", "content": "package cart\n\nfunc Tax() int { return 1 }\n"}],
        ],
    ),
    "rust": (
        RUST,
        [
            [changed("src/money.rs", "    x\n}", "    x + 0\n}")],
            [changed("src/money.rs", "cents(1), 1", "cents(2), 2")],
            [changed("src/cart.rs", "    cents(x)", "    1 * cents(x)")],
            [changed("tests/outer.rs", "total(1), 1", "total(2), 2")],
        ],
    ),
}


async def edited(ask: Ask, operation: str, **arguments: object) -> JsonObject:
    """An edit whose tests are known; what is not known yet is asked again by undoing and doing it."""
    for _ in range(20):
        done = result(await ask(operation, **arguments))
        if not any(TOO_LATE in str(one) for one in cast(list[object], done.get("warnings") or ())):
            return done
        assert "error" not in await ask("undo")
    raise AssertionError(f"never known: {arguments}")


async def taken(ask: Ask, **arguments: object) -> list[str]:
    """What a run takes; it is not waited for."""
    run = result(await ask("test.run", wait=False, fresh=True, **arguments))
    await ask("test.cancel", run_id=run["run_id"])
    status = result(await ask("test.status", run_id=run["run_id"]))
    return sorted(str(one["target_id"]) for one in cast(list[JsonObject], status["results"]))


@pytest.fixture(autouse=True)
def runners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of the runners' names on PATH: what they would do is no matter here."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("cargo", "go", "vitest", "pytest"):
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.parametrize("language", EDITS)
async def test_an_edit_names_what_a_run_takes(tmp_path: Path, language: str) -> None:
    files, edits = EDITS[language]
    root = written(tmp_path / "repo", files)

    async def body(ask: Ask) -> list[tuple[str, list[str], list[str], list[str]]]:
        found = []
        for edit in edits:
            done = await edited(ask, "write_files", edits=edit)
            paths = [str(one.get(name)) for one in edit for name in ("path", "new_path") if one.get(name)]
            impacted, named = await taken(ask, impacted=True), await taken(ask, paths=paths)
            found.append((str(edit), sorted(map(str, cast(list[str], done["affected_tests"]))), impacted, named))
            subprocess.run(["git", "reset", "-q", "--hard"], cwd=root, check=True)
            subprocess.run(["git", "clean", "-qfd"], cwd=root, check=True)
            # An edit that comes at once may be answered by the state before; this looks at every file.
            assert "error" not in await ask("test.discover")
        return found

    async with asking(root) as ask:
        found = await body(ask)
    for edit, affected, impacted, named in found:
        assert affected == impacted == named, edit
    assert any(affected for _, affected, _, _ in found)
    if language == "rust":
        # Tests stand beside what they test; those of all modules are one program, which the root of the crate names.
        assert all("src/lib.rs" in affected for _, affected, _, _ in found[:3])
    if language == "python":
        assert any(1 < len(affected) < WIDE for _, affected, _, _ in found), "none was narrowed"


async def test_a_refactor_and_a_second_edit_name_what_a_run_of_their_files_takes(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", PYTHON)
    async with asking(root) as ask:
        renamed = await edited(ask, "refactor.rename", symbol="shop/money.py:euros", new_name="units", apply=True)
        applied = cast(JsonObject, renamed.get("applied") or renamed)
        affected = cast(list[str], applied.get("affected_tests") or renamed.get("affected_tests"))
        assert sorted(affected) == await taken(ask, impacted=True) == await taken(ask, paths=["shop/money.py"])
        # With more than one uncommitted edit, impacted=true takes what any of them reaches.
        second = await edited(ask, "write_files", edits=[changed("tests/test_data.py", "assert", "assert not")])
        assert second["affected_tests"] == await taken(ask, paths=["tests/test_data.py"]) == ["tests/test_data.py"]
        assert {*affected, "tests/test_data.py"} <= set(await taken(ask, impacted=True))
