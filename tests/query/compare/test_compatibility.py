"""What breaks users and what does not, where it takes more than a look at one line."""

import pytest

from tests.interaction.requirements import requirement
from tests.query.compare.versions import changes_by_path, compared, compared_files, every

pytestmark = requirement("CMP-11")

OVERLOADED = (
    "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\n"
    "def f(a):\n    return a\n"
)
SCRIPTED = (
    "export function f(a: number): number;\nexport function f(a: string): string;\n"
    "export function f(a: any): any { return a; }\n"
)


@pytest.mark.parametrize("path", ["a.ts", "a.js", "a.tsx"])
@pytest.mark.parametrize(
    "line",
    ['import { x } from "./x";', 'import { x as y } from "./x";', 'import D from "./d";', 'import * as N from "n";'],
)
def test_an_import_is_not_passed_on(path: str, line: str) -> None:
    after = "export function f() { return 1; }\n"
    assert compared(path, f"{line}\n{after}", after) == []
    gone = compared(path, f"export function x() {{ return 1; }}\n{after}", f'import {{ x }} from "./x";\n{after}')
    assert changes_by_path(gone) == {"x": ("removed", True)}


def test_an_import_that_is_exported_is_passed_on() -> None:
    before = 'import { x } from "./x";\nexport { x };\nexport const y = 1;\n'
    assert changes_by_path(compared("a.ts", before, "export const y = 1;\n")) == {"x": ("removed", True)}
    kept = 'export { x } from "./z";\nexport const y = 1;\n'
    assert not any(one.breaking for one in every(compared("a.ts", before, kept)))


def test_a_name_that_comes_with_all_of_a_module_is_still_given() -> None:
    function = "export function total(a: number) {\n  const b = a * 2;\n  const c = b + a;\n  return b - c;\n}\n"
    before = {"a.ts": function, "b.ts": "export const x = 1;\n"}
    after = {"a.ts": 'export * from "./b";\n', "b.ts": f"export const x = 1;\n{function}"}
    assert not {one.pair.now.path: one for one in every(compared_files(before, after))}["total"].breaking
    after["a.ts"] = 'export * from "./other";\n'
    assert {one.pair.now.path: one for one in every(compared_files(before, after))}["total"].breaking


def test_what_the_default_is_called_is_nobodys_affair() -> None:
    body = "(a) {\n  const b = a * 2;\n  const c = b + a;\n  return b - c;\n}\n"
    (one,) = compared("a.js", f"export default function total{body}", f"export default function sum{body}")
    assert (one.change, one.breaking) == ("renamed", False)
    (one,) = compared("a.js", f"export function total{body}", f"export function sum{body}")
    assert one.breaking


CLASSES = {
    "dataclass": "@dataclass\nclass A:\n    x: int\n    y: int{}\n",
    "dataclass in brackets": "@dataclasses.dataclass(frozen=True)\nclass A:\n    x: int\n    y: int{}\n",
    "named tuple": "class A(NamedTuple):\n    x: int\n    y: int{}\n",
    "attrs": "@attrs.define\nclass A:\n    x: int\n    y: int{}\n",
    "pydantic": "class A(BaseModel):\n    x: int\n    y: int{}\n",
    "msgspec": "class A(msgspec.Struct):\n    x: int\n    y: int{}\n",
}


@pytest.mark.parametrize("text", CLASSES.values(), ids=CLASSES.keys())
def test_fields_that_have_to_be_given(text: str) -> None:
    with_default, without = text.format(" = 1"), text.format("")
    assert changes_by_path(compared("a.py", with_default, without)) == {"A.y": ("signature_changed", True)}
    assert changes_by_path(compared("a.py", without, with_default)) == {"A.y": ("signature_changed", False)}
    # A tuple is also taken apart, by however many it has.
    is_tuple = "NamedTuple" in text
    assert changes_by_path(compared("a.py", with_default, with_default + "    z: int = 2\n")) == {
        "A.z": ("added", is_tuple)
    }
    assert changes_by_path(compared("a.py", without, without + "    z: int\n")) == {"A.z": ("added", True)}


