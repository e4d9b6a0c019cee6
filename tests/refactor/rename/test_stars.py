"""Renames of what others take with everything of a module."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import NameTaken
from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import repo


@requirement("REF-02")
def test_a_name_that_everything_leaves_out_is_refused_where_it_is_used(tmp_path: Path) -> None:
    files = {"a.py": "def f():\n    return 1\n", "b.py": "from a import *\n", "c.py": "from b import f\n\nf()\n"}
    with repo(tmp_path, files) as found, pytest.raises(NameTaken, match="underscore"):
        found.plan("a.py:1:5", "_f")


def test_listed_names_may_have_an_underscore(tmp_path: Path) -> None:
    files = {"a.py": "__all__ = ['f']\n\n\ndef f():\n    return 1\n", "b.py": "from a import *\n\nf()\n"}
    with repo(tmp_path, files) as found:
        assert found.after("a.py:4:5", "_f")["b.py"] == "from a import *\n\n_f()\n"


@requirement("REF-02")
def test_a_star_that_brings_the_new_name_is_a_collision(tmp_path: Path) -> None:
    files = {"low.py": "g = 1\n", "a.py": "from low import *\n\nf = 2\n", "b.py": "import a\n\nprint(a.g, a.f)\n"}
    with repo(tmp_path, files) as found, pytest.raises(NameTaken, match="brings one"):
        found.plan("a.py:3:1", "g")


def test_a_local_name_hides_what_a_star_brings(tmp_path: Path) -> None:
    files = {"a.py": "def f():\n    return 1\n", "b.py": "from a import *\n\n\ndef use(g):\n    return f() + g\n"}
    with repo(tmp_path, files) as found, pytest.raises(NameTaken, match="would mean this one"):
        found.plan("a.py:1:5", "g")


def test_arguments_are_followed_through_aliases_of_aliases(tmp_path: Path) -> None:
    files = {
        "a.py": "def f(size):\n    return size\n",
        "b.py": "from a import f as g\n",
        "c.py": "from b import g\n\ng(size=1)\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.py:1:7", "length")["c.py"] == "from b import g\n\ng(length=1)\n"


def test_a_package_that_a_star_brings_once_more_is_the_same(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "import a.low\n",
        "a/low.py": "",
        "a/core.py": "class C:\n    def __init__(self, size):\n        self.x = size\n",
        "use.py": "import a.core\nfrom a import *\n\n\ndef f():\n    return a.core.C(size=1)\n",
    }
    with repo(tmp_path, files) as found:
        assert "a.core.C(wide=1)" in found.after("a/core.py:2:24", "wide")["use.py"]
