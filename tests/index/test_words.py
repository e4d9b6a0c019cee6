"""The words of texts, and of many texts in one go."""

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from codeplane.index.words import Vocabulary, split_camel_case, with_parts
from tests.interaction.requirements import requirement

_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][0-9A-Za-z_$\x80-\xff]*")
_WORD = re.compile(rb"[0-9A-Za-z_$\x80-\xff]+")
_TEXTS = st.lists(
    st.one_of(st.binary(max_size=60), st.text("aB1_$ .\n", max_size=60).map(str.encode)), min_size=1, max_size=4
)


@requirement("IDX-40")
def test_names_and_pieces_of_a_text() -> None:
    names, pieces = Vocabulary().of(b"x = QuerySet(get_fooBar, 10px); QuerySet(HTTPServer)")
    assert names == {b"x", b"QuerySet", b"get_fooBar", b"px", b"HTTPServer"}
    assert Counter(pieces.split()) == Counter(["Query", "Set", "Query", "Set", "foo", "Bar", "HTTP", "Server"])
    assert Vocabulary().of(b"nothing to_split HERE 12") == ({b"nothing", b"to_split", b"HERE"}, "")


@requirement("IDX-40")
@given(_TEXTS)
def test_a_vocabulary_finds_what_looking_at_each_text_does(texts: list[bytes]) -> None:
    vocabulary = Vocabulary()
    for text in texts:
        names, pieces = vocabulary.of(text)
        behind = {
            b"$" + part for word in _WORD.findall(text) if b"$" in word[1:] for part in word.split(b"$")[1:] if part
        }
        assert names == {*_NAME.findall(text), *behind}
        assert Counter(pieces.split()) == Counter(split_camel_case(text).split())


@requirement("IDX-40")
def test_names_go_with_their_parts() -> None:
    assert with_parts(["getValue", "x"]) == "getValue get value x x"
    assert with_parts([]) == ""
