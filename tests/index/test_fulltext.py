"""Ranked full text: what is found, what a commit means, and what survives."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.index.checksums import verify_checksums
from codeplane.index.fulltext import LONGEST_WORD, Document, FullText, Term, parts, path_names
from codeplane.index.words import split_camel_case
from tests.interaction.requirements import requirement


@pytest.fixture
def full_text(tmp_path: Path) -> Iterator[FullText]:
    opened = FullText(tmp_path / "text")
    yield opened
    opened.close()


def word(text: str) -> list[Term]:
    return [Term(field="content", word=text)]


def found(full_text: FullText, *terms: Term) -> list[str]:
    return [hit.path for hit in full_text.search(terms, limit=100)]


def test_words_of_every_style_are_found_by_their_parts(full_text: FullText) -> None:
    full_text.add([Document(path="a.py", text=b"def get_foo(): return HTTPResponse(parseValue)\n")])
    full_text.commit(1)
    for part in ("get", "foo", "http", "response", "httpresponse", "parse", "value"):
        assert found(full_text, *word(part)) == ["a.py"], part
    assert found(full_text, *word("resp")) == []


def test_names_keep_their_case_and_are_found_whole_and_by_parts(full_text: FullText) -> None:
    full_text.add(
        [
            Document(path="upper.py", text=b"", names=["Field"]),
            Document(path="lower.py", text=b"", names=["field", "get_FOO_display"]),
        ]
    )
    full_text.commit(1)
    assert found(full_text, Term(field="names", word="Field")) == ["upper.py"]
    assert found(full_text, Term(field="names", word="get_FOO_display")) == ["lower.py"]
    assert found(full_text, Term(field="names", word="display")) == ["lower.py"]


def test_a_path_is_found_by_its_words_and_by_its_places(full_text: FullText) -> None:
    full_text.add([Document(path="src/db/queryUtils.py", text=b""), Document(path="src/web/__init__.py", text=b"")])
    full_text.commit(1)
    assert found(full_text, Term(field="path_words", word="utils")) == ["src/db/queryUtils.py"]
    assert found(full_text, Term(field="path_words", word="db/queryutils")) == ["src/db/queryUtils.py"]
    assert found(full_text, Term(field="path_words", word="src/web")) == ["src/web/__init__.py"]


def test_only_one_language_when_asked(full_text: FullText) -> None:
    full_text.add(
        [Document(path="a.py", text=b"same", language="python"), Document(path="a.go", text=b"same", language="go")]
    )
    full_text.commit(1)
    assert [hit.path for hit in full_text.search(word("same"), limit=9, language="go")] == ["a.go"]


def test_nothing_is_seen_before_the_commit_and_all_of_it_after(full_text: FullText) -> None:
    full_text.add([Document(path="a.py", text=b"early")])
    assert (full_text.epoch, found(full_text, *word("early"))) == (None, [])
    full_text.commit(7)
    assert (full_text.epoch, full_text.count, found(full_text, *word("early"))) == (7, 1, ["a.py"])


def test_a_file_is_replaced_and_removed(full_text: FullText) -> None:
    full_text.add([Document(path="a.py", text=b"old"), Document(path="b.py", text=b"old")])
    full_text.commit(1)
    full_text.add([Document(path="a.py", text=b"new")])
    full_text.remove(["b.py", "never.py"])
    full_text.commit(2)
    assert found(full_text, *word("old")) == []
    assert found(full_text, *word("new")) == ["a.py"]
    assert full_text.count == 1


def test_what_was_not_committed_is_gone_after_opening_again(tmp_path: Path) -> None:
    first = FullText(tmp_path)
    first.add([Document(path="a.py", text=b"kept")])
    first.commit(3)
    first.add([Document(path="b.py", text=b"lost")])
    first.close()
    second = FullText(tmp_path)
    assert (second.remade, second.epoch, second.count) == (None, 3, 1)
    assert found(second, *word("lost")) == []
    second.add([Document(path="b.py", text=b"again")])
    second.commit(4)
    assert found(second, *word("again")) == ["b.py"]
    second.close()


@requirement("TXT-01")
def test_a_process_that_dies_while_writing_leaves_the_last_commit(tmp_path: Path) -> None:
    dying = f"""
import os
from pathlib import Path
from codeplane.index.fulltext import Document, FullText
full_text = FullText(Path({str(tmp_path)!r}))
full_text.add([Document(path="a.py", text=b"kept")])
full_text.commit(5)
full_text.add([Document(path="a.py", text=b"lost"), Document(path="b.py", text=b"lost")])
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", dying], check=False).returncode == 9
    full_text = FullText(tmp_path)
    assert (full_text.remade, full_text.epoch) == (None, 5)
    assert found(full_text, *word("kept")) == ["a.py"]
    full_text.add([Document(path="b.py", text=b"again")])
    full_text.commit(6)
    assert full_text.count == 2
    full_text.close()


