"""Modules that load before a move and would not after it are named; those that go on loading are not."""

from pathlib import Path

from codeplane.refactor.move.file_move import plan_file_move
from codeplane.refactor.move.symbol_move import plan_symbol_move
from tests.interaction.requirements import requirement
from tests.refactor.repository import repository


def risks(home: Path, files: dict[str, str], symbol: str, to_path: str) -> list[str]:
    with repository(home, files) as repo:
        return [danger.kind for danger in repo.plan(plan_symbol_move, repo.target(symbol), to_path).dangers]


@requirement("REF-12")
def test_a_circle_that_an_importer_closes_is_named(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "",
        "a/one.py": "def f():\n    return 1\n",
        "a/two.py": "from a.three import g\n\n\ndef h():\n    return g()\n",
        "a/three.py": "from a.one import f\n\n\ndef g():\n    return f()\n",
    }
    assert risks(tmp_path / "x", files, "f", "a/two.py") == ["import_cycle"]
    assert risks(tmp_path / "y", files, "f", "a/four.py") == []


def test_a_package_that_loads_its_modules_first_may_be_the_circle(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "from a.one import f\nfrom a.sub import low\n",
        "a/one.py": "def f():\n    return 1\n",
        "a/sub/__init__.py": "from a.sub.low import g\n",
        "a/sub/low.py": "from a import f\n\n\ndef g():\n    return f()\n",
        "a/sub/home.py": "X = 1\n",
    }
    assert risks(tmp_path, files, "a/one.py:1:5", "a/sub/home.py") == ["import_cycle"]


def test_what_is_imported_for_types_alone_is_brought_once_more(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "",
        "a/kind.py": "class Kind:\n    pass\n",
        "a/old.py": "from a.kind import Kind\n\n\ndef made() -> Kind:\n    return Kind()\n",
        "a/new.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from a.kind import Kind\n",
    }
    with repository(tmp_path, files) as repo:
        after = repo.after(repo.plan(plan_symbol_move, repo.target("made"), "a/new.py"))
        assert "\nfrom a.kind import Kind\n" in after["a/new.py"]


def test_a_name_that_would_be_hidden_is_named(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "",
        "a/old.py": "import a.new\n\n\ndef f():\n    size = 2\n    return a.new.size + size\n",
        "a/new.py": "size = 1\n",
    }
    assert "name_taken" in risks(tmp_path, files, "f", "a/new.py")


def test_everything_of_a_module_brings_what_came_to_it(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "",
        "a/old.py": "def f():\n    return 1\n",
        "a/new.py": "X = 1\n",
        "a/far.py": "def f():\n    return 2\n",
        "use.py": "from a.far import f\nfrom a.new import *\n\nprint(f())\n",
    }
    assert risks(tmp_path, files, "a/old.py:1:5", "a/new.py") == ["name_taken"]


def test_a_name_that_a_package_shares_with_a_module_of_it_stays_what_it_is(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "from .shapes import *\n",
        "a/shapes.py": "def beta():\n    return 1\n",
        "a/beta.py": "def low():\n    return 2\n\n\ndef high():\n    return low()\n",
        "use.py": "import a.beta as beta\n\nprint(beta.low())\n",
    }
    assert risks(tmp_path / "x", files, "high", "a/shapes.py") == ["load_order"]
    files["a/__init__.py"] = "from .beta import low\nfrom .shapes import *\n"
    assert risks(tmp_path / "y", files, "high", "a/shapes.py") == []


def test_everything_of_a_package_is_also_what_is_loaded_of_it_by_then(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "",
        "a/core.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
        "b/__init__.py": "",
        "b/base.py": "X = 1\n",
        "use.py": "from a.core import f\n",
        "main.py": "import use\nfrom a import *\n\nprint(core.g())\n",
    }
    assert risks(tmp_path / "x", files, "f", "b/base.py") == ["load_order"]
    files["a/__init__.py"] = '__all__ = ["core"]\n'
    assert risks(tmp_path / "y", files, "f", "b/base.py") == []


def test_what_a_star_does_not_give_is_not_named_in_an_import(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "",
        "a/old.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\n__all__ = ['f']\n",
        "use.py": "from a.old import *\n\nprint(f())\n",
    }
    with repository(tmp_path, files) as repo:
        assert "use.py" not in repo.after(repo.plan(plan_symbol_move, repo.target("g"), "a/new.py"))


def test_a_module_that_others_take_from_an_importer_goes_on_being_imported_there(tmp_path: Path) -> None:
    files = {
        "a/__init__.py": "",
        "a/core.py": "one = 1\ntwo = 2\n",
        "a/mid.py": "import a.core as core\n\nX = core.one\n",
        "a/end.py": "import a.core as core\n\nY = core.one\n",
        "use.py": "from a.mid import core\n\nprint(core.two)\n",
    }
    with repository(tmp_path, files) as repo:
        after = repo.after(repo.plan(plan_symbol_move, repo.target("a/core.py:1:1"), "a/new.py"))
        assert after["a/mid.py"] == "import a.core as core\nimport a.new as new\n\nX = new.one\n"
        assert after["a/end.py"] == "import a.new as new\n\nY = new.one\n"


def test_a_module_beside_something_of_its_name_in_the_package_is_named(tmp_path: Path) -> None:
    files = {"a/__init__.py": "from a.core import tool\n", "a/core.py": "tool = 1\n", "a/low.py": "X = 1\n"}
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_file_move, "a/low.py", "a/tool.py")
        assert [danger.kind for danger in draft.dangers] == ["name_taken"]


@requirement("REF-12")
def test_a_folder_without_init_is_a_package_of_its_own(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "from .util import f\n",
        "shop/util.py": "def f():\n    return 1\n",
        "tests/test_util.py": "from shop.util import f\n",
    }
    with repository(tmp_path, files) as repo:
        after = repo.after(repo.plan(plan_file_move, "shop/util.py", "fresh/util.py"))
        assert after["shop/__init__.py"] == "from fresh.util import f\n"
        assert after["tests/test_util.py"] == "from fresh.util import f\n"
