"""Reading `index.scip`: what a protocol buffer library wrote, and what is no index at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.errors import ScipRefused
from codeplane.refactor.scip.index import Occurrence, Relation, read_index
from codeplane.refactor.scip.names import name_of
from tests.interaction.requirements import requirement
from tests.refactor.scip.index_writer import Doc, index_bytes

# Written by the protobuf library from the published schema, with fields that are not looked at.
WRITTEN = bytes.fromhex(
    "0a34121b0a0b736369702d707974686f6e1205302e362e361a05696e6465781a1366696c653a2f2f2f776f726b25323073686f70200112a9"
    "010a0c73686f702f636172742e7079123c0a0300060a122b736369702d707974686f6e20707974686f6e2073686f702031206073686f702e"
    "63617274602f4361727423180128133a040000050112130a06ac0208ad020d12076c6f63616c2033180812050a030102031a350a0c446f67"
    "23736f756e6428292e1a017822150a0f416e696d616c23736f756e6428292e1001180122090a0554797065232001281a2206707974686f6e"
    "3002120f0a05c3a92e70792a0678203d20310a1a070a056f74686572"
)


@requirement("REF-23")
def test_what_a_protobuf_library_wrote_is_read() -> None:
    index = read_index(WRITTEN)
    assert (index.tool, index.version, index.root) == ("scip-python", "0.6.6", "/work shop")
    cart, other = index.documents
    assert (cart.path, cart.language, cart.encoding, cart.text) == ("shop/cart.py", "python", "utf-16", None)
    symbol = "scip-python python shop 1 `shop.cart`/Cart#"
    assert cart.occurrences == (
        Occurrence(line=0, column=6, end_line=0, end_column=10, symbol=symbol, roles=1),
        Occurrence(line=300, column=8, end_line=301, end_column=13, symbol="local 3", roles=8),
    )
    assert [one.is_definition for one in cart.occurrences] == [True, False]
    assert cart.relations == (Relation(symbol="Dog#sound().", other="Animal#sound()."),)
    assert (other.path, other.text, other.occurrences) == ("é.py", "x = 1\n", ())


@requirement("REF-23")
@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"\x00", b"\xff" * 40, b"not an index at all", WRITTEN[:-40], b"\x0a\x05a"]
)
def test_what_is_no_index_is_refused(raw: bytes) -> None:
    with pytest.raises(ScipRefused) as caught:
        read_index(raw)
    assert caught.value.hint


@requirement("REF-23")
def test_a_cut_index_never_reads_as_a_larger_one() -> None:
    whole = len(read_index(WRITTEN).documents)
    for end in range(len(WRITTEN)):
        try:
            assert len(read_index(WRITTEN[:end]).documents) <= whole
        except ScipRefused:
            continue


@requirement("REF-23")
@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_bytes_are_an_index_or_refused(raw: bytes) -> None:
    for one in (raw, index_bytes([Doc(path="a.py")]) + raw):
        try:
            read_index(one)
        except ScipRefused:
            continue


def test_names_in_symbols() -> None:
    start = "scip-python python shop 1 "
    assert name_of(f"{start}`shop.cart`/Cart#") == "Cart"
    assert name_of(f"{start}`shop.cart`/Cart#total().") == "total"
    assert name_of(f"{start}`shop.cart`/Cart#total(+1).") == "total"
    assert name_of(f"{start}`shop.cart`/Cart#total().(items)") == "items"
    assert name_of(f"{start}`a.ts`/Cart#`<get>total`().") == "total"
    assert name_of(f"{start}`a.ts`/Box#[T]") == "T"
    assert name_of(f"{start}`a.ts`/`a``b`.") == "a`b"
    for other in (f"{start}`shop.cart`/__init__:", f"{start}src/`a.ts`/", "local 3", f"{start}A#`<constructor>`()."):
        assert name_of(other) is None
