"""`semantic_diff` through the door: states, files of all kinds, who is reached, pages, and what is refused."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from codeplane.adapters.git_cli import clean_environment
from codeplane.git.read.reader import GitReader
from codeplane.kernel.errors import NotGit
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.query.compare.states import states
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.query.asking import Ask, result, with_plane

FILES = {
    "README.md": "# Shop\n",
    "shop/__init__.py": "",
    "shop/money.py": (
        "class Money:\n    def __init__(self, cents):\n        self.cents = cents\n\n\n"
        "def parse(text):\n    return Money(int(text))\n"
    ),
    "shop/cart.py": "from shop.money import Money, parse\n\n\ndef total(items):\n    return parse(items[0])\n",
    "tests/test_money.py": "from shop.money import parse\n\n\ndef test_parse():\n    assert parse('1').cents == 1\n",
    "web/app.ts": "export function draw(title: string): string {\n  return title;\n}\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new))


def found(envelope: JsonObject) -> list[Any]:
    changes = result(envelope)["structural_changes"]
    assert isinstance(changes, list)
    return changes


def named(envelope: JsonObject) -> dict[str, tuple[str, str]]:
    return {
        one["qualified_name"] or one["path"]: (one["change"], one["structural_severity"]) for one in found(envelope)
    }


def other_files(envelope: JsonObject) -> list[Any]:
    files = result(envelope)["non_structural_changes"]
    assert isinstance(files, list)
    return files


def pagination(envelope: JsonObject) -> JsonObject:
    held = result(envelope)["pagination"]
    assert isinstance(held, dict)
    return held


def ask_with(root: Path, body: Callable[[Ask], Awaitable[None]]) -> None:
    with_plane(root, body, "index.watch=false")


@requirement("CMP-01")
def test_the_working_tree_against_the_last_commit(root: Path) -> None:
    async def body(ask: Ask) -> None:
        nothing = await ask("semantic_diff")
        assert result(nothing)["summary"] == "no changes" and not found(nothing)
        edit(root, "shop/money.py", "def parse(text):", "def parse(text, base):")
        edit(root, "web/app.ts", "title: string)", "title: string, size?: number)")
        edit(root, "README.md", "# Shop", "# The shop")
        edit(root, "shop/cart.py", "\n\n\ndef total", "\n\n\n# all of it\ndef total")
        (root / "shop/tax.py").write_text("def tax():\n    return 1\n")
        answer = await ask("semantic_diff")
        assert named(answer) == {
            "parse": ("signature_changed", "breaking"),
            "draw": ("signature_changed", "non_breaking"),
            "tax": ("added", "non_breaking"),
        }
        parse = found(answer)[0]
        assert parse["why"] == ["base has to be given"] and parse["delta_tags"] == ["parameters_changed"]
        assert (parse["old_signature"], parse["new_signature"]) == ("def parse(text)", "def parse(text, base)")
        assert (parse["start_line"], parse["start_col"], parse["end_line"]) == (6, 5, 7)
        impact = parse["impact"]
        assert impact["reference_basis"] == "ref_facts_resolved" and impact["confidence"] == "high"
        assert impact["ref_tiers"] == {"proven": 0, "strong": 4, "anchored": 0, "unknown": 0}
        assert impact["importing_files"] == ["shop/cart.py", "tests/test_money.py"]
        assert impact["affected_test_files"] == ["tests/test_money.py"] and impact["visibility"] == "public"
        outcome = result(await ask("search", query=parse["entity_id"], mode="definitions"))
        assert outcome["total"] == 1
        others = {one["path"]: (one["category"], one["note"]) for one in other_files(answer)}
        assert others == {
            "README.md": ("docs", None),
            "shop/cart.py": ("prod", "comments, documentation or layout"),
        }
        text = str(answer["text"])
        assert "! shop/money.py:6 signature function parse: base has to be given (4 refs in 2 files)" in text
        assert text.index("! shop/money.py") < text.index("~ web/app.ts") < text.index("+ shop/tax.py")
        # What each line says already is not said again below them.
        assert "update callers" not in text and "re-run tests/test_money.py" in text and "\n1 breaking change\n" in text
        hint = str(result(answer)["agentic_hint"])
        assert hint.splitlines()[0] == "1. update callers of parse (4 strong)"
        assert "re-run tests/test_money.py" in hint
        narrowed = await ask("semantic_diff", paths=["web"])
        assert list(named(narrowed)) == ["draw"]

    ask_with(root, body)


@requirement("CMP-01")
def test_a_page_begins_with_what_others_see_and_ends_with_tests(root: Path) -> None:
    for number in range(3):
        name = root / f"tests/unit/deep/test_part_{number}.py"
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text("def test_one(): ...\n\n\ndef test_two(): ...\n")
    (root / "core.rs").write_text("pub fn open() {}\n\nmod tests {\n    fn one() {}\n    fn two() {}\n}\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "more")
    for number in range(3):
        edit(root, f"tests/unit/deep/test_part_{number}.py", "test_one", "test_other")
    edit(root, "shop/money.py", "self.cents = cents", "self.cents = int(cents)")
    edit(root, "core.rs", "one() {}", "one() {\n        open()\n    }")
    edit(root, "core.rs", "two() {}", "two() {\n        open()\n    }")
    (root / "shop/tax.py").write_text("def tax(): ...\n")

    async def body(ask: Ask) -> None:
        answer = await ask("semantic_diff")
        paths = [str(one["path"]) for one in found(answer)]
        assert paths[0] == "shop/tax.py" and all(path.startswith("tests/") for path in paths[-3:])
        text = str(answer["text"])
        assert "in tests: core.rs 2, tests/unit/deep/test_part_0.py 1" in text and ". core.rs" not in text
        narrowed = str((await ask("semantic_diff", paths=["tests", "shop"]))["text"])
        assert "in tests below tests/unit/deep/: test_part_0.py 1, test_part_1.py 1, test_part_2.py 1" in narrowed

    ask_with(root, body)


@requirement("CMP-01")
def test_what_nobody_outside_sees_and_what_came_share_lines(root: Path) -> None:
    (root / "walk.go").write_text(
        "package walk\n\nvar limit = 1\n\ntype Walker struct {\n\tdepth int\n}\n\nfunc (w *Walker) step() {}\n"
    )
    (root / "opts.py").write_text("import m\n\n\n" + "".join(f"@m.a\ndef f{at}(): ...\n\n\n" for at in range(14)))
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "more")
    (root / "walk.go").write_text(
        'package walk\n\nvar most = "a"\n\ntype Walker struct {\n\tdepth int64\n}\n\nfunc (w *Walker) step(n int) {}'
        "\n\nfunc (w *Walker) Walk() {}\n\nfunc (w *Walker) Stop() {}\n\nfunc Open() {}\n\nfunc Close() {}\n"
    )
    edit(root, "shop/money.py", "def parse(text):", "def parse(text, base):")
    (root / "opts.py").write_text((root / "opts.py").read_text().replace("@m.a", "@m.b"))

    async def body(ask: Ask) -> None:
        lines = str((await ask("semantic_diff"))["text"]).splitlines()
        assert lines[2].startswith("! shop/money.py:6 signature function parse: base has to be given")
        assert "+ walk.go added function Open:15, Close:17" in lines
        assert "  + added method Walk:11, Stop:13" in lines
        assert "  . not public ~depth:6, ~step:9" in lines
        assert ". walk.go not public -limit:3, +most:3" in lines
        first = ", ".join(f"f{at}:{5 + 4 * at}" for at in range(12))
        assert f". opts.py decorators {first} and 2 more" in lines

    ask_with(root, body)


@requirement("CMP-01")
def test_bodies_share_a_line_and_tests_are_counted(root: Path) -> None:
    edit(root, "shop/money.py", "self.cents = cents", "self.cents = int(cents)")
    edit(root, "shop/money.py", "Money(int(text))", "Money(text)")
    edit(root, "shop/cart.py", "parse(items[0])", "parse(items[-1])")
    edit(root, "tests/test_money.py", "cents == 1", "cents == 1 and True")

    async def body(ask: Ask) -> None:
        lines = str((await ask("semantic_diff"))["text"]).splitlines()
        assert ". shop/money.py body Money.__init__:2, parse:6" in lines and ". shop/cart.py body total:4" in lines
        assert "in tests: tests/test_money.py 1" in lines
        # Alone they are what was asked for.
        alone = str((await ask("semantic_diff", paths=["tests"]))["text"])
        assert ". tests/test_money.py body test_parse:4" in alone and "in tests" not in alone

    ask_with(root, body)


@requirement("CMP-01")
@pytest.mark.parametrize(
    ("path", "old", "new", "named"),
    [
        ("shop/money.py", "def parse(text):", "def parse(text, base=10):", "parse (4 strong)"),
        ("shop/money.py", "def parse(text):", "def parse(text, *, base=10):", "parse (4 strong)"),
        ("shop/money.py", "def parse(text):", "def parse(text='0'):", "parse (4 strong)"),
        ("web/app.ts", "title: string)", "title: string, size?: number)", "draw (2 strong)"),
        ("web/app.ts", "title: string)", "title: string, size = 1)", "draw (2 strong)"),
    ],
)
def test_optional_parameters_leave_calls_valid(root: Path, path: str, old: str, new: str, named: str) -> None:
    (root / "web/page.ts").write_text('import { draw } from "./app";\n\nexport const page = draw("a");\n')

    async def body(ask: Ask) -> None:
        edit(root, path, old, new)
        hint = str(result(await ask("semantic_diff"))["agentic_hint"])
        assert f"existing calls of {named} stay valid: new parameters may be left out" in hint
        assert "update callers" not in hint

    ask_with(root, body)


@requirement("CMP-01")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def _read(text):", "def _read(text, base):"),
        ("def _read(text):", "def _read(text, base: int):"),
        ("def _all(*texts):", "def _all(base=10, *texts):"),
    ],
)
def test_callers_of_private_functions_are_updated_too(root: Path, old: str, new: str) -> None:
    private = (
        "\n\ndef _read(text):\n    return text\n\n\ndef _all(*texts):\n    return _read(texts)\n\n\nnow = _all(1)\n"
    )
    (root / "shop/money.py").write_text(FILES["shop/money.py"] + private)
    git(root, "commit", "--quiet", "--all", "--message", "private")

    async def body(ask: Ask) -> None:
        edit(root, "shop/money.py", old, new)
        hint = str(result(await ask("semantic_diff"))["agentic_hint"])
        assert hint.startswith(f"1. update callers of {old[4:].partition('(')[0]} ("), hint
        assert "stay valid" not in hint

    ask_with(root, body)


@requirement("CMP-01")
def test_commits_branches_and_where_they_parted(root: Path) -> None:
    git(root, "checkout", "--quiet", "-b", "topic")
    edit(root, "shop/money.py", "def parse(", "def read(")
    git(root, "mv", "web/app.ts", "web/App.ts")
    git(root, "commit", "--quiet", "--all", "--message", "topic")
    git(root, "checkout", "--quiet", "main")
    edit(root, "shop/cart.py", "def total(items)", "def total(items, tax)")
    git(root, "commit", "--quiet", "--all", "--message", "main")
    git(root, "tag", "v1")

    async def body(ask: Ask) -> None:
        topic = await ask("semantic_diff", base="main...topic")
        assert named(topic) == {"read": ("renamed", "breaking"), "web/App.ts": ("renamed", "breaking")}
        renamed = next(one for one in found(topic) if one["qualified_name"] == "read")
        assert renamed["old_name"] == "parse" and renamed["impact"]["reference_basis"] == "ref_facts_partial"
        module = next(one for one in found(topic) if one["kind"] == "module")
        assert module["old_path"] == "web/app.ts"
        both = await ask("semantic_diff", base="topic", target="v1")
        assert set(named(both)) == {"parse", "total", "web/app.ts"}
        assert named(await ask("semantic_diff", base="v1~1..v1")) == {"total": ("signature_changed", "breaking")}

    ask_with(root, body)


@requirement("CMP-01")
def test_epochs_and_those_that_are_not_kept(root: Path) -> None:
    async def body(ask: Ask) -> None:
        first = int(str(result(await ask("search", query="parse"))["epoch"]))
        edit(root, "shop/money.py", "def parse(text)", "def parse(text, base)")
        await ask("search", query="parse", mode="definitions")
        edit(root, "shop/cart.py", "def total(items)", "def sums(items)")
        last = int(str(result(await ask("search", query="parse", mode="definitions"))["epoch"]))
        assert last > first
        answer = await ask("semantic_diff", base=f"epoch:{first}")
        assert named(answer) == {"parse": ("signature_changed", "breaking"), "sums": ("renamed", "breaking")}
        assert "epochs keep names and signatures" in str(answer["text"])
        part = await ask("semantic_diff", base=f"epoch:{first}", target=f"epoch:{last - 1}", paths=["shop/*.py"])
        assert list(named(part)) == ["parse"]
        for asked, output in (
            ({"base": "epoch:9999"}, f"kept: epoch:{first} to epoch:{last}"),
            ({"base": "epoch:x"}, "epoch:12"),
            ({"base": f"epoch:{first}", "target": "HEAD"}, "base=epoch:N"),
            ({"base": "HEAD", "target": f"epoch:{last}"}, "base=epoch:N"),
            ({"base": f"epoch:{first}", "paths": ["nowhere"]}, "list_dir"),
        ):
            error = (await ask("semantic_diff", **asked))["error"]
            assert isinstance(error, dict) and output in str(error["hint"])

    ask_with(root, body)


def test_members_of_a_type_are_part_of_it_between_epochs_too(root: Path) -> None:
    (root / "types.ts").write_text("export type Options = { limit: number };\nexport function go() {}\n")

    async def body(ask: Ask) -> None:
        first = int(str(result(await ask("search", query="limit", mode="definitions"))["epoch"]))
        edit(root, "types.ts", "go()", "run()")
        await ask("search", query="run", mode="definitions")
        assert list(named(await ask("semantic_diff", base=f"epoch:{first}"))) == ["run"]

    ask_with(root, body)


@requirement("CMP-01")
def test_pages_are_of_one_comparison_whatever_happens_meanwhile(root: Path) -> None:
    (root / "many.py").write_text("".join(f"def f{number}():\n    return {number}\n" for number in range(7)))

    async def body(ask: Ask) -> None:
        page = await ask("semantic_diff", limit=3)
        assert pagination(page)["total_estimate"] == 7
        (root / "many.py").write_text("def other():\n    return 1\n")
        names = list(named(page))
        while cursor := pagination(page).get("next_cursor"):
            page = await ask("semantic_diff", limit=3, cursor=cursor)
            names += named(page)
            assert result(page)["summary"] == "7 added"
        assert names == [f"f{number}" for number in range(7)]
        error = (await ask("semantic_diff", cursor="nonsense"))["error"]
        assert isinstance(error, dict) and error["error"] == "CURSOR_INVALID"

    ask_with(root, body)


@requirement("CMP-01")
def test_files_of_all_kinds(root: Path) -> None:
    (root / "shop/broken.py").write_text("def f(a): return a\n\n\ndef g(): return 1\n")
    (root / "blob.py").write_bytes(b"x = 1\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "more")
    inner = make_repo(root / "lib", {"a.py": "def inner(): ...\n"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"./{inner.name}", "lib")
    (root / "shop/broken.py").write_text("def f(a, b): return a\n\n\ndef g(: return 1\n")
    (root / "blob.py").write_bytes(b"x = 1\0\n")
    (root / "link.py").symlink_to("shop/cart.py")
    (root / ".env").write_text("SECRET=1\n")
    git(root, "add", "--force", ".env")
    (root / "data.json").write_text('{"a": 1}\n')
    (root / "run").write_text("#!/usr/bin/env python3\ndef main():\n    return 1\n")
    (root / "web/app.ts").rename(root / "web/page.ts")

    async def body(ask: Ask) -> None:
        answer = await ask("semantic_diff")
        assert named(answer)["f"] == ("signature_changed", "breaking")
        assert named(answer)["main"] == ("added", "non_breaking")
        module = next(one for one in found(answer) if one["kind"] == "module")
        assert (module["old_path"], module["path"]) == ("web/app.ts", "web/page.ts")
        assert "shop/broken.py:4 (after)" in str(answer["text"])
        others = {one["path"]: str(one["note"]) for one in other_files(answer)}
        assert others["blob.py"] == "binary" and others["link.py"] == "a link"
        assert others["lib"].startswith("submodule none →") and "secrets" in others[".env"]
        assert others["data.json"] == "None"
        assert "SECRET" not in str(answer)

    ask_with(root, body)


@requirement("CMP-01")
def test_a_member_that_an_unchanged_file_gives_is_still_there(tmp_path: Path) -> None:
    base = "class Base:\n    def save(self):\n        return 1\n"
    item = (
        "from base import Base\n\n\nclass Item(Base):\n    def save(self):\n        return 2\n\n    def drop(self):\n"
    )
    root = make_repo(tmp_path / "repo", {"base.py": base, "item.py": f"{item}        return 3\n"})
    (root / "item.py").write_text("from base import Base\n\n\nclass Item(Base):\n    pass\n")

    async def body(ask: Ask) -> None:
        (change,) = found(await ask("semantic_diff"))
        reported = {one["name"]: one["structural_severity"] for one in change["nested_changes"]}
        assert reported == {"drop": "breaking", "save": "non_breaking"}

    ask_with(root, body)


def test_what_is_refused(root: Path, tmp_path: Path) -> None:
    async def body(ask: Ask) -> None:
        refused: dict[str, list[tuple[str, JsonValue]]] = {
            "REF_NOT_FOUND": [
                *(
                    ("base", name)
                    for name in ("nope", "--output=x", "", " ", "a\nb", "^HEAD", "HEAD^!", "HEAD:shop", "@{")
                ),
                *(("target", name) for name in ("nope", "HEAD..HEAD")),
            ],
            "INVALID_ARGUMENT": [
                *(("base", name) for name in ("..", "...", "../x", "./shop", "/etc/passwd", "~", "a/..")),
                *(("base", name) for name in ("shop", "shop/money.py", "HEAD..HEAD..HEAD")),
                *(("target", name) for name in ("..", "shop", "../x")),
                ("limit", 0),
                ("format", "html"),
            ],
            "NOT_FOUND": [("paths", ["nowhere.py"])],
            "PATH_DENIED": [("paths", ["../outside"])],
        }
        for expected, asked in refused.items():
            for name, value in asked:
                error = (await ask("semantic_diff", **{name: value}))["error"]
                assert isinstance(error, dict) and error["error"] == expected, (name, value)
        assert result(await ask("semantic_diff", paths=["shop"]))["summary"] == "no changes"

    ask_with(root, body)
    git(tmp_path, "clone", "--quiet", "--bare", str(root), "bare.git")
    reading = GitReader(root=tmp_path / "bare.git", environment=clean_environment)
    with pytest.raises(NotGit, match="bare"):
        asyncio.run(states(reading, "HEAD", None))


def test_before_the_first_commit_all_is_new(tmp_path: Path) -> None:
    root = tmp_path / "empty"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / "a.py").write_text("def f():\n    return 1\n")
    (root / "b.py").write_text("def g():\n    return 1\n")
    git(root, "add", "b.py")

    async def body(ask: Ask) -> None:
        answer = await ask("semantic_diff")
        assert named(answer) == {"f": ("added", "non_breaking"), "g": ("added", "non_breaking")}
        assert str(answer["text"]).startswith("nothing: no commits yet → working tree")
        error = (await ask("semantic_diff", target="HEAD"))["error"]
        assert isinstance(error, dict) and error["error"] == "REF_NOT_FOUND"

    ask_with(root, body)


def test_as_a_comment_on_a_pull_request(root: Path) -> None:
    edit(root, "shop/money.py", "def parse(text):", "def parse(text, base):")
    (root / "shop/a_b*c.py").write_text("def f__x(a='```'):\n    return 1\n")

    async def body(ask: Ask) -> None:
        answer = await ask("semantic_diff", format="markdown")
        text = str(result(answer)["markdown"])
        assert text == answer["text"]
        assert (
            "### Breaking\n\n- **signature changed function** `parse` in `shop/money.py`: base has to be given" in text
        )
        assert "- def parse(text)\n  + def parse(text, base)" in text
        assert "<details><summary>Other changes (1)</summary>" in text and text.count("<details>") == text.count(
            "</details>"
        )
        assert "`shop/a_b*c.py`" in text

    ask_with(root, body)


@requirement("CMP-11")
def test_functions_of_a_script_that_is_run_break_nobody(tmp_path: Path) -> None:
    files = {"ci/build.sh": "#!/bin/sh\npack() { true; }\npack\n", "lib/tools.sh": "pack() { true; }\n"}
    root = make_repo(tmp_path / "repo", files)
    (root / "ci/build.sh").unlink()
    edit(root, "lib/tools.sh", "pack()", "unpack()")

    async def body(ask: Ask) -> None:
        envelope = await ask("semantic_diff")
        broken = {one["path"] for one in found(envelope) if one["structural_severity"] == "breaking"}
        assert broken == {"lib/tools.sh"}

    ask_with(root, body)