@pytest.mark.parametrize(
    ("line", "breaks"),
    [
        ("z: int = field(repr=False)", True),
        ("z: int = field(default=1)", False),
        ("z: list[int] = field(default_factory=list)", False),
        ("z: int = field(init=False)", False),
        ("z: ClassVar[int]", False),
        ("z: int = Field(...)", True),
        ("z: int = Field(default=...)", True),
        ("z: dict[str, int] = Field({})", False),
        ("z = 1", False),
    ],
)
def test_fields_that_say_more(line: str, breaks: bool) -> None:
    text = "@dataclass\nclass A:\n    x: int\n"
    (one,) = every(compared("a.py", text, f"{text}    {line}\n"))
    assert one.breaking == breaks


def test_fields_by_calls_alone() -> None:
    text = "@attr.s\nclass A:\n    x = attr.ib()\n    y = attr.ib({})\n"
    assert changes_by_path(compared("a.py", text.format("default=1"), text.format(""))) == {
        "A.y": ("signature_changed", True)
    }
    assert changes_by_path(compared("a.py", text.format(""), text.format("") + "    z = attr.ib()\n")) == {
        "A.z": ("added", True)
    }


def test_keys_that_may_be_missing() -> None:
    text = "class A(TypedDict{}):\n    x: int\n"
    assert changes_by_path(compared("a.py", text.format(""), text.format("") + "    y: int\n")) == {
        "A.y": ("added", True)
    }
    loose = text.format(", total=False")
    assert changes_by_path(compared("a.py", loose, loose + "    y: int\n")) == {"A.y": ("added", False)}
    assert not compared("a.py", text.format(""), text.format("") + "    y: NotRequired[int]\n")[0].is_broken


def test_fields_in_another_order() -> None:
    text = "@dataclass{}\nclass A:\n    x: int = 1\n{}    y: int = 2\n"
    added = compared("a.py", text.format("", ""), text.format("", "    z: int = 3\n"))
    assert changes_by_path(added) == {"A": ("signature_changed", True), "A.z": ("added", False)}
    named = "(kw_only=True)"
    assert changes_by_path(compared("a.py", text.format(named, ""), text.format(named, "    z: int = 3\n"))) == {
        "A.z": ("added", False)
    }
    swapped = "@dataclass\nclass A:\n    y: int = 2\n    x: int = 1\n"
    assert changes_by_path(compared("a.py", text.format("", ""), swapped)) == {"A": ("signature_changed", True)}
    plain = "class A:\n    x: int = 1\n    y: int = 2\n"
    assert compared("a.py", plain, "class A:\n    y: int = 2\n    x: int = 1\n") == []


def test_members_of_an_interface_that_have_to_be_there() -> None:
    text = "export interface A { x: string; y?: number }\n"
    assert changes_by_path(compared("a.ts", text, text.replace("y?", "y"))) == {"A.y": ("signature_changed", True)}
    assert changes_by_path(compared("a.ts", text, text.replace("}", "; z?: string }"))) == {"A.z": ("added", False)}
    assert changes_by_path(compared("a.ts", text, text.replace("}", "; z: string }"))) == {"A.z": ("added", True)}


@pytest.mark.parametrize("text", [OVERLOADED, SCRIPTED], ids=["python", "typescript"])
def test_overloads_are_one(text: str) -> None:
    path = "a.py" if text is OVERLOADED else "a.ts"
    word = "def" if text is OVERLOADED else "function"
    assert [(one.change, one.breaking) for one in every(compared(path, text, ""))] == [("removed", True)]
    assert [(one.change, one.breaking) for one in every(compared(path, "", text))] == [("added", False)]
    changed = compared(path, text, text.replace("(a", "(b, a"))
    assert [(one.change, one.breaking) for one in every(changed)] == [("signature_changed", True)]
    renamed = compared(path, text, text.replace(f"{word} f(", f"{word} g("))
    assert [(one.change, one.breaking) for one in every(renamed)] == [("renamed", True)]


