"""Facts that an archive brings: taken where they can be of the text, and parsed here where they cannot."""

import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from codeplane.code.model import Facts, pack_facts, unpack_facts
from codeplane.code.packed_columns import pack_columns
from codeplane.index.archive import ArchivedFacts
from codeplane.index.derived_index import DerivedIndex
from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import FullText
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import Snapshot
from codeplane.index.update_progress import Progress
from tests.harness import PATIENCE_SEC, make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.index.test_derived_index import follower, rows
from tests.interaction.requirements import requirement
from tests.kernel.plane import KEPT_WORKERS

pytestmark = requirement("IDX-45")

FILES = {
    "a.py": "from b import two\n\n\ndef one(x):\n    y = x\n    return y + two()\n",
    "b.py": "def two():\n    pass\n",
}
_FAR = 10**6


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return RecordingIndexer(make_repo(tmp_path / "repo", FILES), tmp_path / "index").start()


def parsed(snapshot: Snapshot, home: Path) -> list[ArchivedFacts]:
    """What an archive would hold of the files."""
    home.mkdir()
    made = follower(home)
    assert made.update(snapshot, newer=lambda: False)
    found = [
        ArchivedFacts(path=path.encode(), digest=digest, facts=zlib.compress(pack_facts(facts)))
        for path, digest in made.facts.digests().items()
        if (facts := made.facts.facts(path, digest)) is not None
    ]
    made.close()
    return found


def _all(facts: Facts, field: str, **other: int) -> Facts:
    return replace(facts, **{field: tuple(replace(one, **other) for one in getattr(facts, field))})


FORGED: dict[str, Callable[[Facts], Facts]] = {
    "scopes in a circle": lambda facts: replace(
        facts, scopes=tuple(replace(one, parent=index) for index, one in enumerate(facts.scopes))
    ),
    "no scopes": lambda facts: replace(facts, scopes=()),
    "scopes of nobody": lambda facts: _all(facts, "scopes", definition=_FAR),
    "names outside the text": lambda facts: _all(facts, "definitions", name_after=_FAR),
    "definitions before the text": lambda facts: _all(facts, "definitions", start=-1),
    "lines before the first": lambda facts: _all(facts, "definitions", line=-1),
    "definitions in no scope": lambda facts: _all(facts, "definitions", scope=_FAR),
    "definitions inside themselves": lambda facts: replace(
        facts, definitions=tuple(replace(one, container=index) for index, one in enumerate(facts.definitions))
    ),
    "imports in no scope": lambda facts: _all(facts, "imports", scope=_FAR),
    "bindings that are none": lambda facts: replace(facts, bind_packed=b"\xff" * 7),
    "bindings of nobody": lambda facts: replace(
        facts, bind_packed=pack_columns(*([number] * len(facts.bind_names) for number in (_FAR, 1, 200, _FAR)))
    ),
    "strings outside the text": lambda facts: replace(facts, text_packed=pack_columns([_FAR], [1])),
    "another language": lambda facts: replace(facts, language="rust"),
}


def test_facts_are_taken_as_if_they_had_been_parsed_here(snapshot: Snapshot, tmp_path: Path) -> None:
    found = parsed(snapshot, tmp_path / "first")
    (tmp_path / "second").mkdir()
    second = follower(tmp_path / "second")
    assert second.adopt(snapshot, iter(found)) == (2, 2)
    assert second.files_without_facts(snapshot) == []
    assert second.update(snapshot, newer=lambda: False)
    second.close()
    theirs, ours = rows(tmp_path / "first"), rows(tmp_path / "second")
    assert {key: value for key, value in theirs.items() if key != "parsed"} == {
        key: value for key, value in ours.items() if key != "parsed"
    }


@requirement("IDX-12")
@pytest.mark.parametrize("how", FORGED)
def test_facts_that_cannot_be_of_the_text_are_not_taken(snapshot: Snapshot, tmp_path: Path, how: str) -> None:
    found = {one.path: one for one in parsed(snapshot, tmp_path / "first")}
    forged = FORGED[how](unpack_facts(zlib.decompress(found[b"a.py"].facts)))
    (tmp_path / "second").mkdir()
    second = follower(tmp_path / "second")
    given = [
        ArchivedFacts(path=b"a.py", digest=found[b"a.py"].digest, facts=zlib.compress(pack_facts(forged))),
        found[b"b.py"],
    ]
    second.adopt(snapshot, iter(given))
    assert [known.path for known in second.files_without_facts(snapshot)] == ["a.py"]
    second.close()


@pytest.mark.parametrize("raw", [b"", b"\0", zlib.compress(b"a" * (80 * 1024 * 1024), 9), zlib.compress(b"x")[:-1]])
def test_what_is_no_facts_at_all_is_not_taken(snapshot: Snapshot, tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "home").mkdir()
    here = follower(tmp_path / "home")
    here.adopt(snapshot, iter([ArchivedFacts(path=b"a.py", digest=snapshot.files["a.py"].digest, facts=raw)]))
    assert len(here.files_without_facts(snapshot)) == 2
    here.close()


def test_a_pass_leaves_off_for_who_brings_the_same_facts(snapshot: Snapshot, tmp_path: Path) -> None:
    found = parsed(snapshot, tmp_path / "first")
    (tmp_path / "second").mkdir()
    adopting: list[threading.Thread] = []

    def on_progress(progress: Progress) -> None:
        adopting.append(threading.Thread(target=second.adopt, args=(snapshot, iter(found))))
        adopting[-1].start()
        assert second.adopting.wait(PATIENCE_SEC)

    second = DerivedIndex(
        facts=FactStore(tmp_path / "second/facts.db"),
        text=FullText(tmp_path / "second/tantivy"),
        parsers=ParserPool(processes=1, workers=KEPT_WORKERS),
        on_progress=on_progress,
    )
    assert not second.update(snapshot, newer=lambda: False)
    adopting[0].join()
    assert second.files_without_facts(snapshot) == []
    second.close()
