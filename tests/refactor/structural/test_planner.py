"""Replace by pattern: every match and nothing else, and what would change its meaning is only proposed."""

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeplane.kernel.errors import CodePlaneError, InvalidArgument
from codeplane.query.search.scope import Keep
from codeplane.refactor.draft import Draft
from codeplane.refactor.structural.pattern import parse_pattern
from codeplane.refactor.structural.planner import plan_replace
from codeplane.refactor.structural.rewrite import Rewrite
from tests.code.resolve.written import written
from tests.interaction.requirements import requirement
from tests.refactor import repository


def plan(
    root: Path,
    files: Mapping[str, str],
    pattern: str,
    rewrite: str,
    language: str = "python",
    *,
    keep: Keep | None = None,
    seconds: float = 30.0,
    stopped: bool = False,
) -> Draft:
    with written(root, files) as repo:
        return plan_replace(
            repo.world(),
            pattern,
            rewrite,
            language,
            keep=keep,
            deadline=time.monotonic() + seconds,
            stop=lambda: stopped,
        )


def applied(files: Mapping[str, str], draft: Draft) -> dict[str, str]:
    """The files with what is proven applied."""
    return repository.applied(files, draft, tiers=("PROVEN",))


@requirement("REF-21")
def test_every_match_is_an_edit_whatever_its_spacing(tmp_path: Path) -> None:
    files = {
        "a.py": "x = 'ü😀'; foo(1, 2)\nfoo( a,\n     b)\n# foo(1, 2)\ns = 'foo(1, 2)'\nfoo(1)\nself.foo(1, 2)\n",
        "b.py": "def f():\n    return bar(foo(x, y(1)))\n",
        "c.js": "foo(1, 2)\n",
        "d.py": "bar(1, 2)\n",
    }
    draft = plan(tmp_path / "a", files, "foo($A, $B)", "bar($B, $A)")
    assert applied(files, draft) == {
        **files,
        "a.py": "x = 'ü😀'; bar(2, 1)\nbar(b, a)\n# foo(1, 2)\ns = 'foo(1, 2)'\nfoo(1)\nself.foo(1, 2)\n",
        "b.py": "def f():\n    return bar(bar(y(1), x))\n",
    }
    assert {(edit.tier, edit.role, edit.semantic) for edit in draft.edits} == {("PROVEN", "REFERENCE", True)}
    # A file without the pattern's words is not even parsed.
    assert draft.coverage.files_scanned == 2 and draft.dangers == () and draft.coverage.truncated == ""


@requirement("REF-21")
def test_lists_are_taken_over_with_what_is_between_them(tmp_path: Path) -> None:
    files = {"a.py": "log(1,  2, # two\n    3)\nlog()\nlog(x)\n"}
    draft = plan(tmp_path / "a", files, "log($$$ARGS)", "logger.info($$$ARGS)")
    assert applied(files, draft)["a.py"] == "logger.info(1,  2, # two\n    3)\nlogger.info()\nlogger.info(x)\n"


LAID_OUT = [
    ("foo(\n        a,\n        b=1,\n    )", "foo($$$R)", "bar($$$R)", "bar(\n        a,\n        b=1,\n    )"),
    ("foo(x,\n        a,\n        b)", "foo($A, $$$R)", "bar($A, $$$R)", "bar(x,\n        a,\n        b)"),
    ("foo(x,\n        a,\n    )", "foo($A, $$$R)", "bar($$$R)", "bar(\n        a,\n    )"),
    ("foo(x, a, b)", "foo($A, $$$R)", "bar($$$R)", "bar(a, b)"),
    ("foo(\n        a,\n    )", "foo($$$R)", "bar(x, $$$R)", "bar(x,\n        a,\n    )"),
    ("foo(  # why\n        a,  # one\n    )", "foo($$$R)", "bar($$$R)", "bar(  # why\n        a,  # one\n    )"),
    ("foo( a, b )", "foo($$$R)", "bar($$$R)", "bar( a, b )"),
    ("foo(a, b,)", "foo($$$R)", "bar($$$R, c)", "bar(a, b, c)"),
    ("foo()", "foo($$$R)", "bar(x, $$$R)", "bar(x)"),
    ("foo()", "foo($$$R)", "bar($$$R, x)", "bar(x)"),
    ("foo(\n        a,\n    )", "foo($$$R)", "bar(\n    $$$R\n)", "bar(\n        a,\n    )"),
]


