"""Moves of Python symbols with private names, and where a moved definition stands."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import NameTaken
from codeplane.refactor.move.symbol_move import plan_symbol_move
from tests.interaction.requirements import requirement
from tests.refactor.repository import repository

pytestmark = requirement("REF-12")

OLD = '''"""Old."""

import re

_MOST = 5
_SHARED = 1
_WORD = re.compile("x")


def _bare(name):
    return name[:_MOST]


def moved(name):
    return _bare(str(_WORD.match(name))) + str(_SHARED)


def stays():
    return _SHARED
'''


def test_private_names_that_nothing_else_uses_go_along(tmp_path: Path) -> None:
    with repository(tmp_path, {"old.py": OLD, "use.py": "from old import moved\n\nmoved('')\n"}) as repo:
        draft = repo.plan(plan_symbol_move, repo.target("moved"), "new.py")
        after = repo.after(draft)
    assert after["new.py"] == (
        "import re\n"
        "from old import _SHARED\n"
        "\n"
        "\n"
        "_MOST = 5\n"
        '_WORD = re.compile("x")\n'
        "\n"
        "\n"
        "def _bare(name):\n"
        "    return name[:_MOST]\n"
        "\n"
        "\n"
        "def moved(name):\n"
        "    return _bare(str(_WORD.match(name))) + str(_SHARED)\n"
    )
    assert "_MOST" not in after["old.py"] and "_WORD" not in after["old.py"] and "_bare" not in after["old.py"]
    assert "import re" not in after["old.py"] and "_SHARED = 1" in after["old.py"]
    assert after["use.py"] == "from new import moved\n\nmoved('')\n"
    assert [danger.kind for danger in draft.dangers if danger.kind == "unresolved_import"] == []


def test_a_private_name_that_a_test_imports_stays(tmp_path: Path) -> None:
    files = {"old.py": "_LIMIT = 3\n\n\ndef moved():\n    return _LIMIT\n", "test_old.py": "from old import _LIMIT\n"}
    with repository(tmp_path, files) as repo:
        after = repo.after(repo.plan(plan_symbol_move, repo.target("moved"), "new.py"))
    assert after["old.py"] == "_LIMIT = 3\n"
    assert after["new.py"].startswith("from old import _LIMIT\n")


def test_a_private_name_that_the_destination_has_is_not_mixed_up(tmp_path: Path) -> None:
    files = {"old.py": "_LIMIT = 3\n\n\ndef moved():\n    return _LIMIT\n", "new.py": "_LIMIT = 4\n"}
    with repository(tmp_path, files) as repo, pytest.raises(NameTaken, match="_LIMIT of its own"):
        repo.plan(plan_symbol_move, repo.target("moved"), "new.py")


def test_a_definition_stands_behind_the_names_that_it_uses(tmp_path: Path) -> None:
    files = {
        "traits.py": "from compat import Known\n\n\ndef lost(known: Known):\n    return known\n",
        "compat.py": (
            '"""Compat."""\n'
            "\n"
            "Known = frozenset[str]\n"
            "\n"
            "\n"
            "def check(known):\n"
            "    from traits import lost\n"
            "\n"
            "    return lost(known)\n"
        ),
    }
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_symbol_move, repo.target("lost"), "compat.py")
        after = repo.after(draft)["compat.py"]
    assert after.index("Known = ") < after.index("def lost(known: Known)") < after.index("def check")
    exec(compile(after, "compat.py", "exec"), {})  # it loads
    assert "definition_order" not in {danger.kind for danger in draft.dangers}


def test_a_definition_that_is_needed_too_early_is_a_danger(tmp_path: Path) -> None:
    files = {
        "old.py": "from new import LIMIT\n\n\ndef given(x=LIMIT):\n    return x\n",
        "new.py": "from old import given\n\nFIRST = given()\nLIMIT = 2\n",
    }
    with repository(tmp_path, files) as repo:
        draft = repo.plan(plan_symbol_move, repo.target("given"), "new.py")
    assert "definition_order" in {danger.kind for danger in draft.dangers}
