"""A patch that was not read to its end: what there is of it is a true beginning, and said to be no more."""

import tempfile
from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.git.read.diff_page import diff_page
from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.git.read.patch import DIFF_OPTIONS, FilePatch, parse_patch
from codeplane.kernel.errors import TooLarge
from codeplane.kernel.secret_paths import NOTHING_SHOWN
from tests.git.random_repository import RandomRepository
from tests.interaction.requirements import requirement


@cache
def printed() -> bytes:
    """A difference with renames, links, binaries, missing line ends, and lines that look like heads."""
    with tempfile.TemporaryDirectory() as folder:
        made = RandomRepository.empty(Path(folder) / "made")
        made.write("a.txt", "diff --git a/x b/x\n@@ -1 +1 @@\n-- a\n\\ No newline\n" * 3)
        made.write("moved.txt", "".join(f"{n}\n" for n in range(50)))
        made.write("kind", "file")
        made.write("bin", b"\0\1")
        made.commit()
        made.write("a.txt", "diff --git a/y b/y\n@@ -1 +1 @@\n++ b\n\\ No newline\n" * 3 + "end")
        made.path("moved.txt").rename(made.path("new\nname"))
        made.write("new\nname", made.path("new\nname").read_bytes() + b"more")
        made.path("kind").unlink()
        made.path("kind").symlink_to("a.txt")
        made.write("bin", b"\0\2")
        made.git("add", "--all")
        return made.git("diff", "--cached", *DIFF_OPTIONS, "--patch")


def lines(files: list[FilePatch]) -> list[tuple[str, bytes, int | None, int | None]]:
    return [
        (line.origin, line.content, line.old_lineno, line.new_lineno)
        for file in files
        for hunk in file.hunks
        for line in hunk.lines
    ]


@requirement("GIT-03")
def test_the_whole_is_read() -> None:
    files = parse_patch(printed(), cut=False)
    assert [(file.path, file.status, file.whole) for file in files] == [
        ("a.txt", "modified", True),
        ("bin", "modified", True),
        ("kind", "typechange", True),
        ("new\nname", "renamed", True),
    ]
    assert [file.binary for file in files] == [False, True, False, False]
    assert [len(file.hunks) for file in files] == [1, 0, 2, 1]
    counted = [(file.insertions, file.deletions) for file in files]
    for file, (insertions, deletions) in zip(files, counted, strict=True):
        origins = [line.origin for hunk in file.hunks for line in hunk.lines]
        assert (origins.count("+"), origins.count("-")) == (insertions, deletions)


@requirement("GIT-03")
@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_beginning_is_a_beginning(data: st.DataObject) -> None:
    whole = printed()
    at = data.draw(st.integers(0, len(whole) - 1))
    try:
        files = parse_patch(whole[:at], cut=True)
    except TooLarge:
        assert b"\0\0diff" not in whole[:at]
        return
    every = parse_patch(whole, cut=False)
    assert lines(every)[: len(lines(files))] == lines(files)
    assert [file.path for file in files] == [file.path for file in every]
    assert all(file.whole for file in files) is False
    shown = diff_page(files, HiddenPaths(Path("/nowhere"), NOTHING_SHOWN), at=None)
    assert any(file.note and "too large" in file.note for file in shown.files)