@pytest.mark.parametrize(("code", "pattern", "rewrite", "expected"), LAID_OUT)
def test_a_list_keeps_its_layout(tmp_path: Path, code: str, pattern: str, rewrite: str, expected: str) -> None:
    files = {"a.py": f"def f():\n    {code}\n"}
    assert applied(files, plan(tmp_path / "a", files, pattern, rewrite))["a.py"] == f"def f():\n    {expected}\n"


def test_a_block_keeps_its_layout_where_it_comes_to_stand(tmp_path: Path) -> None:
    files = {"a.js": "  if (a) {\n    b();\n\n    // c\n    d();\n  }\n"}
    draft = plan(tmp_path / "a", files, "if ($A) { $$$B }", "try {\n  if (!$A) { $$$B }\n} finally {}", "javascript")
    inner = "    if (!a) {\n      b();\n\n      // c\n      d();\n    }\n"
    assert applied(files, draft)["a.js"] == f"  try {{\n{inner}  }} finally {{}}\n"


def test_what_typescript_has_and_its_grammar_has_not_is_no_error(tmp_path: Path) -> None:
    varied = "export interface Box<in out T, out U = unknown> {\n  a: T\n  (b: U): void\n}\n"
    files = {"a.ts": f"{varied}const s = new Set<string>();\n", "b.ts": "const s = new Set<string>( ;\n"}
    draft = plan(tmp_path / "a", files, "new Set<$T>()", "makeSet<$T>()", "typescript")
    assert draft.coverage.unparsed == ("b.ts",)
    assert applied(files, draft)["a.ts"] == f"{varied}const s = makeSet<string>();\n"


@requirement("REF-21")
def test_the_same_name_is_the_same_text(tmp_path: Path) -> None:
    files = {"a.py": "a = a\na = b\n"}
    draft = plan(tmp_path / "a", files, "$A = $A", "pass")
    assert applied(files, draft)["a.py"] == "pass\na = b\n"


@requirement("REF-21")
def test_lines_that_are_taken_over_are_indented_anew(tmp_path: Path) -> None:
    head = "def f():\n    if ok:\n"
    body = "    one()\n            if a:\n                two()\n            s = '''\n  kept\n'''\n"
    files = {"a.py": f"{head}        with lock:\n        {body}"}
    draft = plan(tmp_path / "a", files, "with lock:\n    $$$BODY", "if free:\n    with lock, log:\n        $$$BODY")
    new = "    one()\n                if a:\n                    two()\n                s = '''\n  kept\n'''\n"
    assert applied(files, draft)["a.py"] == f"{head}        if free:\n            with lock, log:\n            {new}"


@requirement("REF-21")
def test_line_ends_stay_what_they_are(tmp_path: Path) -> None:
    root, files = tmp_path / "a", {"a.py": "if a:\r\n    foo(1)\r\n"}
    with written(root, {"x.txt": ""}) as repo:
        (root / "a.py").write_bytes(b"\xef\xbb\xbf" + files["a.py"].encode())
        repo.indexer.reconcile()
        world = type(repo.world())(repo.indexer.snapshot, repo.store, repo.world()._shared)  # type: ignore[arg-type]
        draft = plan_replace(world, "foo($A)", "one($A)\ntwo()", "python", keep=None, deadline=time.monotonic() + 30)
    (edit,) = draft.edits
    assert (edit.start, edit.end, edit.new) == (3 + 7 + 4, 3 + 7 + 4 + 6, "one(1)\r\n    two()")


@requirement("REF-21")
def test_of_nested_matches_the_outermost_is_replaced_and_the_rest_said(tmp_path: Path) -> None:
    files = {"a.py": "foo(foo(foo(1)))\nfoo(2)\n"}
    draft = plan(tmp_path / "a", files, "foo($A)", "bar($A)")
    assert applied(files, draft)["a.py"] == "bar(foo(foo(1)))\nbar(2)\n"
    (danger,) = draft.dangers
    assert (danger.kind, danger.count) == ("nested_match", 2)


