"""`symbol.at` through the door: what names mean in several languages, and what is said where nothing is known."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.navigation.written import PROGRAMS, USES, Mark, marked

pytestmark = requirement("LSP-01")


def spot(place: JsonObject) -> Mark:
    span = cast(JsonObject, place["name_span"])
    return Mark(path=str(place["path"]), line=cast(int, span["line"]), column=cast(int, span["column"]))


def definitions(envelope: JsonObject) -> list[JsonObject]:
    return cast(list[JsonObject], result(envelope)["definitions"])


def asked(mark: Mark) -> dict[str, object]:
    return {"path": mark.path, "line": mark.line, "column": mark.column}


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_use_leads_to_its_definition(tmp_path: Path, language: str) -> None:
    files, marks = marked(PROGRAMS[language])

    async def body(ask: Ask) -> None:
        for use, defined in USES.items():
            if use not in marks:
                continue
            found = definitions(await ask("symbol.at", **asked(marks[use])))
            assert [spot(place) for place in found] == [marks[defined]], (use, found)
            assert found[0]["tier"] in ("PROVEN", "STRONG"), (use, found)

    with_plane(make_repo(tmp_path / "repo", files), body)


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_definition_is_itself(tmp_path: Path, language: str) -> None:
    files, marks = marked(PROGRAMS[language])

    async def body(ask: Ask) -> None:
        for name in ("cart", "add", "total"):
            (found,) = definitions(await ask("symbol.at", **asked(marks[name]), detail=True))
            assert spot(found) == marks[name] and found["tier"] == "PROVEN"
            assert found["signature"] and found["id"]
            span = cast(JsonObject, found["span"])
            assert cast(int, span["end_line"]) >= marks[name].line

    with_plane(make_repo(tmp_path / "repo", files), body)


def test_an_import_is_the_declaration_in_its_file(tmp_path: Path) -> None:
    files, marks = marked(PROGRAMS["python"])

    async def body(ask: Ask) -> None:
        found = result(await ask("symbol.at", **asked(marks["cartuse"])))
        (declared,) = cast(list[JsonObject], found["declarations"])
        assert spot(declared) == marks["imported"]

    with_plane(make_repo(tmp_path / "repo", files), body)


def test_an_overload_leads_to_what_implements_it(tmp_path: Path) -> None:
    files, marks = marked(
        {
            "a.ts": (
                "export function «first»pick(a: string): string;\nexport function pick(a: number): number;\n"
                "export function «body»pick(a: unknown): unknown {\n  return a;\n}\n"
            ),
            "b.ts": "export interface Shape {\n  «promise»area(): number;\n}\n",
        }
    )

    async def body(ask: Ask) -> None:
        for name, leads_to in [("first", "body"), ("body", "body"), ("promise", "promise")]:
            found = definitions(await ask("symbol.at", **asked(marks[name])))
            assert [spot(place) for place in found] == [marks[leads_to]]

    with_plane(make_repo(tmp_path / "repo", files), body)


def test_a_declared_module_of_rust_is_its_file(tmp_path: Path) -> None:
    files, marks = marked(
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/main.rs": "mod «declared»cart;\nmod «inline»here {}\nuse «used»cart::Cart;\nfn main() {}\n",
            "src/cart.rs": "pub struct Cart {}\n",
        }
    )

    async def body(ask: Ask) -> None:
        for name in ("declared", "used"):
            found = definitions(await ask("symbol.at", **asked(marks[name])))
            assert [spot(place) for place in found] == [Mark(path="src/cart.rs", line=1, column=1)]
        found = definitions(await ask("symbol.at", **asked(marks["inline"])))
        assert [spot(place) for place in found] == [marks["inline"]]

    with_plane(make_repo(tmp_path / "repo", files), body)


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    files = {
        "app.py": "import os\n\n\ndef run(thing):\n    # a comment\n    thing.save()\n    return os.getcwd() or 12\n",
        "model.py": "class Model:\n    def save(self):\n        pass\n",
        "notes.txt": "plain text\n",
    }

    async def body(ask: Ask) -> None:
        unknown = result(await ask("symbol.at", path="app.py", line=6, column=11))
        assert unknown["definitions"] == [] and "not known" in str(unknown["unknown"])
        assert [spot(place) for place in cast(list[JsonObject], unknown["candidates"])] == [
            Mark(path="model.py", line=2, column=9)
        ]
        outside = result(await ask("symbol.at", path="app.py", line=7, column=16))
        assert outside["outside"] == "os" and outside["definitions"] == []
        for line, column, why in [(4, 1, "keyword"), (5, 9, "comment"), (7, 28, "no name"), (99, 1, "no line 99")]:
            nothing = result(await ask("symbol.at", path="app.py", line=line, column=column))
            assert why in str(nothing["unknown"]) and nothing["definitions"] == []
        for path in ("notes.txt", "gone.py"):
            refused = await ask("symbol.at", path=path, line=1, column=1)
            assert cast(JsonObject, refused["error"])["error"] == "NOT_FOUND"
        outer = await ask("symbol.at", path="../secret.py", line=1, column=1)
        assert cast(JsonObject, outer["error"])["error"] == "PATH_DENIED"

    with_plane(make_repo(tmp_path / "repo", files), body)


def test_types_and_implementations(tmp_path: Path) -> None:
    files, marks = marked(
        {
            "shapes.py": (
                "class «shape»Shape:\n    def «area»area(self):\n        return 0\n\n\n"
                "class «square»Square(Shape):\n    def «squarearea»area(self):\n        return 1\n\n\n"
                "class Small(«base»Square):\n    pass\n\n\n«value»square = Square()\n"
            )
        }
    )

    async def body(ask: Ask) -> None:
        (type_,) = definitions(await ask("symbol.at", **asked(marks["value"]), want="type"))
        assert spot(type_) == marks["square"]
        heirs = definitions(await ask("symbol.at", **asked(marks["shape"]), want="implementation"))
        assert [place["name"] for place in heirs] == ["Square", "Small"]
        (method,) = definitions(await ask("symbol.at", **asked(marks["area"]), want="implementation"))
        assert spot(method) == marks["squarearea"]
        none = result(await ask("symbol.at", **asked(marks["squarearea"]), want="implementation"))
        assert "no implementation" in str(none["unknown"])

    with_plane(make_repo(tmp_path / "repo", files), body)


def test_the_outline_has_every_depth(tmp_path: Path) -> None:
    text = "class A:\n    class B:\n        class C:\n            def d(self):\n                def e(): pass\n"

    async def body(ask: Ask) -> None:
        found = result(await ask("symbol.outline", path="deep.py"))
        entries = cast(list[JsonObject], found["entries"])
        assert [(entry["name"], entry["container"]) for entry in entries] == [
            ("A", -1),
            ("B", 0),
            ("C", 1),
            ("d", 2),
            ("e", 3),
        ]
        assert entries[3]["name_span"] == {"line": 4, "column": 17, "end_line": 4, "end_column": 18}
        assert "\n      4-5 def d(self)" in str((await ask("symbol.outline", path="deep.py"))["text"])

    with_plane(make_repo(tmp_path / "repo", {"deep.py": text}), body)
