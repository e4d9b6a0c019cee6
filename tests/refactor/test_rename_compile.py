"""The bench that renames, compiles and undoes: what it draws, what it follows, and that it notices a broken build."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
from bench.compiler_truth import truth_rows
from bench.compilers import Project, compiling
from bench.delete_compile import add_unused, deleted
from bench.rename_compile import Renames, rows, suggestions
from bench.scratch import asking, commit_all, scratch_copy
from bench.symbol_sample import Symbol, all_symbols, drawn

from tests.interaction.requirements import requirement

C = {
    "area.h": "int area(int side);\n",
    "area.c": '#include "area.h"\n\nstatic int twice(int side)\n{\n    return 2 * side;\n}\n\n'
    "int area(int side)\n{\n    return twice(side) * side;\n}\n",
    "use.c": '#include "area.h"\n\nint use(void)\n{\n    return area(2);\n}\n',
}
TWICE = Symbol(kind="function", name="twice", path="area.c", line=3, column=12)
USER = "class User {\n    private int age;\n\n    int next() {\n        return age + 1;\n    }\n}\n"
BOX = (
    "void put(int);\n"
    "struct Box { Box(); ~Box(); int put(int one); int put(char one); };\n"
    "int use() { Box box; put(1); return box.put('a'); }\n"
)
needs_clangd = pytest.mark.skipif(shutil.which("clangd") is None, reason="needs clangd")
SHAPE = """use std::fmt;

pub trait Area {
    fn area(&self) -> u32;
}

pub struct Square(u32);

impl Area for Square {
    fn area(&self) -> u32 {
        self.0 * self.0
    }
}

