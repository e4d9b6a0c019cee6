"""`symbol.references` through the door: streamed, under every name, and whole or flagged."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject
from codeplane.kernel.open_document import OpenDocument
from codeplane.kernel.workspace import Workspace
from codeplane.query.navigation.records import ReferenceBatch
from codeplane.wiring.app import Plane, load_workspace_config
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, running_here
from tests.query.navigation.written import PROGRAMS, Mark, marked


async def ask_all(plane: Plane, mark: Mark, **more: object) -> tuple[list[ReferenceBatch], Outcome]:
    arguments = {"path": mark.path, "line": mark.line, "column": mark.column, **more}
    batches: list[ReferenceBatch] = []
    async for item in plane.conveyor.stream("symbol.references", cast(JsonObject, arguments), AGENT):
        if isinstance(item, Outcome):
            return batches, item
        assert isinstance(item, ReferenceBatch)
        batches.append(item)
    raise AssertionError("a stream ends with its outcome")


def running(root: Path):  # type: ignore[no-untyped-def]  # a context manager of the plane
    workspace = Workspace(root=root.resolve())
    return running_here(workspace, loaded=load_workspace_config(workspace, (), {}).without_terminal())


def spots(batches: list[ReferenceBatch], *tiers: str) -> list[tuple[str, int, int]]:
    return [
        (place.path, place.line, place.column)
        for batch in batches
        for place in batch.places
        if not tiers or place.tier in tiers
    ]


@requirement("LSP-02")
@pytest.mark.parametrize("language", PROGRAMS)
async def test_a_use_gives_every_reference(tmp_path: Path, language: str) -> None:
    files, marks = marked(PROGRAMS[language])
    async with running(make_repo(tmp_path / "repo", files)) as plane:
        for use, names in {"adduse": ("add", "adduse"), "itemuse": ("item", "itemuse")}.items():
            batches, outcome = await ask_all(plane, marks[use])
            assert outcome.error is None and batches[-1].done and batches[-1].cut is None
            expected = {(marks[name].path, marks[name].line, marks[name].column) for name in names}
            assert set(spots(batches, "PROVEN", "STRONG")) == expected
            without, _ = await ask_all(plane, marks[use], declaration=False)
            assert len(spots(without)) == len(spots(batches)) - 1


@requirement("LSP-02")
async def test_uses_under_an_alias_are_found(tmp_path: Path) -> None:
    files, marks = marked(
        {
            "a.py": "def «run»run():\n    pass\n",
            "b.py": "from a import run as «alias»go\n\ngo()\n",
            "c.py": "from b import go\n\ngo()\n",
            "d.py": "def go():\n    pass\n\n\ngo()\n",
        }
    )
    async with running(make_repo(tmp_path / "repo", files)) as plane:
        batches, _ = await ask_all(plane, marks["run"])
        assert spots(batches, "PROVEN", "STRONG") == [
            ("a.py", 1, 5),
            ("b.py", 1, 15),
            ("b.py", 1, 22),
            ("b.py", 3, 1),
            ("c.py", 1, 15),
            ("c.py", 3, 1),
        ]
        assert not any(path == "d.py" for path, _, _ in spots(batches))
        from_alias, _ = await ask_all(plane, marks["alias"])
        assert spots(from_alias) == spots(batches)
        here, _ = await ask_all(plane, marks["alias"], only_file=True)
        assert {path for path, _, _ in spots(here)} == {"b.py"}


@requirement("LSP-02")
async def test_lists_of_exports_are_references(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": '__all__ = ["run", "other"]\n\nfrom shop.a import run\n',
        "shop/a.py": '__all__ = ["run"]\n\n\ndef run():\n    pass\n',
        "shop/b.py": '__all__ = ["run"]\n\n\ndef run():\n    pass\n',
    }
    async with running(make_repo(tmp_path / "repo", files)) as plane:
        batches, _ = await ask_all(plane, Mark(path="shop/a.py", line=4, column=5))
        assert sorted(spots(batches)) == [
            ("shop/__init__.py", 1, 13),
            ("shop/__init__.py", 3, 20),
            ("shop/a.py", 1, 13),
            ("shop/a.py", 4, 5),
        ]


@requirement("LSP-02")
async def test_more_than_five_hundred_come_in_batches(tmp_path: Path) -> None:
    calls = "".join(f"    run({number})\n" for number in range(3000))
    files = {"a.py": f"def run(number):\n    return number\n\n\ndef main():\n{calls}"}
    async with running(make_repo(tmp_path / "repo", files)) as plane:
        batches, _ = await ask_all(plane, Mark(path="a.py", line=1, column=5))
        assert len(spots(batches)) == 3001 == batches[-1].total
        assert len(batches) > 1 and [batch.done for batch in batches].count(True) == 1


@requirement("LSP-02")
async def test_what_has_no_references_says_why(tmp_path: Path) -> None:
    async with running(make_repo(tmp_path / "repo", {"a.py": "def run(x):\n    return x.name\n"})) as plane:
        for line, column, why in [(2, 1, "no name"), (2, 14, "not known"), (50, 1, "no such line")]:
            (batch,), _ = await ask_all(plane, Mark(path="a.py", line=line, column=column))
            assert batch.done and batch.places == () and why in str(batch.cut)
        _, outcome = await ask_all(plane, Mark(path="gone.py", line=1, column=1))
        assert outcome.error is not None and outcome.error.name == "NOT_FOUND"


@requirement("LSP-02")
async def test_links_in_documentation_are_references(tmp_path: Path) -> None:
    files, marks = marked(
        {
            "a.ts": "/** Ends what {@link «here»run} begins; run is a word here. */\nexport function «run»run() {}\n",
            "b.ts": "import { run } from './a';\n/** {@link «there»run}, {@linkcode run} */\nexport const go = run;\n",
            "c.ts": "/** Another {@link run}. */\nexport function run() {}\n",
        }
    )
    async with running(make_repo(tmp_path / "repo", files)) as plane:
        batches, _ = await ask_all(plane, marks["run"])
        assert sorted(spots(batches, "PROVEN", "STRONG")) == [
            ("a.ts", 1, 22),
            ("a.ts", 2, 17),
            ("b.ts", 1, 10),
            ("b.ts", 2, 12),
            ("b.ts", 2, 29),
            ("b.ts", 3, 19),
        ]
        for name in ("here", "there"):
            again, _ = await ask_all(plane, marks[name])
            assert sorted(spots(again)) == sorted(spots(batches))


@requirement("LSP-02")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.ts", "import { «import»rm as drop } from 'shelljs';\n\ndrop(1);\n«use»drop(2);\n"),
        ("a.py", "from shutil import «import»rmtree as drop\n\ndrop(1)\n«use»drop(2)\n"),
    ],
)
async def test_what_comes_from_outside_has_its_uses_in_the_file_and_says_so(
    tmp_path: Path, name: str, text: str
) -> None:
    files, marks = marked({name: text, f"other_{name}": text.replace("«import»", "").replace("«use»", "")})
    async with running(make_repo(tmp_path / "repo", files)) as plane:
        for mark in marks.values():
            batches, _ = await ask_all(plane, mark)
            assert {path for path, _, _ in spots(batches)} == {name}
            assert {line for _, line, _ in spots(batches)} == {1, 3, 4}
            assert "uses in other files are not listed" in str(batches[-1].cut)


@requirement("LSP-03")
async def test_open_documents_stand_in_place_of_their_files(tmp_path: Path) -> None:
    files = {"a.py": "def run():\n    pass\n", "b.py": "from a import run\n\nrun()\n"}
    async with running(make_repo(tmp_path / "repo", files)) as plane:
        changed = {"path": "b.py", "text": "# 😀\nfrom a import run\n\nrun()\nrun()\n"}
        new = {"path": "new.py", "text": "from a import run as begin\n\nbegin()\n"}
        batches, _ = await ask_all(
            plane, Mark(path="b.py", line=4, column=1), documents=[changed, new], columns="utf-16"
        )
        assert spots(batches) == [
            ("a.py", 1, 5),
            ("b.py", 2, 15),
            ("b.py", 4, 1),
            ("b.py", 5, 1),
            ("new.py", 1, 15),
            ("new.py", 1, 22),
            ("new.py", 3, 1),
        ]
        assert set(batches[-1].open_documents) == {"b.py", "new.py"}
        on_disk, _ = await ask_all(plane, Mark(path="a.py", line=1, column=5))
        assert spots(on_disk) == [("a.py", 1, 5), ("b.py", 1, 15), ("b.py", 3, 1)]
        assert on_disk[-1].open_documents == ()


@requirement("LSP-03")
async def test_open_documents_are_bounded_and_inside(tmp_path: Path) -> None:
    async with running(make_repo(tmp_path / "repo", {"a.py": "x = 1\n"})) as plane:
        place = {"path": "a.py", "line": 1, "column": 1}
        large = "#" * 4_000_000
        for documents, name in [
            ([{"path": "a.py", "text": "#" * 4_300_000}], "INVALID_ARGUMENT"),
            ([{"path": f"{n}.py", "text": large} for n in range(5)], "TOO_LARGE"),
        ]:
            refused = await plane.conveyor.call("symbol.at", {**place, "documents": documents}, AGENT)
            assert refused.error is not None and refused.error.name == name
        for outside in ("../a.py", ".git/config"):
            documents = [{"path": outside, "text": "x = 1\n"}]
            beside = await plane.conveyor.call("symbol.at", {**place, "documents": documents}, AGENT)
            assert beside.error is None
            refused = await plane.conveyor.call("symbol.at", {**place, "path": outside, "documents": documents}, AGENT)
            assert refused.error is not None and refused.error.name == "PATH_DENIED"


@requirement("LSP-03")
async def test_a_document_with_a_very_long_line_is_text(tmp_path: Path) -> None:
    async with running(make_repo(tmp_path / "repo", {"a.py": "x = 1\n"})) as plane:
        document = OpenDocument(path="a.py", text="x = '" + "a" * 2_000_000 + "'\n")
        found = await plane.conveyor.call(
            "symbol.at", {"path": "a.py", "line": 1, "column": 1, "documents": [document.model_dump()]}, AGENT
        )
        assert found.error is not None and found.error.name == "NOT_FOUND" and "parsed" in found.error.message


@requirement("LSP-03")
@pytest.mark.parametrize("deep", ["(" * 100_000, ")" * 20_000 + "([{a " * 40_000])
async def test_an_open_document_of_brackets_is_text_and_holds_nothing_up(tmp_path: Path, deep: str) -> None:
    async with running(make_repo(tmp_path / "repo", {"a.py": "x = 1\n"})) as plane:
        documents = [OpenDocument(path="b.py", text=deep).model_dump()]
        place = {"path": "a.py", "line": 1, "column": 1, "documents": documents}
        assert (await plane.conveyor.call("symbol.at", place, AGENT)).error is None
        found = await plane.conveyor.call("syntax.folds", {"path": "b.py", "documents": documents}, AGENT)
        assert found.error is not None and found.error.name == "NOT_FOUND" and "parsed" in found.error.message


@requirement("LSP-03")
async def test_an_open_document_with_many_brackets_that_end_is_parsed(tmp_path: Path) -> None:
    async with running(make_repo(tmp_path / "repo", {"a.py": "x = 1\n"})) as plane:
        documents = [OpenDocument(path="b.py", text="def f():\n    return [()]\n" * 12_000).model_dump()]
        found = await plane.conveyor.call("syntax.folds", {"path": "b.py", "documents": documents}, AGENT)
        assert found.error is None
