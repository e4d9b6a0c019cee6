"""What users of classes and functions of Python still have, however it is written."""

import pytest

from codeplane.code.languages.python.library_classes import PythonBuiltins
from tests.interaction.requirements import requirement
from tests.query.compare.versions import changes_by_path, compared, compared_files, every

pytestmark = requirement("CMP-12")


def breaks(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {change.pair.now.path for change in every(compared_files(before, after)) if change.breaking}


@pytest.mark.parametrize(
    ("name", "member", "expected"),
    [
        ("io.RawIOBase", "readline", True),
        ("io.RawIOBase", "readable_size", False),
        ("dict", "__iter__", True),
        ("object", "__init_subclass__", True),
        ("object", "__repr__", True),
        ("object", "__eq__", False),
        ("object", "__call__", False),
        ("dict", "__init__", False),
        ("os.path", "join", False),
        ("antigravity.Flight", "geohash", False),
    ],
)
def test_members_of_library_classes(name: str, member: str, expected: bool) -> None:
    assert PythonBuiltins().has_member(name, member) is expected


def test_a_class_keeps_what_the_library_gives_it() -> None:
    before = (
        "import io\n\n\nclass Limited(io.IOBase):\n"
        "    def readline(self):\n        return b''\n\n    def left(self):\n        return 1\n"
    )
    after = "import io\n\n\nclass Limited(io.RawIOBase):\n    size = 1\n"
    assert breaks({"shop/io.py": before}, {"shop/io.py": after}) == {"Limited.left"}
    assert breaks({"shop/io.py": before}, {"shop/io.py": "class Limited:\n    size = 1\n"}) == {
        *("Limited", "Limited.left", "Limited.readline")
    }


def test_a_base_may_stand_behind_a_variable() -> None:
    before = "import collections.abc\n\n\nclass Headers(collections.abc.MutableMapping):\n    pass\n"
    after = "import collections.abc\n\nMap = collections.abc.{0}[str, str]\n\n\nclass Headers(Map):\n    pass\n"
    assert breaks({"shop/a.py": before}, {"shop/a.py": after.format("MutableMapping")}) == set()
    assert breaks({"shop/a.py": before}, {"shop/a.py": after.format("Sized")}) == {"Headers"}


def test_classes_of_a_module_that_became_a_package_keep_their_bases() -> None:
    mixin = "class Mixin({0}):\n    def first(self):\n        pass\n"
    rows = "\n\nclass Rows(Mixin):\n    def first(self):\n        pass\n"
    before = {"shop/__init__.py": "", "shop/data.py": mixin.format("dict") + rows}
    after = {
        "shop/data/__init__.py": "from .mixins import Mixin\nfrom .rows import Rows\n",
        "shop/__init__.py": "",
        "shop/data/mixins.py": mixin.format("dict[str, int]"),
        "shop/data/rows.py": "from .mixins import Mixin\n\n\nclass Rows(Mixin):\n    pass\n",
    }
    assert breaks(before, after) == set()
    after["shop/data/rows.py"] = "class Rows:\n    pass\n"
    assert breaks(before, after) == {"Rows", "Rows.first"}


@pytest.mark.parametrize(
    ("before", "after", "breaking"),
    [
        ("clear = updates('clear')", "def clear(self): ...", False),
        ("limit = 3", "def limit(self): ...", True),
        ("size = property(_size)", "def size(self): ...", True),
        ("def get(self, key): ...", "def fetch(self, key): ...\n    get = fetch", False),
        ("def get(self, key): ...", "def fetch(self, name): ...\n    get = fetch", True),
        ("def get(self, key): ...", "get = property(_get)", True),
        ("def get(self, key): ...", "get = None", True),
    ],
)
def test_values_that_are_called(before: str, after: str, breaking: bool) -> None:
    changes = changes_by_path(compared("shop/a.py", f"class Shop:\n    {before}\n", f"class Shop:\n    {after}\n"))
    name = "clear" if "clear" in before else "limit" if "limit" in before else "size" if "size" in before else "get"
    assert changes[f"Shop.{name}"] == ("signature_changed", breaking)


@pytest.mark.parametrize(
    ("before", "after", "breaking"),
    [
        ("Line = namedtuple('Line', 'a b')", "class Line(NamedTuple):\n    a: str\n    b: str", False),
        ("class Late(Exception):\n    pass", "Late = asyncio.TimeoutError", False),
        ("class Late(Exception):\n    pass", "Late = 3", True),
        ("LINES = 3", "def LINES(): ...", True),
    ],
)
def test_classes_that_were_values_or_are(before: str, after: str, breaking: bool) -> None:
    name = before.removeprefix("class ").partition("(")[0].partition(" ")[0]
    changes = changes_by_path(compared("shop/a.py", f"{before}\n", f"{after}\n"))
    assert changes[name] == ("signature_changed", breaking)


@pytest.mark.parametrize(
    ("before", "after", "breaking"),
    [
        ("_key, _value, **more", "key, value, /, **more", False),
        ("key, _mode=False", "key", False),
        ("key, _mode=False", "key, mode=False", False),
        ("_mode=False, key=1", "key=1", True),
        ("key, mode=False", "key", True),
    ],
)
def test_nobody_gives_an_argument_by_a_private_name(before: str, after: str, breaking: bool) -> None:
    changes = changes_by_path(compared("shop/a.py", f"def get({before}): ...\n", f"def get({after}): ...\n"))
    assert changes["get"] == ("signature_changed", breaking)


@pytest.mark.parametrize(
    ("before", "after", "breaking"),
    [
        (
            "async def rows(a) -> AsyncIterator[int]:\n    yield 1",
            "def rows(a) -> AsyncIterator[int]:\n    return a",
            False,
        ),
        ("async def rows(a):\n    yield 1", "def rows(a):\n    return a", True),
        ("def rows(a):\n    yield 1", "@variant(sync_rows)\nasync def rows(a):\n    return a", False),
        ("def rows(a):\n    yield 1", "@traced\nasync def rows(a):\n    return a", True),
    ],
)
def test_iterators_that_are_made_in_another_way(before: str, after: str, breaking: bool) -> None:
    changes = changes_by_path(compared("shop/a.py", f"{before}\n", f"{after}\n"))
    assert changes["rows"] == ("signature_changed", breaking)


def test_a_new_list_of_names_takes_none_away() -> None:
    text = "VERSION = 1\n\n\ndef price(): ...\n"
    assert breaks({"shop/a.py": text}, {"shop/a.py": f"__all__ = ['price']\n{text}"}) == set()
    listed = "__all__ = ['price', 'VERSION']\n"
    assert breaks({"shop/a.py": listed + text}, {"shop/a.py": f"__all__ = ['price']\n{text}"}) == {"VERSION"}


def test_a_stub_is_judged_where_its_module_is() -> None:
    before = {
        "shop/__init__.py": "from ._till import price\n",
        "shop/__init__.pyi": "def price(item, tax): ...\n\n\ndef only_checked(): ...\n",
        "shop/_till.py": "def price(item, **more):\n    return 1\n",
        "shop/fast.pyi": "def count(): ...\n",
    }
    after = before | {"shop/__init__.pyi": "def price(item, place, tax): ...\n"}
    assert breaks(before, after) == set()
    # Nothing that runs is there for the other.
    assert breaks(before, after | {"shop/fast.pyi": ""}) == {"count"}
    assert breaks(before, before | {"shop/_till.py": "def price(**more):\n    return 1\n"}) == {"price"}


def test_a_module_may_refuse_all_names_but_one() -> None:
    lazy = "def __getattr__(name):\n    if name != 'Late':\n        raise AttributeError(name)\n    return make()\n"
    assert breaks({"shop/a.py": "class Late:\n    pass\n"}, {"shop/a.py": lazy}) == set()
    refusing = lazy.replace("    return make()\n", "")
    assert breaks({"shop/a.py": "class Late:\n    pass\n"}, {"shop/a.py": refusing}) == {"Late"}


def test_what_lies_beside_tests_is_part_of_them() -> None:
    before = {"shop/test/util.py": "def skip(): ...\n", "shop/test/till_test.py": "X = 1\n"}
    assert breaks(before, {"shop/test/till_test.py": "X = 2\n"}) == set()
    assert breaks({"shop/test/util.py": "def skip(): ...\n"}, {}) == {"skip"}


def test_what_runs_only_in_a_program_is_nobody_s() -> None:
    text = "def price(): ...\n\n\nif __name__ == '__main__':\n    first = '''\nx\n'''\n    lines = 2\n"
    assert breaks({"shop/a.py": text}, {"shop/a.py": text.replace("lines = 2", "pass")}) == set()
    assert breaks({"shop/a.py": text}, {"shop/a.py": text.replace("def price(): ...", "")}) == {"price"}
    beside = f"{text}\nLIMIT = 3\n"
    assert breaks({"shop/a.py": beside}, {"shop/a.py": text}) == {"LIMIT"}


def test_private_fields_have_no_place_that_users_know() -> None:
    made = "@dataclass\nclass Column:\n    header: str = ''\n{0}    {1}index: int = 0\n"
    after = {"shop/a.py": made.format("    wide: bool = False\n", "_")}
    assert breaks({"shop/a.py": made.format("", "_")}, after) == set()
    after = {"shop/a.py": made.format("    wide: bool = False\n", "")}
    assert breaks({"shop/a.py": made.format("", "")}, after) == {"Column"}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("lazy_import(globals(), aliases={'Late': '.late', 'Other': '.late'})", False),
        ("__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs={'late': ['Late']})", False),
        ("lazy_import(globals(), aliases={'Early': '.late'})", True),
        ("note(name='Late')", True),
    ],
)
def test_names_that_a_call_gives_to_a_module_are_still_there(call: str, expected: bool) -> None:
    late = "class Late({0}):\n    def __init__(self, place):\n        self.place = place\n        self.first = place\n"
    before = {"shop/errors.py": late.format("Exception"), "shop/late.py": ""}
    after = {
        # Much like the one that went elsewhere, and not that one.
        "shop/errors.py": late.format("Exception").replace("Late", "Soon").replace("place", "time") + f"\n\n{call}\n",
        "shop/late.py": "",
    }
    assert bool(breaks(before, after)) is expected


