"""Exact search finds what ripgrep finds, in a stable order."""

import random
import re
import shutil
import subprocess
import sysconfig
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.exact_search import scan
from codeplane.query.search.pattern import Literal, Pattern, Regex, looks_like_regex
from tests.harness import make_repo
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement

QUERIES_PER_CORPUS = 100


def lines_of(snapshot: Snapshot, pattern: Pattern) -> list[tuple[str, int]]:
    page = scan(snapshot, pattern, keep=None, after=None, limit=10**9, count_for_sec=60, deadline=time.monotonic() + 60)
    assert page.complete
    return [(line.known.path, line.number) for line in page.lines]


def ripgrep(root: Path, query: str, *, literal: bool) -> set[tuple[str, int]]:
    chosen = ["-F", "-e", query] if literal else ["-e", query]
    command = ["rg", "--hidden", "--no-ignore", "--null", "--no-heading", "--line-number", "-g", "!.git", *chosen, "."]
    out = subprocess.run(command, cwd=root, capture_output=True, timeout=60).stdout
    return {
        (line.split(b"\0")[0].decode()[2:], int(line.split(b"\0")[1].split(b":")[0]))
        for line in out.split(b"\n")
        if b"\0" in line
    }


def own_sources(folder: Path) -> Path:
    return Path(
        shutil.copytree(Path(__file__).parents[3] / "src", folder / "own", ignore=shutil.ignore_patterns("*.pyc"))
    )


def a_library(folder: Path) -> Path:
    source = Path(sysconfig.get_paths()["purelib"]) / "pydantic"
    return Path(shutil.copytree(source, folder / "library", ignore=shutil.ignore_patterns("*.pyc", "*.so")))


