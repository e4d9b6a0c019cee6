"""Symbols of JavaScript and TypeScript that go to another module."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NameTaken, NotRefactorable
from codeplane.refactor.move.symbol_move import plan_symbol_move
from tests.interaction.requirements import requirement
from tests.refactor.repository import repository

FILES = {
    "src/old.ts": (
        "import { low, unused } from './low';\n"
        "import type { Kind } from './low';\n"
        "\n"
        "const SIZE = 3;\n"
        "\n"
        "/** What a shape is. */\n"
        "export function shape(kind: Kind): number {\n"
        "  return low + SIZE;\n"
        "}\n"
        "\n"
        "export const other = unused;\n"
    ),
    "src/low.ts": "export const low = 1;\nexport const unused = 2;\nexport type Kind = string;\n",
    "src/index.ts": "export * from './old';\n",
    "src/named.ts": "export { shape, other } from './old';\n",
    "src/use.ts": "import { other, shape as s } from './old';\ns(other);\n",
    "src/one.ts": "import { shape } from './old';\nshape('a');\n",
    "src/all.ts": "import * as old from './old';\nold.shape(old.other);\n",
    "src/req.js": "const { shape } = require('./old');\n",
}


@requirement("REF-13")
def test_a_function_goes_with_what_it_needs(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as repo:
        draft = repo.plan(plan_symbol_move, repo.target("src/old.ts:7:17"), "src/kit/new.ts")
        assert repo.after(draft) == {
            "src/kit/new.ts": (
                "import type { Kind } from '../low';\n"
                "import { low } from '../low';\n"
                "import { SIZE } from '../old';\n"
                "\n"
                "/** What a shape is. */\n"
                "export function shape(kind: Kind): number {\n"
                "  return low + SIZE;\n"
                "}\n"
            ),
            "src/old.ts": (
                "import { unused } from './low';\n\nexport const SIZE = 3;\n\nexport const other = unused;\n"
            ),
            "src/index.ts": "export * from './old';\nexport { shape } from './kit/new';\n",
            "src/named.ts": "export { other } from './old';\nexport { shape } from './kit/new';\n",
            "src/use.ts": "import { other } from './old';\nimport { shape as s } from './kit/new';\ns(other);\n",
            "src/one.ts": "import { shape } from './kit/new';\nshape('a');\n",
            "src/all.ts": "import * as old from './old';\nimport { shape } from './kit/new';\nshape(old.other);\n",
        }
        assert {danger.kind for danger in draft.dangers} == {"commonjs_import"}


@requirement("REF-13")
def test_a_default_export_and_a_list_of_exports(tmp_path: Path) -> None:
    files = {
        "a.ts": "export default class Box {}\nfunction f() {}\nf();\nexport { f, g };\nconst g = 1;\n",
        "b.ts": "import Box, { f, g } from './a';\nnew Box(f, g);\n",
        "c.ts": "export const c = 1;\n",
    }
    with repository(tmp_path, files) as repo:
        assert repo.after(repo.plan(plan_symbol_move, repo.target("Box"), "c.ts")) == {
            "a.ts": files["a.ts"].removeprefix("export default class Box {}\n"),
            "b.ts": "import { f, g } from './a';\nimport Box from \"./c\";\nnew Box(f, g);\n".replace('"', "'"),
            "c.ts": "export const c = 1;\n\nexport default class Box {}\n",
        }
        after = repo.after(repo.plan(plan_symbol_move, repo.target("a.ts:2:10"), "c.ts"))
        assert after["c.ts"] == "export const c = 1;\n\nexport function f() {}\n"
        assert "export { g };" in after["a.ts"]
        assert "import { f } from" in after["a.ts"]


REFUSED = {
    "a.ts": "export const x = 1, y = 2;\nexport function taken() {}\nclass C { m() {} }\nexport default C;\n",
    "b.ts": "export function taken() {}\n",
    "c.js": (
        "const need = require('x');\nexport function uses() { return need; }\nmodule.exports.z = z;\nfunction z() {}\n"
    ),
}


@requirement("REF-13")
@pytest.mark.parametrize(
    ("query", "to_path", "error"),
    [
        ("a.ts:1:14", "b.ts", NotRefactorable),
        ("a.ts:2:17", "b.ts", NameTaken),
        ("a.ts:2:17", "b.js", InvalidArgument),
        ("a.ts:2:17", "b.py", InvalidArgument),
        ("a.ts:3:7", "b.ts", NotRefactorable),
        ("a.ts:3:11", "b.ts", NotRefactorable),
        ("c.js:2:17", "b.ts", NotRefactorable),
        ("c.js:4:10", "b.ts", NotRefactorable),
    ],
)
def test_what_cannot_be_cut_or_put_is_refused(
    tmp_path: Path, query: str, to_path: str, error: type[CodePlaneError]
) -> None:
    with repository(tmp_path, REFUSED) as repo, pytest.raises(error):
        repo.plan(plan_symbol_move, repo.target(query), to_path)
