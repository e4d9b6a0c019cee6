"""Declarations of one name that TypeScript merges: what one of them says, the others may use or must repeat."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import repo

pytestmark = requirement("REF-40")
SPACE = (
    "export namespace Tools {\n  export const depth = 2;\n}\n"
    "export namespace Tools {\n  export const more = depth;\n}\n"
)
PAIR = "export class Pair<Left> {\n  one?: Left;\n}\nexport interface Pair<Left> {\n  two?: Left;\n}\n"


@pytest.mark.parametrize(
    ("text", "symbol", "places"),
    [
        (SPACE, "a.ts:2:16", {"a.ts:5:23"}),
        (PAIR, "a.ts:1:19", {"a.ts:4:23", "a.ts:5:9"}),
        (SPACE.replace("depth;", "[1].map((depth) => depth);"), "a.ts:2:16", set[str]()),
    ],
)
def test_other_declarations_are_asked_about(tmp_path: Path, text: str, symbol: str, places: set[str]) -> None:
    with repo(tmp_path, {"a.ts": text}) as found:
        assert found.proposed(found.plan(symbol, "Fresh")).keys() == places
