"""Renames in Python: what is applied, and that nothing else is."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import kinds, repo


@requirement("REF-02")
def test_a_function_is_renamed_through_imports_and_exports_and_aliases_stay(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .core import helper\n__all__ = ['helper']\n",
        "pkg/core.py": "__all__ = [\n    'helper',\n]\ndef helper():\n    return f'{helper()} helper'\n",
        "app.py": (
            "import pkg\nfrom pkg import helper as h\nfrom pkg.core import *\n"
            "h()\npkg.helper()\nhelper()\nprint('helper')  # helper\n"
        ),
        "other.py": "from elsewhere import helper\nhelper()\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("pkg/core.py:4:5", "aid") == {
            "app.py": (
                "import pkg\nfrom pkg import aid as h\nfrom pkg.core import *\n"
                "h()\npkg.aid()\naid()\nprint('helper')  # helper\n"
            ),
            "pkg/__init__.py": "from .core import aid\n__all__ = ['aid']\n",
            "pkg/core.py": "__all__ = [\n    'aid',\n]\ndef aid():\n    return f'{aid()} helper'\n",
        }


@requirement("REF-02")
def test_a_redundant_alias_goes_along(tmp_path: Path) -> None:
    files = {"a.py": "def f(): ...\n", "b.py": "from a import f as f\nf()\n", "c.py": "from b import f\nf()\n"}
    with repo(tmp_path, files) as found:
        assert found.after("a.py:1:5", "g") == {
            "a.py": "def g(): ...\n",
            "b.py": "from a import g as g\ng()\n",
            "c.py": "from b import g\ng()\n",
        }


@requirement("REF-02")
def test_another_alias_that_is_spelled_alike_stays(tmp_path: Path) -> None:
    files = {
        "a.py": "def f(): ...\n",
        "b.py": "from a import f as hidden\n",
        "c.py": "from b import hidden as f\nf()\n",
        "d.py": "from c import f\nimport c\nf()\nc.f()\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.py:1:5", "g") == {"a.py": "def g(): ...\n", "b.py": "from a import g as hidden\n"}


@requirement("REF-02")
def test_a_fallback_import_keeps_working_under_the_new_name(tmp_path: Path) -> None:
    files = {
        "a.py": "try:\n    from fast import f\nexcept ImportError:\n    def f(): ...\nf()\n",
        "b.py": "try:\n    from a import f\nexcept ImportError:\n    from slow import f\nf()\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.py:4:9", "g") == {
            "a.py": "try:\n    from fast import f as g\nexcept ImportError:\n    def g(): ...\ng()\n",
            "b.py": "try:\n    from a import g\nexcept ImportError:\n    from slow import f as g\ng()\n",
        }


@requirement("REF-02")
def test_branches_that_define_it_twice_are_one_symbol(tmp_path: Path) -> None:
    files = {"a.py": "import sys\nif sys.argv:\n    def f(): ...\nelse:\n    def f(): ...\nf()\n"}
    with repo(tmp_path, files) as found:
        assert found.after("a.py:3:9", "g") == {
            "a.py": "import sys\nif sys.argv:\n    def g(): ...\nelse:\n    def g(): ...\ng()\n"
        }


@requirement("REF-02")
def test_a_local_variable_and_its_closures_are_renamed_and_nothing_else(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "x = 1\n"
            "def outer(y):\n"
            "    x = y\n"
            "    def inner():\n"
            "        nonlocal x\n"
            "        x += 1\n"
            "        return [x for x in range(x)]\n"
            "    return x, inner, dict(x=1)\n"
            "print(x)\n"
        )
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.py:3:5", "total") == {
            "a.py": (
                "x = 1\n"
                "def outer(y):\n"
                "    total = y\n"
                "    def inner():\n"
                "        nonlocal total\n"
                "        total += 1\n"
                "        return [x for x in range(total)]\n"
                "    return total, inner, dict(x=1)\n"
                "print(x)\n"
            )
        }


def test_a_property_and_its_setter_belong_together(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "class A:\n"
            "    @property\n"
            "    def size(self):\n"
            "        return 1\n"
            "    @size.setter\n"
            "    def size(self, value):\n"
            "        self._size = value\n"
            "a = A()\n"
            "a.size = a.size + 1\n"
        )
    }
    with repo(tmp_path, files) as found:
        text = found.after("a.py:3:9", "width")["a.py"]
    assert "@width.setter" in text
    assert "a.width = a.width + 1" in text
    assert text.count("width") == 5
    assert "_size" in text


def test_annotations_in_quotes_and_type_comments_follow(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "from typing import Literal, cast\n"
            "class Node:\n"
            "    parent: 'Node | None' = None\n"
            "    def up(self, other: \"list[Node]\") -> 'Node': ...\n"
            "    kind: Literal['Node'] = 'Node'\n"
            "def f(x):\n"
            "    # type: (Node) -> Node\n"
            "    return cast('Node', x)\n"
        )
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("a.py:2:7", "Leaf")
        assert found.applied(draft.edits)["a.py"] == (
            "from typing import Literal, cast\n"
            "class Leaf:\n"
            "    parent: 'Leaf | None' = None\n"
            "    def up(self, other: \"list[Leaf]\") -> 'Leaf': ...\n"
            "    kind: Literal['Node'] = 'Node'\n"
            "def f(x):\n"
            "    # type: (Leaf) -> Leaf\n"
            "    return cast('Node', x)\n"
        )
        assert found.proposed(draft) == {"a.py:8:18": "UNKNOWN"}
        assert "in_strings" in kinds(draft)


def test_the_stub_beside_a_module_follows(tmp_path: Path) -> None:
    files = {
        "a.py": "class A:\n    def run(self, fast=1): ...\nclass B:\n    def run(self): ...\n",
        "a.pyi": (
            "class A:\n    def run(self, fast: int = ...) -> None: ...\nclass B:\n    def run(self) -> None: ...\n"
        ),
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.py:2:9", "go") == {
            "a.py": "class A:\n    def go(self, fast=1): ...\nclass B:\n    def run(self): ...\n",
            "a.pyi": (
                "class A:\n    def go(self, fast: int = ...) -> None: ...\nclass B:\n    def run(self) -> None: ...\n"
            ),
        }
        assert found.after("a.py:2:19", "quick")["a.pyi"].startswith("class A:\n    def run(self, quick: int")


def test_names_for_run_time_are_proposed_with_the_reason(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/core.py": (
            "class A:\n    def run(self): ...\n"
            "def go(a, key):\n    getattr(a, 'run')()\n    getattr(a, key)\n    a.run()\n"
        ),
        "test_core.py": "from unittest.mock import patch\n@patch('pkg.core.A.run')\ndef test_it(run): ...\n",
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("pkg/core.py:2:9", "start")
        assert found.proposed(draft) == {
            "pkg/core.py:4:17": "UNKNOWN",
            "pkg/core.py:6:7": "ANCHORED",
            "test_core.py:2:20": "UNKNOWN",
        }
        assert {"dynamic_access", "public_api"} <= kinds(draft)
        assert all(edit.why for edit in draft.edits)


def test_a_mangled_member_is_not_the_subclass_own(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "class A:\n    def __go(self): ...\n    def run(self):\n        self.__go()\n"
            "class B(A):\n    def run2(self):\n        self.__go()\n"
        )
    }
    with repo(tmp_path, files) as found:
        text = found.after("a.py:2:9", "__start")["a.py"]
    assert text.count("__start") == 2
    assert text.endswith("self.__go()\n")


def test_files_with_syntax_errors_stop_nothing_and_are_named(tmp_path: Path) -> None:
    files = {"a.py": "def f(): ...\n", "broken.py": "from a import f\ndef (:\n  f(\n", "b.py": "from a import f\n"}
    with repo(tmp_path, files) as found:
        draft = found.plan("a.py:1:5", "g")
    assert draft.coverage.unparsed == ("broken.py",)
    assert {"a.py", "b.py"} <= {edit.path for edit in draft.edits if edit.tier in ("PROVEN", "STRONG")}


def test_time_that_is_up_is_said(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": "def f(): ...\nf()\n"}) as found:
        assert "time was up" in found.plan("a.py:1:5", "g", seconds=-1.0).coverage.truncated


def test_a_global_statement_means_the_module_s_name(tmp_path: Path) -> None:
    files = {"a.py": "c = 1\ndef f():\n    global c\n    c = 2\n    return c\nprint(c)\n"}
    with repo(tmp_path, files) as found:
        for place in ("1:1", "3:12", "4:5", "5:12"):
            assert found.after(f"a.py:{place}", "total")["a.py"].count("total") == 5


def test_a_class_reads_the_name_of_its_module_until_it_has_its_own(tmp_path: Path) -> None:
    text = "x = 1\nclass B:\n    y = x\n    x = x\n    z = x\nprint(x, B.x)\n"
    with repo(tmp_path, {"a.py": text}) as found:
        assert found.after("a.py:1:1", "outer") == {
            "a.py": "outer = 1\nclass B:\n    y = outer\n    x = outer\n    z = x\nprint(outer, B.x)\n"
        }
        assert found.after("a.py:4:5", "own") == {
            "a.py": "x = 1\nclass B:\n    y = x\n    own = x\n    z = own\nprint(x, B.own)\n"
        }


def test_a_module_in_a_package_is_not_pythons_own(tmp_path: Path) -> None:
    files = {
        "pj/__init__.py": "",
        "pj/util.py": "from json import loads\n",
        "pj/json.py": "def loads(x): return 0\n",
        "uj.py": "import pj.util as u\nu.loads('3')\n",
    }
    with repo(tmp_path, files) as found:
        assert found.after("pj/json.py:1:5", "parse") == {"pj/json.py": "def parse(x): return 0\n"}


def test_a_pattern_names_attributes_and_no_parameters(tmp_path: Path) -> None:
    text = (
        "class M:\n    px = 9\n    def __init__(self, px): self.py = px\nmatch M(px=1):\n    case M(px=q): print(q)\n"
    )
    with repo(tmp_path, {"a.py": text}) as found:
        after = found.after("a.py:3:24", "given")["a.py"]
        assert "M(given=1)" in after
        assert "case M(px=q)" in after


def test_the_path_of_a_module_is_no_name(tmp_path: Path) -> None:
    code = (
        "import lib9, lib9 as x\nimport os, \\\n    lib9 as y\nfrom lib9 import val\n"
        "if 1: from lib9 import val as v\nprint(lib9.val)\nfor lib9 in [1]: print(lib9)\n"
    )
    with repo(tmp_path, {"a.py": code, "lib9.py": "val = 1\n"}) as found:
        assert found.after("a.py:7:5", "zz") == {
            "a.py": (
                "import lib9 as zz, lib9 as x\nimport os, \\\n    lib9 as y\nfrom lib9 import val\n"
                "if 1: from lib9 import val as v\nprint(zz.val)\nfor zz in [1]: print(zz)\n"
            )
        }


def test_a_relative_module_is_no_member(tmp_path: Path) -> None:
    files = {
        "p/__init__.py": "from .lib9 import val\nfrom . import lib9\n",
        "p/lib9.py": "val = 1\n",
        "p/a.py": "class A:\n    def lib9(self): ...\n",
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("p/a.py:2:9", "zz")
        assert [edit.path for edit in draft.edits] == ["p/a.py"]


MANGLED = (
    "class A:\n"
    "    __x = 1\n"
    "    def __init__(self): self.__y = 2\n"
    "    def get(self, other): return self.__x, self.__y, self._A__y, other.__x\n"
    "class B(A):\n"
    "    __x = 3\n"
    "    def get2(self, what): return self.__x, self._A__x, what._A__x\n"
    "class Other: ...\n"
    "print(A()._A__x, B()._B__x, getattr(A, '_A__x'), Other()._A__x)\n"
)


def test_a_class_s_own_name_changes_where_it_is_spelled_out(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": MANGLED}) as found:
        draft = found.plan("a.py:2:5", "__zz")
        assert not draft.candidates
        assert found.applied(draft.edits)["a.py"] == (
            MANGLED.replace("__x = 1", "__zz = 1")
            .replace("return self.__x, self.__y", "return self.__zz, self.__y")
            .replace("other.__x", "other.__zz")
            .replace("self._A__x", "self._A__zz")
            .replace("what._A__x", "what._A__zz")
            .replace("A()._A__x", "A()._A__zz")
        )
        assert found.proposed(draft) == {"a.py:9:41": "UNKNOWN"}
        freed = found.plan("a.py:3:30", "free")
        assert "self.free = 2" in found.applied(freed.edits)["a.py"]
        assert "self.__x, self.free, self.free" in found.applied(freed.edits)["a.py"]


def test_a_subclass_s_own_name_is_another(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": MANGLED}) as found:
        after = found.after("a.py:6:5", "__zz")["a.py"]
    assert after == MANGLED.replace("__x = 3", "__zz = 3").replace(
        "return self.__x, self._A__x", "return self.__zz, self._A__x"
    ).replace("_B__x", "_B__zz")


def test_a_class_takes_the_spelling_of_its_own_names_along(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": MANGLED}) as found:
        after = found.after("a.py:1:7", "_Zed")["a.py"]
    assert "self._Zed__y" in after
    assert "self._Zed__x, what._Zed__x" in after
    assert "_Zed()._Zed__x, B()._B__x, getattr(_Zed, '_A__x'), Other()._A__x" in after


def test_of_two_classes_with_one_name_the_spelling_is_proposed(tmp_path: Path) -> None:
    more = "class _A:\n    __x = 1\ndef f(x):\n    return x._A__x\n"
    with repo(tmp_path, {"a.py": MANGLED, "b.py": more}) as found:
        draft = found.plan("a.py:2:5", "__zz")
        assert found.proposed(draft)["b.py:4:14"] == "ANCHORED"
        assert "b.py" not in found.applied(draft.edits)


SLOTS = (
    "class S:\n"
    "    __slots__ = ('aa', \"bb\")\n"
    "    def __init__(self): self.aa = 1; self.bb = 'aa'\n"
    "class T(S):\n"
    "    __slots__ = {'cc': 'aa'}\n"
    "    __match_args__ = ['cc']\n"
    "    def __init__(self): self.cc = 1; self.aa = 2\n"
    "class U:\n"
    "    __slots__ = 'dd'\n"
    "    def __init__(self): self.dd = 1\n"
    "class V:\n"
    "    __slots__ = make('ee', aa='aa')\n"
    "    def __init__(self): self.ee = 1\n"
    "def f(t):\n"
    "    match t:\n"
    "        case T(cc=1): ...\n"
)


def test_attributes_that_a_class_lists_change_there(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": SLOTS}) as found:
        assert "__slots__ = ('aa', \"zz\")" in found.after("a.py:3:43", "zz")["a.py"]
        after = found.after("a.py:7:30", "zz")["a.py"]
        assert "{'zz': 'aa'}\n    __match_args__ = ['zz']" in after
        assert "case T(zz=1)" in after
        assert "__slots__ = 'zz'" in found.after("a.py:10:30", "zz")["a.py"]


def test_what_may_not_be_an_entry_is_proposed(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": SLOTS}) as found:
        draft = found.plan("a.py:13:30", "zz")
        assert found.proposed(draft) == {"a.py:12:23": "UNKNOWN"}
        family = next(candidate for candidate in found.plan("a.py:3:30", "zz").candidates if candidate.id == "family")
        after = found.applied(family.edits)["a.py"]
    assert "('zz', \"bb\")" in after
    assert "self.bb = 'aa'" in after
    assert "{'cc': 'aa'}" in after


def test_what_may_be_a_module_of_the_package_is_proposed(tmp_path: Path) -> None:
    files = {
        "lib/__init__.py": "sub = 'shadow'\nfrom .sub import val\n",
        "lib/sub.py": "val = 9\n",
        "main.py": "import lib\nfrom lib import sub\nprint(sub.val, lib.sub.val)\n",
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("lib/__init__.py:1:1", "zz")
        assert set(found.applied(draft.edits)) == {"lib/__init__.py"}
        assert set(found.proposed(draft).values()) == {"ANCHORED"}


@requirement("REF-02")
def test_types_in_quotes_of_an_alias_are_renamed_and_keys_are_not(tmp_path: Path) -> None:
    text = (
        "import typing as t\n"
        "from collections.abc import Callable\n"
        "class Crew: ...\n"
        'Work = Callable[["Crew", "list[Crew]"], None]\n'
        'Pair = t.Union["Crew", None]\n'
        'TABLE = {"Crew": 1}\n'
        'plain = TABLE["Crew"]\n'
        't.Literal["Crew"]\n'
    )
    with repo(tmp_path, {"a.py": text}) as found:
        assert found.after("Crew", "Team")["a.py"] == (
            "import typing as t\n"
            "from collections.abc import Callable\n"
            "class Team: ...\n"
            'Work = Callable[["Team", "list[Team]"], None]\n'
            'Pair = t.Union["Team", None]\n'
            'TABLE = {"Crew": 1}\n'
            'plain = TABLE["Crew"]\n'
            't.Literal["Crew"]\n'
        )


@requirement("REF-02")
def test_a_file_that_writes_marks_of_generated_files_is_none(tmp_path: Path) -> None:
    text = 'NOTE = "<!-- Generated by make; do not edit. -->"\ndef f(): ...\nf()\n'
    with repo(tmp_path, {"a.py": text}) as found:
        assert found.after("a.py:2:5", "g") == {"a.py": text.replace("f()", "g()")}


@requirement("REF-02")
def test_a_variable_of_a_comprehension_inside_another_is_its_own(tmp_path: Path) -> None:
    files = {
        "a.py": "def part(): ...\n",
        "b.py": "x = {n: w for n, w in (part.split('=') for part in text)}\n",
        "c.py": "def f(x=lambda: [part for part in x]): ...\n",
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("a.py:1:5", "piece")
        assert found.proposed(draft) == {}
        assert found.applied(draft.edits) == {"a.py": "def piece(): ...\n"}
