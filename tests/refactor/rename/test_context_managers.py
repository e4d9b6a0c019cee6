"""What a `with` statement binds is what entering its context manager gives."""

from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.refactor.rename.test_receivers import check

pytestmark = requirement("REF-34")

_ITSELF = "class C(A):\n    def __enter__(self):\n        return self\n"
_WAITING = "class C(A):\n    async def __aenter__(self: T) -> T: ...\n    async def other(self) -> A: ...\n"
_ENTERED = {
    "itself": f"{_ITSELF}def f():\n    with C() as o:\n        o.m()  # sure\n",
    "Self": "class C(A):\n    def __enter__(self) -> t.Self: ...\nwith C() as o:\n    o.m()  # sure\n",
    "a type variable": "class C(A):\n    def __enter__(self: T) -> T: ...\nwith C() as o:\n    o.m()  # sure\n",
    "declared": "class C:\n    def __enter__(self) -> A: ...\nwith C() as o:\n    o.m()  # sure\n",
    "another": "class C(A):\n    def __enter__(self) -> B: ...\nwith C() as o:\n    o.m()  # other\n",
    "unknown": "class C(A):\n    def __enter__(self):\n        return self.x\nwith C() as o:\n    o.m()  # guess\n",
    "sometimes another": (
        "class C(A):\n    def __enter__(self):\n        if self.x:\n            return B()\n        return self\n"
        "with C() as o:\n    o.m()  # guess\n"
    ),
    "an heir's": (
        f"{_ITSELF}class D(C):\n    def __enter__(self):\n        return B()\n"
        "def f(c: C):\n    with c as o:\n        o.m()  # guess\n"
    ),
    "several": f"{_ITSELF}def f():\n    with open('x') as g, C() as o:\n        o.m()  # sure\n",
    "in brackets": f"{_ITSELF}with (\n    open('x') as g,\n    C() as o,\n):\n    o.m()  # sure\n",
    "one of two": f"{_ITSELF}def f(c):\n    with c or C() as o:\n        o.m()  # guess\n",
    "unpacked": f"{_ITSELF}def f():\n    with C() as (o, p):\n        o.m()  # guess\n",
    "caught": f"{_ITSELF}def f():\n    try: ...\n    except C() as o:\n        o.m()  # guess\n",
    "asynchronous": f"{_WAITING}async def f():\n    async with C() as o:\n        o.m()  # sure\n",
    "not asynchronous": f"{_ITSELF}async def f():\n    async with C() as o:\n        o.m()  # guess\n",
    "awaited": f"{_WAITING}async def f():\n    async with C() as c:\n     o = await c.other()\n     o.m()  # sure\n",
    "a generator": (
        "@contextmanager\ndef made() -> Iterator[A]:\n    yield A()\nwith made() as o:\n    o.m()  # sure\n"
    ),
    "an asynchronous generator": (
        "class H:\n    @contextlib.asynccontextmanager\n    async def made(self) -> t.AsyncGenerator[A, None]:\n"
        "        yield A()\nasync def f(h: H):\n    async with h.made() as o:\n        o.m()  # sure\n"
    ),
    "a generator of others": (
        "@contextmanager\ndef made() -> Iterator[B]:\n    yield B()\nwith made() as o:\n    o.m()  # other\n"
    ),
    "an heir's generator": (
        "class H:\n    @contextmanager\n    def made(self) -> Iterator[A]:\n        yield A()\n"
        "class G(H):\n    @contextmanager\n    def made(self) -> Iterator[B]:\n        yield B()\n"
        "def f(h: H):\n    with h.made() as o:\n        o.m()  # guess\n"
    ),
    "a plain generator": "def made() -> Iterator[A]:\n    yield A()\nwith made() as o:\n    o.m()  # guess\n",
}


@pytest.mark.parametrize("code", _ENTERED.values(), ids=_ENTERED)
def test_a_name_is_what_its_context_gives(tmp_path: Path, code: str) -> None:
    check(tmp_path, code)
