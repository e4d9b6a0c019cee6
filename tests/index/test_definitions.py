"""Definitions in few bytes: paths and ids come back as they were, whatever a file says and whoever brings it."""

import sqlite3
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.code.facts.assembly import MAX_DEFINITIONS
from codeplane.index.definitions import _select_rows, are_plausible
from codeplane.index.fact_store import FactStore
from codeplane.index.files.file import digest_of
from codeplane.index.parse_worker import DefinitionRow, ParseResult, Source, parse_source
from codeplane.index.parsed_table import ParsedFile
from tests.interaction.requirements import requirement

pytestmark = requirement("IDX-44")

NESTED = """class Outer:
    class Inner:
        def deep(self):
            def deeper():
                pass
    def shallow(self):
        pass

def shallow():
    pass
"""


@pytest.fixture
def store(tmp_path: Path) -> FactStore:
    return FactStore(tmp_path / "facts.db")


def put(store: FactStore, path: str, text: str, language: str = "python") -> ParseResult:
    source = Source(key=0, name=path, language=language, offset=0, length=len(text))
    found = parse_source(source, text.encode())
    store.put([ParsedFile(path=path, digest=digest_of(text.encode()), language=language, parsed=found)], epoch=1)
    return found


def row(name: str, path: str = "", uid: bytes = bytes(8), signature: str = "") -> DefinitionRow:
    return DefinitionRow(uid=uid, name=name, kind="class", path=path or name, signature=signature, ordinal=0, line=1)


@pytest.mark.parametrize(
    ("path", "language", "text"),
    [
        ("a.py", "python", NESTED),
        # A method may come before its type, or belong to one that is elsewhere.
        ("a.go", "go", "package a\n\nfunc (t *Thing) Do() {}\n\ntype Thing struct{}\n\nfunc (o Other) Do() {}\n"),
        ("a.rs", "rust", "impl Away {\n    fn one(&self) {}\n}\nstruct Here;\nimpl Here {\n    fn one(&self) {}\n}\n"),
    ],
)
def test_what_was_parsed_is_what_is_found(store: FactStore, path: str, language: str, text: str) -> None:
    parsed = put(store, path, text, language)
    put(store, f"other/{path}", text, language)
    expected = [(one.uid.hex(), one.name, one.kind, one.path, one.signature, one.line) for one in parsed.rows]
    listed = store.in_file(path, limit=-1)
    assert [(one.uid, one.name, one.kind, one.path, one.signature, one.line) for one in listed] == expected
    assert [store.with_uid(one.uid) for one in listed] == listed
    for one in listed:
        assert one in store.find_symbols(one.name, limit=100)
        assert one in store.named_any([one.name], limit=100)[one.name]
    ((number, _, _), _) = store.parsed_files()
    outlined = [(one.position, one.name, one.kind, one.path) for one in listed]
    assert [output[1:] for output in store.outline([number], limit=100)] == outlined
    assert [output[2] for output in store.snapshot(path, 1) or ()] == [one.path for one in listed]
    store.close()


def test_ids_that_begin_alike_are_told_apart(store: FactStore) -> None:
    put(store, "a.py", NESTED)
    (found,) = store.find_symbols("Outer", limit=9)
    assert store.with_uid(found.uid.upper()) == found
    other = f"{int(found.uid, 16) ^ 1:016x}"
    for wanted in (other, found.uid[:6], found.uid + "00", "", "zz"):
        assert store.with_uid(wanted) is None
    store.close()


@given(st.lists(st.sampled_from(["a", "a.b", "a.b.c", "b.a", "a.a"]), max_size=8))
def test_what_a_definition_is_inside_of_came_before_it(paths: list[str]) -> None:
    rows = [row(path.rpartition(".")[2], path) for path in paths]
    for place, (_, _, _, _, inside, *_) in enumerate(_select_rows(0, rows, {"class": 1})):
        within = paths[place].rpartition(".")[0]
        if isinstance(inside, int):
            assert inside < place and paths[inside] == within
        else:
            assert (inside or "") == within and within not in paths[:place]


def test_what_parsing_never_says_is_not_kept() -> None:
    assert are_plausible([row("a", "b.a", signature="0123abcd")])
    assert not are_plausible([row("a", signature="no hash")])
    assert not are_plausible([row("a", "other")])
    assert not are_plausible([row("")])
    assert not are_plausible([msgspec.structs.replace(row("a"), line=-1)])
    assert not are_plausible([msgspec.structs.replace(row("a"), ordinal=1 << 70)])
    assert not are_plausible([row("a")] * (MAX_DEFINITIONS + 1))


def test_a_file_that_is_written_again_leaves_nothing_behind(store: FactStore, tmp_path: Path) -> None:
    put(store, "a.py", NESTED)
    put(store, "b.py", NESTED)
    put(store, "a.py", "def only():\n    pass\n")
    store.put((), removed=["b.py"], epoch=2)
    assert store.all_names() == ["only"]
    assert store.in_file("b.py", limit=9) == [] == store.names_in("b.py")
    store.close()
    with sqlite3.connect(tmp_path / "facts.db") as connection:
        assert connection.execute("SELECT name FROM definitions").fetchall() == [("only",)]
    connection.close()


def test_all_names_follow_each_change_and_stay_the_same_list_where_none_differs(store: FactStore) -> None:
    put(store, "a.py", "def one():\n    pass\n\ndef both():\n    pass\n")
    put(store, "b.py", "def both():\n    pass\n")
    names = store.all_names()
    put(store, "a.py", "def both():\n    return 1\n\ndef one():\n    return 1\n")
    assert store.all_names() is names
    put(store, "a.py", "def both():\n    pass\n\ndef ähnlich():\n    pass\n\ndef About():\n    pass\n")
    assert store.all_names() == ["About", "both", "ähnlich"]
    store.put((), removed=["b.py"], epoch=2)
    assert store.all_names() == ["About", "both", "ähnlich"]
    store.put((), removed=["a.py"], epoch=3)
    assert store.all_names() == []
    store.close()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from(["x", "y", "Z", "_z"]))), max_size=12))
def test_names_that_are_followed_are_those_that_are_there(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, list[str]]]
) -> None:
    store = FactStore(tmp_path_factory.mktemp("names") / "facts.db")
    there: dict[str, list[str]] = {}
    for path, names in changes:
        store.all_names()
        put(store, f"{path}.py", "".join(f"def {name}():\n    pass\n" for name in names))
        there[path] = names
        assert store.all_names() == sorted({name for some in there.values() for name in some})
    store.close()