@pytest.mark.parametrize(
    ("before", "after", "breaking"),
    [
        ("return (x for x in rows)", "yield from rows", False),
        ("yield from rows", "return chain(rows, rows)", False),
        ("yield from rows", "return iter(rows)", False),
        ("return _each(rows)", "yield from rows", False),
        ("return list(rows)", "yield from rows", True),
        ("yield from rows", "return rows", True),
    ],
)
def test_functions_that_give_iterators_may_become_generators(before: str, after: str, breaking: bool) -> None:
    text = "from itertools import chain\n\n\ndef _each(rows):\n    yield 1\n\n\ndef rows(rows):\n    {0}\n"
    changes = changes_by_path(compared("shop/a.py", text.format(before), text.format(after)))
    assert changes["rows"] == ("signature_changed", breaking)


def test_the_interpreter_takes_any_iterator() -> None:
    text = "class Rows:\n    def __iter__(self):\n        {0}\n"
    before, after = {"shop/a.py": text.format("yield 1")}, {"shop/a.py": text.format("return self.all.keys()")}
    assert breaks(before, after) == set()


def test_a_class_may_take_over_what_a_hidden_base_gave_it() -> None:
    mixin = "class Mixin:\n    def rows(self): ...\n\n\n"
    text = "__all__ = ['Reader']\n\n\n{0}class Reader{1}:\n{2}    def read(self): ...\n"
    before = {"shop/a.py": text.format(mixin, "(Mixin)", "")}
    own = "    def rows(self): ...\n\n"
    assert breaks(before, {"shop/a.py": text.format("", "", own)}) == set()
    assert breaks(before, {"shop/a.py": text.format("", "", "")}) == {"Reader"}
    seen = "__all__ = ['Mixin', 'Reader']"
    shown = {"shop/a.py": text.format(mixin, "(Mixin)", "").replace("__all__ = ['Reader']", seen)}
    kept = {"shop/a.py": text.format(mixin, "", own).replace("__all__ = ['Reader']", seen)}
    assert breaks(shown, kept) == {"Reader"}


