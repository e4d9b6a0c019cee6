"""Members that override each other: a decision with two whole plans."""

from pathlib import Path

import pytest

from codeplane.refactor.draft import GRAVE
from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import kinds, repo

SHAPES = {
    "a.py": (
        "class Shape:\n"
        "    def area(self): ...\n"
        "    def twice(self):\n"
        "        return self.area() * 2\n"
        "class Square(Shape):\n"
        "    def area(self):\n"
        "        return super().area()\n"
        "class Other:\n"
        "    def area(self): ...\n"
    ),
    "b.py": "from a import Square, Other\nSquare().area()\nOther().area()\ndef f(x):\n    x.area()\n",
}


@requirement("REF-05")
def test_an_override_is_a_choice_between_the_family_and_this_one(tmp_path: Path) -> None:
    with repo(tmp_path, SHAPES) as found:
        draft = found.plan("a.py:2:9", "size")
        assert draft.edits == ()
        family, alone = draft.candidates
        assert (family.id, alone.id) == ("family", "this_one")
        both, one = found.applied(family.edits), found.applied(alone.edits)
    assert both["a.py"].count("size") == 4
    assert both["b.py"].startswith("from a import Square, Other\nSquare().size()\nOther().area()\n")
    assert one["a.py"].count("size") == 3
    assert "b.py" not in one
    assert {capsule.type for capsule in draft.capsules} == {"scope_resolution"}
    text = SHAPES["a.py"]
    assert {(fact.path, fact.offset) for fact in draft.facts} == {
        ("a.py", text.index("area")),
        ("a.py", text.index("area", text.index("Square"))),
    }


@requirement("REF-05")
def test_without_overrides_there_is_nothing_to_choose(tmp_path: Path) -> None:
    with repo(tmp_path, SHAPES) as found:
        draft = found.plan("a.py:9:9", "size")
        assert draft.candidates == ()
        assert found.applied(draft.edits)["b.py"].count("size") == 1


@requirement("REF-05")
def test_a_mixin_that_shares_a_subclass_is_of_the_family(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "class Base:\n    def run(self): ...\n"
            "class Mixin:\n    def run(self):\n        super().run()\n"
            "class Both(Mixin, Base): ...\n"
        )
    }
    with repo(tmp_path, files) as found:
        family, _ = found.plan("a.py:2:9", "go").candidates
        assert found.applied(family.edits)["a.py"].count("def go") == 2


@requirement("REF-05")
def test_attributes_of_a_hierarchy_are_a_family_too(tmp_path: Path) -> None:
    files = {
        "a.py": (
            "class A:\n    def __init__(self):\n        self.x = 1\n"
            "class B(A):\n    def __init__(self):\n        self.x = 2\n        print(self.x)\n"
        )
    }
    with repo(tmp_path, files) as found:
        family, alone = found.plan("a.py:3:14", "y").candidates
        assert found.applied(family.edits)["a.py"].count(".y") == 3
        assert found.applied(alone.edits)["a.py"].count(".y") == 1


@requirement("REF-05")
def test_a_base_that_is_not_here_is_told(tmp_path: Path) -> None:
    files = {"a.py": "from lib import Group\nclass G(Group):\n    def command(self): ...\n"}
    with repo(tmp_path, files) as found:
        draft = found.plan("a.py:3:9", "order")
    assert "outside_base" in kinds(draft)
    assert draft.candidates == ()


@requirement("REF-05")
def test_what_a_class_implements_is_of_the_family(tmp_path: Path) -> None:
    files = {
        "a.ts": (
            "export interface Shape { area(): number }\n"
            "export class Square implements Shape {\n  area(): number { return 1 }\n}\n"
        ),
        "b.ts": "import { Shape } from './a'\nexport function f(x: Shape) { return x.area() }\n",
    }
    with repo(tmp_path, files) as found:
        family, _ = found.plan("a.ts:3:3", "size").candidates
        texts = found.applied(family.edits)
    assert texts["a.ts"].count("size") == 2
    assert "x.size()" in texts["b.ts"]


@requirement("REF-05")
def test_what_implements_a_protocol_without_naming_it_is_of_its_family(tmp_path: Path) -> None:
    files = {
        "p.py": (
            "from typing import Protocol\n"
            "class Reversal(Protocol):\n"
            "    def sides(self, x): ...\n"
            "    def other(self): ...\n"
        ),
        "e.py": "class Engine:\n    def sides(self, x): ...\n    def other(self): ...\n",
        "u.py": "from e import Engine\nfrom p import Reversal\ndef run(r: Reversal): r.sides(1)\nrun(Engine())\n",
        "shape.py": "class Shape:\n    def sides(self, x): ...\n",
        "apart.py": "class Apart:\n    def sides(self): ...\n    def other(self): ...\n",
    }
    for symbol in ("Reversal.sides", "Engine.sides"):
        with repo(tmp_path / symbol, files) as found:
            family, alone = found.plan(symbol, "edges").candidates
            after = found.applied(family.edits)
            assert sorted(after) == ["e.py", "p.py", "u.py"]
            assert "def edges(self, x)" in after["e.py"] and "def edges(self, x)" in after["p.py"]
            assert "r.edges(1)" in after["u.py"]
            assert "shape.py" not in found.applied(alone.edits)


