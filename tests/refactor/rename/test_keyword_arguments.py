"""Parameters and fields: the calls that name them as arguments."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import NameTaken, NotRefactorable
from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import kinds, repo

CALLS = {
    "a.py": (
        "class Shape:\n"
        "    def __init__(self, size, *, name=''):\n"
        "        self.size = size\n"
        "    @classmethod\n"
        "    def make(cls):\n"
        "        return cls(size=1)\n"
        "    def grow(self, by, size=2):\n"
        "        return self.grow(by=by, size=(size))\n"
        "class Square(Shape):\n"
        "    def __init__(self):\n"
        "        super().__init__(size=3, name=')')\n"
        "class Round(Shape): ...\n"
        "def free(size): ...\n"
        "def go(thing):\n"
        "    Shape(name='(', size=4)\n"
        "    Round(size=5)\n"
        "    free(size=6)\n"
        "    thing.grow(size=7)\n"
        "    thing(size=8)\n"
    ),
    "b.py": "from a import Shape as S, free as f\nS(\n    1 if f(size=1) else 2,\n    size=9,\n)\n",
}


@requirement("REF-07")
def test_a_constructor_s_parameter_changes_where_it_is_made_or_called(tmp_path: Path) -> None:
    with repo(tmp_path, CALLS) as found:
        files = found.after("a.py:2:24", "width")
    assert files["b.py"] == "from a import Shape as S, free as f\nS(\n    1 if f(size=1) else 2,\n    width=9,\n)\n"
    text = files["a.py"]
    assert "def __init__(self, width, *, name=''):\n        self.size = width\n" in text
    assert "cls(width=1)" in text
    assert "super().__init__(width=3, name=')')" in text
    assert "Shape(name='(', width=4)" in text
    assert "Round(width=5)" in text
    assert text.count("width") == 6


@requirement("REF-07")
def test_a_function_s_parameter_changes_at_its_own_calls(tmp_path: Path) -> None:
    with repo(tmp_path, CALLS) as found:
        files = found.after("a.py:13:10", "width")
    assert files["b.py"] == "from a import Shape as S, free as f\nS(\n    1 if f(width=1) else 2,\n    size=9,\n)\n"
    assert files["a.py"].count("width") == 2


@requirement("REF-07")
def test_a_method_s_parameter_is_proposed_where_the_receiver_is_unknown(tmp_path: Path) -> None:
    with repo(tmp_path, CALLS) as found:
        draft = found.plan("a.py:7:24", "width")
        assert "return self.grow(by=by, width=(width))" in found.applied(draft.edits)["a.py"]
        assert found.proposed(draft) == {"a.py:18:16": "ANCHORED"}


@requirement("REF-07")
def test_overloads_share_their_parameters(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "from typing import overload\n"
            "@overload\ndef f(x: int) -> int: ...\n"
            "@overload\ndef f(x: str) -> str: ...\n"
            "def f(x): return x\n"
            "f(x=1)\n"
        )
    }
    with repo(tmp_path, files) as found:
        assert found.after("a.py:6:7", "y")["a.py"].count("y") == files["a.py"].count("y") + 5


@requirement("REF-07")
def test_fields_of_dataclasses_are_arguments_too(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "from dataclasses import dataclass\nfrom typing import NamedTuple\n"
            "@dataclass(frozen=True)\nclass P:\n    left: int\n    right: int = 0\n"
            "class Q(P): ...\n"
            "class T(NamedTuple):\n    left: int\n"
            "P(left=1)\nQ(left=2).left\nT(left=3)\n"
        )
    }
    with repo(tmp_path, files) as found:
        text = found.after("a.py:5:5", "start")["a.py"]
        assert text.endswith("P(start=1)\nQ(start=2).start\nT(left=3)\n")
        assert found.after("a.py:9:5", "start")["a.py"].endswith("P(left=1)\nQ(left=2).left\nT(start=3)\n")


OVERRIDING = (
    "class A:\n    def f(self, x): ...\n    def __init__(self, x): ...\n"
    "class B(A):\n    def f(self, x): return x\n    def __init__(self, x): ...\n"
    "class C(A):\n    def f(self, other): ...\n"
    "class D:\n    def f(self, x): ...\n"
    "A(1).f(x=1)\nB(1).f(x=2)\nC(1).f(other=3)\nD().f(x=4)\n"
)


def test_a_parameter_of_overriding_methods_is_a_choice(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": OVERRIDING}) as found:
        draft = found.plan("a.py:2:17", "y")
        assert draft.edits == ()
        family, alone = draft.candidates
        assert (family.id, alone.id) == ("family", "this_one")
        assert found.applied(family.edits)["a.py"] == (
            OVERRIDING.replace("A:\n    def f(self, x)", "A:\n    def f(self, y)")
            .replace("f(self, x): return x", "f(self, y): return y")
            .replace("f(x=1)", "f(y=1)")
            .replace("f(x=2)", "f(y=2)")
        )
        assert found.applied(alone.edits)["a.py"] == (
            OVERRIDING.replace("A:\n    def f(self, x)", "A:\n    def f(self, y)").replace("f(x=1)", "f(y=1)")
        )
        assert {(fact.path, fact.offset) for fact in draft.facts} == {
            ("a.py", OVERRIDING.index("x): ...")),
            ("a.py", OVERRIDING.index("x): return")),
        }
        assert not found.plan("a.py:3:24", "y").candidates
        assert not found.plan("a.py:2:11", "this").candidates


def test_a_parameter_that_another_has_already_is_refused(tmp_path: Path) -> None:
    files = {"a.py": "class A:\n    def f(self, x): ...\nclass B(A):\n    def f(self, x, y=1): ...\n"}
    with repo(tmp_path, files) as found, pytest.raises(NameTaken):
        found.plan("a.py:2:17", "y")


@requirement("REF-07")
def test_overriding_methods_keep_their_parameters_and_are_told(tmp_path: Path) -> None:
    more = "".join(f"class B{number}(A):\n    def f(self, x): ...\n" for number in range(50))
    with repo(tmp_path, {"a.py": f"class A:\n    def f(self, x): ...\n{more}"}) as found:
        draft = found.plan("a.py:2:17", "y")
        assert found.applied(draft.edits)["a.py"].count("y") == 1
    assert "overriding_parameter" in kinds(draft)


def test_an_argument_that_is_given_already_refuses(tmp_path: Path) -> None:
    files = {"a.py": "def f(x, **more): ...\nf(x=1, y=2)\n"}
    with repo(tmp_path, files) as found, pytest.raises(NameTaken):
        found.plan("a.py:1:7", "y")


def test_what_tests_ask_for_by_name_is_not_a_parameter_to_rename(tmp_path: Path) -> None:
    files = {
        "tests/conftest.py": "import pytest\n@pytest.fixture\ndef client(): ...\n",
        "tests/test_a.py": "def test_it(client):\n    client()\n",
    }
    with repo(tmp_path, files) as found, pytest.raises(NotRefactorable):
        found.plan("tests/test_a.py:1:13", "other")


def test_a_fixture_and_those_who_ask_for_it_are_a_choice(tmp_path: Path) -> None:
    files = {
        "tests/conftest.py": (
            "import pytest\n@pytest.fixture\ndef client(): ...\n@pytest.fixture\ndef page(client): return client\n"
        ),
        "tests/test_a.py": "def test_it(client):\n    client()\ndef helper(client): ...\n",
        "tests/near/conftest.py": "import pytest\n@pytest.fixture\ndef client(): ...\n",
        "tests/near/test_b.py": "def test_it(client): ...\n",
        "other/test_c.py": "def test_it(client): ...\n",
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("tests/conftest.py:3:5", "browser")
        family, alone = draft.candidates
        assert found.applied(family.edits) == {
            "tests/conftest.py": files["tests/conftest.py"].replace("client", "browser"),
            "tests/test_a.py": "def test_it(browser):\n    browser()\ndef helper(client): ...\n",
        }
        assert list(found.applied(alone.edits)) == ["tests/conftest.py"]
    assert draft.edits == ()
    assert "fixture" in kinds(draft)


def test_branches_share_a_parameter_only_where_calls_name_it(tmp_path: Path) -> None:
    branches = "import sys\nif sys.argv:\n    def f(x): return x\nelse:\n    def f(x): return x\n"
    with repo(tmp_path, {"a.py": branches}) as found:
        assert found.after("a.py:3:11", "y")["a.py"].count("y") == branches.count("y") + 2
    with repo(tmp_path / "second", {"a.py": branches + "f(x=1)\n"}) as found:
        assert found.after("a.py:3:11", "y")["a.py"].count("y") == branches.count("y") + 5


def test_what_cannot_be_named_in_a_call_is_not(tmp_path: Path) -> None:
    files = {"a.py": "def f(a, /, *rest, **more):\n    return more\nf(1, more=2, a=3)\n"}
    with repo(tmp_path, files) as found:
        assert found.after("a.py:1:22", "m")["a.py"].endswith("f(1, more=2, a=3)\n")
        assert found.after("a.py:1:7", "b")["a.py"].endswith("f(1, more=2, a=3)\n")


INDIRECT = """import functools
from functools import partial
def f(aa, *, bb=1): ...
@functools.wraps(f)
def w(*a, **k): return f(*a, **k)
w(1, bb=2)
g = f
g(1, bb=3)
p = functools.partial(f, bb=4)
p(1, bb=5)
run(f, 1, bb=6)
def own(func, bb): ...
own(f, bb=7)
def partial(func, bb): ...
partial(f, bb=8)
other(1, bb=9)
"""


def test_calls_through_other_names_are_proposed(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": INDIRECT}) as found:
        draft = found.plan("a.py:3:14", "zz")
        assert found.applied(draft.edits)["a.py"] == INDIRECT.replace("bb=1", "zz=1").replace("bb=4", "zz=4")
        assert found.proposed(draft) == dict.fromkeys(["a.py:6:6", "a.py:8:6", "a.py:10:6", "a.py:11:11"], "ANCHORED")


HANDED_ON = """import asyncio
class Pool:
    def warm(self, *, single=False): ...