def test_an_overload_more_or_less() -> None:
    less = OVERLOADED.replace("@overload\ndef f(a: str) -> str: ...\n", "")
    (one,) = every(compared("a.py", OVERLOADED, less))
    assert (one.change, one.breaking, one.why) == ("signature_changed", False, ("an overload less",))
    (one,) = every(compared("a.py", less, OVERLOADED))
    assert (one.change, one.breaking, one.why) == ("signature_changed", False, ("an overload more",))
    stub = OVERLOADED.partition("def f(a):")[0]
    (one,) = every(compared("a.pyi", stub, less.partition("def f(a):")[0]))
    assert one.breaking


def test_a_method_of_another_class_is_no_overload() -> None:
    text = "class A:\n    def f(self): return 1\n    x = 1\nclass B:\n    def f(self): return 2\n"
    assert changes_by_path(compared("a.py", text, text.replace("    def f(self): return 1\n", ""))) == {
        "A.f": ("removed", True)
    }


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("Exception", "ValueError", False),
        ("ValueError", "Exception", True),
        ("IOError", "OSError", False),
        ("Exception", "ValueError, KeyError", False),
        ("KeyError", "ValueError", True),
        ("object", "", False),
        ("Base", "Deeper", False),
        ("Deeper", "Base", True),
        ("Exception", "Own", False),
    ],
)
def test_another_base_that_is_the_old_one_too(before: str, after: str, breaks: bool) -> None:
    text = "class Base: pass\nclass Deeper(Base): pass\nclass Own(LookupError): pass\nclass A({}): pass\n"
    (one,) = compared("a.py", text.format(before), text.format(after))
    assert one.breaking == breaks


def test_a_name_that_hides_a_built_in_one_is_not_it() -> None:
    text = "from mine import ValueError\nclass A({}): pass\n"
    (one,) = compared("a.py", text.format("Exception"), text.format("ValueError"))
    assert one.breaking


def test_errors_in_scripts() -> None:
    text = "export class A extends {} {{}}\n"
    assert not compared("a.ts", text.format("Error"), text.format("TypeError"))[0].breaking
    assert compared("a.ts", text.format("TypeError"), text.format("Error"))[0].breaking


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("def f(a):\n    return [a]\n", "def f(a):\n    yield a\n", True),
        ("def f(a):\n    yield a\n", "def f(a):\n    return [a]\n", True),
        ("async def f(a):\n    return [a]\n", "async def f(a):\n    yield a\n", True),
        ("def f(a):\n    return [a]\n", "async def f(a):\n    return [a]\n", True),
        ("def f(a):\n    return [a]\n", "def f(a):\n    def g():\n        yield a\n    return list(g())\n", False),
        ("def f(a):\n    return [a]\n", 'def f(a):\n    "yield"\n    return ["yield"]  # yield\n', False),
        ("def f(a):\n    return Held(a)\n", "@contextmanager\ndef f(a):\n    yield a\n", False),
        ("def f(a) -> Iterator[A]:\n    return iter(a)\n", "def f(a) -> Iterator[A]:\n    yield from a\n", False),
    ],
)
def test_values_one_after_another(before: str, after: str, breaks: bool) -> None:
    assert [one.breaking for one in every(compared("a.py", before, after))] == [breaks]


def test_moved_under_its_name_or_another() -> None:
    body = (
        "(things):\n    found = 0\n    for one in things:\n        found += one.price * one.count\n    return found\n"
    )
    before = {"a.py": f"def total{body}X = 1\n", "b.py": "Y = 1\n"}
    (one,) = every(compared_files(before, {"a.py": "X = 1\n", "b.py": f"Y = 1\ndef total{body}"}))
    assert (one.change, one.tags) == ("moved", ["symbol_moved"])
    (one,) = every(compared_files(before, {"a.py": "X = 1\n", "b.py": f"Y = 1\ndef sums{body}"}))
    assert (one.change, one.tags) == ("renamed", ["symbol_renamed", "symbol_moved"])