def odd_bytes(folder: Path) -> Path:
    dice = random.Random(7)
    root = folder / "odd"
    for number in range(60):
        path = root / f"d{number % 7}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        words = [dice.choice(["foo", "bar", "été", "x" * 50, "\t", "a.b", "(", "\r"]) for _ in range(200)]
        text = "".join(word + dice.choice([" ", "\n", "\r\n", ""]) for word in words).encode()
        path.write_bytes(text + dice.choice([b"", b"\n", b"\xff\xfe tail", b"\n\n"]))
    return root


@requirement("REPO-04")
@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed: the comparison has no other side")
@pytest.mark.parametrize("corpus", [own_sources, a_library, odd_bytes])
def test_hits_are_ripgreps(tmp_path: Path, corpus: object) -> None:
    root = corpus(tmp_path)  # type: ignore[operator]  # one of the functions above
    snapshot = RecordingIndexer(root, tmp_path / "home").start()
    words = sorted(
        {
            word
            for known in snapshot.texts
            for word in re.findall(r"\w{2,}", snapshot.text(known).decode(errors="ignore"))
        }
    )
    dice = random.Random(11)
    for _ in range(QUERIES_PER_CORPUS):
        word, other = dice.choice(words), dice.choice(words)
        literal = dice.random() < 0.4
        shapes = (
            rf"\b{word}\b",
            rf"^\s*{word}",
            rf"{word}\s*$",
            rf"{word}|{other}",
            rf"(?i){word[:4]}",
            rf"{word[:2]}.{{1,3}}\w+",
            rf"[{word[:3]}]+\(",
            rf"({word}|{other})\w*\.",
            rf"{word}\(|{other}\.|[^]{word[:2]}\]]{other[:4]}",
            rf"\x{ord(word[0]):02x}{word[1:]}",
        )
        query = dice.choice((word, f"{word} ", word[:3])) if literal else dice.choice(shapes)
        if not literal and r"\b" in query and not (word[0] + word[-1]).isascii():
            with pytest.raises(InvalidArgument, match="outside of ASCII"):
                Regex(query)
            continue
        found = lines_of(snapshot, Literal(query) if literal else Regex(query))
        assert set(found) == ripgrep(root, query, literal=literal), query
        assert found == sorted(found, key=lambda hit: (hit[0].encode(), hit[1])), "ordered by path and line"


def test_files_written_since_are_found_in_their_place(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {f"f{number}.txt": f"needle {number}\n" for number in range(5)})
    indexer = RecordingIndexer(root, tmp_path / "home")
    indexer.start()
    (root / "f2.txt").write_text("hay\nneedle anew\nneedle again\n")
    (root / "f1.txt").unlink()
    (root / "f25.txt").write_text("needle\n")
    found = lines_of(indexer.reconcile(), Literal("needle"))
    assert found == [("f0.txt", 1), ("f2.txt", 2), ("f2.txt", 3), ("f25.txt", 1), ("f3.txt", 1), ("f4.txt", 1)]


def test_pages_follow_each_other_without_loss(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {f"{number:02}.txt": "hit\nmiss\nhit\n" for number in range(20)})
    indexer = RecordingIndexer(root, tmp_path / "home")
    indexer.start()
    (root / "07.txt").write_text("hit\nhit\nhit\n")
    snapshot = indexer.reconcile()
    whole = lines_of(snapshot, Literal("hit"))
    paged: list[tuple[str, int]] = []
    after: tuple[str, int] | None = None
    while True:
        page = scan(
            snapshot, Literal("hit"), keep=None, after=after, limit=7, count_for_sec=0, deadline=time.monotonic() + 9
        )
        paged += [(line.known.path, line.number) for line in page.lines]
        if page.seen <= len(page.lines):
            break
        after = paged[-1]
    assert paged == whole


def test_a_match_never_reaches_into_the_next_line_or_file(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.txt": "foo", "b.txt": "bar\nfoo\nbar"})
    snapshot = RecordingIndexer(root, tmp_path / "home").start()
    assert lines_of(snapshot, Regex(r"foo\s+bar")) == []
    assert lines_of(snapshot, Regex(r"^foo$")) == [("a.txt", 1), ("b.txt", 2)]


@pytest.mark.parametrize("query", ["(?=a)", r"(a)\1", "(unclosed", "a{1,100000}", "["])
def test_unsupported_expressions_are_typed_errors(query: str) -> None:
    with pytest.raises(InvalidArgument, match="not supported"):
        Regex(query)


def test_an_expression_that_would_explode_elsewhere_ends(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.txt": "a" * 5000 + "b\n"})
    snapshot = RecordingIndexer(root, tmp_path / "home").start()
    assert lines_of(snapshot, Regex("(a*)*c")) == []


@pytest.mark.parametrize(
    ("query", "regex"),
    [
        ("get_queryset", False),
        ("def foo(", False),
        ("a.b", False),
        (r"\bfoo\b", True),
        ("foo.*bar", True),
        ("^import", True),
        ("a|b", True),
        ("x = [1]", True),
        ("What is this?", False),
    ],
)
def test_auto_goes_by_the_querys_shape(query: str, regex: bool) -> None:
    assert looks_like_regex(query) is regex


@given(
    files=st.lists(st.text(alphabet="hitx\n", max_size=30), min_size=1, max_size=6),
    limit=st.integers(1, 5),
    query=st.sampled_from(["hit", "h", "i[t]", "^x*$", "^$", "hit|x", "t\nh"]),
)
@settings(max_examples=60, deadline=None)
def test_the_total_is_that_of_all_lines_however_few_are_shown(files: list[str], limit: int, query: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_repo(Path(folder) / "repo", {f"{number}.txt": text for number, text in enumerate(files)})
        snapshot = RecordingIndexer(root, Path(folder) / "home").start()
        keep = lambda path: path != "1.txt"  # noqa: E731  # one of the files is not looked at
        pages = [
            scan(
                snapshot,
                Literal(query) if query.isalnum() or "\n" in query else Regex(query),
                keep=keep,
                after=None,
                limit=most,
                count_for_sec=60,
                deadline=time.monotonic() + 60,
            )
            for most in (limit, 10**9)
        ]
        assert [(page.seen, page.files, page.complete) for page in pages] == [
            (len(pages[1].lines), len({line.known.path for line in pages[1].lines}), True)
        ] * 2
