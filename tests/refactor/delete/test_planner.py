"""Deleting what nobody uses, and refusing what somebody does."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import CodePlaneError, NotFound, NotRefactorable, StillUsed
from codeplane.refactor.delete.planner import plan_delete
from tests.interaction.requirements import requirement
from tests.refactor.repository import repository

FILES = {
    "pkg/__init__.py": "from .core import gone, kept\n\n__all__ = ['gone', 'kept']\n",
    "pkg/core.py": (
        "import functools\n"
        "\n"
        "\n"
        "# About it.\n"
        "@functools.cache\n"
        "def gone(n):\n"
        "    return gone(n - 1)\n"
        "\n"
        "\n"
        "def kept():\n"
        "    return 1\n"
        "\n"
        "\n"
        "class Only:\n"
        "    def method(self):\n"
        "        return 2\n"
    ),
    "use.py": "from pkg.core import (\n    gone,  # unused\n    kept,\n)\nkept()\n",
    "typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg.core import gone\n",
}


@requirement("REF-14")
def test_a_function_nobody_calls_goes_with_its_imports(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as repo:
        assert repo.after(repo.plan(plan_delete, repo.target("gone"), force=False)) == {
            "pkg/__init__.py": "from .core import kept\n\n__all__ = ['kept']\n",
            "pkg/core.py": FILES["pkg/core.py"].replace(
                "# About it.\n@functools.cache\ndef gone(n):\n    return gone(n - 1)\n\n\n", ""
            ),
            "use.py": "from pkg.core import (\n    kept,\n)\nkept()\n",
            "typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\n",
        }


@requirement("REF-14")
def test_the_only_method_leaves_pass(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as repo:
        after = repo.after(repo.plan(plan_delete, repo.target("Only.method"), force=False))
        assert after["pkg/core.py"].endswith("class Only:\n    pass\n")


@requirement("REF-14")
def test_what_is_used_is_refused_with_the_places(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as repo:
        with pytest.raises(StillUsed) as refused:
            repo.plan(plan_delete, repo.target("kept"), force=False)
        details = refused.value.details
        assert details["total"] == 1
        assert details["places"] == [{"path": "use.py", "line": 5, "column": 1, "tier": "STRONG", "role": "REFERENCE"}]
        forced = repo.plan(plan_delete, repo.target("kept"), force=True)
        assert "def kept" not in repo.after(forced)["pkg/core.py"]
        assert "use.py" not in repo.after(forced)
        assert [(danger.kind, danger.path) for danger in forced.dangers] == [
            ("dangling_reference", "use.py"),
            ("public_api", "pkg/core.py"),
        ]


@requirement("REF-14")
def test_an_alias_counts_as_a_use(tmp_path: Path) -> None:
    files = {"a.py": "def f(): ...\n", "b.py": "from a import f as g\ng()\n", "c.py": "from a import f as g\n"}
    with repository(tmp_path, files) as repo, pytest.raises(StillUsed) as refused:
        repo.plan(plan_delete, repo.target("f"), force=False)
    assert refused.value.details["total"] == 1


@requirement("REF-14")
def test_a_list_of_places_is_cut_and_its_length_said(tmp_path: Path) -> None:
    files = {"a.py": "def f(): ...\n", "b.py": "from a import f\n" + "f()\n" * 70}
    with repository(tmp_path, files) as repo, pytest.raises(StillUsed) as refused:
        repo.plan(plan_delete, repo.target("f"), force=False)
    places = refused.value.details["places"]
    assert isinstance(places, list)
    assert (refused.value.details["total"], len(places)) == (70, 50)


@requirement("REF-14")
def test_files_and_folders(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as repo:
        assert repo.plan(plan_delete, "use.py", force=False).removes == ("use.py",)
        with pytest.raises(StillUsed) as refused:
            repo.plan(plan_delete, "pkg/core.py", force=False)
        assert refused.value.details["total"] == 3
        forced = repo.plan(plan_delete, "pkg", force=True)
        assert forced.removes == ("pkg/__init__.py", "pkg/core.py")
        assert {danger.path for danger in forced.dangers} == {"use.py", "typed.py"}
        with pytest.raises(NotFound):
            repo.plan(plan_delete, "nothing", force=True)


def test_script_symbols_go_with_imports_and_exports(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "/** It. */\nexport function gone() {}\n\n"
            "export const kept = 1;\nfunction also() {}\nexport { also, kept as k };\n"
        ),
        "b.ts": "import { gone, kept } from './a';\nkept;\n",
        "c.ts": "export { gone } from './a';\n",
        "d.ts": "class C {\n  // Said.\n  m() {}\n}\n",
    }
    with repository(tmp_path, files) as repo:
        assert repo.after(repo.plan(plan_delete, repo.target("a.ts:2:17"), force=False)) == {
            "a.ts": files["a.ts"].removeprefix("/** It. */\nexport function gone() {}\n\n"),
            "b.ts": "import { kept } from './a';\nkept;\n",
            "c.ts": "",
        }
        assert repo.after(repo.plan(plan_delete, repo.target("a.ts:5:10"), force=False)) == {
            "a.ts": files["a.ts"].replace("function also() {}\n", "").replace("also, ", "")
        }
        assert repo.after(repo.plan(plan_delete, repo.target("C.m"), force=False)) == {"d.ts": "class C {\n}\n"}
        with pytest.raises(StillUsed):
            repo.plan(plan_delete, "a.ts", force=False)


@pytest.mark.parametrize(
    ("query", "error"),
    [("a.py:1:1", NotRefactorable), ("a.py:2:7", NotRefactorable), ("a.py:4:5", NotRefactorable)],
)
def test_what_is_part_of_more_is_refused(tmp_path: Path, query: str, error: type[CodePlaneError]) -> None:
    files = {"a.py": "x, y = 1, 2\ndef f(arg):\n    return arg\nfor each in []:\n    print(each)\n"}
    with repository(tmp_path, files) as repo, pytest.raises(error):
        repo.plan(plan_delete, repo.target(query), force=True)


def test_a_value_that_calls_and_a_name_reached_at_run_time_are_named(tmp_path: Path) -> None:
    files = {"a.py": "made = make()\n", "b.py": "import a\ngetattr(a, 'made')\n"}
    with repository(tmp_path, files) as repo:
        with pytest.raises(StillUsed, match=r"b\.py:2"):
            repo.plan(plan_delete, repo.target("made"), force=False)
        draft = repo.plan(plan_delete, repo.target("made"), force=True)
        assert [danger.kind for danger in draft.dangers] == [
            "unresolved_use",
            "public_api",
            "side_effect",
            "dynamic_access",
        ]


BROKEN_C = """#define EACH(a, b) for (a = b; a; a = a->next)
static int unused(int a) { return a + 1; }
static int looks(struct n *a, struct n *b) {
    EACH(a, b) { return 1; }
    other(;
    return hidden(a);
}
static int hidden(int a) { return a; }
int main(void) { return looks(0, 0); }
)
static int beside(void) { return 2; }
"""


@requirement("REF-14")
def test_a_function_of_c_goes_though_its_file_has_what_the_grammar_cannot_read(tmp_path: Path) -> None:
    with repository(tmp_path, {"a.c": BROKEN_C}) as repo:
        after = repo.after(repo.plan(plan_delete, repo.target("unused"), force=False))
        assert after["a.c"] == BROKEN_C.replace("static int unused(int a) { return a + 1; }\n", "")
        with pytest.raises(StillUsed, match="hidden"):
            repo.plan(plan_delete, repo.target("hidden"), force=False)
        for name in ("looks", "beside"):
            with pytest.raises((NotRefactorable, StillUsed)):
                repo.plan(plan_delete, repo.target(name), force=False)


EXPORTED = """class LIB_EXPORT Status {
 public:
  static Status ok() { return Status(); }
  static Status spare() { return Status(); }
};
Status used() { return Status::ok(); }
"""


@requirement("REF-14")
def test_a_member_of_a_class_behind_a_macro_goes(tmp_path: Path) -> None:
    with repository(tmp_path, {"a.cc": EXPORTED}) as repo:
        after = repo.after(repo.plan(plan_delete, repo.target("Status.spare"), force=False))
        assert after["a.cc"] == EXPORTED.replace("  static Status spare() { return Status(); }\n", "")
        with pytest.raises(StillUsed, match="ok"):
            repo.plan(plan_delete, repo.target("Status.ok"), force=False)


@requirement("REF-41")
@pytest.mark.parametrize(
    "use",
    [
        "import go from './lib';\ngo();\n",
        "import { default as go } from './lib';\ngo();\n",
        "export { default as go } from './lib';\n",
        "export { default } from './lib';\n",
        "import * as lib from './lib';\nlib.default();\n",
        "import('./lib').then((lib) => lib.default());\n",
    ],
)
def test_what_a_module_gives_by_default_is_used_under_other_names(tmp_path: Path, use: str) -> None:
    files = {"lib.ts": "export const one = 1;\n\nexport default function run() {\n  return 1;\n}\n", "use.ts": use}
    with repository(tmp_path, files) as repo, pytest.raises(StillUsed):
        repo.plan(plan_delete, repo.target("run"), force=False)


def test_what_takes_all_names_but_the_default_does_not_keep_it(tmp_path: Path) -> None:
    files = {
        "lib.ts": "export const one = 1;\n\nexport default function run() {\n  return 1;\n}\n",
        "all.ts": "export * from './lib';\n",
    }
    with repository(tmp_path, files) as repo:
        after = repo.after(repo.plan(plan_delete, repo.target("run"), force=False))
    assert after == {"lib.ts": "export const one = 1;\n"}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("const one = 1;\nexport const box = {\n  get late() { return one; },\n};\n", "a.ts:3:7"),
        ("export const Box = class Inner {\n  one = 1;\n};\n", "a.ts:1:26"),
    ],
)
def test_a_part_of_anothers_value_is_not_taken_out_with_it(tmp_path: Path, text: str, place: str) -> None:
    with repository(tmp_path, {"a.ts": text}) as repo, pytest.raises(NotRefactorable, match="does more"):
        repo.plan(plan_delete, repo.target(place), force=False)