def test_writing_goes_on_after_what_it_held_was_released(full_text: FullText) -> None:
    full_text.add([Document(path="a.py", text=b"one")])
    full_text.commit(1)
    full_text.release()
    full_text.add([Document(path="b.py", text=b"two")])
    full_text.commit(2)
    assert found(full_text, *word("one"), *word("two")) == ["a.py", "b.py"]


@requirement("TXT-02")
@pytest.mark.parametrize("damage", [b"", b"{}", b"not json", b'{"segments": []}'])
def test_a_broken_folder_is_made_anew_and_says_why(tmp_path: Path, damage: bytes) -> None:
    folder = tmp_path / "text"
    first = FullText(folder)
    first.add([Document(path="a.py", text=b"word")])
    first.commit(1)
    first.close()
    (folder / "meta.json").write_bytes(damage)
    second = FullText(folder)
    assert second.remade
    assert (second.epoch, second.count) == (None, 0)
    second.add([Document(path="a.py", text=b"word")])
    second.commit(2)
    assert found(second, *word("word")) == ["a.py"]
    second.close()


@requirement("TXT-02")
@pytest.mark.parametrize("ending", [".term", ".idx", ".store", ".fieldnorm"])
def test_a_segment_cut_short_is_made_anew(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "text"
    first = FullText(folder)
    first.add([Document(path="a.py", text=b"word")])
    first.commit(1)
    first.close()
    (segment,) = folder.glob(f"*{ending}")
    segment.write_bytes(segment.read_bytes()[:3])
    second = FullText(folder)
    assert second.remade
    assert second.count == 0
    second.close()


@requirement("TXT-02")
@pytest.mark.parametrize("ending", ["store", "term", "idx", "fieldnorm"])
def test_a_segment_with_one_wrong_byte_anywhere_is_made_anew(tmp_path: Path, ending: str) -> None:
    first = FullText(tmp_path / "text")
    first.add([Document(path=f"{number}.py", text=f"word{number} and more".encode()) for number in range(200)])
    first.commit(1)
    first.close()
    (file,) = (tmp_path / "text").glob(f"*.{ending}")
    raw = bytearray(file.read_bytes())
    for place in (0, len(raw) // 3, len(raw) // 2):
        wrong = raw.copy()
        wrong[place] ^= 1
        file.write_bytes(wrong)
        with pytest.raises(ValueError, match="damaged"):
            verify_checksums(tmp_path / "text")
    second = FullText(tmp_path / "text")
    assert second.remade and "damaged" in second.remade
    assert (second.epoch, second.count) == (None, 0)
    second.close()


def test_something_else_in_its_place_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"a file")
    opened = FullText(tmp_path / "text")
    assert opened.remade
    assert opened.count == 0
    opened.close()


@requirement("TXT-03")
def test_replaced_and_removed_files_are_counted_until_all_is_fed_anew(tmp_path: Path) -> None:
    full_text = FullText(tmp_path / "text")
    full_text.add(Document(path=f"{number}.py", text=b"word") for number in range(5))
    full_text.commit(1)
    assert full_text.replaced == 0
    full_text.add([Document(path="0.py", text=b"word other"), Document(path="new.py", text=b"word")])
    full_text.remove(["1.py", "never.py"])
    assert full_text.replaced == 2
    full_text.commit(2)
    full_text.close()
    full_text = FullText(tmp_path / "text")
    assert (full_text.replaced, full_text.count) == (2, 5)
    full_text.clear()
    full_text.release()
    assert (full_text.replaced, full_text.count) == (2, 5), "nothing was committed"
    full_text.clear()
    full_text.add([Document(path="0.py", text=b"word")], fresh=True)
    full_text.commit(3)
    assert (full_text.replaced, full_text.count) == (0, 1)
    full_text.close()


@requirement("TXT-03")
def test_a_file_that_is_replaced_again_and_again_counts_once(full_text: FullText) -> None:
    full_text.add(Document(path=f"{number}.py", text=b"word") for number in range(3))
    full_text.commit(1)
    for epoch in range(2, 12):
        full_text.add([Document(path="0.py", text=b"word %d" % epoch)])
        full_text.add([Document(path="0.py", text=b"other %d" % epoch)])
        full_text.commit(epoch)
    full_text.remove(["0.py"])
    full_text.commit(12)
    assert full_text.replaced == 1


def test_clearing_drops_what_was_added_since_the_last_commit(full_text: FullText) -> None:
    full_text.add(Document(path=f"{number}.py", text=b"word") for number in range(200))
    full_text.clear()
    full_text.add([Document(path="a.py", text=b"word")], fresh=True)
    full_text.commit(1)
    assert found(full_text, *word("word")) == ["a.py"]


def test_feeding_anew_gives_what_a_fresh_index_gives(tmp_path: Path) -> None:
    changed, fresh = FullText(tmp_path / "changed"), FullText(tmp_path / "fresh")
    changed.add([Document(path="gone.py", text=b"word")])
    changed.commit(1)
    changed.clear()
    for full_text in (changed, fresh):
        full_text.add([Document(path="a.py", text=b"word other"), Document(path="b.py", text=b"word")])
        full_text.commit(2)
    assert changed.search(word("word"), limit=9) == fresh.search(word("word"), limit=9)
    assert changed.count == fresh.count == 2
    changed.close()
    fresh.close()


def test_equals_come_in_the_order_of_their_paths(full_text: FullText) -> None:
    full_text.add(Document(path=path, text=b"same") for path in ("c.py", "a.py", "b.py"))
    full_text.commit(1)
    assert found(full_text, *word("same")) == ["a.py", "b.py", "c.py"]


def test_a_flat_word_counts_the_same_in_short_and_long_files(full_text: FullText) -> None:
    full_text.add([Document(path="a.py", text=b"word " + b"more " * 500), Document(path="b.py", text=b"word")])
    full_text.commit(1)
    plain = full_text.search(word("word"), limit=9)
    flat = full_text.search([Term(field="content", word="word", weight=2.5, flat=True)], limit=9)
    assert [hit.path for hit in plain] == ["b.py", "a.py"]
    assert [hit.score for hit in flat] == [2.5, 2.5]


def test_words_are_kept_up_to_a_length_and_left_out_beyond(full_text: FullText) -> None:
    longest, longer = "x" * LONGEST_WORD, "y" * (LONGEST_WORD + 1)
    full_text.add([Document(path="a.py", text=f"{longest} {longer}".encode())])
    full_text.commit(1)
    assert found(full_text, *word(longest)) == ["a.py"]
    assert found(full_text, *word(longer)) == []


@settings(max_examples=10, deadline=None)
@given(st.binary(min_size=1, max_size=40).filter(lambda name: b"\0" not in name))
def test_any_path_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, name: bytes) -> None:
    path = name.decode("utf-8", "surrogateescape")
    full_text = FullText(tmp_path_factory.mktemp("text"))
    full_text.add([Document(path=path, text=b"word")])
    full_text.commit(1)
    assert found(full_text, *word("word")) == [path]
    full_text.remove([path])
    full_text.commit(2)
    assert full_text.count == 0
    full_text.close()