TAKEN_APART = [
    ("double(x + y)", "double($A)", "$A * 2", False),
    ("double(x)", "double($A)", "$A * 2", True),
    ("double(x + y)", "double($A)", "($A) * 2", True),
    ("add(x) * 2", "add($A)", "$A + 1", False),
    ("f(add(x), 2)", "add($A)", "$A + 1", True),
    ("same(x) == z", "same($A)", "$A == 1", False),
    ("not ok(x)", "ok($A)", "$A or y", False),
    ("call(x)", "call($A)", "call($A", False),
    ("call(x)", "call($A)", "one($A)\ntwo($A)", True),
    ("y = call(x)", "call($A)", "one($A)\ntwo($A)", False),
    ("g(pair(x))", "pair($A)", "$A, $A", True),
    ("if a:\n    call(x)", "call($A)", "", False),
    ("if a:\n    call(x)\n    b()", "call($A)", "", True),
]


def test_what_would_be_taken_apart_is_only_proposed(tmp_path: Path) -> None:
    files = {f"{number}.py": f"{before}\n" for number, (before, _, _, _) in enumerate(TAKEN_APART)}
    with written(tmp_path / "a", files) as repo:
        for number, (_, pattern, rewrite, sure) in enumerate(TAKEN_APART):
            draft = plan_replace(
                repo.world(),
                pattern,
                rewrite,
                "python",
                keep=f"{number}.py".__eq__,
                deadline=time.monotonic() + 30,
            )
            (edit,) = draft.edits
            assert (edit.tier == "PROVEN") is sure, (TAKEN_APART[number], edit)
            assert [danger.kind for danger in draft.dangers] == ([] if sure else ["changed_meaning"])


def test_what_does_not_parse_aborts_nothing(tmp_path: Path) -> None:
    files = {"bad.py": "def (:\n    foo(1)\n", "good.py": "foo(1)\n", "late.py": "foo(1)\n\ndef f(:\n"}
    draft = plan(tmp_path / "a", files, "foo($A)", "bar($A)")
    assert {(edit.path, edit.tier) for edit in draft.edits if edit.path == "good.py"} == {("good.py", "PROVEN")}
    assert "bad.py" in draft.coverage.unparsed and "good.py" not in draft.coverage.unparsed


def test_what_is_built_is_only_proposed_and_what_is_the_same_is_no_edit(tmp_path: Path) -> None:
    files = {"dist/a.py": "foo(1)\n", "a.py": "foo(1)\nfoo(2)\n"}
    draft = plan(tmp_path / "a", files, "foo($A)", "foo(2)")
    assert [(edit.path, edit.tier) for edit in draft.edits] == [("a.py", "PROVEN"), ("dist/a.py", "ANCHORED")]


def test_bounds_are_said(tmp_path: Path) -> None:
    files = {"a.py": "foo(1)\n", "b/c.py": "foo(1)\n"}
    assert "out of time at a.py" in plan(tmp_path / "a", files, "foo($A)", "", seconds=-1).coverage.truncated
    assert "stopped at a.py" in plan(tmp_path / "b", files, "foo($A)", "", stopped=True).coverage.truncated
    kept = plan(tmp_path / "c", files, "foo($A)", "bar()", keep=lambda path: path.startswith("b/"))
    assert [edit.path for edit in kept.edits] == ["b/c.py"]


def test_components_belong_to_typescript(tmp_path: Path) -> None:
    files = {
        "a.ts": "const a: X = use<T>(1);\nconst b = <T>use(2);\n",
        "b.tsx": "const a = <p>{use(1)}</p>;\n",
        "c.js": "use(3);\n",
    }
    both = plan(tmp_path / "a", files, "use($A)", "run($A)", "ts")
    assert applied(files, both)["b.tsx"] == "const a = <p>{run(1)}</p>;\n"
    assert sorted(edit.path for edit in both.edits) == ["a.ts", "b.tsx"]
    alone = plan(tmp_path / "b", files, "<$T>use($A)", "run($A)", "typescript")
    assert [edit.path for edit in alone.edits] == ["a.ts"]
    assert [danger.kind for danger in alone.dangers] == ["grammar"]


