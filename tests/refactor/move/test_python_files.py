"""Moves of Python modules and packages: every import that named them leads to where they are."""

import compileall
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NameTaken, NotFound, NotRefactorable
from codeplane.refactor.move.file_move import plan_file_move
from tests.interaction.requirements import requirement
from tests.refactor.repository import Repository, applied, repository

PACKAGE = {
    "app/__init__.py": "from .core import helper\nfrom . import core\n",
    "app/core.py": "from .low import LIMIT\nfrom . import low\ndef helper():\n    return LIMIT + low.LIMIT\n",
    "app/low.py": "LIMIT = 3\n",
    "app/deep/__init__.py": "",
    "app/deep/leaf.py": (
        "from ..core import helper\nfrom .. import core as c, low\nX = helper() + c.helper() + low.LIMIT\n"
    ),
    "use.py": (
        "import app.core\n"
        "import app.core as alias\n"
        "from app.core import helper as h\n"
        "from app import core, low\n"
        "def f():\n"
        "    from app.core import (\n"
        "        helper,  # kept\n"
        "    )\n"
        "    return helper() + app.core.helper() + alias.helper() + core.helper() + low.LIMIT + h()\n"
        "assert f()\n"
    ),
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """The package, indexed once: planning changes nothing."""
    with repository(tmp_path_factory.mktemp("app") / "repo", PACKAGE) as repo:
        yield repo


@requirement("REF-10")
def test_a_module_gets_another_name_in_its_package(app: Repository) -> None:
    assert app.after(app.plan(plan_file_move, "app/core.py", "app/heart.py")) == {
        "app/__init__.py": "from .heart import helper\nfrom . import heart\n",
        "app/heart.py": PACKAGE["app/core.py"],
        "app/deep/leaf.py": (
            "from ..heart import helper\nfrom .. import heart as c, low\nX = helper() + c.helper() + low.LIMIT\n"
        ),
        "use.py": (
            "import app.heart\n"
            "import app.heart as alias\n"
            "from app.heart import helper as h\n"
            "from app import heart, low\n"
            "def f():\n"
            "    from app.heart import (\n"
            "        helper,  # kept\n"
            "    )\n"
            "    return helper() + app.heart.helper() + alias.helper() + heart.helper() + low.LIMIT + h()\n"
            "assert f()\n"
        ),
    }


@requirement("REF-10")
def test_a_module_goes_to_another_package(app: Repository) -> None:
    assert app.after(app.plan(plan_file_move, "app/core.py", "app/deep/heart.py")) == {
        "app/__init__.py": "from .deep.heart import helper\nfrom .deep import heart\n",
        "app/deep/heart.py": (
            "from ..low import LIMIT\nfrom .. import low\ndef helper():\n    return LIMIT + low.LIMIT\n"
        ),
        "app/deep/leaf.py": (
            "from .heart import helper\nfrom .. import low\nfrom . import heart as c\n"
            "X = helper() + c.helper() + low.LIMIT\n"
        ),
        "use.py": (
            "import app.deep.heart\n"
            "import app.deep.heart as alias\n"
            "from app.deep.heart import helper as h\n"
            "from app import low\n"
            "from app.deep import heart\n"
            "def f():\n"
            "    from app.deep.heart import (\n"
            "        helper,  # kept\n"
            "    )\n"
            "    return helper() + app.deep.heart.helper() + alias.helper() + heart.helper() + low.LIMIT + h()\n"
            "assert f()\n"
        ),
    }


@requirement("REF-10")
def test_a_module_leaves_its_package(app: Repository) -> None:
    assert app.after(app.plan(plan_file_move, "app/low.py", "ground.py")) == {
        "ground.py": "LIMIT = 3\n",
        "app/core.py": "from ground import LIMIT\nimport ground\ndef helper():\n    return LIMIT + ground.LIMIT\n",
        "app/deep/leaf.py": (
            "from ..core import helper\nfrom .. import core as c\nimport ground\n"
            "X = helper() + c.helper() + ground.LIMIT\n"
        ),
        "use.py": PACKAGE["use.py"]
        .replace("from app import core, low\n", "from app import core\nimport ground\n")
        .replace("low.LIMIT", "ground.LIMIT"),
    }


@requirement("REF-10")
@pytest.mark.parametrize(
    ("path", "new_path"),
    [
        ("app/core.py", "app/heart.py"),
        ("app/core.py", "app/deep/heart.py"),
        ("app/low.py", "ground.py"),
        ("app/low.py", "app/deep/low.py"),
        ("app", "program"),
        ("app", "lib2/app"),
        ("app/deep", "deep"),
        ("app/deep/leaf.py", "app/leaf.py"),
        ("app/deep", "app/inner"),
    ],
)
def test_what_ran_before_a_move_runs_after_it(app: Repository, tmp_path: Path, path: str, new_path: str) -> None:
    after = applied(PACKAGE, app.plan(plan_file_move, path, new_path))
    home = tmp_path / "after"
    for name, text in after.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    assert compileall.compile_dir(home, quiet=2)
    leaf = next(name for name in after if name.endswith("leaf.py"))[:-3].replace("/", ".")
    ran = subprocess.run([sys.executable, "-c", f"import use, {leaf}"], cwd=home, capture_output=True, text=True)
    assert ran.returncode == 0, (after, ran.stderr)


@requirement("REF-10")
def test_a_module_that_leaves_a_package_it_needs_makes_a_cycle(app: Repository) -> None:
    draft = app.plan(plan_file_move, "app/core.py", "heart.py")
    assert [danger.kind for danger in draft.dangers] == ["import_cycle"]


@requirement("REF-10")
@pytest.mark.parametrize(
    ("path", "new_path", "error"),
    [
        ("app/core.py", "app/low.py", NameTaken),
        ("app/core.py", "app/low/core.py", NameTaken),
        ("app/core.py", "app/deep.py", NameTaken),
        ("app/core.py", "app/deep", InvalidArgument),
        ("app/core.py", "use.py/core.py", NameTaken),
        ("app", "app/deep/app", InvalidArgument),
        ("app/core.py", "app/core.py", InvalidArgument),
        ("app/core.py", "app/two-words.py", InvalidArgument),
        ("app/core.py", "app/core.txt", InvalidArgument),
        ("app/core.py", "../core.py", InvalidArgument),
        ("app/deep", "app/not-a-name", InvalidArgument),
        ("app/__init__.py", "app/begin.py", NotRefactorable),
        ("nothing.py", "something.py", NotFound),
    ],
)
def test_a_move_that_cannot_be_is_refused(
    app: Repository, path: str, new_path: str, error: type[CodePlaneError]
) -> None:
    with pytest.raises(error):
        app.plan(plan_file_move, path, new_path)


def test_a_deadline_is_said_when_it_is_over(app: Repository) -> None:
    draft = app.plan(plan_file_move, "app/core.py", "app/heart.py", deadline=0.0)
    assert draft.coverage.truncated


def test_what_is_written_around_imports_is_kept(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/old.py": "X = 1\nY = 2\n",
        "pkg/other.py": "Z = 3\n",
        "crlf.py": "from pkg import (\r\n    old,  # why\r\n    other,\r\n)\r\nold.X\r\n",
        "tabs.py": "def f():\n\tfrom pkg import other, old as o\n\treturn o.X",
        "typed.py": (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg.old import X  # noqa\n"
            "try:\n    from pkg.old import Y\nexcept ImportError:\n    Y = None\n"
        ),
        "slashed.py": "from pkg \\\n    import old, \\\n    other\nprint(old.X, other)",
        "semi.py": "import sys; import pkg.old; print(pkg.old.X)\n",
    }
    with repository(tmp_path, files) as repo:
        assert repo.after(repo.plan(plan_file_move, "pkg/old.py", "lib2/new.py")) == {
            "lib2/__init__.py": "",
            "lib2/new.py": files["pkg/old.py"],
            "crlf.py": "from pkg import (\r\n    other,\r\n)\r\nfrom lib2 import new\r\nnew.X\r\n",
            "tabs.py": "def f():\n\tfrom pkg import other\n\tfrom lib2 import new as o\n\treturn o.X",
            "typed.py": files["typed.py"].replace("pkg.old", "lib2.new"),
            "slashed.py": "from pkg \\\n    import other\nfrom lib2 import new\nprint(new.X, other)",
            "semi.py": "import sys; import lib2.new; print(lib2.new.X)\n",
        }


def test_a_name_that_is_taken_where_it_would_be_used_gets_an_alias(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/old.py": "X = 1\n",
        "a.py": "from pkg import old\nnew = 3\nprint(old.X, new)\n",
        "b.py": "import top\ndef f(other):\n    return top.Y\n",
        "top.py": "Y = 1\n",
        "passes.py": "from pkg import old\n",
        "takes.py": "from passes import old\nprint(old.X)\n",
    }
    with repository(tmp_path, files) as repo:
        assert repo.after(repo.plan(plan_file_move, "pkg/old.py", "pkg/new.py")) == {
            "pkg/new.py": "X = 1\n",
            "a.py": "from pkg import new as old\nnew = 3\nprint(old.X, new)\n",
            "passes.py": "from pkg import new as old\n",
        }
        assert repo.after(repo.plan(plan_file_move, "top.py", "pkg/other.py")) == {
            "pkg/other.py": "Y = 1\n",
            "b.py": "import pkg.other\ndef f(other):\n    return pkg.other.Y\n",
        }


def test_strings_and_settings_are_proposed_and_paths_are_named(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/old.py": "def main(): ...\n",
        "pkg/old.pyi": "def main() -> None: ...\n",
        "test_it.py": "from unittest.mock import patch\n@patch('pkg.old.main')\ndef test(m): ...\n",
        "pyproject.toml": '[project.scripts]\nrun = "pkg.old:main"\n[tool.x]\nfiles = ["pkg/old.py"]\n',
        "broken.py": "import pkg.old\ndef (:\n",
    }
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_file_move, "pkg/old.py", "pkg/new.py")
        assert sorted(repo.after(draft)) == ["broken.py", "pkg/new.py", "pkg/new.pyi"]
        proposed = {(edit.path, edit.new, edit.why) for edit in draft.edits if edit.tier == "UNKNOWN"}
        assert proposed == {
            ("test_it.py", "pkg.new", "a string that a call turns into a module"),
            ("pyproject.toml", "pkg.new", "an entry point names it"),
        }
        assert [(danger.kind, danger.path) for danger in draft.dangers] == [("path_in_text", "pyproject.toml")]
        assert draft.coverage.unparsed == ("broken.py",)


