"""Members through what Python's text says of a value: returns, copies, the binding that reaches a use, bases."""

from pathlib import Path

import pytest

from codeplane.code.entity import Module
from codeplane.code.resolve.resolver import Resolver
from tests.code.resolve.written import written
from tests.interaction.requirements import requirement

CLASS = "class A:\n    def run(self): ...\n    def same(self) -> 'A': ...\nclass B:\n    def run(self): ...\n"


def _tier_of(tmp_path: Path, code: str, mark: str = "run()  # here") -> str | None:
    """The tier of the marked use of `A.run` in a file beside the class."""
    files = {"a.py": CLASS, "use.py": f"from a import A, B\n{code}"}
    text = files["use.py"]
    at = text.index(mark)
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    with written(tmp_path / "repo", files) as repo:
        return repo.uses("a.py:2:9").get(f"use.py:{line}:{column}")


@requirement("SRC-20")
@pytest.mark.parametrize(
    "code",
    [
        "def made() -> A: ...\nmade().run()  # here\n",
        "def made() -> 'A | None': ...\nx = made()\nx.run()  # here\n",
        "A().same().run()  # here\n",
        "class H:\n    @property\n    def a(self) -> A: ...\n    def f(self):\n        self.a.run()  # here\n",
        "class H:\n    def __init__(self, a: A):\n        self.a = a\n    def f(self):\n        self.a.run()  # here\n",
        "def f(a: A):\n    b = a\n    b.run()  # here\n",
        "def f(x):\n    x = A()\n    if x:\n        x.run()  # here\n    x = B()\n",
        "def f(x):\n    x = B()\n    x.run()\n    x = A()\n    with x:\n        x.run()  # here\n",
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass C(A, Generic[T]): ...\nC().run()  # here\n",
        "from other import Unseen\nclass C(A, Unseen): ...\nC().run()  # here\n",
    ],
)
def test_what_is_written_is_strong(tmp_path: Path, code: str) -> None:
    assert _tier_of(tmp_path, code) == "STRONG"


@requirement("SRC-20")
@pytest.mark.parametrize(
    "code",
    [
        "from lib import changed\n@changed\ndef made() -> A: ...\nmade().run()  # here\n",
        "async def made() -> A: ...\nx = made()\nx.run()  # here\n",
        "def f(x, c):\n    x = B()\n    if c:\n        x = A()\n    x.run()  # here\n",
        "def f(x, c):\n    if c: x = A()\n    x.run()  # here\n",
        "def f(x):\n    x = A()\n    while x:\n        x.run()  # here\n        x = B()\n",
        "from other import Unseen\nclass C(Unseen, A): ...\nC().run()  # here\n",
        "f = lambda x: A\ng = lambda y: y.run()  # here\n",
        "a = b\nb = a\na.run()  # here\n",
    ],
)
def test_what_may_be_otherwise_is_not(tmp_path: Path, code: str) -> None:
    assert _tier_of(tmp_path, code) == "ANCHORED"


@requirement("SRC-20")
def test_the_other_class_is_certainly_another(tmp_path: Path) -> None:
    assert _tier_of(tmp_path, "def f(x):\n    x = A()\n    x = B()\n    x.run()  # here\n") is None


@requirement("SRC-20")
def test_a_base_s_annotation_speaks_for_what_a_subclass_assigns(tmp_path: Path) -> None:
    code = (
        "from lib import Group\n"
        "class Base:\n    a: Group\n"
        "class Sub(Base):\n    def __init__(self):\n        self.a = A()\n"
        "Sub().a.run()  # here\n"
    )
    assert _tier_of(tmp_path, code) == "ANCHORED"


@requirement("SRC-20")
def test_a_module_that_is_found_by_its_name_alone_is_a_guess(tmp_path: Path) -> None:
    files = {
        "deep/apps/thing/__init__.py": "def go(): ...\n",
        "tests/test_it.py": "from thing import go\ngo()\n",
        "deep/apps/other.py": "from thing import go\n",
        "one/src/lib_one/__init__.py": "def start(): ...\n",
        "one/tests/test_one.py": "from lib_one import start\n",
    }
    with written(tmp_path / "repo", files) as repo:
        assert repo.uses("go") == {
            "deep/apps/other.py:1:19": "STRONG",
            "deep/apps/thing/__init__.py:1:5": "PROVEN",
            "tests/test_it.py:1:19": "ANCHORED",
            "tests/test_it.py:2:1": "ANCHORED",
        }
        assert repo.uses("start")["one/tests/test_one.py:1:21"] == "STRONG"


@requirement("SRC-20")
def test_private_names_are_found_with_their_sign(tmp_path: Path) -> None:
    files = {"a.js": "class A {\n  #size = 1\n  get() { return this.#size }\n}\n"}
    with written(tmp_path / "repo", files) as repo:
        assert list(repo.uses("a.js:2")) == ["a.js:2:3", "a.js:3:23"]


def test_the_path_of_an_import_is_a_module(tmp_path: Path) -> None:
    code = "from p.m import x\nimport p.m as y, p\nif 1: from . import z\n"
    with written(tmp_path / "repo", {"p/__init__.py": "", "p/m.py": "x = 1\n", "a.py": code}) as repo:
        resolver = Resolver(repo.world())
        assert resolver.at("a.py", code.index("m import"), "m").entities == (Module("p/m.py"),)
        assert resolver.at("a.py", code.index("p.m import"), "p").entities == (Module("p/__init__.py"),)
        assert resolver.at("a.py", code.index("m as"), "m").entities == (Module("p/m.py"),)
