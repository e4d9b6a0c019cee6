"""Files that are parsed while others are still being read."""

from pathlib import Path

import pytest

from codeplane.index.derived_index import DerivedIndex
from codeplane.index.early_parsing import EarlyParsing
from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import FullText
from codeplane.index.parser_pool import ParserPool
from codeplane.index.update_progress import Progress
from codeplane.index.worker_process import Worker, Workers
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.index.test_derived_index import follower, rows
from tests.interaction.requirements import requirement
from tests.kernel.plane import KEPT_WORKERS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with 1.4 MB of code, and some text."""
    root = make_repo(tmp_path / "repo")
    for file in range(14):
        lines = [f"def f{file}_{one}(x):\n    return one(x) + {one}  # Two{' and more' * 50}\n" for one in range(220)]
        (root / f"m{file:02}.py").write_text("".join(lines))
    (root / "notes.txt").write_text("one and two\n" * 1000)
    return root


@requirement("IDX-10a")
def test_a_first_build_that_is_parsed_while_it_is_read_gives_the_same(root: Path, tmp_path: Path) -> None:
    answer: list[Progress] = []
    for name in ("early", "late"):
        (tmp_path / name).mkdir()
    early, late = follower(tmp_path / "early", answer), follower(tmp_path / "late")
    early.warm()
    first, second = RecordingIndexer(root, tmp_path / "early", early.saw), RecordingIndexer(root, tmp_path / "late")
    snapshot = first.start()
    assert early.update(snapshot, newer=lambda: False)
    assert answer[-1].files == answer[-1].files_total == len(list(root.glob("*.py"))) + 1
    assert late.update(second.start(), newer=lambda: False)
    for part in (early, late, first, second):
        part.close()
    assert rows(tmp_path / "early") == rows(tmp_path / "late")


class CountedWorkers(Workers):
    """Counts the processes that are started."""

    def __init__(self) -> None:
        self.started = 0

    def start(self) -> Worker:
        self.started += 1
        return KEPT_WORKERS.start()

    def end(self, worker: Worker) -> None:
        KEPT_WORKERS.end(worker)


@requirement("IDX-10a")
@pytest.mark.parametrize(("few", "started"), [(True, 1), (False, 3)])
def test_a_few_files_are_parsed_by_one_process_and_many_by_all(
    root: Path, tmp_path: Path, few: bool, started: int
) -> None:
    workers, home = CountedWorkers(), tmp_path / "home"
    home.mkdir()
    follows = DerivedIndex(
        facts=FactStore(home / "facts.db"),
        text=FullText(home / "tantivy"),
        parsers=ParserPool(processes=3, workers=workers),
        on_progress=lambda progress: None,
    )
    follows.warm()
    indexer = RecordingIndexer(make_repo(tmp_path / "small") if few else root, home, follows.saw)
    snapshot = indexer.start()
    assert workers.started == started
    assert follows.update(snapshot, newer=lambda: False)
    assert workers.started == started
    follows.close()
    indexer.close()


@requirement("IDX-10a")
def test_files_are_parsed_before_all_of_them_were_read(root: Path, tmp_path: Path) -> None:
    parsers = ParserPool(processes=1, workers=KEPT_WORKERS)
    early = EarlyParsing(parsers)
    indexer = RecordingIndexer(root, tmp_path / "home", early.saw)
    snapshot = indexer.start()
    files, parsing = early.take(snapshot)
    assert parsing is not None and 0 < len(files) < 15
    parsing = parsers.begin(snapshot.content_file, (), after=parsing)
    found = [one for batch in parsing for one in batch]
    parsing.close()
    assert sorted(one.key for one in found) == list(range(len(files)))
    named = {files[one.key].path: one.rows[0].name for one in found}
    assert named == {path: f"f{int(path[1:3])}_0" if path.endswith(".py") else "example" for path in named}
    assert early.take(snapshot) == ((), None)
    parsers.close()
    indexer.close()


@requirement("IDX-10a")
def test_what_was_begun_for_another_content_is_given_up(root: Path, tmp_path: Path) -> None:
    parsers = ParserPool(processes=1, workers=KEPT_WORKERS)
    early = EarlyParsing(parsers)
    indexer = RecordingIndexer(root, tmp_path / "home", early.saw)
    older = indexer.start()
    newer = indexer.rebuild()
    # The second build began again, with its own content.
    assert early.take(older) == ((), None)
    assert early.take(newer) == ((), None)
    parsers.close()
    indexer.close()


@requirement("IDX-10a")
def test_what_changed_since_it_was_read_is_not_taken(root: Path, tmp_path: Path) -> None:
    parsers = ParserPool(processes=1, workers=KEPT_WORKERS)
    early = EarlyParsing(parsers)
    indexer = RecordingIndexer(root, tmp_path / "home", early.saw)
    indexer.start()
    (root / "m00.py").write_text("def another():\n    pass\n")
    assert early.take(indexer.reconcile()) == ((), None)
    parsers.close()
    indexer.close()