def test_a_base_that_stood_behind_a_variable_is_the_same() -> None:
    before = "from collections.abc import MutableMapping\n\nBase = MutableMapping\n\n\nclass Rows(Base):\n    pass\n"
    after = before.replace("Base = MutableMapping\n\n\n", "").replace("(Base)", "(MutableMapping[str, int])")
    assert breaks({"shop/a.py": before}, {"shop/a.py": after}) == {"Base"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def __exit__(self, *args): ...", "def __exit__(self, kind, value, traceback): ..."),
        ("def __deepcopy__(self, memo={}): ...", "def __deepcopy__(self, memo): ..."),
        ("def __cmp__(self, other): ...", "limit = 3"),
        ("limit: Callable[[], int]", "def limit(self): ..."),
        (
            "@abc.abstractproperty\n    def size(self): ...",
            "@property\n    @abc.abstractmethod\n    def size(self): ...",
        ),
        (
            "def held(self) -> ContextManager[int]:\n        yield 1",
            "@contextmanager\n    def held(self) -> Iterator[int]:\n        yield 1",
        ),
    ],
)
def test_what_only_the_interpreter_or_a_type_checker_minds(before: str, after: str) -> None:
    text = "class Shop:\n    {0}\n"
    assert breaks({"shop/a.py": text.format(before)}, {"shop/a.py": text.format(after)}) == set()


