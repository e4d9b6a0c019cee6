"""A Python module is what it is imported as, wherever its file is, and gives what its text says it gives."""

import pytest

from tests.interaction.requirements import requirement
from tests.query.compare.versions import compared, compared_files, every

pytestmark = requirement("CMP-12")
PACKAGE = {
    "shop/__init__.py": "from .prices import price\n",
    "shop/prices.py": "CURRENCY = 'EUR'\n\n\ndef price(item):\n    return 1\n\n\ndef total(items):\n    return 0\n",
}


def breaks(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {change.pair.now.name for change in every(compared_files(before, after)) if change.breaking}


def test_a_package_may_move_to_another_folder() -> None:
    moved = {f"src/{path}": text for path, text in PACKAGE.items()}
    assert breaks(PACKAGE, moved) == set()
    assert breaks(moved, PACKAGE) == set()
    moved["src/shop/prices.py"] = moved["src/shop/prices.py"].replace("price(item)", "price(item, currency)")
    assert breaks(PACKAGE, moved) == {"price"}
    moved["src/shop/prices.py"] = "def price(item):\n    return 1\n"
    assert breaks(PACKAGE, moved) == {"CURRENCY", "total"}


def test_a_module_may_become_a_package() -> None:
    split = {"shop/__init__.py": PACKAGE["shop/__init__.py"], "shop/prices/__init__.py": PACKAGE["shop/prices.py"]}
    assert breaks(PACKAGE, split) == set()
    split["shop/prices/sums.py"] = "def total(items):\n    return 0\n"
    split["shop/prices/__init__.py"] = (
        "from .sums import total\n\nCURRENCY = 'EUR'\n\n\ndef price(item):\n    return 1\n"
    )
    assert breaks(PACKAGE, split) == set()


def test_a_package_of_another_name_is_another() -> None:
    renamed = {path.replace("shop/", "store/"): text for path, text in PACKAGE.items()}
    assert {"price", "total"} <= breaks(PACKAGE, renamed)


@pytest.mark.parametrize(
    ("after", "lost"),
    [
        (
            "def __getattr__(name):\n    if name == 'VERSION':\n        return load()\n    raise AttributeError\n",
            False,
        ),
        (
            "_LAZY = {'VERSION': '.about'}\n\n\ndef __getattr__(name):\n    if name in _LAZY:\n        return load()\n",
            False,
        ),
        ("def __getattr__(name):\n    if name == 'VERSION':\n        raise AttributeError('it is gone')\n", True),
        ("def __getattr__(name):\n    if name == 'OTHER':\n        return load()\n", True),
        ("class Lazy:\n    def __getattr__(self, name):\n        if name == 'VERSION':\n            return 1\n", True),
    ],
)
def test_names_that_a_module_gives_when_they_are_asked_for(after: str, lost: bool) -> None:
    changes = every(compared("shop/about.py", "VERSION = 1\n", after))
    assert any(change.breaking for change in changes) == lost


@pytest.mark.parametrize(
    ("condition", "lost"),
    [("if t.TYPE_CHECKING:", False), ("if TYPE_CHECKING:  # pragma: no cover", False), ("if sys.platform:", True)],
)
def test_imports_for_type_checkers_are_not_passed_on(condition: str, lost: bool) -> None:
    text = f"from .prices import price\n\n{condition}\n    from .till import Till\n\nNAME = 1\n"
    changes = every(compared("shop/__init__.py", text, "from .prices import price\n\nNAME = 1\n"))
    assert any(change.breaking for change in changes) == lost


SCAFFOLD = "class Scaffold:\n    pass\n"
MIDDLE = "from .scaffold import Scaffold\n\n\nclass App(Scaffold):\n    pass\n"


@pytest.mark.parametrize(
    ("before", "after", "middle", "lost"),
    [
        ("from .scaffold import Scaffold", "from .middle import App", MIDDLE, False),
        (
            "from .middle import Scaffold",
            "from .middle import App",
            SCAFFOLD + "\n\nclass App(Scaffold):\n    pass\n",
            False,
        ),
        ("from .scaffold import Scaffold", "from .middle import App", MIDDLE.replace("(Scaffold)", ""), True),
        ("from .scaffold import Scaffold", "from .middle import App", MIDDLE.replace(".scaffold", "other"), True),
    ],
)
def test_a_base_that_another_file_passes_on_is_still_one(before: str, after: str, middle: str, lost: bool) -> None:
    old = {"shop/app.py": f"{before}\n\n\nclass Flask(Scaffold):\n    pass\n"}
    new = {"shop/app.py": f"{after}\n\n\nclass Flask(App):\n    pass\n", "shop/middle.py": middle}
    assert bool(breaks(old, new)) == lost


@pytest.mark.parametrize(
    ("before", "old", "after", "new", "lost"),
    [
        (
            "import typing as t",
            "t.Mapping[str, str]",
            "from collections.abc import Mapping",
            "Mapping[str, int]",
            False,
        ),
        ("import typing", "typing.Mapping", "import collections.abc", "collections.abc.Mapping", False),
        ("import typing", "typing.Mapping", "from .own import Mapping", "Mapping", True),
        ("import typing", "typing.Mapping", "from collections.abc import Sequence", "Sequence", True),
    ],
)
def test_generic_bases_of_two_modules_are_the_same(before: str, old: str, after: str, new: str, lost: bool) -> None:
    texts = [f"{line}\n\n\nclass Jar({base}): ...\n" for line, base in ((before, old), (after, new))]
    assert any(change.breaking for change in every(compared("jar.py", *texts))) == lost


def test_a_decorator_of_ones_own_makes_a_property() -> None:
    text = "class Page:\n    @locked_cached_property\n    def title(self):\n        return 1\n"
    changes = every(compared("page.py", text, text.replace("locked_cached", "cached")))
    assert not any(change.breaking for change in changes)
    changes = every(compared("page.py", text, text.replace("    @locked_cached_property\n", "")))
    assert any(change.breaking for change in changes)


def test_a_set_of_lazy_names_may_go_over_several_lines() -> None:
    after = (
        "class _Parser: ...\n\n\ndef __getattr__(name):\n    import warnings\n\n    if name in {\n        'Parser',\n"
        "        'Other',\n    }:\n        return globals()['_' + name]\n    raise AttributeError(name)\n"
    )
    assert not any(change.breaking for change in every(compared("shop/parser.py", "class Parser: ...\n", after)))


def test_members_of_a_class_that_goes_out_of_sight_are_not_named_beside_it() -> None:
    text = "class Parser:\n    def parse(self): ...\n\n    def close(self): ...\n"
    changes = every(compared("parser.py", text, text.replace("Parser", "_Parser")))
    assert [change.pair.now.path for change in changes if change.breaking] == ["_Parser"]


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("from typing import Protocol", True),
        ("from typing_extensions import Protocol", True),
        ("from asyncio import Protocol", False),
    ],
)
def test_not_every_base_called_protocol_asks_for_members(line: str, asks: bool) -> None:
    text = f"{line}\n\n\nclass Link(Protocol):\n    def open(self): ...\n"
    changes = every(compared("link.py", text, text + "\n    def close(self): ...\n"))
    assert any(change.breaking for change in changes) == asks
    text = text.replace("(Protocol)", "(t.Protocol)").replace(
        line, "import asyncio as t" if not asks else "import typing as t"
    )
    changes = every(compared("link.py", text, text + "\n    def close(self): ...\n"))
    assert any(change.breaking for change in changes) == asks


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("(self, __cmd)", "(self, cmd, /)", False),
        ("(self, __cmd)", "(self, __other)", False),
        ("(self, __cmd)", "(self, *, cmd)", True),
        ("(self, __cmd__)", "(self, cmd)", True),
        ("(self, cmd)", "(self, __cmd)", True),
    ],
)
def test_a_parameter_may_say_by_its_name_that_it_has_none(before: str, after: str, breaks: bool) -> None:
    text = "class Context:\n    def forward{}: ...\n"
    changes = every(compared("context.py", text.format(before), text.format(after)))
    assert any(change.breaking for change in changes) == breaks


