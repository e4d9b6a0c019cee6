"""`map_repo` through the door: what a newcomer sees, what a focus changes, and that the budget holds."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane
from tests.query.shop import SHOP


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", SHOP)


def mapped(found: JsonObject) -> list[str]:
    files = found["map"]
    assert isinstance(files, list)
    return [one["path"] for one in files]


@requirement("MAP-01")
def test_the_plain_answer_is_what_a_newcomer_needs(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("map_repo")
        found, text = result(envelope), str(envelope["text"])
        assert len(text) <= 6_000
        assert text.startswith("languages: python 6 ")
        assert "shop = shop.cli:main (pyproject.toml) in shop/cli.py:5\n" in text
        assert "shop/cli.py:5 function main" in text
        assert "tests: 1 file: tests/ 1" in text
        assert "  shop/ 5: report 1" in text
        assert "shop/cart.py\n" in text and "class ShoppingCart(BaseBasket)" in text
        # What most files use comes first, and tests do not crowd it out.
        assert mapped(found)[0] == "shop/money.py"
        assert not {"README.md", "pyproject.toml"} & set(mapped(found))
        assert "epoch 1" in text
        assert {"structure", "languages", "entry_points", "test_layout"} <= found.keys()
        structure = found["structure"]
        assert isinstance(structure, dict)
        assert structure["file_count"] == len(SHOP)
        assert "dependencies" not in found or found["dependencies"] is None

    with_plane(root, body)


@requirement("MAP-01")
def test_a_focus_brings_up_what_it_speaks_of_and_one_that_says_nothing_is_told(root: Path) -> None:
    async def body(ask: Ask) -> None:
        for focus in ("render_invoice", "the invoice is rendered twice", ["shop/report/pdf.py"], "shop/report/"):
            found = result(await ask("map_repo", focus=focus, include=["languages"]))
            assert mapped(found)[0] == "shop/report/pdf.py", focus
        about_tests = result(await ask("map_repo", focus="tests/test_cart.py", include=["languages"]))
        assert mapped(about_tests)[0] == "tests/test_cart.py"
        envelope = await ask("map_repo", focus="zzyzx")
        assert "nothing here is called" in str(envelope)
        assert mapped(result(envelope))[0] == "shop/money.py"

    with_plane(root, body)


@requirement("MAP-01")
def test_parts_on_request(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("map_repo", include=["dependencies", "public_api"])
        found = result(envelope)
        dependencies, public = found["dependencies"], found["public_api"]
        assert isinstance(dependencies, dict) and isinstance(public, list)
        assert dependencies["external_modules"] == ["requests"]
        assert dependencies["import_count"] == 7
        (given,) = public
        assert (given["name"], given["path"], given["certainty"]) == ("ShoppingCart", "shop/__init__.py", "CERTAIN")
        explained = result(await ask("explain_symbol", symbol=given["def_uid"]))["explanation"]
        assert isinstance(explained, dict) and explained["path"] == "shop/cart.py"
        assert "languages" not in str(envelope["text"])
        shallow = result(await ask("map_repo", include="structure", depth=1))["structure"]
        assert isinstance(shallow, dict) and isinstance(shallow["tree"], list)
        assert [one["name"] for one in shallow["tree"]] == ["shop", "tests", "web", "README.md", "pyproject.toml"]
        assert all(one.get("children") is None for one in shallow["tree"])

    with_plane(root, body)


@requirement("MAP-01")
def test_the_budget_holds_and_what_is_cut_is_said(tmp_path: Path) -> None:
    files = {f"pkg{n}/module_{n}.py": f"class Thing{n}Maker:\n    pass\n\nThing{n}Maker()\n" for n in range(60)}
    files["all.py"] = "".join(f"from pkg{n}.module_{n} import Thing{n}Maker\n" for n in range(60))
    root = make_repo(tmp_path / "many", files)

    async def body(ask: Ask) -> None:
        for budget in (500, 1_000, 3_000):
            text = str((await ask("map_repo", budget=budget))["text"])
            assert len(text) <= budget
            assert "of 61 code files shown" in text
        assert "1 more line does not fit; raise budget" in str((await ask("map_repo", budget=500))["text"])
        for wrong in ({"budget": 100}, {"budget": 1_000_000}, {"depth": 99}, {"include": ["secrets"]}):
            refused = (await ask("map_repo", **wrong))["error"]
            assert isinstance(refused, dict) and refused["error"] == "INVALID_ARGUMENT"

    with_plane(root, body)


def test_a_script_is_followed_to_what_it_does_first(tmp_path: Path) -> None:
    scripts = ["go = 'pkg.tool:Tool.run'", "far = 'elsewhere:main'", "two = 'pkg:twice'", "odd = 'pkg.tool: [x]'"]
    scripts += [f"more{number} = 'pkg.tool:Tool.run'" for number in range(5)]
    body_of = "".join(f"        step({number})\n" for number in range(9))
    files = {
        "pyproject.toml": "\n".join(["[project]", "name = 'pkg'", "[project.scripts]", *scripts]),
        "pkg/__init__.py": "if True:\n    def twice(): pass\nelse:\n    def twice(): pass\n",
        "pkg/tool.py": f'class Tool:\n    def run(self):\n        """Say\n        what."""\n\n{body_of}',
    }

    async def body(ask: Ask) -> None:
        envelope = await ask("map_repo", include=["entry_points"])
        first = "go = pkg.tool:Tool.run (pyproject.toml) in pkg/tool.py:2"
        steps = "\n".join(f"      step({number})" for number in range(3))
        assert f"  {first}\n{steps}\n  far = elsewhere:main (pyproject.toml)\n" in str(envelope["text"])
        found = result(envelope)["entry_points"]
        assert isinstance(found, list)
        assert [len(one["begins"]) for one in found] == [3, 0, 1, 0, 3, 0, 0, 0, 0]
        # A function that has changed is told of as it is now.
        # Replaced as editors do it: between truncating and writing it would be empty, and that could be indexed, too.
        (tmp_path / "tool.py").write_text("class Tool:\n    def run(self): return 7\n")
        (tmp_path / "tool.py").replace(tmp_path / "repo/pkg/tool.py")
        assert "      return 7\n" in str((await ask("map_repo", include=["entry_points"]))["text"])

    with_plane(make_repo(tmp_path / "repo", files), body)


@requirement("MAP-01")
def test_the_map_follows_the_files(root: Path) -> None:
    async def body(ask: Ask) -> None:
        assert "class RefundDesk" not in str((await ask("map_repo"))["text"])
        (root / "shop/refund.py").write_text("class RefundDesk:\n    pass\n")
        (root / "shop/cli.py").write_text("from shop.refund import RefundDesk\nRefundDesk()\n")
        (root / "shop/money.py").unlink()
        await ask("search", query="RefundDesk", fresh="strict")
        text = str((await ask("map_repo"))["text"])
        assert "class RefundDesk" in text
        assert "shop/money.py" not in text

    with_plane(root, body)


def test_dependencies_say_which_files_import_from_outside(root: Path) -> None:
    async def body(ask: Ask) -> None:
        envelope = await ask("map_repo", include=["dependencies"])
        found, text = result(envelope)["dependencies"], str(envelope["text"])
        assert isinstance(found, dict)
        assert found["external_modules"] == ["requests"]
        assert found["importing_files"] == 1
        assert "external modules: requests (imported by 1 of " in text and "imports of any kind" in text

    with_plane(root, body)


def test_a_family_of_languages_says_which_they_are(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.ts": "1\n", "b.ts": "2\n", "c.tsx": "3\n", "d.js": "4\n", "e.py": "5\n"})

    async def body(ask: Ask) -> None:
        text = str((await ask("map_repo", include=["languages"]))["text"])
        assert text.startswith("languages: javascript 4 (80 %: typescript 2, tsx 1, javascript 1), python 1 (20 %)")

    with_plane(root, body)


@requirement("REPO-13")
def test_a_cursor_pages_through_what_the_tree_left_out(tmp_path: Path) -> None:
    files = {f"src/part_{number:03}/file_{each}.py": "x = 1\n" for number in range(60) for each in range(3)}
    root = make_repo(tmp_path / "wide", {**files, **{f"top_{number:03}.txt": "x\n" for number in range(120)}})

    def listed(nodes: object) -> list[str]:
        assert isinstance(nodes, list)
        return [path for one in nodes for path in (one["path"], *listed(one.get("children") or []))]

    async def body(ask: Ask) -> None:
        envelope = await ask("map_repo", include="structure")
        first = result(envelope)
        assert first["structure"]["left_out"] > 0  # type: ignore[index, call-overload, operator]
        seen = listed(first["structure"]["tree"])  # type: ignore[index, call-overload]
        cursor = first["pagination"]["next_cursor"]  # type: ignore[index, call-overload]
        assert f"more: cursor={cursor}" in str(envelope["text"])
        # Files that come meanwhile are of another state.
        (root / "later.txt").write_text("x\n")
        pages = 0
        while cursor:
            page = await ask("map_repo", cursor=cursor, budget=2000)
            tree = result(page)["structure"]["tree"]  # type: ignore[index, call-overload]
            assert tree and len(str(page["text"])) < 2500
            seen += listed(tree)
            cursor = result(page)["pagination"].get("next_cursor")  # type: ignore[union-attr]
            pages += 1
        assert pages > 1 and len(seen) == len(set(seen))
        assert set(seen) == set(files) | {path.rpartition("/")[0] for path in files} | {"src"} | {
            f"top_{number:03}.txt" for number in range(120)
        }
        refused = await ask("map_repo", cursor="nonsense")
        assert "CURSOR" in str(refused["error"])
        assert "cursor=" not in str((await ask("map_repo"))["text"])

    with_plane(root, body)


@pytest.mark.parametrize(
    ("files", "outside"),
    [
        (
            {
                "go.mod": "module example.com/own\n\nrequire github.com/far/log/v2 v2.1.0\n",
                "a.go": 'package a\n\nimport "os"\nimport "example.com/own/b"\nimport "github.com/far/log/v2/x"\n',
                "b/b.go": 'package b\n\nimport "golang.org/x/net/html"\n',
                # Kept along: a dependency all the same, and what it needs is its own affair.
                "vendor/golang.org/x/net/html/h.go": 'package html\n\nimport "example.org/deep/thing"\n',
            },
            ["github.com/far/log/v2", "golang.org/x/net"],
        ),
        (
            {
                "Cargo.toml": '[package]\nname = "own"\n',
                "src/lib.rs": "mod a;\nuse std::collections::HashMap;\nuse serde::de::Error;\nuse crate::a::A;\n",
                "src/a.rs": "use core::fmt;\nuse own::a;\nuse Unit::*;\npub struct A;\nenum Unit { One }\n",
            },
            ["serde"],
        ),
        (
            {
                "Cargo.toml": '[package]\nname = "old"\n[dependencies]\ncsv = "1"\n',
                "src/main.rs": "extern crate csv;\nmod config;\nmod cmd;\n",
                "src/config.rs": "pub struct Config;\n",
                "src/cmd/mod.rs": "use config::Config;\nuse csv::Reader;\n",
            },
            ["csv"],
        ),
        (
            {
                "pom.xml": "<project/>\n",
                "src/main/java/own/box/Box.java": "package own.box;\nimport java.util.List;\nimport own.lid.A.Edge;\n"
                "import org.slf4j.Logger;\npublic class Box {}\n",
                "src/main/java/own/lid/A.java": "package own.lid;\nimport javax.inject.Inject;\npublic class A {}\n",
            },
            ["org.slf4j"],
        ),
        (
            {
                "Own.csproj": "<Project/>\n",
                "Box.cs": "using System.Linq;\nusing Own.Lids;\nusing Far.Json;\nnamespace Own.Boxes {}\n",
                "Lid.cs": "namespace Own.Lids { class Lid {} }\n",
            },
            ["Far.Json"],
        ),
        (
            {
                "package.json": '{"name": "own"}',
                "a.ts": "import f from 'fs';\nimport p from 'node:path';\nimport { z } from 'zod/v4';\nimport './b';\n",
                "b.ts": "import { promises } from 'fs/promises';\nimport x from '@far/x/deep';\n",
            },
            ["@far/x", "zod"],
        ),
    ],
    ids=["go", "rust", "rust of 2015", "java", "csharp", "javascript"],
)
def test_what_a_language_brings_along_is_no_dependency(
    files: dict[str, str], outside: list[str], tmp_path: Path
) -> None:
    async def body(ask: Ask) -> None:
        found = result(await ask("map_repo", include=["dependencies"]))["dependencies"]
        assert isinstance(found, dict) and found["external_modules"] == outside

    with_plane(make_repo(tmp_path / "own", files), body)