def test_final_is_for_type_checkers() -> None:
    before = {"shop/a.py": "class Shop:\n    def get(self, key): ...\n"}
    assert breaks(before, {"shop/a.py": "@final\nclass Shop:\n    def get(self, key): ...\n"}) == set()
    assert breaks(before, {"shop/a.py": "@final\nclass Shop:\n    def get(self): ...\n"}) == {"Shop.get"}


def test_a_name_that_a_package_gave_is_one_of_its_modules_now() -> None:
    before = {"shop/__init__.py": "from other import prices, rows\n\n__all__ = ['prices', 'rows']\n"}
    after = {"shop/__init__.py": "", "shop/prices.py": "LIMIT = 1\n"}
    assert breaks(before, after) == {"rows"}


def test_a_protocol_asks_again_for_what_its_base_asked_for() -> None:
    bound = "from typing import Protocol\n\n\nclass Bound(Protocol):\n    def bind(self): ...\n\n\n"
    text = f"{bound}class Logger(Bound, Protocol):\n    def info(self): ...\n"
    after = f"{text}\n    def bind(self, name=''): ...\n\n    def warn(self): ...\n"
    assert breaks({"shop/a.py": text}, {"shop/a.py": after}) == {"Logger.warn"}


def test_a_class_that_writes_its_constructor_takes_no_fields() -> None:
    text = "@define{0}\nclass Rows:\n    first: int\n{1}"
    before = {"shop/a.py": text.format("(init=False)", "")}
    assert breaks(before, {"shop/a.py": text.format("(init=False)", "    last: int\n")}) == set()
    before = {"shop/a.py": text.format("", "")}
    assert breaks(before, {"shop/a.py": text.format("", "    last: int\n")}) == {"Rows.last"}


def test_of_two_that_are_alike_the_old_place_says_which_one_it_is() -> None:
    made = "def make({0}):\n    rows = [each for each in kinds]\n    rows.sort()\n    return rows\n"
    before = {"old/gen.py": made.format("kinds, size")}
    after = {
        "old/gen.py": "from new.gen import make\n\n__all__ = ['make']\n",
        "new/gen/__init__.py": made.format("kinds, size").replace("rows.sort()", "rows.sort(key=len)\n    check(rows)"),
        "new/gen/typed.py": made.format("kinds"),
    }
    assert breaks(before, after) == set()


def test_commands_are_called_by_their_options() -> None:
    text = "{0}def rows({1}): ...\n"
    before = {"shop/a.py": text.format("@cli.command(name='rows')\n", "path, wide")}
    assert breaks(before, {"shop/a.py": text.format("@cli.command(name='rows')\n", "wide, path, more")}) == set()
    before = {"shop/a.py": text.format("@traced\n", "path, wide")}
    assert breaks(before, {"shop/a.py": text.format("@traced\n", "wide, path, more")}) == {"rows"}
