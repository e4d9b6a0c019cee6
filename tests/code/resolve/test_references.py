"""References in Python: through scopes, imports, re-exports and classes, each with its tier."""

from pathlib import Path

import pytest

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

PACKAGE = {
    "pkg/__init__.py": "from .core import helper\nfrom .core import *\nfrom . import core\n",
    "pkg/core.py": (
        "__all__ = ['helper', 'Shape']\n"
        "LIMIT = 3\n"
        "def helper(x=LIMIT):\n"
        "    return x\n"
        "class Shape:\n"
        "    def area(self):\n"
        "        return helper(self.size())\n"
        "    def size(self):\n"
        "        return LIMIT\n"
        "class Square(Shape):\n"
        "    def size(self):\n"
        "        return super().size()\n"
        "    def twice(self):\n"
        "        return self.area() * 2\n"
    ),
    "app.py": (
        "import pkg\n"
        "import pkg.core as c\n"
        "from pkg import helper as h, Shape\n"
        "from pkg import helper\n"
        "helper()\n"
        "pkg.helper()\n"
        "c.helper()\n"
        "def other(helper):\n"
        "    return helper\n"
        "s = Shape()\n"
        "s.area()\n"
        "def f(thing, known: Shape):\n"
        "    thing.area()\n"
        "    known.area()\n"
        "    text = 'helper and area'  # helper\n"
        "    return dict(helper=1)\n"
    ),
    "elsewhere.py": "from outside import helper\nhelper()\n",
}


@requirement("RES-01")
def test_a_function_is_followed_through_every_way_to_import_it(tmp_path: Path) -> None:
    with written(tmp_path / "repo", PACKAGE) as repo:
        assert repo.uses("helper") == {
            "app.py:3:17": "STRONG",
            "app.py:4:17": "STRONG",
            "app.py:5:1": "STRONG",
            "app.py:6:5": "STRONG",
            "app.py:7:3": "STRONG",
            "pkg/__init__.py:1:19": "STRONG",
            "pkg/core.py:3:5": "PROVEN",
            "pkg/core.py:7:16": "PROVEN",
        }


@requirement("RES-01")
def test_members_are_strong_where_the_class_is_written_and_anchored_where_not(tmp_path: Path) -> None:
    with written(tmp_path / "repo", PACKAGE) as repo:
        assert repo.uses("Shape.area") == {
            "app.py:11:3": "STRONG",
            "app.py:13:11": "ANCHORED",
            "app.py:14:11": "STRONG",
            "pkg/core.py:6:9": "PROVEN",
            "pkg/core.py:14:21": "STRONG",
        }


def test_an_override_has_its_own_references(tmp_path: Path) -> None:
    with written(tmp_path / "repo", PACKAGE) as repo:
        assert repo.uses("Shape.size") == {
            "pkg/core.py:7:28": "STRONG",
            "pkg/core.py:8:9": "PROVEN",
            "pkg/core.py:12:24": "STRONG",
        }
        assert repo.uses("Square.size") == {"pkg/core.py:11:9": "PROVEN"}


def test_a_constant_is_read_in_a_default_and_in_functions(tmp_path: Path) -> None:
    with written(tmp_path / "repo", PACKAGE) as repo:
        assert repo.uses("LIMIT") == {
            "pkg/core.py:2:1": "PROVEN",
            "pkg/core.py:3:14": "PROVEN",
            "pkg/core.py:9:16": "PROVEN",
        }


def test_a_use_leads_to_what_it_means(tmp_path: Path) -> None:
    with written(tmp_path / "repo", PACKAGE) as repo:
        assert repo.uses("app.py:7:4") == repo.uses("helper")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    return x\n", 4),
        ("x = 0\ndef f():\n    global x\n    x = 2\nclass A:\n    x = 3\n    def g(self):\n        return x\n", 4),
        ("x = 1\nprint([x for x in (1,)])\nprint(x)\n", 2),
        ("x = 1\ndef f(x=x):\n    return x\n", 2),
    ],
)
def test_scopes_decide_whose_name_it_is(tmp_path: Path, text: str, expected: int) -> None:
    with written(tmp_path / "repo", {"m.py": text}) as repo:
        line = 2 if text.startswith("def") else 1
        column = 5 if text.startswith("def") else 1
        assert len(repo.uses(f"m.py:{line}:{column}")) == expected


def test_two_branches_of_one_name_are_one_symbol(tmp_path: Path) -> None:
    files = {
        "a.py": "try:\n    from b import run\nexcept ImportError:\n    def run():\n        pass\nrun()\n",
        "b.py": "def run():\n    pass\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("b.py:1") == {
            "a.py:2:19": "STRONG",
            "a.py:4:9": "STRONG",
            "a.py:6:1": "STRONG",
            "b.py:1:5": "PROVEN",
        }


def test_modules_are_found_where_programs_run_from(tmp_path: Path) -> None:
    files = {
        "src/lib/tools.py": "def use():\n    pass\n",
        "tests/helpers.py": "def use():\n    pass\n",
        "tests/unit/test_a.py": "from lib.tools import use\nimport helpers\nuse()\nhelpers.use()\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("src/lib/tools.py:1") == {
            "src/lib/tools.py:1:5": "PROVEN",
            "tests/unit/test_a.py:1:23": "STRONG",
            "tests/unit/test_a.py:3:1": "STRONG",
        }
        assert repo.uses("tests/helpers.py:1")["tests/unit/test_a.py:4:9"] == "STRONG"


@requirement("RES-01")
def test_an_unknown_base_makes_an_inherited_member_a_guess(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "from outside import Mixin\n"
            "class Base:\n    def run(self):\n        pass\n"
            "class Child(Mixin, Base):\n    def go(self):\n        self.run()\n"
        )
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("Base.run") == {"a.py:3:9": "PROVEN", "a.py:7:14": "ANCHORED"}
