"""The `syntax.` operations through the door."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane

pytestmark = requirement("LSP-06")

FILES = {
    "app.py": (
        "import os\nimport sys\n\n# one\n# two\n\n\nclass Cart:\n    def add(self, item):\n        if item:\n"
        "            total = item\n            return total\n        return os.path\n"
    ),
    "app.ts": "export class Cart {\n  add(item: number) {\n    return {\n      item,\n    };\n  }\n}\n",
    "app.go": "package app\n\nfunc Add(item int) int {\n\tif item > 0 {\n\t\treturn item\n\t}\n\treturn 0\n}\n",
    "broken.py": "def run(:\n    pass\n\n\nx = (1,\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


def rows(found: JsonObject, name: str) -> list[JsonObject]:
    return cast(list[JsonObject], found[name])


def test_folds(root: Path) -> None:
    async def body(ask: Ask) -> None:
        found = rows(result(await ask("syntax.folds", path="app.py")), "folds")
        assert [(fold["line"], fold["end_line"], fold["kind"]) for fold in found] == [
            (1, 2, "imports"),
            (4, 5, "comment"),
            (8, 13, "code"),
            (9, 13, "code"),
            (11, 12, "code"),
        ]
        for path, expected in {"app.ts": [(1, 7), (2, 6), (3, 5)], "app.go": [(3, 8), (4, 6)]}.items():
            found = rows(result(await ask("syntax.folds", path=path)), "folds")
            assert [(fold["line"], fold["end_line"]) for fold in found] == expected, path

    with_plane(root, body)


def test_selections(root: Path) -> None:
    async def body(ask: Ask) -> None:
        asked = [{"line": 12, "column": 20}, {"line": 99, "column": 1}]
        found = result(await ask("syntax.selection", path="app.py", places=asked))
        inner, beyond = cast(list[list[JsonObject]], found["selections"])
        assert beyond == []
        assert (inner[0]["line"], inner[0]["column"], inner[0]["end_column"]) == (12, 20, 25)
        assert inner[-1]["line"] == 1
        starts = [(span["line"], span["column"]) for span in inner]
        assert starts == sorted(starts, reverse=True), "each holds the one before"

    with_plane(root, body)


def test_problems(root: Path) -> None:
    async def body(ask: Ask) -> None:
        assert rows(result(await ask("syntax.problems", path="app.py")), "problems") == []
        found = rows(result(await ask("syntax.problems", path="broken.py")), "problems")
        lines = [cast(JsonObject, problem["span"])["line"] for problem in found]
        assert lines and lines[0] == 1
        fixed = [{"path": "broken.py", "text": "def run():\n    pass\n"}]
        assert rows(result(await ask("syntax.problems", path="broken.py", documents=fixed)), "problems") == []

    with_plane(root, body)


def test_names(root: Path) -> None:
    async def body(ask: Ask) -> None:
        found = result(await ask("syntax.names", path="app.py"))
        kinds = cast(list[str], found["kinds"])
        listed = [
            (line, column, kinds[kind], declared)
            for line, column, _, kind, declared in cast(list[tuple[int, int, int, int, bool]], found["rows"])
        ]
        assert (8, 7, "class", True) in listed and (9, 9, "method", True) in listed
        assert (9, 19, "parameter", True) in listed and (10, 12, "parameter", False) in listed
        assert (12, 20, "variable", False) in listed and (13, 16, "namespace", False) in listed

    with_plane(root, body)
