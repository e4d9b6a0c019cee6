"""Symbols of Python that go to another module: what they need comes along, who used them finds them."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NameTaken, NotRefactorable
from codeplane.refactor.move.symbol_move import plan_symbol_move
from tests.interaction.requirements import requirement
from tests.refactor.repository import repository

FILES = {
    "pkg/__init__.py": "from .old import Shape, helper\n\n__all__ = ['Shape', 'helper']\n",
    "pkg/old.py": (
        '"""Old."""\n'
        "\n"
        "import json\n"
        "import os.path\n"
        "from typing import TYPE_CHECKING, Any\n"
        "\n"
        "from .low import LIMIT, deco\n"
        "\n"
        "if TYPE_CHECKING:\n"
        "    from .low import Kind\n"
        "\n"
        '__all__ = ["Shape", "helper"]\n'
        "\n"
        "SIZE = LIMIT\n"
        "\n"
        "\n"
        "# What a shape is.\n"
        "# In two lines.\n"
        "@deco\n"
        "class Shape:\n"
        '    """Shape."""\n'
        "\n"
        "    def area(self, kind: 'Kind') -> Any:\n"
        "        return json.dumps(SIZE)\n"
        "\n"
        "\n"
        "def helper() -> Any:\n"
        "    return os.path.join('a', 'b')\n"
    ),
    "pkg/low.py": "LIMIT = 3\nclass Kind: ...\ndef deco(x):\n    return x\n",
    "use.py": (
        "from pkg.old import (\n    helper,  # help\n    Shape as S,\n)\n"
        "import pkg.old\nS()\npkg.old.Shape()\nhelper()\n"
    ),
    "mod.py": "from pkg import old\nold.Shape()\n",
    "both.py": "from pkg import old\nold.Shape(old.helper())\n",
    "through.py": "from pkg import Shape\nShape()\n",
}


@requirement("REF-12")
def test_a_class_goes_with_decorators_comments_and_imports(tmp_path: Path) -> None:
    with repository(tmp_path, FILES) as repo:
        draft = repo.plan(plan_symbol_move, repo.target("Shape"), "pkg/new.py")
        after = repo.after(draft)
        assert after["pkg/new.py"] == (
            "import json\n"
            "from typing import Any\n"
            "from .low import deco\n"
            "from .old import SIZE\n"
            "\n"
            "\n"
            "# What a shape is.\n"
            "# In two lines.\n"
            "@deco\n"
            "class Shape:\n"
            '    """Shape."""\n'
            "\n"
            "    def area(self, kind: 'Kind') -> Any:\n"
            "        return json.dumps(SIZE)\n"
        )
        assert after["pkg/old.py"] == (
            '"""Old."""\n'
            "\n"
            "import os.path\n"
            "from typing import TYPE_CHECKING, Any\n"
            "\n"
            "from .low import LIMIT\n"
            "\n"
            "if TYPE_CHECKING:\n"
            "    from .low import Kind\n"
            "\n"
            '__all__ = ["helper"]\n'
            "\n"
            "SIZE = LIMIT\n"
            "\n"
            "\n"
            "def helper() -> Any:\n"
            "    return os.path.join('a', 'b')\n"
        )
        assert after["pkg/__init__.py"].startswith("from .old import helper\nfrom .new import Shape\n")
        assert after["use.py"] == (
            "from pkg.old import (\n    helper,  # help\n)\nfrom pkg.new import Shape as S\n"
            "import pkg.new\nS()\npkg.new.Shape()\nhelper()\n"
        )
        assert after["mod.py"] == "from pkg import new\nnew.Shape()\n"
        assert after["both.py"] == "from pkg import old\nfrom pkg import new\nnew.Shape(old.helper())\n"
        assert "through.py" not in after


@requirement("REF-12")
def test_what_the_old_module_still_uses_it_imports(tmp_path: Path) -> None:
    files = {
        "a.py": "import sys\n\nLIMIT = 3\n\n\ndef f():\n    return LIMIT\n\n\nprint(f(), sys)\n",
        "b.py": '"""B."""\n\nX = 1\n',
    }
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_symbol_move, repo.target("f"), "b.py")
        assert repo.after(draft) == {
            "a.py": "import sys\nfrom b import f\n\nLIMIT = 3\n\n\nprint(f(), sys)\n",
            "b.py": '"""B."""\n\nfrom a import LIMIT\n\nX = 1\n\n\ndef f():\n    return LIMIT\n',
        }
        assert [danger.kind for danger in draft.dangers] == ["import_cycle"]
        alone = repo.plan(plan_symbol_move, repo.target("a.LIMIT"), "b.py")
        assert repo.after(alone) == {
            "a.py": "import sys\nfrom b import LIMIT\n\ndef f():\n    return LIMIT\n\n\nprint(f(), sys)\n",
            "b.py": '"""B."""\n\nX = 1\nLIMIT = 3\n',
        }
        assert not alone.dangers


@requirement("REF-12")
@requirement("REF-12")
def test_names_of_one_module_come_by_one_import_as_long_as_a_line_holds_them(tmp_path: Path) -> None:
    names = [f"a_rather_long_name_{number}" for number in range(6)]
    files = {
        "low.py": "".join(f"{name} = {number}\n" for number, name in enumerate(names)),
        "old.py": f"from low import (\n    {', '.join(names)},\n)\n\n\ndef total():\n    return {' + '.join(names)}\n",
        "use.py": "from old import total\n",
    }
    with repository(tmp_path, files) as repo:
        after = repo.after(repo.plan(plan_symbol_move, repo.target("total"), "new.py"))
        assert after["new.py"].startswith(
            f"from low import {', '.join(names[:3])}\nfrom low import {', '.join(names[3:])}\n\n\ndef total"
        )


def test_a_destination_that_imported_it_defines_it(tmp_path: Path) -> None:
    files = {
        "a.py": "import b\n\n\ndef f():\n    return b.Y\n\n\ndef g(): ...\n",
        "b.py": "import sys\nfrom a import f as ff, g\n\nY = sys\nprint(ff(), g)\n",
    }
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_symbol_move, repo.target("f"), "b.py")
        assert (
            repo.after(draft)["b.py"]
            == "import sys\nfrom a import g\n\n\ndef f():\n    return Y\n\n\nY = sys\nprint(f(), g)\n"
        )


@requirement("REF-12")
def test_overloads_and_branches_go_together(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "from typing import overload\n"
            "import sys\n"
            "@overload\n"
            "def f(x: int) -> int: ...\n"
            "@overload\n"
            "def f(x: str) -> str: ...\n"
            "def f(x): return x\n"
            "if sys.version_info > (3, 12):\n"
            "    def g(): return 1\n"
            "else:\n"
            "    def g(): return 2\n"
        ),
        "star.py": "from a import *\nf(g())\n",
    }
    with repository(tmp_path, files) as repo:
        moved = repo.after(repo.plan(plan_symbol_move, repo.target("a.py:7"), "b.py"))
        assert moved["b.py"].count("def f(") == 3
        assert moved["a.py"].startswith("import sys\nif sys")
        assert moved["star.py"] == "from a import *\nfrom b import f\nf(g())\n"
        branches = repo.after(repo.plan(plan_symbol_move, repo.target("a.py:9"), "b.py"))
        assert branches["b.py"].startswith("import sys\n\nif sys.version_info")
        assert "g" not in branches["a.py"].replace("typing", "")


@requirement("REF-12")
def test_types_needed_only_by_readers_of_types_stay_so(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    from c import K\ndef f(k: K): ...\n"
        ),
        "b.py": "import sys\n",
        "c.py": "class K: ...\n",
    }
    with repository(tmp_path, files) as repo:
        new = repo.after(repo.plan(plan_symbol_move, repo.target("f"), "new.py"))
        assert new["new.py"] == (
            "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n\n"
            "if TYPE_CHECKING:\n    from c import K\n\n\ndef f(k: K): ...\n"
        )
        assert new["a.py"].endswith("if TYPE_CHECKING:\n    pass\n")
        there = repo.plan(plan_symbol_move, repo.target("f"), "b.py")
        assert "future_annotations" in {danger.kind for danger in there.dangers}


@requirement("REF-12")
def test_line_endings_are_those_of_each_file(tmp_path: Path) -> None:
    files = {
        "a.py": "import os\r\n\r\ndef f():\r\n    return os\r\n\r\nX = 1\r\n",
        "b.py": "Y = 1",
        "c.py": "from a import f, X\r\nf()",
    }
    with repository(tmp_path, files) as repo:
        assert repo.after(repo.plan(plan_symbol_move, repo.target("f"), "b.py")) == {
            "a.py": "X = 1\r\n",
            "b.py": "import os\n\nY = 1\n\n\ndef f():\n    return os\n",
            "c.py": "from a import X\r\nfrom b import f\r\nf()",
        }


REFUSED = {
    "a.py": (
        "import sys\nx, y = 1, 2\nf = 1; g = 2\nclass C:\n    def m(self): ...\n"
        "count = 0\ndef inc():\n    global count\n    count += 1\ndef taken(): return sys\ndef free(): return sys\n"
    ),
    "b.py": "def taken(): ...\n",
    "c.py": "sys = 1\n",
    "starred.py": "from b import *\n",
    "c_starred.py": "from c import *\n",
    "broken.py": "def (:\n",
    "folder/d.py": "",
}


@pytest.mark.parametrize(
    ("query", "to_path", "error"),
    [
        ("a.py:2:1", "b.py", NotRefactorable),
        ("a.py:3:1", "b.py", NotRefactorable),
        ("a.C.m", "b.py", NotRefactorable),
        ("a.count", "b.py", NotRefactorable),
        ("a.taken", "b.py", NameTaken),
        ("a.taken", "starred.py", NameTaken),
        ("a.free", "c.py", NameTaken),
        ("a.free", "c_starred.py", NameTaken),
        ("a.free", "a.py", InvalidArgument),
        ("a.free", "folder", InvalidArgument),
        ("a.free", "text.txt", InvalidArgument),
        ("a.free", "two-words.py", InvalidArgument),
        ("a.free", "broken.py", NotRefactorable),
    ],
)
def test_what_cannot_be_cut_or_put_is_refused(
    tmp_path: Path, query: str, to_path: str, error: type[CodePlaneError]
) -> None:
    with repository(tmp_path, REFUSED) as repo, pytest.raises(error):
        repo.plan(plan_symbol_move, repo.target(query), to_path)


def test_the_module_of_python_is_meant_where_a_package_has_one_of_its_name(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/typing.py": "import typing as t\n\nX = t.Any\n",
        "pkg/work.py": "import typing as t\n\n\ndef f() -> t.Any: ...\n",
    }
    with repository(tmp_path, files) as repo:
        after = repo.after(repo.plan(plan_symbol_move, repo.target("f"), "pkg/typing.py"))
        assert after["pkg/typing.py"] == "import typing as t\n\nX = t.Any\n\n\ndef f() -> t.Any: ...\n"


def test_circles_of_imports_are_named(tmp_path: Path) -> None:
    files = {
        "a.py": "from c import Z\nK = 1\ndef f():\n    return K\n",
        "b.py": "",
        "c.py": "from b import *\nZ = 1\n",
    }
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_symbol_move, repo.target("f"), "b.py")
        assert [danger.kind for danger in draft.dangers] == ["import_cycle"]
        assert not repo.plan(plan_symbol_move, repo.target("f"), "new.py").dangers


@pytest.mark.parametrize("name", ["bump", "get"])
def test_what_uses_a_name_that_is_bound_anew_stays(tmp_path: Path, name: str) -> None:
    text = "n = 0\ndef bump():\n    global n\n    n += 1\ndef get():\n    return n\n"
    with repository(tmp_path, {"m.py": text}) as repo, pytest.raises(NotRefactorable, match="binds again"):
        repo.plan(plan_symbol_move, repo.target(name), "other.py")


def test_an_alias_that_others_know_stays_where_the_symbol_goes(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .mod import f as g\nfrom .mod import h\n\n\ndef use():\n    return g()\n",
        "pkg/mod.py": "def f():\n    return 1\n\n\ndef h():\n    return 2\n",
        "main.py": "import pkg\nfrom pkg import g as k\n\nprint(pkg.g(), k(), pkg.use())\n",
    }
    with repository(tmp_path, files) as repo:
        after = repo.after(repo.plan(plan_symbol_move, repo.target("f"), "pkg/__init__.py"))
    lines = [line for line in after["pkg/__init__.py"].split("\n") if line]
    assert lines == ["from .mod import h", "def f():", "    return 1", "g = f", "def use():", "    return g()"]
    assert "main.py" not in after


def test_an_alias_of_a_function_s_own_import_is_gone(tmp_path: Path) -> None:
    files = {
        "old.py": "def f():\n    return 1\n",
        "new.py": "def use():\n    from old import f as g\n    return g()\n",
    }
    with repository(tmp_path, files) as repo:
        after = repo.after(repo.plan(plan_symbol_move, repo.target("f"), "new.py"))
    assert "return f()" in after["new.py"]
    assert "import" not in after["new.py"]