LANGUAGES = [
    ("bash", "a.sh", "echo hi there\n", "echo $A there", 1),
    ("c", "a.c", "int f() { foo(1); return foo(2); }\n", "foo($A)", 2),
    ("c", "a.c", "int f() { if (x) { y(); z(); } }\n", "if ($A) { $$$B }", 1),
    ("c++", "a.cc", "int f() { g(std::move(x)); }\n", "std::move($A)", 1),
    ("c#", "a.cs", "class A { void F() { Foo(1); } }\n", "Foo($A)", 1),
    ("elixir", "a.ex", "foo(1)\n", "foo($A)", 1),
    ("go", "a.go", "package x\nfunc f() { fmt.Println(1) }\n", "fmt.Println($A)", 1),
    ("go", "a.go", "package x\nfunc f(a int) { g() }\n", "func $F($$$P) { $$$B }", 1),
    ("haskell", "a.hs", "x = foo 1\n", "foo $A", 1),
    ("java", "a.java", "class A { void f() { System.out.println(1); } }\n", "System.out.println($A)", 1),
    ("java", "a.java", "class A { public void f() { x(); y(); } }\n", "public void $F() { $$$B }", 1),
    ("js", "a.jsx", "const a = <Foo b={1} />;\n", "<Foo $$$P />", 1),
    ("kotlin", "a.kt", "fun f() { foo(1) }\n", "foo($A)", 1),
    ("lua", "a.lua", "foo(1)\n", "foo($A)", 1),
    ("php", "a.php", "<?php foo(1); foo($x);\n", "foo($A)", 2),
    ("python", "a.py", "@app.route('/')\ndef f(): ...\n", "@app.route($R)", 1),
    ("ruby", "a.rb", "foo(1)\n", "foo($A)", 1),
    ("rust", "a.rs", "fn f() { a.unwrap(); }\n", "$A.unwrap()", 1),
    ("scala", "a.scala", "object A { def f = foo(1) }\n", "foo($A)", 1),
    ("swift", "a.swift", "func f() { foo(1) }\n", "foo($A)", 1),
]


def test_every_language_finds_what_stands_in_it(tmp_path: Path) -> None:
    files = {f"{index}/{path}": text for index, (_, path, text, _, _) in enumerate(LANGUAGES)}
    with written(tmp_path / "a", files) as repo:
        for index, (language, path, _, pattern, count) in enumerate(LANGUAGES):
            draft = plan_replace(
                repo.world(),
                pattern,
                "zzz",
                language,
                keep=f"{index}/{path}".__eq__,
                deadline=time.monotonic() + 30,
            )
            assert len(draft.edits) == count, (language, pattern)


@pytest.mark.parametrize(
    ("pattern", "rewrite", "language", "output"),
    [
        ("foo(", "x", "python", "does not parse as python"),
        ("if $X:", "x", "python", "does not parse as python"),
        ("a = 1; b = 2", "x", "python", "no pattern of python"),
        ("$a", "x", "python", "does not parse as python"),
        ("print($A) # why", "x", "python", "no pattern of python"),
        ("", "x", "python", "empty"),
        ("  ", "x", "python", "empty"),
        ("$A", "x", "python", "matches everything"),
        ("$$$A", "x", "python", "matches everything"),
        ("$_", "x", "python", "matches everything"),
        ("foo($A)", "$B", "python", "which the pattern does not capture"),
        ("foo($_A)", "$_A", "python", "which the pattern does not capture"),
        ("foo($$$A)", "f($A)", "python", "write $$$A"),
        ("foo($A)", "f($$$A)", "python", "write $A"),
        ("foo($A)", "f($$$)", "python", "which the pattern does not capture"),
        ("foo($A)", "x", "cobol", "no language 'cobol'"),
        ("foo($A)", "x", "sql", "no patterns for sql"),
        ("foo" * 2000, "x", "python", "too long"),
    ],
)
def test_what_cannot_be_meant_is_refused(pattern: str, rewrite: str, language: str, output: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Rewrite(rewrite, parse_pattern(pattern, language))
    error: CodePlaneError = caught.value
    assert output in error.message and error.hint and "µ" not in error.message
