"""Plans about names that are said in files which could not be parsed: nothing is applied before somebody looked."""

from pathlib import Path

import pytest

from codeplane.code.facts.extract import MAX_PARSED
from codeplane.code.resolve.references import references
from codeplane.code.resolve.world import SharedModules, World
from codeplane.kernel.errors import IndexNotReady
from codeplane.query.search.symbols import targets
from codeplane.refactor.draft import Draft, Edit
from codeplane.refactor.unparsed_uses import unparsed_uses
from tests.code.resolve.written import written
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import SHOP, made

pytestmark = requirement("REF-40")

HUGE = "shop/tables.py"
TEXT = "from shop.prices import price\n\nTABLE = [\n" + "    0,\n" * (MAX_PARSED // 7 + 1) + "]\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("refactor.rename", {"symbol": "price", "new_name": "cost"}),
        ("refactor.move", {"from_path": "shop/prices.py", "to_path": "shop/costs.py"}),
        ("refactor.move", {"symbol": "shop/prices.py:price", "to_path": "shop/costs.py"}),
    ],
)
async def test_what_is_said_in_a_file_that_is_not_parsed_is_looked_at_first(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    root = made(tmp_path, {**SHOP, HUGE: TEXT})
    async with asking(root) as ask:
        answer = await ask(tool, **arguments, apply=True)
        found = result(answer)
        assert found["status"] != "applied" and (root / "shop/prices.py").exists()
        assert "look at unparsed_use first" in str(answer)
        assert f"{HUGE} could not be parsed" in str(found)


async def test_a_file_that_is_not_parsed_and_says_nothing_of_it_is_no_matter(tmp_path: Path) -> None:
    root = made(tmp_path, {**SHOP, HUGE: TEXT.replace("price", "other")})
    async with asking(root) as ask:
        found = result(await ask("refactor.move", from_path="shop/prices.py", to_path="shop/costs.py", apply=True))
        assert found["status"] == "applied"


GRAMMAR = {
    "jv.h": "int jv_copy(int a);\nint jv_other(int a);\n",
    "jv.c": (
        '#include "jv.h"\n\nint jv_copy(int a) { int value = a; return value; }\nint jv_other(int a) { return a; }\n'
    ),
    "parser.y": '%{\n#include "jv.h"\n%}\n%%\nterm: NUMBER { int value; $$ = jv_copy($1); }\n%%\n',
}


async def test_grammars_of_yacc_are_looked_at_before_names_of_c_change(tmp_path: Path) -> None:
    root = made(tmp_path, GRAMMAR)
    async with asking(root) as ask:
        answer = await ask("refactor.rename", symbol="jv.c:3:5", new_name="jv_dup", apply=True)
        assert result(answer)["status"] != "applied"
        assert "parser.y could not be parsed, and says jv_copy" in str(answer)
        for symbol, new_name in (("jv.c:4:5", "jv_more"), ("jv.c:3:26", "held")):
            done = result(await ask("refactor.rename", symbol=symbol, new_name=new_name, apply=True))
            assert done["status"] == "applied"


# Of two heads of a function one counts; with both, all that follows is a part of the class to the grammar.
POSIX = """#include "env.h"

namespace own {

class Limit {
 public:
#if defined(NDEBUG)
  bool acquire(int a) {
#else
  bool acquire(int a, int most) {
#endif
    return a > 0;
  }
};

class Posix : public Env {
 public:
  int open(int a) override { return a; }
};

}
"""
# A branch that is too long to be looked at for what it leaves open.
UNREADABLE = POSIX.replace("  bool acquire(int a) {", f"  // {'limits ' * 700}\n  bool acquire(int a) {{")
HIDDEN = {
    "env.h": (
        "namespace own {\nclass Env {\n public:\n  virtual int open(int a) = 0;\n  virtual int size(int a);\n};\n}\n"
    ),
    "posix.cc": UNREADABLE,
    "use.cc": '#include "env.h"\nint use(own::Env* env) { return env->open(1) + env->size(2); }\n',
}


async def test_what_is_said_where_the_preprocessor_hides_the_syntax_is_looked_at_first(tmp_path: Path) -> None:
    root = made(tmp_path, HIDDEN)
    async with asking(root) as ask:
        answer = await ask("refactor.rename", symbol="env.h:4:15", new_name="open_file", apply=True)
        assert result(answer)["status"] != "applied" and "open_file" not in (root / "env.h").read_text()
        assert "a part of posix.cc could not be parsed, and says open" in str(answer)
        # What such a file does not say is renamed at once.
        assert (
            result(await ask("refactor.rename", symbol="env.h:5:15", new_name="length", apply=True))["status"]
            == "applied"
        )


async def test_a_declaration_with_branches_of_the_preprocessor_in_it_is_read(tmp_path: Path) -> None:
    root = made(tmp_path, HIDDEN | {"posix.cc": POSIX})
    async with asking(root) as ask:
        answer = await ask("refactor.rename", symbol="env.h:4:15", new_name="open_file", apply=True)
        assert result(answer)["status"] == "applied"
        assert "int open_file(int a) override" in (root / "posix.cc").read_text()
        assert "env->open_file(1)" in (root / "use.cc").read_text()


PASTED = {
    "op.c": (
        "enum { OP_ADD, OP_SUB };\n"
        "#define LABEL(op) L_##op:\n"
        "#define CASE(op) LABEL(op)\n"
        "#define COMMAND(name) { #name, cmd_##name }\n"
        "int cmd_list(void) { return OP_SUB; }\n"
        "int run(void) { goto L_OP_ADD; CASE(OP_ADD) return 0; }\n"
        "struct { char *name; int (*f)(void); } commands[] = { COMMAND(list) };\n"
    )
}


@pytest.mark.parametrize("symbol", ["op.c:1:8", "op.c:5:5"])
async def test_names_that_macros_paste_are_looked_at_first(symbol: str, tmp_path: Path) -> None:
    async with asking(made(tmp_path, PASTED)) as ask:
        answer = await ask("refactor.rename", symbol=symbol, new_name="FRESH", apply=True)
        assert result(answer)["status"] != "applied"
        assert "with something else (##)" in str(answer)


async def test_a_name_beside_pasted_ones_is_renamed(tmp_path: Path) -> None:
    async with asking(made(tmp_path, PASTED)) as ask:
        done = result(await ask("refactor.rename", symbol="op.c:1:16", new_name="OP_LESS", apply=True))
        assert done["status"] == "applied"


async def test_a_variable_of_a_function_is_renamed_whatever_other_files_could_not_be_parsed(tmp_path: Path) -> None:
    huge = "package shop\n\nvar table = []int{\n" + "\t0, // price\n" * (MAX_PARSED // 12 + 1) + "}\n"
    files = {
        "go.mod": "module example.com/shop\n",
        "shop.go": "package shop\n\nfunc total(count int) int {\n\tprice := count\n\treturn price\n}\n",
        "table.go": huge,
    }
    async with asking(made(tmp_path, files)) as ask:
        done = result(await ask("refactor.rename", symbol="shop.go:4:2", new_name="cost", apply=True))
        assert done["status"] == "applied"


CHANGE = Edit(path="a.py", start=4, end=9, new="cost", tier="PROVEN", role="DEFINITION", why="")


def test_a_file_whose_new_text_is_not_parsed_yet_is_looked_at_first(tmp_path: Path) -> None:
    with written(
        tmp_path / "repo", {"a.py": "def price():\n    return 1\n", "b.py": "x = 1\n", "c.md": "price\n"}
    ) as repo:
        draft = Draft(title="", word="price", edits=(CHANGE,))
        assert list(unparsed_uses(repo.world(), repo.store, draft)) == []
        (tmp_path / "repo/b.py").write_text("from a import price\n")
        world = World(repo.indexer.refresh(["b.py"]), repo.store, SharedModules())
        (danger,) = unparsed_uses(world, repo.store, draft)
        assert (danger.path, danger.offset) == ("b.py", 14)


def test_a_file_that_has_an_earlier_text_again_is_waited_for(tmp_path: Path) -> None:
    use = "from a import price\n"
    with written(tmp_path / "repo", {"a.py": "def price():\n    return 1\n", "b.py": use}) as repo:
        draft = Draft(title="", word="price", edits=(CHANGE,))
        assert repo.world().facts("b.py") is not None
        (tmp_path / "repo/b.py").write_text("x = 1\n")
        assert repo.follower.update(repo.indexer.refresh(["b.py"]), newer=lambda: False)
        (tmp_path / "repo/b.py").write_text(use)
        world = World(repo.indexer.refresh(["b.py"]), repo.store, SharedModules())
        with pytest.raises(IndexNotReady, match=r"b\.py changed"):
            list(unparsed_uses(world, repo.store, draft))
        assert repo.follower.update(world.snapshot, newer=lambda: False)
        fresh = World(world.snapshot, repo.store, SharedModules())
        assert list(unparsed_uses(fresh, repo.store, draft)) == []


def test_a_place_in_a_file_that_is_not_parsed_yet_is_to_be_asked_for_again(tmp_path: Path) -> None:
    with written(tmp_path / "repo", {"a.py": "def price():\n    return 1\n"}) as repo:
        (tmp_path / "repo/a.py").write_text("def price():\n    return 2\n")
        world = World(repo.indexer.refresh(["a.py"]), repo.store, SharedModules())
        with pytest.raises(IndexNotReady, match="not parsed yet"):
            targets(world, repo.store, "a.py:1:5")


def test_a_type_whose_file_is_read_during_a_plan_is_waited_for(tmp_path: Path) -> None:
    files = {
        "A.java": "class A {\n    int size() { return 1; }\n}\n",
        "B.java": "class B {\n    int of(A a) { return a.size(); }\n}\n",
    }
    with written(tmp_path / "repo", files) as repo:
        (target,) = targets(repo.world(), repo.store, "A.java:2:9")
        (tmp_path / "repo/A.java").write_text(f"// More.\n{files['A.java']}")
        world = World(repo.indexer.refresh(["A.java"]), repo.store, SharedModules())
        found = list(references(world, repo.store, [target.bound]))
        assert [one.path for one in found] == []
        assert repo.follower.update(world.snapshot, newer=lambda: False)
        change = Edit(path="B.java", start=4, end=9, new="count", tier="STRONG", role="REFERENCE", why="")
        with pytest.raises(IndexNotReady, match=r"A\.java changed"):
            list(unparsed_uses(world, repo.store, Draft(title="", word="size", edits=(change,))))


@pytest.mark.parametrize(
    ("extends", "said"),
    [
        ("./base.json", True),
        ("./kept", False),
        ("@others/tsconfig", False),
    ],
)
async def test_a_tsconfig_that_extends_what_is_not_here_is_said(tmp_path: Path, extends: str, said: bool) -> None:
    files = {
        "web/tsconfig.json": f'{{"extends": "{extends}"}}\n',
        "web/kept.json": "{}\n",
        "web/price.ts": "export const price = 1;\n",
        "web/use.ts": "import { price } from './price';\nconsole.log(price);\n",
        "other/a.ts": "export const amount = 1;\n",
    }
    what = f"web/tsconfig.json extends {extends}, which is not here"
    async with asking(made(tmp_path, files)) as ask:
        plan = await ask("refactor.rename", symbol="web/price.ts:price", new_name="cost")
        found = await ask("search", query="web/price.ts:price", mode="references")
        assert (what in str(result(plan))) is said and (what in str(result(found))) is said
        other = await ask("refactor.rename", symbol="other/a.ts:amount", new_name="sum")
        assert what not in str(result(other))