async def fill(pool):
    await asyncio.to_thread(pool.held.warm, single=True)
    await asyncio.to_thread(pool.held.cool, single=True)
"""


def test_a_method_that_an_unknown_receiver_hands_on_is_proposed(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": HANDED_ON}) as found:
        draft = found.plan("a.py:3:23", "alone")
        assert found.applied(draft.edits)["a.py"] == HANDED_ON.replace("single=False", "alone=False")
        assert found.proposed(draft) == {"a.py:5:45": "ANCHORED"}


CALLED = """class A:
    def __init__(self, aa=1): ...
    def __call__(self, bb): ...
    def __init_subclass__(cls, flag=0): ...
class B(A, flag=1): ...
class C(B, flag=2): ...
class D(A, metaclass=M, flag=3): ...
class E: ...
class F(E, flag=4): ...
A()(bb=2)
A(
    aa=(1)
)(bb=3)
E()(bb=4)
make()(bb=5)
"""


def test_what_is_made_and_called_takes_the_name(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": CALLED}) as found:
        draft = found.plan("a.py:3:24", "zz")
        assert found.applied(draft.edits)["a.py"] == (
            CALLED.replace("self, bb", "self, zz").replace("bb=2", "zz=2").replace("bb=3", "zz=3")
        )
        assert found.proposed(draft) == {"a.py:15:8": "ANCHORED"}


def test_the_heading_of_a_class_names_what_its_base_takes(tmp_path: Path) -> None:
    with repo(tmp_path, {"a.py": CALLED}) as found:
        draft = found.plan("a.py:4:32", "zz")
        assert found.applied(draft.edits)["a.py"] == (
            CALLED.replace("cls, flag", "cls, zz").replace("flag=1", "zz=1").replace("flag=2", "zz=2")
        )
        assert found.proposed(draft) == {"a.py:7:25": "ANCHORED"}


def test_arguments_of_a_decorated_class_are_proposed(tmp_path: Path) -> None:
    code = "@unknown\nclass A:\n    def __init__(self, aa): ...\nA(aa=1)\n"
    with repo(tmp_path, {"a.py": code}) as found:
        draft = found.plan("a.py:3:24", "zz")
        assert found.proposed(draft) == {"a.py:4:3": "ANCHORED"}


def test_what_a_subclass_passes_on_is_proposed(tmp_path: Path) -> None:
    code = (
        "class A:\n    def __init__(self, aa=1): ...\n"
        "class B(A):\n    def __init__(self, bb=1, **more): super().__init__(**more)\n"
        "class C(A):\n    def __init__(self, aa=2): ...\n"
        "B(aa=1)\nC(aa=2)\n"
    )
    with repo(tmp_path, {"a.py": code}) as found:
        draft = found.plan("a.py:2:24", "zz")
        assert found.applied(draft.edits)["a.py"] == code.replace("self, aa=1", "self, zz=1")
        assert found.proposed(draft) == {"a.py:7:3": "ANCHORED"}


def test_calls_of_a_named_lambda_are_proposed(tmp_path: Path) -> None:
    code = "lam = lambda aa, bb=2: aa + bb\nlam(aa=1, bb=2)\nother(bb=3)\n"
    with repo(tmp_path, {"a.py": code}) as found:
        draft = found.plan("a.py:1:18", "zz")
        assert found.applied(draft.edits)["a.py"].startswith("lam = lambda aa, zz=2: aa + zz\nlam(aa=1, bb=2)\n")
        assert found.proposed(draft) == {"a.py:2:11": "ANCHORED"}


@requirement("REF-07")
def test_fields_of_other_classes_are_not_asked_about_and_copies_are_followed(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "from dataclasses import dataclass, replace\n"
            "@dataclass\n"
            "class Query:\n"
            "    said: tuple = ()\n"
            "def again(query: Query):\n"
            "    return replace(query, said=(1,))\n"
        ),
        "b.py": (
            "from dataclasses import dataclass, replace\n"
            "@dataclass\n"
            "class Spent:\n"
            "    said: str\n"
            "    @classmethod\n"
            "    def of(cls, text):\n"
            "        return cls(said=text)\n"
            "def make(spent: Spent):\n"
            "    return Spent(said=''), replace(spent, said='')\n"
        ),
        "c.py": "def unknown(make):\n    return make(said=1)\n",
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("Query.said", "conditions")
        assert found.applied(draft.edits) == {
            "a.py": files["a.py"].replace("said", "conditions"),
        }
        assert found.proposed(draft) == {"c.py:2:17": "UNKNOWN"}


@requirement("REF-07")
def test_fields_of_classes_that_build_on_outside_packages_are_not_asked_about(tmp_path: Path) -> None:
    files = {
        "a.py": "from dataclasses import dataclass\n@dataclass\nclass Query:\n    said: tuple = ()\n",
        "b.py": (
            "from pydantic import BaseModel\n"
            "from elsewhere.here import *\n"
            "class Answer(BaseModel):\n    said: str\n"
            "class Odd(pick()):\n    said: str\n"
            "Answer(said='')\n"
            "Odd(said='')\n"
        ),
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("Query.said", "conditions")
        assert found.applied(draft.edits) == {"a.py": files["a.py"].replace("said", "conditions")}
        # What `pick` gives may build on Query.
        assert found.proposed(draft) == {"b.py:8:5": "UNKNOWN"}