def test_folders_without_init_and_a_src_root_stay_what_they_are(tmp_path: Path) -> None:
    files = {
        "src/space/part/mod.py": "X = 1\n",
        "src/space/part/near.py": "from .mod import X\nfrom space.part import mod\n",
        "tests/test_mod.py": "from space.part.mod import X\nimport space.part.mod\nprint(space.part.mod.X)\n",
    }
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_file_move, "src/space/part", "src/space/other")
        assert repo.after(draft) == {
            "src/space/other/mod.py": "X = 1\n",
            "src/space/other/near.py": "from .mod import X\nfrom space.other import mod\n",
            "tests/test_mod.py": files["tests/test_mod.py"].replace("part", "other"),
        }
        assert not draft.creates


def test_a_name_that_may_stand_for_a_module_with_what_moves_is_named(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "",
        "a/core.py": "one = 1\n",
        "a/mid.py": "from a import core\n\nX = core.one\n",
        "use.py": "try:\n    from a import mid\nexcept ImportError:\n    mid = None\n\nprint(mid.core.one)\n",
    }
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_file_move, "a/core.py", "a/new.py")
        assert [(danger.kind, danger.path) for danger in draft.dangers] == [("unresolved_use", "use.py")]


def test_a_package_that_others_take_from_an_importer_is_still_called_so_there(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "size = 1\n",
        "shop/low.py": "",
        "mid.py": "import shop\n\nX = shop.size\n",
        "far.py": "import shop.low\n\nX = shop.size\n",
        "end.py": "import shop\n\nX = shop.size\n",
        "use.py": "from mid import shop\nimport far\n\nprint(shop.size, far.shop.size)\n",
    }
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_file_move, "shop", "fresh")
        after = repo.after(draft)
        assert after["mid.py"] == "import fresh as shop\n\nX = shop.size\n"
        assert after["end.py"] == "import fresh\n\nX = fresh.size\n"
        assert ("unresolved_use", "far.py") in [(danger.kind, danger.path) for danger in draft.dangers]


