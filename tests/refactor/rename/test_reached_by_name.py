"""Renames of what is reached by its name at run time: lazy modules, registries, mappings of arguments."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import NotRefactorable
from codeplane.refactor.draft import GRAVE
from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import repo

pytestmark = requirement("REF-40")
LAZY = (
    "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .thing import Thing\n\n\n"
    "def __getattr__(name):\n    if name == 'Thing':\n        from .thing import Thing\n\n"
    "        return Thing\n    raise AttributeError(name)\n"
)


def test_a_name_that_a_module_gives_by_its_text_is_proposed(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": LAZY, "pkg/thing.py": "class Thing:\n    pass\n", "use.py": "from pkg import Thing\n"}
    with repo(tmp_path, files) as found:
        draft = found.plan("pkg/thing.py:1:7", "Part")
        assert found.proposed(draft) == {"pkg/__init__.py:8:17": "UNKNOWN"}


@pytest.mark.parametrize(
    ("use", "place"),
    [
        ("methodcaller('total')(row)", "2:15"),
        ("sorted(rows, key=attrgetter('total'))", "2:30"),
        ("monkeypatch.setattr(row, 'total', None)", "2:27"),
    ],
)
def test_a_member_that_is_given_by_its_text_is_proposed(tmp_path: Path, use: str, place: str) -> None:
    files = {"a.py": "class Row:\n    def total(self):\n        return 1\n", "b.py": f"from a import Row\n{use}\n"}
    with repo(tmp_path, files) as found:
        assert found.proposed(found.plan("a.py:2:9", "sum_up")) == {f"b.py:{place}": "UNKNOWN"}


def test_arguments_that_another_function_passes_on_are_proposed(tmp_path: Path) -> None:
    files = {
        "a.py": "def f(size, depth=1):\n    return size\n\n\ndef wrap(**kw):\n    return f(**kw)\n",
        "b.py": "from a import f, wrap\n\nmore = dict(size=2)\nopts = {'size': 3}\nwrap(size=1)\n"
        "f(**more)\nf(**opts)\n",
        "c.py": "def other(**kw):\n    return kw\n\n\nother(size=1)\n",
    }
    with repo(tmp_path, files) as found:
        assert found.proposed(found.plan("a.py:1:7", "width")) == {
            "b.py:3:13": "UNKNOWN",
            "b.py:4:10": "UNKNOWN",
            "b.py:5:6": "ANCHORED",
        }


def test_a_constructor_whose_arguments_are_passed_on_is_followed(tmp_path: Path) -> None:
    files = {
        "a.py": "class Box:\n    def __init__(self, size=1):\n        self.x = size\n\n\n"
        "def make(**kw):\n    return Box(**kw)\n\n\nmake(size=2)\n"
    }
    with repo(tmp_path, files) as found:
        assert found.proposed(found.plan("a.py:2:24", "width")) == {"a.py:10:6": "ANCHORED"}


REGISTERED = "def register(f):\n    names[f.__name__] = f\n    return f\n\n\n@register\ndef handle():\n    return 1\n"


@pytest.mark.parametrize(
    ("files", "place", "kinds"),
    [
        ({"a.py": REGISTERED, "b.py": "names['handle']()\n"}, "a.py:7:5", {"registered"}),
        ({"a.py": REGISTERED}, "a.py:7:5", set[str]()),
        (
            {
                "a.py": "class Base:\n    def __init_subclass__(cls):\n        kinds[cls.__name__] = cls\n\n\n"
                "class Dog(Base):\n    pass\n\n\nkinds['Dog']()\n"
            },
            "a.py:6:7",
            {"registered"},
        ),
        (
            {
                "base.py": "class Own:\n    def do(self, kind):\n        return getattr(self, 'on_' + kind)()\n",
                "a.py": "from base import Own\n\n\nclass Mine(Own):\n    def on_start(self):\n        return 1\n",
            },
            "a.py:5:9",
            {"computed_name"},
        ),
        (
            {
                "base.py": "class Own:\n    def do(self, kind):\n        return getattr(self, 'off_' + kind)()\n",
                "a.py": "from base import Own\n\n\nclass Mine(Own):\n    def on_start(self):\n        return 1\n",
            },
            "a.py:5:9",
            set[str](),
        ),
    ],
)
def test_names_that_are_known_to_others_by_their_text_are_asked_about(
    tmp_path: Path, files: dict[str, str], place: str, kinds: set[str]
) -> None:
    with repo(tmp_path, files) as found:
        assert {danger.kind for danger in found.plan(place, "other").dangers} & GRAVE == kinds


@pytest.mark.parametrize("place", ["b.ts:2:34", "b.ts:3:28", "b.ts:3:34"])
def test_what_adds_to_a_declaration_elsewhere_keeps_its_name(tmp_path: Path, place: str) -> None:
    files = {
        "a.ts": "export class Circle {\n  r = 1\n}\n",
        "b.ts": "import './a'\ndeclare module './a' { interface Circle { grow(): void } }\n"
        "declare global { interface Array<T> { first(): T } }\n",
    }
    with repo(tmp_path, files) as found, pytest.raises(NotRefactorable, match="elsewhere"):
        found.plan(place, "Round")
