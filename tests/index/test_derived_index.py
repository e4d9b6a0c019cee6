"""Facts that follow the text: the same whether built at once or step by step, and never lost to a bad file."""

import contextlib
import os
import re
import signal
import sqlite3
import sys
from array import array
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.code.facts.assembly import MAX_DEFINITIONS
from codeplane.index.derived_index import DerivedIndex
from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import FullText, Term
from codeplane.index.parse_worker import Source
from codeplane.index.parser_pool import ParserPool
from codeplane.index.update_progress import Progress
from codeplane.kernel.errors import IndexNotReady
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement
from tests.kernel.plane import KEPT_WORKERS, Ask, asking
from tests.surfaces.http.wire import get_field

NAMES = ("a.py", "b.py", "sub/c.py", "d.txt")
TEXTS = (
    "def one():\n    return two()\n",
    "class Two:\n    def one(self):\n        self.field = 1\n",
    "from a import one\none()\n",
    "def broken(:\n",
    "",
)


def rows(home: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that is looked up, without the numbers that only this file uses."""
    connection = sqlite3.connect(home / "facts.db")
    parsed = connection.execute(
        "SELECT path, digest, term, problem, facts FROM parsed JOIN terms ON term_id = language"
    ).fetchall()
    (epoch,) = connection.execute("SELECT epoch FROM fed_until").fetchone()
    connection.close()
    store = FactStore(home / "facts.db")
    words = sorted({word for text in TEXTS for word in re.findall(r"\w+", text)})
    names = [(word, store.files_with(word)) for word in words]
    living = {number for number, _, _ in store.parsed_files()}
    postings = [(word, len(living & set(array("I", packed)))) for word, packed in store.postings(words)]
    definitions = [
        (one.file, one.position, one.uid, one.name, one.kind, one.path, one.signature, one.line)
        for path, *_ in sorted(parsed)
        for one in store.in_file(os.fsdecode(path), limit=-1)
    ]
    fed = sorted(store.fed_files(epoch).items())
    store.close()
    return {
        "parsed": sorted(parsed),
        "fed": fed,
        "definitions": definitions,
        "names": names,
        "postings": [one for one in postings if one[1]],
    }


def follower(home: Path, answer: list[Progress] | None = None) -> DerivedIndex:
    return DerivedIndex(
        facts=FactStore(home / "facts.db"),
        text=FullText(home / "tantivy"),
        parsers=ParserPool(processes=1, workers=KEPT_WORKERS),
        on_progress=(lambda progress: None) if answer is None else answer.append,
    )


def cut_off(indexer: RecordingIndexer) -> None:
    """Have somebody else shorten the content."""
    assert indexer.snapshot is not None
    os.truncate(indexer.snapshot.content_file, 0)


@requirement("IDX-43")
@pytest.mark.parametrize("parsed", [False, True])
def test_content_that_is_cut_off_in_the_middle_of_a_pass_ends_the_pass(tmp_path: Path, parsed: bool) -> None:
    root, home = make_repo(tmp_path / "repo", {f"{number}.py": TEXTS[0] for number in range(30)}), tmp_path / "home"
    (root / "notes.txt").write_text("text\n")
    indexer = RecordingIndexer(root, home)
    follows = follower(home)
    snapshot = indexer.start()
    if parsed:
        # Before its full text is fed: the facts are there, the texts are still to be read.
        assert follows.update(snapshot, newer=lambda: False)
        follows.request_full_feed()
    cut_off(indexer)
    with pytest.raises(IndexNotReady, match="cut off"):
        follows.update(snapshot, newer=lambda: False)
    assert indexer.mend() and indexer.snapshot is not None
    assert follows.update(indexer.snapshot, newer=lambda: False)
    follows.close()
    indexer.close()
    found = rows(home)
    assert len(found["parsed"]) == 30 and not any(problem for *_, problem, _ in found["parsed"])
    assert len(found["fed"]) == 31


@requirement("IDX-43")
def test_a_worker_gives_no_answer_about_content_that_is_cut_off(tmp_path: Path) -> None:
    content = tmp_path / "content"
    content.write_bytes(b"x = 1\n")
    parsers = ParserPool(processes=1)
    sources = [Source(key=0, name="a.py", language="python", offset=0, length=6)]
    assert [one.problem for batch in parsers.begin(content, sources) for one in batch] == [""]
    for length in (3, 0):
        os.truncate(content, length)
        assert [one for batch in parsers.begin(content, sources) for one in batch] == []
    parsers.close()


@requirement("IDX-10")
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from((*TEXTS, None))), max_size=3), min_size=1, max_size=4
    )
)
def test_step_by_step_and_at_once_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[str, str | None]]]
) -> None:
    root = make_repo(tmp_path_factory.mktemp("steps") / "repo")
    homes = [root.parent / "stepwise", root.parent / "whole"]
    indexer = RecordingIndexer(root, homes[0])
    indexer.start()
    stepwise = follower(homes[0])
    for step in steps:
        for name, text in step:
            path = root / name
            if text is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
        snapshot = indexer.reconcile()
        if len(step) == 1:
            stepwise.update(snapshot, newer=lambda: True)
        else:
            assert stepwise.update(snapshot, newer=lambda: False, commits=lambda: len(step) > 2)  # noqa: B023
    assert stepwise.update(indexer.reconcile(), newer=lambda: False, commits=lambda: False)
    stepwise.commit_text()
    fresh = RecordingIndexer(root, homes[1])
    whole = follower(homes[1])
    assert whole.update(fresh.start(), newer=lambda: False)
    assert stepwise.text.count == whole.text.count
    for part in (stepwise, whole, indexer, fresh):
        part.close()
    assert rows(homes[0]) == rows(homes[1])


@requirement("IDX-10")
def test_a_pass_that_is_overtaken_goes_on_where_it_was(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    for index in range(20):
        (root / f"m{index}.py").write_text(f"def f{index}():\n    pass\n")
    indexer = RecordingIndexer(root, tmp_path / "home")
    snapshot = indexer.start()
    answer: list[Progress] = []
    first = follower(tmp_path / "home", answer)
    assert not first.update(snapshot, newer=lambda: True)
    assert first.files_without_facts(snapshot) == []
    assert (
        answer[-1].files == answer[-1].files_total == len(snapshot.texts)
        and answer[-1].eta_sec == 0
        and answer[-1].share == 1
    )
    first.close()
    # What was parsed before a stop is not parsed again.
    second = follower(tmp_path / "home", answer := [])
    assert second.update(snapshot, newer=lambda: False) and answer == []
    second.close()
    indexer.close()


@requirement("IDX-20")
def test_facts_are_told_of_before_the_full_text_is_committed(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    (root / "good.py").write_text("def good():\n    pass\n")
    indexer = RecordingIndexer(root, tmp_path / "home")
    one = follower(tmp_path / "home")
    snapshot = indexer.start()
    answer: list[tuple[int, int, bool]] = []

    def parsed() -> None:
        answer.append((len(one.facts.find_symbols("good", limit=5)), one.text.count, one.text.wait(snapshot.epoch, 0)))

    assert not one.update(snapshot, newer=lambda: True, parsed=parsed) and answer == []
    assert one.update(snapshot, newer=lambda: False, parsed=parsed)
    assert answer == [(1, 0, False)]
    assert one.text.count == len(snapshot.texts) and one.text.wait(snapshot.epoch, 0)
    # An epoch of which nothing is fed is reached too; one that is to come is not.
    assert one.update(snapshot, newer=lambda: False) and not one.text.wait(snapshot.epoch + 1, 0)
    one.close()
    indexer.close()


@requirement("SRV-17")
def test_the_full_text_of_edits_that_come_together_is_committed_once(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    (root / "stays.py").write_text("stays = 1\n")
    indexer = RecordingIndexer(root, tmp_path / "home")
    one = follower(tmp_path / "home")
    assert one.update(indexer.start(), newer=lambda: False, commits=lambda: False) and not one.is_text_behind
    for name, text in (("a.py", "first = 1\n"), ("a.py", "second = 1\n"), ("b.py", "third = 1\n")):
        (root / name).write_text(text)
        assert one.update(indexer.reconcile(), newer=lambda: False, commits=lambda: False) and one.is_text_behind
    # A file that an overtaken pass saw and that is gone at the next one leaves nothing.
    (root / "ghost.py").write_text("ghost = 1\n")
    assert not one.update(indexer.reconcile(), newer=lambda: True)
    (root / "ghost.py").unlink()
    asked: list[bool] = []
    one.text.on_wait = lambda: asked.append(True)
    snapshot = indexer.reconcile()
    assert one.update(snapshot, newer=lambda: False, commits=lambda: one.text.is_awaited)
    assert not one.text.wait(snapshot.epoch, 0) and asked == [True] and one.text.is_awaited
    one.commit_text()
    assert one.text.wait(snapshot.epoch, 0) and not one.is_text_behind
    words = ("stays", "first", "second", "third", "ghost")
    found = {word: [hit.path for hit in one.text.search([Term(field="content", word=word)], limit=5)] for word in words}
    assert found == {"stays": ["stays.py"], "first": [], "second": ["a.py"], "third": ["b.py"], "ghost": []}
    assert one.text.count == len(snapshot.texts)
    one.close()
    indexer.close()


def test_a_file_that_went_in_an_overtaken_pass_and_came_back_is_found(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    (root / "stays.py").write_text("stays = 1\n")
    (root / "back.py").write_text("returned = 1\n")
    indexer = RecordingIndexer(root, tmp_path / "home")
    one = follower(tmp_path / "home")
    assert one.update(indexer.start(), newer=lambda: False)
    (root / "back.py").unlink()
    (root / "more.py").write_text("more = 1\n")
    assert not one.update(indexer.reconcile(), newer=lambda: True)
    (root / "back.py").write_text("returned = 1\n")
    assert one.update(indexer.reconcile(), newer=lambda: False)
    found = [hit.path for hit in one.text.search([Term(field="content", word="returned")], limit=5)]
    assert found == ["back.py"] and one.facts.find_symbols("returned", limit=5)
    one.close()
    indexer.close()


@requirement("SRV-17")
def test_what_an_edit_had_parsed_is_not_parsed_again(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    indexer = RecordingIndexer(root, tmp_path / "home")
    one = follower(tmp_path / "home")
    assert one.update(indexer.start(), newer=lambda: False)
    (root / "edited.py").write_text("def edited():\n    pass\n")
    snapshot = indexer.reconcile()
    known = snapshot.files["edited.py"]
    source = Source(key=7, name="edited.py", language="python", offset=known.offset, length=known.length)
    ((parsed,),) = one.parsers.parse(snapshot.content_file, [source])
    one.parsers.keep("edited.py", known.digest, "python", parsed)
    # From now on nothing can be parsed.
    one.parsers.close()
    assert one.update(snapshot, newer=lambda: False)
    assert [found.path for found in one.facts.find_symbols("edited", limit=5)] == ["edited"]
    one.close()
    indexer.close()


@requirement("IDX-10")
def test_a_broken_file_is_named_and_the_rest_is_there(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    (root / "good.py").write_text("def good():\n    pass\n")
    (root / "bad.py").write_text("def bad(:\n    pass\n")
    (root / "huge.py").write_text("x = 1\n" * 900_000)
    indexer = RecordingIndexer(root, tmp_path / "home", max_file_bytes=10_000_000)
    one = follower(tmp_path / "home")
    assert one.update(indexer.start(), newer=lambda: False)
    assert one.facts.find_symbols("good", limit=5)
    problems = one.facts.problems()
    assert problems["bad.py"] == "syntax error at line 1"
    assert "larger than" in problems["huge.py"]
    one.close()
    indexer.close()


@requirement("IDX-41")
def test_definitions_that_are_left_out_are_said(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    (root / "many.py").write_text("def f(): pass\n" * (MAX_DEFINITIONS + 1) + "def g(:\n")
    (root / "bad.py").write_text("def bad(:\n    pass\n")
    (root / "few.py").write_text("def f(): pass\n")
    indexer = RecordingIndexer(root, tmp_path / "home")
    one = follower(tmp_path / "home")
    assert one.update(indexer.start(), newer=lambda: False)
    problems = one.facts.problems()
    assert problems["many.py"].endswith(f"definitions left out: there are more than {MAX_DEFINITIONS}")
    assert "few.py" not in problems
    assert one.facts.problem_counts() == {"with syntax errors": 2, "with definitions left out": 1}
    one.close()
    indexer.close()


@requirement("IDX-10")
def test_a_parser_that_dies_costs_nothing_but_its_file(tmp_path: Path) -> None:
    content = tmp_path / "content.bin"
    content.write_bytes(b"def a(): pass\n")
    parsers = ParserPool(processes=1)
    ok = Source(key=1, name="a", language="python", offset=0, length=14)
    # No such language: the worker ends over it, as it would over a grammar that crashes.
    deadly = Source(key=2, name="b", language="none such", offset=0, length=14)
    found = {
        one.key: one
        for batch in parsers.parse(
            content, [ok, deadly, ok.__class__(key=3, name="c", language="python", offset=0, length=14)]
        )
        for one in batch
    }
    assert found[2].problem == "the parser did not survive it"
    assert [row.name for row in found[1].rows] == [row.name for row in found[3].rows] == ["a"]
    # Content that was replaced meanwhile is no fault of the files: they are asked for again.
    assert list(parsers.parse(tmp_path / "gone.bin", [ok])) == [[]]
    parsers.close()


def test_no_file_is_blamed_where_no_process_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "def a(): pass\n", "b.py": "def b(): pass\n"})
    indexer = RecordingIndexer(root, tmp_path / "home")
    snapshot = indexer.start()
    one = DerivedIndex(
        facts=FactStore(tmp_path / "home/facts.db"),
        text=FullText(tmp_path / "home/tantivy"),
        parsers=ParserPool(processes=2),
        on_progress=lambda progress: None,
    )
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", "/bin/false")
        with pytest.raises(OSError, match="could not be kept running"):
            one.update(snapshot, newer=lambda: False)
    assert one.facts.problems() == {}
    assert one.update(snapshot, newer=lambda: False)
    assert one.facts.problems() == {} and one.facts.find_symbols("b", limit=5)
    one.close()
    indexer.close()


def test_a_file_that_is_no_database_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "facts.db").write_bytes(os.urandom(5000))
    store = FactStore(tmp_path / "facts.db")
    assert store.remade is not None and store.digests() == {}
    store.close()


@requirement("IDX-11")
def test_what_was_defined_at_an_earlier_epoch_is_known(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    (root / "m.py").write_text("def before():\n    pass\n")
    indexer = RecordingIndexer(root, tmp_path / "home")
    one = follower(tmp_path / "home")
    first = indexer.start()
    one.update(first, newer=lambda: False)
    (root / "m.py").write_text("def after():\n    pass\n")
    second = indexer.reconcile()
    one.update(second, newer=lambda: False)
    (root / "m.py").unlink()
    third = indexer.reconcile()
    one.update(third, newer=lambda: False)

    def at(epoch: int) -> list[object] | None:
        found = one.facts.snapshot("m.py", epoch)
        return None if found is None else [row[1] for row in found]

    assert at(first.epoch) == ["before"]
    assert at(second.epoch) == ["after"]
    assert at(third.epoch) is None
    one.close()
    indexer.close()


def test_too_much_memory_leaves_one_parser_and_is_said(tmp_path: Path) -> None:
    content = tmp_path / "content.bin"
    # Two of them make a batch too large.
    text = b"def a(): pass\n#" + b" and no more" * 24_000
    content.write_bytes(text)
    sources = [Source(key=key, name=str(key), language="python", offset=0, length=len(text)) for key in range(8)]
    parsers = ParserPool(processes=3, memory_bytes=1)
    found = [one for batch in parsers.parse(content, sources) for one in batch]
    assert {one.key for one in found} == set(range(8)) and parsers.throttled
    generous = ParserPool(processes=2, memory_bytes=2**40)
    assert len(list(generous.parse(content, sources))) == 8 and not generous.throttled
    parsers.close()
    generous.close()


def test_a_parser_killed_from_outside_is_not_held_against_its_file(tmp_path: Path) -> None:
    content = tmp_path / "content.bin"
    content.write_bytes(b"def a(): pass\n")
    source = Source(key=1, name="a", language="python", offset=0, length=14)
    parsers = ParserPool(processes=1)
    assert len(list(parsers.parse(content, [source]))) == 1
    # The worker that stays warm is killed while nobody looks, as for want of memory.
    os.kill(parsers._idle[0].pid, signal.SIGKILL)
    (found,) = [one for batch in parsers.parse(content, [source]) for one in batch]
    assert found.problem == "" and [row.name for row in found.rows] == ["a"]
    parsers.close()


def test_who_ends_waits_for_no_parser_that_hangs(tmp_path: Path) -> None:
    content = tmp_path / "content.bin"
    content.write_bytes(b"def a(): pass\n")
    source = Source(key=1, name="a", language="python", offset=0, length=14)
    parsers = ParserPool(processes=1)
    assert len(list(parsers.parse(content, [source]))) == 1
    hung = parsers._idle[0].pid
    os.kill(hung, signal.SIGSTOP)
    parsing = parsers.begin(content, [source])
    parsers.close()
    found = []
    with contextlib.suppress(OSError):
        found = [one for batch in parsing for one in batch]
    parsing.close()
    # Given up at once: with patience, the file would have been said to take too long, and another worker started.
    assert found == []
    with pytest.raises(ProcessLookupError):
        os.kill(hung, 0)


def test_what_is_read_while_all_ends_starts_no_parser(tmp_path: Path) -> None:
    content = tmp_path / "content.bin"
    content.write_bytes(b"def a(): pass\n")
    parsers = ParserPool(processes=1)
    parsers.close()
    late = parsers.begin(content, [Source(key=1, name="a", language="python", offset=0, length=14)], more=True)
    with pytest.raises(OSError, match="could not be kept running"):
        list(late)
    late.close()


async def test_damaged_facts_are_made_again(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {f"m{n}.py": f"def f{n}():\n    return {n}\n" * 40 for n in range(60)})

    async def ask_once(ask: Ask) -> None:
        found = await ask("search", query="f7", mode="definitions", limit=1)
        assert get_field(found, "result", "total") == 40, found

    async with asking(root) as ask:
        await ask_once(ask)
    file = root / ".codeplane" / "facts.db"
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 8192] = os.urandom(8192)
    file.write_bytes(raw)
    async with asking(root) as ask:
        await ask_once(ask)


@requirement("REPO-03")
async def test_facts_that_turn_out_damaged_are_an_error_and_then_made_again(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "def one():\n    pass\n", "b.py": "from a import one\none()\n"})

    async def whole(ask: Ask) -> None:
        found = await ask("search", query="one", mode="references")
        assert get_field(found, "result", "tiers") == {"PROVEN": 1, "STRONG": 2}, found

    async def damaged(ask: Ask) -> None:
        found = await ask("search", query="one", mode="references")
        assert (get_field(found, "error", "error"), get_field(found, "error", "retryable")) == (
            "STORAGE_FAILED",
            True,
        ), found
        await whole(ask)

    # Whoever makes vectors may come upon the damage before the question does.
    without = "embeddings.model=none"
    async with asking(root, without) as ask:
        await whole(ask)
    with contextlib.closing(sqlite3.connect(root / ".codeplane" / "facts.db")) as database:
        # Sound as a database, and what it holds is not.
        database.execute("UPDATE parsed SET facts = x'789c00' WHERE path = ?", (b"b.py",))
        database.commit()
    async with asking(root, without) as ask:
        await damaged(ask)
    async with asking(root, without) as ask:
        await whole(ask)


def indexed(home: Path) -> set[str]:
    with contextlib.closing(sqlite3.connect(home / "facts.db")) as database:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'definitions_by%'")
        return {name for (name,) in rows}


def test_a_first_pass_ends_with_all_indexes(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {f"m{n}.py": f"def f{n}():\n    pass\n" for n in range(250)})
    indexer = RecordingIndexer(root, tmp_path / "home")
    one = follower(tmp_path / "home")
    assert one.update(indexer.start(), newer=lambda: False)
    assert indexed(tmp_path / "home") == {"definitions_by_name", "definitions_by_uid"}
    assert [found.file for found in one.facts.find_symbols("f249", limit=5)] == ["m249.py"]
    one.close()
    indexer.close()


def test_facts_left_without_indexes_answer_and_get_them_when_opened(tmp_path: Path) -> None:
    store = FactStore(tmp_path / "facts.db")
    with pytest.raises(OSError, match="no space"), store.bulk_load(1000):
        assert not indexed(tmp_path)
        assert store.find_symbols("nothing", limit=1) == []
        raise OSError("no space")
    assert not indexed(tmp_path)
    store.close()
    FactStore(tmp_path / "facts.db").close()
    assert indexed(tmp_path) == {"definitions_by_name", "definitions_by_uid"}


def test_a_few_files_more_keep_the_indexes(tmp_path: Path) -> None:
    store = FactStore(tmp_path / "facts.db")
    with store.bulk_load(3):
        assert indexed(tmp_path) == {"definitions_by_name", "definitions_by_uid"}
    store.close()


def test_the_share_is_of_the_work_and_the_time_left_is_of_the_rest() -> None:
    # The largest files come first: a tenth of the files is half of the bytes.
    found = Progress(files=10, files_total=100, bytes=500_000, bytes_total=1_000_000, sec=10.0)
    assert found.share == (500_000 + 10 * 1500) / (1_000_000 + 100 * 1500)
    assert found.eta_sec == 10.0 * (1 - found.share) / found.share
    assert Progress(files=0, files_total=0, bytes=0, bytes_total=0, sec=0.0).share == 1.0
    assert Progress(files=0, files_total=9, bytes=0, bytes_total=9, sec=0.0).eta_sec is None