def test_an_import_that_says_the_same_afterwards_is_no_question(tmp_path: Path) -> None:
    files = {
        "own/__init__.py": "",
        "own/checkpoint/__init__.py": "",
        "own/checkpoint/lint.py": "X = 1\n",
        # A file beside it is called as the library is that it takes a module from.
        "bench/__init__.py": "",
        "bench/subjects/__init__.py": "",
        "bench/subjects/library.py": "from library.checkpoint.sqlite import Saver\n",
    }
    with repository(tmp_path / "repo", files) as repo:
        plan = repo.plan(plan_file_move, "own/checkpoint", "own/testing/checkpoint")
        assert [edit.path for edit in plan.edits] == []


def test_a_module_that_goes_by_where_it_is_is_named(tmp_path: Path) -> None:
    files = {
        "app/__init__.py": "",
        "app/pages.py": "from pathlib import Path\n\nPAGES = Path(__file__).parent / 'pages'\n# __file__ again\n",
        "app/plain.py": "X = '__file__'\n",
    }
    with repository(tmp_path / "repo", files) as repo:
        plan = repo.plan(plan_file_move, "app", "web/app")
        named = [(danger.path, danger.count) for danger in plan.dangers if danger.kind == "module_path"]
        assert named == [("app/pages.py", 1)]
