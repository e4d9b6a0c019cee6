"""Names that a file binds more than once, or under another name: by stars, by aliases, by what comes later."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import NotRefactorable
from codeplane.refactor.rename.alias import alias_at
from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import Repo, repo

pytestmark = requirement("REF-35")

_STAR = {
    "lib.py": "def load(): ...\ndef other(): ...\n",
    "use.py": "from lib import *\nload()\ndef early():\n    return load()\ndef load(): ...\nload()\n",
}


def test_a_star_s_name_is_used_until_the_module_has_its_own(tmp_path: Path) -> None:
    with repo(tmp_path, _STAR) as found:
        own = found.plan("use.py:5:5", "zz")
        assert found.applied(own.edits) == {
            "use.py": "from lib import *\nload()\ndef early():\n    return load()\ndef zz(): ...\nzz()\n"
        }
        assert found.proposed(own) == {"use.py:4:12": "ANCHORED"}
        brought = found.plan("lib.py:1:5", "zz")
        assert found.applied(brought.edits) == {
            "lib.py": "def zz(): ...\ndef other(): ...\n",
            "use.py": "from lib import *\nzz()\ndef early():\n    return load()\ndef load(): ...\nload()\n",
        }
        assert found.proposed(brought) == {"use.py:4:12": "ANCHORED"}


@pytest.mark.parametrize(
    ("use", "own", "last"),
    [
        ("def load(): ...\nfrom lib import *\nload()\n", "use.py:1:5", "use.py:3:1"),
        ("from lib import *\nif 1:\n    def load(): ...\nload()\n", "use.py:3:9", "use.py:4:1"),
    ],
)
def test_where_either_may_hold_both_are_proposed(tmp_path: Path, use: str, own: str, last: str) -> None:
    with repo(tmp_path, {"lib.py": _STAR["lib.py"], "use.py": use}) as found:
        assert found.proposed(found.plan("lib.py:1:5", "zz")) == {own: "ANCHORED", last: "ANCHORED"}
        assert found.proposed(found.plan(own, "zz")) == {last: "ANCHORED"}


@pytest.mark.parametrize(
    ("code", "tier"),
    [
        ("def f(p): ...\nf(p=1)\n", ""),
        ("def f(p): ...\ndef g(p): ...\nf = g\nf(p=1)\n", "ANCHORED"),
        ("def f(p): ...\ndef h():\n    global f\n    f = print\nf(p=1)\n", "ANCHORED"),
    ],
)
def test_an_argument_of_a_function_that_is_replaced_is_proposed(tmp_path: Path, code: str, tier: str) -> None:
    last = code.count("\n")
    with repo(tmp_path, {"a.py": code}) as found:
        assert found.proposed(found.plan("a.py:1:7", "zz")) == ({f"a.py:{last}:3": tier} if tier else {})


@pytest.mark.parametrize(
    ("use", "place"),
    [
        ("import lib as x\nx.f(p=1)\nfor x in (1,): ...\n", "use.py:2:5"),
        ("import lib, lib as x\nfor x in (1,): ...\nx.C(p=1)\n", "use.py:3:5"),
        ("from lib import C\nclass D:\n    def __init__(self, p): ...\nC(p=1)\nC = D\n", "use.py:4:3"),
    ],
)
def test_an_argument_of_one_of_several_things_is_proposed(tmp_path: Path, use: str, place: str) -> None:
    lib = "def f(p): ...\nclass C:\n    def __init__(self, p): ...\n"
    with repo(tmp_path, {"lib.py": lib, "use.py": use}) as found:
        draft = found.plan("lib.py:1:7" if ".f(" in use else "lib.py:3:24", "zz")
        assert found.proposed(draft) == {place: "ANCHORED"}


def test_a_class_and_a_function_of_one_name_are_either(tmp_path: Path) -> None:
    code = (
        "class A:\n    def m(self): ...\ndef made() -> A: ...\nmade().m()\n"
        "class made:\n    def m(self): ...\nmade().m()\n"
    )
    with repo(tmp_path, {"a.py": code}) as found:
        for place in ("a.py:2:9", "a.py:6:9"):
            assert found.proposed(found.plan(place, "zz")) == {"a.py:4:8": "ANCHORED", "a.py:7:8": "ANCHORED"}


def _aliased(found: Repo, place: str) -> dict[str, str]:
    target = alias_at(found.written.world(), place)
    assert target is not None
    return found.applied(found.planned(target, "zz").edits)


def test_an_alias_is_renamed_where_it_is_given(tmp_path: Path) -> None:
    files = {"lib.py": "def load(): ...\n", "use.py": "from lib import load as get\nget()\nx = {'get': get}\n"}
    with repo(tmp_path, files) as found:
        for place in ("use.py:1:25", "use.py:2:2"):
            assert _aliased(found, place) == {"use.py": "from lib import load as zz\nzz()\nx = {'get': zz}\n"}
        for place in ("use.py:1:17", "lib.py:1:5", "use.py:3:6", "get"):
            assert alias_at(found.written.world(), place) is None


def test_an_alias_that_is_bound_again_is_one_name(tmp_path: Path) -> None:
    files = {"lib.py": "def load(): ...\n", "use.py": "import lib as get\nget.load()\nfor get in (1,): print(get)\n"}
    with repo(tmp_path, files) as found:
        after = "import lib as zz\nzz.load()\nfor zz in (1,): print(zz)\n"
        assert _aliased(found, "use.py:1:15") == {"use.py": after}


def test_an_alias_that_others_take_is_refused(tmp_path: Path) -> None:
    files = {
        "lib.py": "def load(): ...\n",
        "use.py": "from lib import load as get\n",
        "more.py": "from use import get\nget()\n",
    }
    with repo(tmp_path, files) as found, pytest.raises(NotRefactorable, match=r"more\.py may take get"):
        alias_at(found.written.world(), "use.py:1:25")
