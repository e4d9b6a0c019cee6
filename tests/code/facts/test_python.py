"""What is read from Python, the hard cases first."""

import pytest

from tests.code.facts.reading import bound, defined, exported, facts_of, imported, words
from tests.interaction.requirements import requirement


@requirement("FCT-12")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f():\n  def g():\n    class A: pass", ["function f", "function f.g", "class f.g.A"]),
        ("class A:\n  x = 1\n  y: int\n  a, b = 1, 2", ["class A", *(f"variable A.{n}" for n in "xyab")]),
        (
            "class A:\n  def __init__(self):\n    self.x = 1\n    self.p, self.q = 1, 2\n    self.x: int = 2",
            ["class A", "method A.__init__", "field A.x", "field A.p", "field A.q"],
        ),
        ("class A:\n  x = 1\n  def f(self): self.x = 2", ["class A", "variable A.x", "method A.f"]),
        ("def f(self): self.x = 1", ["function f"]),
        (
            "class A:\n  @property\n  def p(self): ...\n  @p.setter\n  def p(self, v): ...",
            ["class A", *["method A.p"] * 2],
        ),
        ("if x:\n  def f(): ...\nelse:\n  def f(): ...", ["function f", "function f"]),
        ("try:\n  import a\nexcept ImportError:\n  a = None", ["variable a"]),
        ("async def f(): ...\nLIMIT = 3\nfor i in z: pass", ["function f", "constant LIMIT", "variable i"]),
        ("type Alias[T] = list[T]\ndef g[T](): ...\nclass A[T]: ...", ["type Alias", "function g", "class A"]),
    ],
)
def test_definitions(text: str, found: list[str]) -> None:
    assert defined("python", text) == found


@requirement("FCT-12")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "def f(a, /, b=1, *args: T, c: int = 1, **kw): pass",
            ["f DEF_IN_SCOPE file", *(f"{name} PARAM function<file" for name in ("a", "b", "args", "c", "kw"))],
        ),
        ("f(lambda a=1, *b, **c: a)", [f"{name} PARAM lambda<file" for name in "abc"]),
        ("[w := i for i in z]", ["w LOCAL_ASSIGN file", "i LOCAL_ASSIGN comprehension<file"]),
        (
            "def f():\n  [w := i for i in z]",
            ["f DEF_IN_SCOPE file", "w LOCAL_ASSIGN function<file", "i LOCAL_ASSIGN comprehension<function<file"],
        ),
        (
            "def f():\n  global a\n  nonlocal b",
            ["f DEF_IN_SCOPE file", "a GLOBAL function<file", "b NONLOCAL function<file"],
        ),
        ("for a, (b, *c) in z: pass", [f"{name} LOCAL_ASSIGN file" for name in "abc"]),
        ("with x as a, y as (b, c): pass", [f"{name} LOCAL_ASSIGN file" for name in "abc"]),
        (
            "match s:\n  case [a, *b] | {'k': c, **d}: pass\n  case C(e, k=f) as g: pass\n  case X.Y | 3 | _: pass",
            [f"{name} LOCAL_ASSIGN file" for name in "abcdefg"],
        ),
        (
            "def g[T, *Ts, **P](a: list[T]): ...",
            ["g DEF_IN_SCOPE file", *(f"{n} PARAM function<file" for n in ("T", "Ts", "P", "a"))],
        ),
        ("class A[T: X](B[T]): ...", ["A DEF_IN_SCOPE file", "T PARAM type<file"]),
        ("a: list[int] = b[c]\nd.e = f[0] = 1", ["a LOCAL_ASSIGN file"]),
        ("import a.b, c.d as e", ["a IMPORT_ALIAS file", "e IMPORT_ALIAS file"]),
    ],
)
def test_bindings(text: str, found: list[str]) -> None:
    assert bound("python", text) == found


@requirement("FCT-12")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import a.b", [("python_import", "a.b", "", "a")]),
        ("import a.b as c", [("python_import", "a.b", "", "c")]),
        ("from .m import x, y as z", [("python_from", ".m", "x", "x"), ("python_from", ".m", "y", "z")]),
        ("from . import (a,\n  b)", [("python_from", ".", "a", "a"), ("python_from", ".", "b", "b")]),
        ("from a import *", [("python_from", "a", "*", "*")]),
        ("from __future__ import annotations", []),
    ],
)
def test_imports(text: str, found: list[tuple[str, str, str, str]]) -> None:
    assert imported("python", text) == found
    assert facts_of("python", text).star is ("*" in text)


@requirement("FCT-12")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("__all__ = ['a', 'b']", "ab"),
        ("__all__ = ('a', 'b')", "ab"),
        ("__all__: list[str] = ['a']", "a"),
        ("__all__ += ('a',)\n__all__ += ['b']", "ab"),
        ("__all__ = ['a'] + other.__all__", "a"),
        ("__all__.append('a')\n__all__.extend(['b', 'c'])", "abc"),
        ("everything = ['a']\nother.extend(['b'])", ""),
    ],
)
def test_exports(text: str, found: str) -> None:
    assert exported("python", text) == [(name, name, "", "all") for name in found]


@requirement("FCT-12")
def test_text_and_labels() -> None:
    text = "f(key=value, *star)  # note\ng(f'said {told!r:>{width}} {f\"{inner}\"}', b'raw', '''doc''')"
    assert words("python", text) == {"f", "value", "star", "g", "told", "width", "inner"}


@requirement("FCT-12")
def test_what_is_read_outside_the_function() -> None:
    text = "def f(a: A, b: B = C, *, d=D) -> R:\n  return [e for e in E for g in G]"
    facts = facts_of("python", text)
    outer = {name for name in "ABCDERGae" if facts.in_outer(text.rindex(name))}
    assert outer == set("ABCDER")


def test_names_reached_at_run_time() -> None:
    facts = facts_of("python", "getattr(a, 'b'); getattr(a, c); eval(d); importlib.import_module('e')")
    assert [(one.pattern, one.literal) for one in facts.dynamic] == [
        ("getattr", "b"),
        ("getattr", None),
        ("eval", None),
        ("import_module", "e"),
    ]
