"""What a receiver is by everything that is assigned to it: one assignment among several says nothing for sure."""

import textwrap
from pathlib import Path

import pytest

from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

pytestmark = requirement("REF-32")

_TWO = "class Fake:\n    def meth(self): ...\nclass Other:\n    def meth(self): ...\n"
_MARK = "# here"


def _tier(tmp_path: Path, code: str, more: dict[str, str] | None = None, *, name: str = "a.py") -> str | None:
    """The tier of the one marked use of the method."""
    text = _TWO + textwrap.dedent(code)
    line = next(number for number, one in enumerate(text.split("\n"), 1) if _MARK in one)
    with written(tmp_path / "repo", {name: text, **(more or {})}) as repo:
        found = repo.uses(f"{name}:2:9")
    return next((tier for place, tier in found.items() if place.startswith(f"{name}:{line}:")), None)


@pytest.mark.parametrize(
    "second",
    [
        "if c: self.o = Other()",
        "self.o, self.p = Other(), 1",
        "for self.o in [Other()]: pass",
        "with Other() as self.o: pass",
        "self.o += Other()",
        "self.o = c",
    ],
)
def test_a_second_assignment_makes_the_first_a_guess(tmp_path: Path, second: str) -> None:
    code = f"""
    class Holder:
        def __init__(self, c):
            self.o = Fake()
            {second}
        def go(self):
            self.o.meth()  # here
    """
    assert _tier(tmp_path, code) == "ANCHORED"


@pytest.mark.parametrize(
    "second", ["self.o = Fake()", "self.o = None", "self.other = Other()", "print(self.o == Other())"]
)
def test_assignments_that_agree_are_sure(tmp_path: Path, second: str) -> None:
    code = f"""
    class Holder:
        def __init__(self, c):
            self.o = None
            self.o = Fake()
        def change(self):
            {second}
        def go(self):
            self.o.meth()  # here
    """
    assert _tier(tmp_path, code) == "STRONG"


def test_an_annotation_speaks_for_all_assignments(tmp_path: Path) -> None:
    code = """
    class Holder:
        def __init__(self, c):
            self.o: Fake = c.made()
        def change(self, c):
            self.o = c.made()
        def go(self):
            self.o.meth()  # here
    """
    assert _tier(tmp_path, code) == "STRONG"


@pytest.mark.parametrize(
    ("more", "tier"),
    [
        ("def change(x):\n    x.o = 5\n", "ANCHORED"),
        ("from a import Holder\nHolder().o = 5\n", "ANCHORED"),
        ("from a import Holder\nclass Sub(Holder):\n    def change(self):\n        self.o = 5\n", "ANCHORED"),
        ("from a import Holder\nclass Sub(Holder):\n    o = 5\n", "ANCHORED"),
        ("from a import Holder\nclass Sub(Holder):\n    @property\n    def o(self): ...\n", "ANCHORED"),
        ("def change(x):\n    setattr(x, 'o', 5)\n", "ANCHORED"),
        ("from a import Fake\ndef change(x):\n    x.o = Fake()\n", "STRONG"),
        ("class Unrelated:\n    def change(self):\n        self.o = 5\n", "STRONG"),
        ("class Unrelated: ...\nUnrelated().o = 5\n", "STRONG"),
        ("import json\njson.o = 5\ntext = 'x.o = 5'\n", "STRONG"),
    ],
)
def test_an_attribute_may_be_assigned_from_anywhere(tmp_path: Path, more: str, tier: str) -> None:
    code = """
    class Holder:
        def __init__(self):
            self.o = Fake()
        def go(self):
            self.o.meth()  # here
    """
    assert _tier(tmp_path, code, {"b.py": more}) == tier


def test_a_base_that_assigns_something_else_is_heard(tmp_path: Path) -> None:
    code = """
    class Base:
        def change(self):
            self.o = Other()
    class Holder(Base):
        def __init__(self):
            self.o = Fake()
        def go(self):
            self.o.meth()  # here
    """
    assert _tier(tmp_path, code) == "ANCHORED"


