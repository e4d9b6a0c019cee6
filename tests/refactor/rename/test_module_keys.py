"""Names that JavaScript and TypeScript reach by quoted keys, and through modules that are loaded at run time."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import StillUsed
from codeplane.refactor.delete.planner import plan_delete
from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import repo
from tests.refactor.repository import repository

pytestmark = requirement("REF-40")
LIB = (
    "export function load() {\n  return 1;\n}\n\nexport enum Color {\n  Red = 1,\n}\n\n"
    "export class Store {\n  static count = 0;\n}\n"
)


@pytest.mark.parametrize(
    ("symbol", "use", "after"),
    [
        ("lib.ts:1:17", "import * as lib from './lib';\nlib['load']();\n", "lib['fresh']()"),
        ("lib.ts:6:3", "import { Color } from './lib';\nColor['Red'];\n", "Color['fresh']"),
        ("lib.ts:10:10", "import { Store } from './lib';\nStore[\"count\"];\n", 'Store["fresh"]'),
    ],
)
def test_a_quoted_key_of_a_module_enum_or_class_is_an_edit(tmp_path: Path, symbol: str, use: str, after: str) -> None:
    with repo(tmp_path, {"lib.ts": LIB, "use.ts": use}) as found:
        assert after in found.after(symbol, "fresh")["use.ts"]


@pytest.mark.parametrize(
    ("use", "column"),
    [
        ("import('./lib').then((m) => m.load());\n", 31),
        ("import('./lib').then(({ load }) => load());\n", 25),
        ("type L = typeof import('./lib').load;\n", 33),
        ("import('./lib').then((m) => m.load()); import { load } from './lib';\n", 31),
    ],
)
def test_what_a_loaded_module_may_hand_on_is_proposed(tmp_path: Path, use: str, column: int) -> None:
    with repo(tmp_path, {"lib.ts": LIB, "use.ts": use, "other.ts": "const a = { load: 1 };\na['load'];\n"}) as found:
        proposed = found.proposed(found.plan("lib.ts:1:17", "fresh"))
        assert f"use.ts:1:{column}" in proposed
        assert not any(place.startswith("other.ts") for place in proposed)


@requirement("REF-41")
@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("load", "import('./lib').then((m) => m.load());\n"),
        ("load", "import('./lib').then(({ load }) => load());\n"),
        ("load", "import * as lib from './lib';\nlib['load']();\n"),
    ],
)
def test_what_is_used_that_way_is_not_deleted(tmp_path: Path, name: str, use: str) -> None:
    with repository(tmp_path, {"lib.ts": LIB, "use.ts": use}) as found, pytest.raises(StillUsed):
        found.plan(plan_delete, found.target(name), force=False)


def test_what_a_loaded_module_may_hand_on_is_likely(tmp_path: Path) -> None:
    use = (
        "import { load } from './lib';\nexport async function main() {\n"
        "  const { load: other } = await import('./lib');\n"
        "  import('./lib').then((m) => m.load());\n  return other;\n}\nexport const one = load();\n"
    )
    with repo(tmp_path, {"lib.ts": LIB, "use.ts": use}) as found:
        draft = found.plan("lib.ts:1:17", "fresh")
        waiting = {found.place(edit) for edit in draft.edits if edit.tier == "ANCHORED" and edit.likely}
        assert waiting == {"use.ts:4:33"}
