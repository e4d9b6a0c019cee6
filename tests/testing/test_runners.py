"""Real runs with each runner that can be had here."""

from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.testing.door import Door, open_door, written
from tests.testing.node import install
from tests.testing.runs import environment, failing, needs, statuses


async def _run(door: Door) -> JsonObject:
    return await door.run()


@requirement("TST-04")
async def test_unittest(tmp_path: Path) -> None:
    text = (
        "import unittest\n"
        "from shop import total\n\n"
        "class TotalTest(unittest.TestCase):\n"
        "    def test_sums(self):\n"
        "        self.assertEqual(total([1, 2]), 3)\n"
        "    def test_wrong(self):\n"
        "        self.assertEqual(total([1]), 2)\n"
        "    def test_raises(self):\n"
        "        raise KeyError('gone')\n"
        "    @unittest.skip('later')\n"
        "    def test_later(self):\n"
        "        pass\n"
        "    def test_parts(self):\n"
        "        for part in (0, 1):\n"
        "            with self.subTest(part=part):\n"
        "                self.assertEqual(part, 0)\n"
    )
    files = {
        "shop.py": "def total(prices):\n    return sum(prices)\n",
        "tests/__init__.py": "",
        "tests/test_total.py": text,
        "tests/test_broken.py": "import nothing_of_that_name\n",
        "plain/test_total.py": "import unittest\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        pass\n",
    }
    root = written(tmp_path / "repo", files)
    async with open_door(root, "tests.runners={python: unittest}", environment=environment()) as door:
        result, one = await door.run(), await door.run(targets="tests/test_total.py", pattern="sums")
    assert statuses(result) == {
        "tests/test_total.py": "error",
        "tests/test_broken.py": "error",
        "plain/test_total.py": "passed",
    }
    assert failing(result) == {
        "tests/test_total.py::TotalTest::test_wrong": "AssertionError",
        "tests/test_total.py::TotalTest::test_raises": "KeyError",
        "tests/test_total.py::TotalTest::test_parts (part=1)": "AssertionError",
        "tests/test_broken.py": "ModuleNotFoundError",
    }
    assert one["summary"]["tests"] == 1  # type: ignore[index,call-overload]


@requirement("TST-04")
async def test_jest_vitest_and_node_side_by_side(tmp_path: Path) -> None:
    modules = install()
    jest = (
        "const { total } = require('./total');\n"
        "describe('total', () => {\n"
        "  it('sums', () => expect(total([1, 2])).toBe(3));\n"
        "  it('is wrong', () => expect(total([1])).toBe(2));\n"
        "  it.skip('waits', () => {});\n"
        "});\n"
    )
    vitest = jest.replace(
        "const { total } = require('./total');\n",
        "import { describe, expect, it } from 'vitest';\nimport { total } from './total';\n",
    )
    node = (
        "import test, { describe, it } from 'node:test';\n"
        "import assert from 'node:assert';\n"
        "test('sums', () => assert.equal(1 + 2, 3));\n"
        "describe('group', () => { it('is wrong', () => assert.equal(1, 2)); it.skip('waits', () => {}); });\n"
    )
    files = {
        ".gitignore": "node_modules\n",
        "old/package.json": '{"name": "old", "jest": {}}',
        "old/total.js": "exports.total = (prices) => prices.reduce((a, b) => a + b, 0);\n",
        "old/total.test.js": jest,
        "old/broken.test.js": "require('./nothing');\n",
        "web/package.json": '{"name": "web", "type": "module", "devDependencies": {"vitest": "*"}}',
        "web/total.ts": "export const total = (prices: number[]) => prices.reduce((a, b) => a + b, 0);\n",
        "web/total.test.ts": vitest,
        "web/broken.test.ts": "import { it } from 'vitest';\nimport './nothing';\nit('x', () => {});\n",
        "plain/a.test.mjs": node,
        "plain/b.test.mjs": "import test from 'node:test';\ntest('fine', () => {});\n",
    }
    root = written(tmp_path / "repo", files)
    (root / "node_modules").symlink_to(modules)
    async with open_door(root, "tests.timeout_sec=120", environment=environment()) as door:
        result = await _run(door)
    assert statuses(result) == {
        "old/total.test.js": "failed",
        "old/broken.test.js": "error",
        "web/total.test.ts": "failed",
        "web/broken.test.ts": "error",
        "plain/a.test.mjs": "failed",
        "plain/b.test.mjs": "passed",
    }, result["text"]
    found = failing(result)
    assert {name for name in found if "broken" not in name} == {
        "old/total.test.js::total > is wrong",
        "web/total.test.ts::total > is wrong",
        "plain/a.test.mjs::group::is wrong",
    }
    assert found["plain/a.test.mjs::group::is wrong"] == "AssertionError"
    summary = result["summary"]
    assert isinstance(summary, dict)
    assert (summary["tests_passed"], summary["tests_skipped"]) == (4, 3)


@requirement("TST-04")
async def test_cargo(tmp_path: Path) -> None:
    needs("cargo")
    inner = (
        "pub fn total(prices: &[i32]) -> i32 { prices.iter().sum() }\n"
        "#[cfg(test)]\nmod tests {\n"
        "    #[test]\n    fn sums() { assert_eq!(super::total(&[1, 2]), 3); }\n"
        '    #[test]\n    fn wrong() { assert_eq!(super::total(&[1]), 2, "one is not two"); }\n'
        "}\n"
    )
    files = {
        ".gitignore": "target\n",
        "Cargo.toml": '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": inner,
        "tests/outer.rs": "#[test]\nfn outer() { assert!(tiny::total(&[]) == 0); }\n#[test]\n#[ignore]\nfn late() {}\n",
    }
    root = written(tmp_path / "repo", files)
    async with open_door(root, environment=environment()) as door:
        whole = await door.run()
        (root / "src/lib.rs").write_text("pub fn total() -> i32 { nothing }\n")
        result, broken = whole, await door.run()
    assert statuses(result) == {"src/lib.rs": "failed", "tests/outer.rs": "passed"}, result["text"]
    assert failing(result) == {"src/lib.rs::tests::wrong": "panic"}
    assert "one is not two" in str(result["text"])
    # Without tests of its own the library is no target any more; the other cannot be built.
    assert statuses(broken) == {"tests/outer.rs": "error"}, broken["text"]
    assert "cannot find value `nothing`" in str(broken["text"])