def test_what_others_make_is_heard_as_well(tmp_path: Path) -> None:
    code = """
    import json
    class Holder:
        def __init__(self):
            self.o = json.JSONDecoder()
        def change(self):
            self.o = Fake()
        def go(self):
            self.o.meth()  # here
    """
    assert _tier(tmp_path, code) == "ANCHORED"


def test_nobody_else_gets_hold_of_a_test(tmp_path: Path) -> None:
    code = """
    import unittest
    class HolderTests(unittest.TestCase):
        def setUp(self):
            self.o = Fake()
        def test_it(self):
            self.o.meth()  # here
    """
    more = {"b.py": "def change(x):\n    x.o = 5\n"}
    assert _tier(tmp_path, code, more, name="tests/test_a.py") == "STRONG"


@pytest.mark.parametrize(
    ("code", "tier"),
    [
        ("x = Fake()\ndef change():\n    global x\n    x = Other()\nx.meth()  # here\n", "ANCHORED"),
        ("x = Fake()\ndef use():\n    x.meth()  # here\n", "STRONG"),
        (
            "def f():\n    x = Fake()\n    def change():\n        nonlocal x\n        x = Other()\n"
            "    change()\n    x.meth()  # here\n",
            "ANCHORED",
        ),
        ("def f(x=Fake()):\n    x.meth()  # here\n", "ANCHORED"),
        ("def f(x: Fake = Fake()):\n    x.meth()  # here\n", "STRONG"),
        ("Fake = Other\nFake().meth()  # here\n", "ANCHORED"),
        (
            "class Sub(Fake):\n    def go(self, c):\n        if c: self = Other()\n        self.meth()  # here\n",
            "ANCHORED",
        ),
        ("import json\nx = json\nx = Fake()\nx.meth()  # here\n", "STRONG"),
    ],
)
def test_a_variable_that_others_set_is_a_guess(tmp_path: Path, code: str, tier: str) -> None:
    assert _tier(tmp_path, code) == tier


@pytest.mark.parametrize(
    ("code", "tier"),
    [
        ("a, b = Other(), Fake()\na.meth()  # here\n", None),
        ("a, b = Fake(), Other()\nb.meth()  # here\n", None),
        ("a, b = Other(), Fake()\nb.meth()  # here\n", "STRONG"),
    ],
)
def test_each_of_several_names_has_its_own_value(tmp_path: Path, code: str, tier: str | None) -> None:
    assert _tier(tmp_path, code) == tier


def test_a_module_s_variable_may_be_set_from_outside(tmp_path: Path) -> None:
    code = "x = Fake()\ndef use():\n    x.meth()  # here\n"
    assert _tier(tmp_path / "1", code, {"b.py": "import a\na.x = a.Other()\n"}) == "ANCHORED"
    assert _tier(tmp_path / "2", code, {"b.py": "import a\na.x = a.Fake()\na.y = 1\n"}) == "STRONG"


_MADE = "class Made(Fake{arguments}):\n    {body}\nMade().meth()  # here\n"


@pytest.mark.parametrize(
    ("arguments", "body", "tier"),
    [
        ("", "def __new__(cls): return Other()", "ANCHORED"),
        ("", "def __new__(cls): return super().__new__(cls)", "STRONG"),
        ("", "def __new__(cls):\n        one = object.__new__(cls)\n        return one", "STRONG"),
        (
            "",
            "def __new__(cls):\n        one = object.__new__(cls)\n        one = Other()\n        return one",
            "ANCHORED",
        ),
        (", metaclass=Meta", "pass", "ANCHORED"),
        (", metaclass=Plain", "pass", "STRONG"),
        (", metaclass=Through", "pass", "STRONG"),
        (", metaclass=made()", "pass", "ANCHORED"),
    ],
)
def test_calling_a_class_may_give_something_else(tmp_path: Path, arguments: str, body: str, tier: str) -> None:
    metas = (
        "class Meta(type):\n    def __call__(cls): return Other()\n"
        "class Plain(type):\n    def hello(cls): ...\n"
        "class Through(type):\n    def __call__(cls, *a): return super().__call__(*a)\n"
    )
    assert _tier(tmp_path, metas + _MADE.format(arguments=arguments, body=body)) == tier


