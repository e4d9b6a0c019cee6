"""Renames and deletes of names that doctests use: lines behind `>>>` are code, wherever they stand."""

from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.refactor.rename.rename_repository import repo
from tests.refactor.test_operations import failed, made, texts

pytestmark = requirement("REF-40")
SUMS = (
    "def add(one, two=1):\n"
    '    """Add: `add` in prose.\n\n'
    "    >>> add(1)  # add one\n    2\n    >>> [add(1, two=n)\n    ...  for n in (1, add(2))]\n    [2, 4]\n"
    '    >>> "add".upper()\n    \'ADD\'\n    """\n    return one + two\n'
)
BOX = (
    "class Box:\n"
    '    """Holds.\n\n    >>> box = Box()\n    >>> box.put(1).put(2)\n'
    '    >>> Box.put(box, 3)\n    >>> [].put(4)\n    """\n\n'
    "    def put(self, what):\n        return self\n"
)


def test_doctests_of_its_own_module_are_edits(tmp_path: Path) -> None:
    with repo(tmp_path, {"sums.py": SUMS}) as found:
        after = found.after("sums.py:1:5", "plus")["sums.py"]
    assert ">>> plus(1)  # add one\n" in after
    assert ">>> [plus(1, two=n)\n    ...  for n in (1, plus(2))]" in after
    assert '>>> "add".upper()' in after


def test_keywords_in_doctests_go_with_their_parameter(tmp_path: Path) -> None:
    with repo(tmp_path, {"sums.py": SUMS}) as found:
        after = found.after("sums.py:1:14", "other")["sums.py"]
    assert ">>> [add(1, other=n)" in after


def test_a_member_of_what_a_class_made_is_followed_and_other_receivers_are_proposed(tmp_path: Path) -> None:
    with repo(tmp_path, {"box.py": BOX}) as found:
        draft = found.plan("box.py:10:9", "lay")
        after = found.applied(draft.edits)["box.py"]
        assert ">>> box.lay(1).put(2)\n    >>> Box.lay(box, 3)\n    >>> [].put(4)" in after
        assert found.proposed(draft) == {"box.py:5:20": "ANCHORED", "box.py:7:12": "ANCHORED"}


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        (">>> from sums import add\n>>> add(1)\n", "STRONG"),
        (">>> import sums\n>>> sums.add(1)\n", "STRONG"),
        ("```\n>>> import sums as s\n>>> s.add(1)\n```\n", "STRONG"),
        (">>> add(1)\n", "UNKNOWN"),
        (">>> print add(1)\n", "UNKNOWN"),
        (">>> from sums import add\n>>> plus = add(1)\n", "UNKNOWN"),
        (">>> from numpy import add\n>>> add(1)\n", ""),
        (">>> def add(n):\n...     return n\n>>> add(1)\n", ""),
        (">>> total.add(1)\n", ""),
        ("You add one, or call add(1).\n", ""),
    ],
)
def test_documents_are_edits_by_their_imports_and_else_possible_uses(tmp_path: Path, text: str, tier: str) -> None:
    with repo(tmp_path, {"sums.py": SUMS, "docs/use.rst": text, "README.md": text}) as found:
        draft = found.plan("sums.py:1:5", "plus")
        for path in ("docs/use.rst", "README.md"):
            assert {edit.tier for edit in draft.edits if edit.path == path} == ({tier} if tier else set())


def test_another_module_means_what_it_imports_or_defines(tmp_path: Path) -> None:
    doc = '"""\n>>> add(1)\n"""\n'
    files = {
        "sums.py": SUMS,
        "a.py": f"{doc}from sums import add\n",
        "b.py": f"{doc}def add():\n    pass\n",
        "c.py": doc,
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("sums.py:1:5", "plus")
        assert found.applied(draft.edits)["a.py"].startswith('"""\n>>> plus(1)\n"""\n')
        assert found.proposed(draft) == {"c.py:2:5": "UNKNOWN"}


@requirement("REF-41")
async def test_a_rename_asks_about_doctests_that_may_use_it_and_a_delete_is_refused(tmp_path: Path) -> None:
    files = {"sums.py": SUMS, "docs/use.rst": "Sums\n\n>>> add(1)\n2\n"}
    root = made(tmp_path, files)
    async with asking(root) as ask:
        assert failed(await ask("refactor.delete", target="sums.py:1:5", apply=True)) == "STILL_USED"
        envelope = await ask("refactor.rename", symbol="sums.py:1:5", new_name="plus", apply=True)
        found = cast(JsonObject, envelope["result"])
        assert found["status"] == "needs_decision"
        assert "docs/use.rst" in str(found)
        assert texts(root) == files


async def test_the_own_doctest_does_not_keep_a_definition(tmp_path: Path) -> None:
    root = made(tmp_path, {"sums.py": f"{SUMS}\n\nREST = 1\n"})
    async with asking(root) as ask:
        envelope = await ask("refactor.delete", target="sums.py:1:5", apply=True)
    assert cast(JsonObject, envelope["result"])["status"] == "applied", envelope
    assert "add" not in texts(root)["sums.py"]
