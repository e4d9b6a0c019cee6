"""Two versions of files: which definitions changed, and which syntax errors are new."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.edit.batch import Change
from codeplane.edit.batch_delta import compare_contents
from codeplane.edit.file_state import sha256_of
from codeplane.edit.line_diff import diff_lines, split_lines
from codeplane.edit.syntax_diff import SyntaxComparer, SyntaxDiff, Texts
from codeplane.index.parser_pool import ParserPool
from tests.interaction.requirements import requirement

BEFORE = b"""\
LIMIT = 1

def price(x):
    return x

class Shop:
    def sell(self):
        return price(1)

    def buy(self):
        return price(2)
"""
# Of several encodings, with a mark at the start, other line ends, and bytes that are no text.
VERSION_LINES = (
    "\ufeff".encode(),
    "a = 'ä'\n".encode(),
    b"a = '\xe4'\n",
    b"b = 1\n",
    b"b = 1\r\n",
    b"\n",
    b"last",
    "c\u2028d\n".encode(),
    "a\n".encode("utf-16"),
    b"\0\n",
)


@pytest.fixture(scope="module")
def syntax() -> Iterator[SyntaxComparer]:
    parsers = ParserPool(processes=1)
    yield SyntaxComparer(parsers=parsers)
    parsers.close()


def compared(syntax: SyntaxComparer, before: bytes | None, after: bytes | None, path: str = "shop.py") -> SyntaxDiff:
    texts = Texts(
        before={path: before} if before is not None else {},
        after={path: after} if after is not None else {},
    )
    return asyncio.run(syntax.compare(texts))


@requirement("EDT-07")
@pytest.mark.parametrize(
    ("old", "new", "symbols"),
    [
        (b"return x", b"return x + 1", ("shop.py:price",)),
        (b"price(2)", b"price(3)", ("shop.py:Shop.buy",)),
        (b"LIMIT = 1", b"LIMIT = 2", ("shop.py:LIMIT",)),
        (b"def buy", b"def acquire", ("-shop.py:Shop.buy", "+shop.py:Shop.acquire")),
        (b"class Shop:", b"class Shop(Base):", ("shop.py:Shop",)),
        (b"LIMIT = 1", b"LIMIT, MOST = 1, 2", ("shop.py:LIMIT", "+shop.py:MOST")),
        (b"LIMIT = 1\n", b"LIMIT = 1\n# a comment\n", ()),
    ],
)
def test_the_innermost_definitions_that_changed(
    syntax: SyntaxComparer, old: bytes, new: bytes, symbols: tuple[str, ...]
) -> None:
    found = compared(syntax, BEFORE, BEFORE.replace(old, new))
    assert (found.symbols, found.errors) == (symbols, ())


def test_a_file_of_many_definitions_is_compared_in_one_go(syntax: SyntaxComparer) -> None:
    many = b"".join(b"x%d = 1\n" % number for number in range(20_000))
    assert len(compared(syntax, None, many).symbols) == len(compared(syntax, many, b"").symbols) == 20_000


@requirement("EDT-07")
def test_files_that_come_or_go_take_their_definitions_with_them(syntax: SyntaxComparer) -> None:
    everything = ("LIMIT", "price", "Shop", "Shop.sell", "Shop.buy")
    assert compared(syntax, None, BEFORE).symbols == tuple(f"+shop.py:{name}" for name in everything)
    assert compared(syntax, BEFORE, None).symbols == tuple(f"-shop.py:{name}" for name in everything)


@requirement("EDT-07")
def test_errors_are_told_when_they_are_new_and_only_then(syntax: SyntaxComparer) -> None:
    broken = BEFORE.replace(b"return price(2)", b"return price(2")
    assert compared(syntax, BEFORE, broken).errors == ("syntax error at shop.py:11",)
    assert compared(syntax, broken, b"x = 1\n" + broken).errors == ()
    assert compared(syntax, broken, BEFORE).errors == ()
    worse = broken.replace(b"LIMIT = 1", b"LIMIT = = 1")
    assert compared(syntax, broken, worse).errors == ("syntax error at shop.py:1",)
    assert compared(syntax, None, b"def f(:\n").errors == ("syntax error at shop.py:1",)


@requirement("EDT-07")
def test_what_is_no_code_or_too_large_is_not_parsed_and_the_latter_is_said(
    syntax: SyntaxComparer,
) -> None:
    assert compared(syntax, b"x", b"y", "notes.txt") == SyntaxDiff()
    assert compared(syntax, b"", b"\0", "a.py").errors == ()
    large = compared(syntax, BEFORE, BEFORE + b"x = 1\n" * 300_000)
    assert large.symbols == () and "too large" in large.errors[0]
    ended = ParserPool(processes=1)
    ended.close()
    without_parsers = SyntaxComparer(parsers=ended)
    assert "not checked" in compared(without_parsers, None, b"x = 1\n").errors[0]


@requirement("EDT-07")
def test_symbols_of_many_hunks_are_those_of_the_definitions_around_each(syntax: SyntaxComparer) -> None:
    lines = ["class Outer:\n    limit = 1\n"]
    lines += [
        f"    def m{number}(self):\n        def inner():\n            return 1\n        return 2\n"
        for number in range(30)
    ]
    before = "".join(lines).encode()
    found = compared(syntax, before, before.replace(b"return 1", b"return 3"))
    assert found.symbols == tuple(f"shop.py:Outer.m{number}.inner" for number in range(30))
    assert found.around == {"shop.py": [f"Outer.m{number}.inner" for number in range(30)]}
    assert compared(syntax, before, before.replace(b"limit = 1", b"limit = 2")).around == {"shop.py": ["Outer.limit"]}


@requirement("EDT-07")
@given(
    before=st.lists(st.sampled_from(VERSION_LINES), max_size=8).map(b"".join),
    after=st.lists(st.sampled_from(VERSION_LINES), max_size=8).map(b"".join),
)
def test_versions_are_compared_once_with_what_their_bytes_say(before: bytes, after: bytes) -> None:
    """The delta compares them as text; symbols are found by the lines of their bytes."""
    change = Change(path="a.py", content=after, before=sha256_of(before), old=before)
    texts = compare_contents([change], {"a.py": before}, {"a.py": after}).texts
    assert list(texts.find_hunks("a.py")) == diff_lines(split_lines(before), split_lines(after))