_PROTOCOL = "from typing import Protocol\n"
_STRUCTURAL = {
    "inherits another member": (
        "class Base:\n    def other(self): ...\nclass Engine(Base):\n    def sides(self, x): ...\n",
        "Engine.sides",
    ),
    "is inherited by what has the others": (
        "class Engine:\n    def sides(self, x): ...\nclass Heir(Engine):\n    def other(self): ...\n",
        "Engine.sides",
    ),
    "is inherited by an heir of an heir": (
        "class Engine:\n    def sides(self, x): ...\nclass Middle(Engine): ...\n"
        "class Last(Middle):\n    def other(self): ...\n",
        "Engine.sides",
    ),
    "is given a function of another object": (
        "class Engine:\n    def __init__(self, at):\n        self.other = at.other\n    def sides(self, x): ...\n",
        "Engine.sides",
    ),
    "names its parameter otherwise": (
        "class Engine:\n    def sides(self, number): ...\n    def other(self): ...\n",
        "Engine.sides",
    ),
    "takes more than it has to": (
        "class Engine:\n    def sides(self, x, y=1, *, z=2): ...\n    def other(self): ...\n",
        "Engine.sides",
    ),
    "takes anything": (
        "class Engine:\n    def sides(self, *args, **named): ...\n    def other(self): ...\n",
        "Engine.sides",
    ),
}


@requirement("REF-05")
@pytest.mark.parametrize("case", _STRUCTURAL)
def test_a_protocol_is_of_the_family_of_a_class_that(case: str, tmp_path: Path) -> None:
    text, symbol = _STRUCTURAL[case]
    files = {
        "p.py": f"{_PROTOCOL}class Reversal(Protocol):\n    def sides(self, x): ...\n    def other(self): ...\n",
        "e.py": text,
        "u.py": "from p import Reversal\ndef run(r: Reversal): r.sides(1)\n",
    }
    for renamed in ("Reversal.sides", symbol):
        with repo(tmp_path / renamed, files) as found:
            family, _ = found.plan(renamed, "edges").candidates
            after = found.applied(family.edits)
        assert sorted(after) == ["e.py", "p.py", "u.py"], renamed
        assert after["e.py"].count("def edges(") == after["p.py"].count("def edges(") == 1


@requirement("REF-05")
def test_fields_and_properties_belong_to_the_protocol_that_asks_for_them(tmp_path: Path) -> None:
    files = {
        "p.py": (
            f"{_PROTOCOL}class Model(Protocol):\n    name: str\n"
            "    @property\n    def size(self) -> int: ...\n    def embed(self, text): ...\n"
        ),
        "m.py": (
            "class Static:\n    def __init__(self):\n        self.name = 'static'\n        self.size = 2\n"
            "    def embed(self, text): ...\n"
        ),
        "u.py": "from p import Model\ndef run(m: Model): print(m.size)\n",
    }
    for renamed in ("Model.size", "Static.size"):
        with repo(tmp_path / renamed, files) as found:
            family, _ = found.plan(renamed, "width").candidates
            after = found.applied(family.edits)
        assert "self.width = 2" in after["m.py"] and "def width(" in after["p.py"] and "m.width" in after["u.py"]


@requirement("REF-05")
def test_what_another_protocol_adds_is_asked_for_as_well(tmp_path: Path) -> None:
    files = {
        "p.py": (
            f"{_PROTOCOL}class Small(Protocol):\n    def other(self): ...\n"
            "class Large(Small, Protocol):\n    def sides(self, x): ...\n"
        ),
        "e.py": "class Engine:\n    def sides(self, x): ...\n",
    }
    with repo(tmp_path, files) as found:
        assert found.plan("Engine.sides", "edges").candidates == ()


@requirement("REF-05")
@pytest.mark.parametrize("text", ["def sides(self): ...", "def sides(self, x, y): ...", "sides = 1"])
def test_a_class_whose_member_cannot_be_used_as_the_protocol_asks_is_apart(text: str, tmp_path: Path) -> None:
    files = {
        "p.py": f"{_PROTOCOL}class Reversal(Protocol):\n    def sides(self, x): ...\n",
        "e.py": f"class Engine:\n    {text}\n",
    }
    with repo(tmp_path, files) as found:
        draft = found.plan("Engine.sides", "edges")
    assert draft.candidates == () and "structural_protocol" not in kinds(draft)


@requirement("REF-05")
def test_a_protocol_of_one_field_is_named_before_a_class_that_has_it_is_changed(tmp_path: Path) -> None:
    files = {
        "p.py": f"{_PROTOCOL}class Placed(Protocol):\n    path: str\n",
        "e.py": "class Hit:\n    path: str\nclass Other:\n    path: str\n",
    }
    for renamed, count, other in (("Hit.path", 1, "p.py"), ("Placed.path", 2, "e.py")):
        with repo(tmp_path / renamed, files) as found:
            draft = found.plan(renamed, "file")
        assert draft.candidates == ()
        (danger,) = [danger for danger in draft.dangers if danger.kind == "structural_protocol"]
        assert (danger.count, danger.path) == (count, other)
        assert "structural_protocol" in GRAVE


@requirement("REF-05")
def test_a_field_that_holds_a_function_belongs_to_the_protocol_that_asks_for_a_method(tmp_path: Path) -> None:
    files = {
        "p.py": f"{_PROTOCOL}class Reversal(Protocol):\n    def sides(self, x): ...\n    def other(self): ...\n",
        "e.py": (
            "class Engine:\n    def __init__(self, at):\n        self.sides = at.sides_of\n"
            "        self.other: Callable[[], int] = at.other_of\n"
        ),
    }
    for renamed in ("Reversal.sides", "Engine.sides"):
        with repo(tmp_path / renamed, files) as found:
            family, _ = found.plan(renamed, "edges").candidates
            after = found.applied(family.edits)
        assert "self.edges = at.sides_of" in after["e.py"] and "def edges(" in after["p.py"]