@pytest.mark.parametrize(
    ("parameters", "breaks"),
    [("items, label=None, hidden=False, eta=True", True), ("items, label=None, eta=True", False)],
)
def test_a_function_that_got_overloads_is_called_as_they_are_implemented(parameters: str, breaks: bool) -> None:
    before = "def bar(items, label=None, eta=True): ...\n"
    after = (
        "from typing import overload\n\n\n@overload\ndef bar(*, label: str): ...\n\n\n@overload\n"
        f"def bar({parameters}) -> int: ...\n\n\ndef bar({parameters}): ...\n"
    )
    assert any(change.breaking for change in every(compared("bar.py", before, after))) == breaks


def test_a_module_with_a_stub_may_become_a_package_without() -> None:
    before = {**PACKAGE, "shop/prices.pyi": "def price(item: str) -> int: ...\ndef total(items: list) -> int: ...\n"}
    after = {
        "shop/__init__.py": PACKAGE["shop/__init__.py"],
        "shop/prices/__init__.py": "from .sums import total as total\n\nCURRENCY = 'EUR'\n\n\ndef price(item): ...\n",
        "shop/prices/sums.py": "def total(items):\n    return 0\n",
    }
    assert breaks(before, after) == set()


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("__setitem__ = calls('x')", "def __setitem__(self, key, value): ...", False),
        ("def __getattr__(self, _): ...", "def __getattr__(self, name): ...", False),
        ("def __getitem__(self, key): ...", "def __getitem__(self, key, more): ...", True),
        ("def __call__(self, key): ...", "def __call__(self, name): ...", True),
        ("size = 1", "def size(self): ...", True),
    ],
)
def test_what_the_interpreter_calls_is_called_by_place(before: str, after: str, breaks: bool) -> None:
    text = "class Page:\n    {}\n"
    changes = every(compared("page.py", text.format(before), text.format(after)))
    assert any(change.breaking for change in changes) == breaks