def test_what_a_package_gives_away_of_its_private_modules_is_public() -> None:
    package = {"shop/__init__.py": "from ._api import get as fetch, put\nfrom ._inner import *\n"}
    before = package | {
        "shop/_api.py": "def get(a):\n    return a\n\n\ndef put(a):\n    return a\n\n\ndef own(a):\n    return a\n",
        "shop/_inner/__init__.py": "from .deep import held\n",
        "shop/_inner/deep.py": "def held(a):\n    return a\n\n\ndef kept(a):\n    return a\n",
    }
    after = {path: text.replace("(a)", "(a, b)") for path, text in before.items()}
    found = {one.pair.now.path: one.breaking for one in every(compared_files(before, after))}
    assert found == {"get": True, "put": True, "own": False, "held": True, "kept": False}


def test_a_name_that_a_package_still_gives_away_is_not_gone() -> None:
    before = {
        "shop/__init__.py": "from ._api import get, put\n\n__all__ = ['get', 'put']\n",
        "shop/_api.py": "def get(a):\n    return [a, a]\n\n\ndef put(a):\n    return {a: a}\n",
    }
    after = {
        "shop/__init__.py": "from ._more import *\nfrom ._api import *\n\n__all__ = ['get', 'put']\n",
        "shop/_api.py": "def get(a):\n    return [a, a]\n",
        "shop/_more.py": "def put(a):\n    return {a: a}\n",
    }
    assert changes_by_path(compared_files(before, after)) == {"put": ("moved", False)}


@pytest.mark.parametrize(
    ("after", "breaks"),
    [
        ("{ a: string; w?: boolean; m?: number }", False),
        ("{ a: string; w?: boolean; m: number }", True),
        ("{ a: string | string[]; w?: boolean }", False),
        ("{ a?: string; w?: boolean }", False),
        ("{ a: string; w: boolean }", True),
        ("{ a: number; w?: boolean }", True),
        ("{ a: string }", True),
        ("{ a: string; w?: boolean; m?: number } | string", False),
        ("{\n  a: string\n  w?: boolean\n  on?: (reason: string) => void\n}", False),
    ],
)
def test_what_a_parameter_that_is_an_object_takes(after: str, breaks: bool) -> None:
    texts = [f"export const f = (o: {one}) => o;\n" for one in ("{ a: string; w?: boolean }", after)]
    found = changes_by_path(compared("a.ts", *texts))
    assert found == {"f": ("signature_changed", breaks)}


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("() => void", "(reason: string) => void", False),
        ("(() => void) | false", "((reason: string) => void) | false", False),
        ("(a: A) => void", "(b: A, c: C) => void", False),
        ("(a: A) => void", "(a: A) => void | number", False),
        ("(a: A) => void", "() => void", True),
        ("(a: A) => void", "(a: B) => void", True),
        ("(a: A) => number", "(a: A) => string", True),
        ("(a?: A) => void", "(a: A) => void", False),
        ("(a: A) => void", "(a?: A) => void", True),
    ],
)
def test_a_function_that_is_passed_may_ignore_further_arguments(before: str, after: str, breaks: bool) -> None:
    for one in ("o: {}", "o: {{ on?: {} }}"):
        texts = [f"export const f = ({one.format(how)}) => o;\n" for how in (before, after)]
        assert changes_by_path(compared("a.ts", *texts)) == {"f": ("signature_changed", breaks)}


@pytest.mark.parametrize(("bases", "breaks"), [("", False), ("implements I ", False), ("extends A ", True)])
def test_a_constructor_without_parameters_is_there_without_being_written(bases: str, breaks: bool) -> None:
    before = f"export class C {bases}{{\n  constructor() {{ start(); }}\n  m() {{}}\n}}\n"
    found = changes_by_path(compared("a.ts", before, before.replace("  constructor() { start(); }\n", "")))
    assert found["C.constructor"] == ("removed", breaks)