@pytest.mark.parametrize(
    ("decorator", "tier"),
    [
        ("@dataclass", "STRONG"),
        ("@dataclass(frozen=True)\n# a comment\n@final", "STRONG"),
        ("@kept", "STRONG"),
        ("@made(1)", "STRONG"),
        ("@either", "STRONG"),
        ("@either(x=1)", "STRONG"),
        ("@swapped", "ANCHORED"),
        ("@rebound", "ANCHORED"),
        ("@handed", "ANCHORED"),
        ("@unknown.thing(\n    ')',\n)", "ANCHORED"),
    ],
)
def test_a_decorated_class_may_be_anything(tmp_path: Path, decorator: str, tier: str) -> None:
    functions = """
from dataclasses import dataclass
from functools import partial
from typing import final
import unknown
def kept(cls):
    def inner(): return 5
    return cls
def made(x):
    def inner(cls):
        return cls
    return inner
def either(cls=None, *, x=0):
    def inner(cls):
        return cls
    if cls is None:
        return partial(either, x=x)
    return inner(cls)
def swapped(cls): return Other
def rebound(cls):
    cls = Other
    return cls
def handed(cls): return kept(Other)
"""
    code = f"{functions}\n{decorator}\nclass Made(Fake): ...\nMade().meth()  # here\n"
    assert _tier(tmp_path, code) == tier


def test_a_subclass_of_what_is_swapped_is_a_guess(tmp_path: Path) -> None:
    code = (
        "def swapped(cls): return Other\n@swapped\nclass Base(Fake): ...\nclass Sub(Base): ...\nSub().meth()  # here\n"
    )
    assert _tier(tmp_path, code) == "ANCHORED"


def test_a_class_written_twice_is_one_of_the_two(tmp_path: Path) -> None:
    code = "if 1:\n    class Twice(Fake): ...\nelse:\n    class Twice(Other): ...\nTwice().meth()  # here\n"
    assert _tier(tmp_path, code) == "ANCHORED"
    text = "if 1:\n    class T:\n        def m(self): ...\nelse:\n    class T:\n        def m(self): ...\nT().m()\n"
    with written(tmp_path / "twice", {"a.py": text}) as repo:
        assert repo.uses("a.py:3:13")["a.py:7:5"] == "ANCHORED"


_SCRIPT = "class Fake { meth() {} }\nclass Other { meth() {} }\n"
_HOLDER = "class H {{ constructor() {{ this.o = new Fake(); {} }}\n go() {{ this.o.meth(); /*here*/ }} }}\n"


@pytest.mark.parametrize(
    ("code", "tier"),
    [
        (_HOLDER.format(""), "STRONG"),
        (_HOLDER.format("this.o = new Other();"), "ANCHORED"),
        (_HOLDER.format("") + "function f(h) { h.o = 1; }", "ANCHORED"),
        ("let v = new Fake();\nv.meth(); /*here*/", "STRONG"),
        ("let v = new Fake();\nv = new Other();\nv.meth(); /*here*/", "ANCHORED"),
        ("let v = new Fake();\nfunction f() { v = new Other(); }\nv.meth(); /*here*/", "ANCHORED"),
        ("let v = new Fake();\nfunction f(v) { v = new Other(); }\nv.meth(); /*here*/", "STRONG"),
        ("function f(o = new Fake()) {\n o.meth(); /*here*/ }", "ANCHORED"),
    ],
)
def test_javascript_s_assignments_have_to_agree_as_well(tmp_path: Path, code: str, tier: str) -> None:
    text = f"{_SCRIPT}{code}\n"
    line = next(number for number, one in enumerate(text.split("\n"), 1) if "/*here*/" in one)
    with written(tmp_path / "repo", {"a.js": text}) as repo:
        found = repo.uses("a.js:1:14")
    assert [tier for place, tier in found.items() if place.startswith(f"a.js:{line}:")] == [tier]