def test_other_threads_search_while_one_writes(full_text: FullText) -> None:
    full_text.add([Document(path="a.py", text=b"word")])
    full_text.commit(1)
    seen: list[list[str]] = []
    ended = threading.Event()

    def searching() -> None:
        while not ended.is_set():
            seen.append(found(full_text, *word("word")))

    thread = threading.Thread(target=searching)
    thread.start()
    for epoch in range(2, 12):
        full_text.add([Document(path="a.py", text=b"word")])
        full_text.commit(epoch)
    ended.set()
    thread.join()
    assert all(paths == ["a.py"] for paths in seen)


def test_the_parts_of_identifiers() -> None:
    assert parts("getHTTPResponse_code2") == ("get", "http", "response", "code2")
    assert parts("db/models/query.py") == ("db", "models", "query", "py")
    assert split_camel_case(b"x = QuerySet(snake_case, fooBar)") == "Query Set foo Bar"
    assert split_camel_case(b"nothing to_split HERE \xff\xfe") == ""


@given(st.binary(max_size=300))
def test_preparing_takes_any_bytes(text: bytes) -> None:
    assert split_camel_case(text).isascii()


def test_the_places_of_a_file() -> None:
    assert path_names("django/db/models/query.py") == (
        "query.py",
        "django/db/models/query",
        "db/models/query",
        "models/query",
    )
    assert path_names("pkg/sub/__init__.py") == ("__init__.py", "pkg/sub")
    assert path_names("setup.py") == ("setup.py",)


def test_files_fed_afresh_are_found_once_each(full_text: FullText) -> None:
    full_text.add([Document(path="a.py", text=b"before")])
    full_text.commit(1)
    full_text.clear()
    full_text.add([Document(path="a.py", text=b"after"), Document(path="b.py", text=b"after")], fresh=True)
    full_text.commit(2)
    assert found(full_text, *word("after")) == ["a.py", "b.py"]
    assert found(full_text, *word("before")) == [] and full_text.count == 2


def test_one_whose_disk_fails_can_be_closed(tmp_path: Path) -> None:
    full_text = FullText(tmp_path / "text")
    full_text.add([Document(path="a.py", text=b"word\n")])
    (tmp_path / "text").rename(tmp_path / "gone")
    full_text.close()
