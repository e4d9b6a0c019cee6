"""What a loop binds is an item of what it goes through, where an annotation declares the items."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.refactor.rename.test_receivers import check

pytestmark = requirement("REF-34")

_FIELD = "class H:\n    def __init__(self):\n        self.all: list[A] = []\n        self.all = []\n"
_LOOPS = {
    "a parameter": "def f(all: list[A]):\n    for o in all:\n        o.m()  # sure\n",
    "of another class": "def f(all: list[B]):\n    for o in all:\n        o.m()  # other\n",
    "a comprehension": "def f(all: Sequence[A]):\n    return [o.m() for o in all]  # sure\n",
    "with a condition": "def f(all: tuple[A, ...]):\n    return {o.m() for o in all if o}  # sure\n",
    "over several lines": "def f(all: set['A'] | None):\n  return [\n    o.m()  # sure\n    for o in all\n  ]\n",
    "a field": f"{_FIELD}    def f(self):\n        for o in self.all:\n            o.m()  # sure\n",
    "a function": "def all() -> Iterator[A]:\n    yield A()\nfor o in all():\n    o.m()  # sure\n",
    "a property": (
        "class H:\n    @property\n    def all(self) -> list[A]: ...\n"
        "def f(h: H):\n    for o in h.all:\n        o.m()  # sure\n"
    ),
    "values": "def f(all: dict[str, A]):\n    for o in all.values():\n        o.m()  # sure\n",
    "keys": "def f(all: Mapping[A, B]):\n    for o in all:\n        o.m()  # sure\n",
    "not values": "def f(all: dict[A, B]):\n    for o in all.values():\n        o.m()  # other\n",
    "a tuple of several": "def f(all: tuple[A, B]):\n    for o in all:\n        o.m()  # guess\n",
    "assigned without a type": "def f(all: list[A], g):\n    all = g()\n    for o in all:\n        o.m()  # guess\n",
    "a choice": "def f(all: list[A], g):\n    for o in all or g:\n        o.m()  # guess\n",
    "a conditional": "def f(all: list[A], g):\n    for o in all if g else g.all:\n        o.m()  # guess\n",
    "unpacked": "def f(all: list[A]):\n    for o, p in all:\n        o.m()  # guess\n",
    "a class of that name": "class List: ...\ndef f(all: List[A]):\n    for o in all:\n        o.m()  # guess\n",
    "an heir's": (
        "class H:\n    def all(self) -> list[A]: ...\nclass G(H):\n    def all(self) -> list[B]: ...\n"
        "def f(h: H):\n    for o in h.all():\n        o.m()  # guess\n"
    ),
    "decorated": "@wrapped\ndef all() -> list[A]: ...\nfor o in all():\n    o.m()  # guess\n",
    "asynchronous": "async def f(all: list[A]):\n    async for o in all:\n        o.m()  # guess\n",
    "a union": "def f(all: list[A | B]):\n    for o in all:\n        o.m()  # guess\n",
    "bound twice": "def f(all: list[A], g):\n    for o in all:\n        ...\n    for o in g:\n        o.m()  # guess\n",
}


@pytest.mark.parametrize("code", _LOOPS.values(), ids=_LOOPS)
def test_a_name_is_an_item_of_what_its_loop_goes_through(tmp_path: Path, code: str) -> None:
    check(tmp_path, code)