impl fmt::Display for Square {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}", self.area())
    }
}
"""
needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
needs_javac = pytest.mark.skipif(shutil.which("javac") is None, reason="needs javac")
pytestmark = [requirement("REF-40"), pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "shapes"
    folder.mkdir()
    for path, text in C.items():
        (folder / path).write_text(text)
    return folder


def project(root: Path) -> Project:
    return Project.at(root, {"language": "c", "units": ["*.c"], "flags": "-I."})


async def test_a_rename_is_compiled_and_undone(checkout: Path) -> None:
    with scratch_copy(checkout) as root, compiling(project(root)) as compiler:
        async with asking(root) as ask:
            verdict = await Renames(ask, compiler, root, follow=True).judge(TWICE)
        assert (verdict.outcome, verdict.error, verdict.undo) == ("green", "", "")
        assert {path: (root / path).read_text() for path in C} == C
    assert rows([verdict])[0][:8] == ["function", "1", "0", "1", "0", "0", "0", "1.00"]


@needs_cargo
async def test_what_a_foreign_trait_prescribes_is_counted_apart(tmp_path: Path) -> None:
    folder = tmp_path / "shapes"
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text('[package]\nname = "shapes"\nversion = "0.1.0"\nedition = "2021"\n')
    (folder / "src/lib.rs").write_text(SHAPE)
    fmt = Symbol(kind="method", name="fmt", path="src/lib.rs", line=16, column=8)
    area = Symbol(kind="method", name="area", path="src/lib.rs", line=10, column=8)
    with scratch_copy(folder) as root, compiling(Project.at(root, {"language": "rust"})) as compiler:
        async with asking(root) as ask:
            renames = Renames(ask, compiler, root, follow=False)
            verdicts = [await renames.judge(fmt), await renames.judge(area)]
        assert (root / "src/lib.rs").read_text() == SHAPE
    assert [verdict.outcome for verdict in verdicts] == ["fixed", "green"]
    assert "belongs to the trait Display" in verdicts[0].reason
    assert rows(verdicts)[0][:8] == ["method", "2", "1", "1", "0", "0", "0", "1.00"]


async def test_the_calls_that_an_answer_suggests_can_be_made(checkout: Path) -> None:
    (checkout / "other.c").write_text("int other(int (*twice)(int))\n{\n    return unknown()->twice(1);\n}\n")
    symbol = Symbol(kind="field", name="twice", path="shape.h", line=3, column=9)
    (checkout / "shape.h").write_text("struct shape {\n    int wide;\n    int twice;\n};\n")
    (checkout / "third.c").write_text('#include "shape.h"\n\nint third(struct shape *s)\n{\n    return s->twice;\n}\n')
    with scratch_copy(checkout) as root:
        async with asking(root) as ask:
            envelope = await ask("refactor.rename", symbol=symbol.place, new_name="doubled", apply=True)
            calls = list(suggestions(envelope))
            assert calls
            for arguments, _ in calls:
                again = await ask("refactor.rename", symbol=symbol.place, new_name="doubled", apply=True)
                identity = again["result"]
                assert isinstance(identity, dict)
                made = await ask("refactor.rename", **{**arguments, "refactor_id": identity["refactor_id"]})
                assert "error" not in made, made
                await ask("undo")


def test_a_definition_renamed_without_its_prototype_is_noticed(checkout: Path) -> None:
    with compiling(project(checkout)) as compiler:
        assert compiler.check(["area.c"]) == ""
        (checkout / "area.c").write_text(C["area.c"].replace("int area", "int size"))
        assert "area" in compiler.check(["area.c"])
        assert compiler.check(["use.c"]) == ""


def test_kinds_are_drawn_in_equal_shares_by_a_seed(checkout: Path) -> None:
    symbols = all_symbols(checkout, lambda path: path.endswith(".c"))
    assert TWICE in symbols
    some = drawn(symbols, 4, 7)
    assert some == drawn(symbols, 4, 7)
    assert Counter(symbol.kind for symbol in some) == {"function": 2, "local": 2}


async def test_what_is_in_use_stays_and_an_unused_copy_goes(checkout: Path) -> None:
    with scratch_copy(checkout) as root, compiling(project(root)) as compiler:
        (unused,) = add_unused(root, "c", compiler, 5, 1)
        commit_all(root, "with an unused function")
        assert (unused.name, unused.path, unused.line, unused.column) == ("twiceUnused", "area.c", 8, 12)
        async with asking(root) as ask:
            assert (await deleted(ask, compiler, root, TWICE))[0] == "refused"
            assert (await deleted(ask, compiler, root, unused)) == ("unused", "")
            assert "twiceUnused" in (root / "area.c").read_text()


@needs_javac
def test_a_compiler_says_what_refers_to_a_declaration(tmp_path: Path) -> None:
    (tmp_path / "User.java").write_text(USER)
    age = Symbol(kind="field", name="age", path="User.java", line=2, column=17)
    with compiling(Project.at(tmp_path, {"language": "java", "sources": ["."]})) as compiler:
        ((_, found),) = truth_rows(compiler, [age], tmp_path)
        (tmp_path / "User.java").write_text(USER.replace("private int age", "private int years"))
        assert "cannot find symbol" in compiler.check(["User.java"])
    assert found is not None
    assert found["certain"] == [("User.java", 1, 16), ("User.java", 4, 15)]


@needs_clangd
def test_overloads_and_constructors_are_one_family_for_clangd(tmp_path: Path) -> None:
    (tmp_path / "box.cc").write_text(BOX)
    put = Symbol(kind="method", name="put", path="box.cc", line=2, column=33)
    box = Symbol(kind="type", name="Box", path="box.cc", line=2, column=8)
    with compiling(Project.at(tmp_path, {"language": "cpp", "units": ["box.cc"]})) as compiler:
        found = [row["certain"] for _, row in truth_rows(compiler, [put, box], tmp_path) if row is not None]
    assert found == [
        [("box.cc", 1, 32), ("box.cc", 1, 50), ("box.cc", 2, 40)],
        [("box.cc", 1, 7), ("box.cc", 1, 13), ("box.cc", 1, 21), ("box.cc", 2, 12)],
    ]
