"""What the full text was fed is known by number where there are facts, and by path where there are none."""

from pathlib import Path

import pytest

from codeplane.index.fact_store import FactStore
from codeplane.index.parse_worker import ParseResult
from codeplane.index.parsed_table import ParsedFile
from codeplane.index.path_key import path_key
from tests.interaction.requirements import requirement

pytestmark = requirement("IDX-44")

ONE, TWO = "11" * 16, "22" * 16


@pytest.fixture
def store(tmp_path: Path) -> FactStore:
    found = FactStore(tmp_path / "facts.db")
    put(found, "a.py", ONE, epoch=1)
    found.feed({"a.py": ONE, "note.txt": ONE}, (), epoch=1, anew=True)
    return found


def put(store: FactStore, path: str, digest: str, *, epoch: int) -> None:
    store.put([ParsedFile(path=path, digest=digest, language="python", parsed=ParseResult(key=0))], epoch=epoch)


def test_what_was_fed_outlives_facts(store: FactStore) -> None:
    whole = {"a.py": ONE, "note.txt": ONE}
    assert store.fed_files(1) == whole
    assert store.fed_files(2) == store.fed_files(None) == {}
    # Facts of a newer text are there before the full text is fed it: what it holds is still the older one.
    put(store, "a.py", TWO, epoch=2)
    assert store.fed_files(1) == whole
    store.put((), removed=["a.py"], epoch=3)
    assert store.fed_files(1) == whole
    store.close()


def test_what_is_fed_again_or_removed_is_noted_once(store: FactStore) -> None:
    put(store, "a.py", TWO, epoch=2)
    store.feed({"a.py": TWO}, ["note.txt"], epoch=2, anew=False)
    assert store.fed_files(2) == {"a.py": TWO}
    put(store, "b.py", ONE, epoch=3)
    store.feed({"b.py": ONE, "note.txt": TWO}, ["a.py"], epoch=3, anew=False)
    assert store.fed_files(3) == {"b.py": ONE, "note.txt": TWO}
    store.feed({"b.py": ONE}, (), epoch=4, anew=True)
    assert store.fed_files(4) == {"b.py": ONE}
    # A text that has come to have facts was noted by its path, and is not noted twice.
    store.feed({"c.py": ONE}, (), epoch=5, anew=False)
    put(store, "c.py", ONE, epoch=6)
    store.feed({"c.py": ONE}, (), epoch=6, anew=False)
    assert store.fed_files(6) == {"b.py": ONE, "c.py": ONE}
    store.close()


def test_paths_are_told_apart_that_share_a_number(tmp_path: Path) -> None:
    seen: dict[int, str] = {}
    paths = (f"m{number}.py" for number in range(1 << 24))
    one, two = next(
        (seen[key], path) for path in paths if seen.setdefault(key := path_key(path.encode()), path) != path
    )
    store = FactStore(tmp_path / "facts.db")
    for path, digest in ((one, ONE), (two, TWO)):
        put(store, path, digest, epoch=1)
    store.feed({one: ONE, two: TWO}, (), epoch=1, anew=True)
    put(store, one, TWO, epoch=2)
    store.feed({one: TWO}, (), epoch=2, anew=False)
    assert store.digests() == store.fed_files(2) == {one: TWO, two: TWO}
    store.put((), removed=[one], epoch=3)
    assert store.digests() == {two: TWO}
    store.close()
