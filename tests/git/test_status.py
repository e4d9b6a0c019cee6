"""`git.status`: what is half done, what git hides, pages, and states in the middle of something."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from codeplane.git.read.conflict import conflicts
from codeplane.git.read.repository import open_repository
from codeplane.git.read.state import state_of
from codeplane.git.read.status import StatusResult
from codeplane.kernel.errors import CursorExpired, CursorInvalid, NotFound, PathDenied
from tests.git.random_repository import RandomRepository
from tests.git.read_operations import Reads
from tests.git.test_reader_matches_git import of, pages
from tests.interaction.requirements import requirement


@pytest.fixture
def repository(tmp_path: Path) -> RandomRepository:
    made = RandomRepository.empty(tmp_path / "made")
    made.write("a.txt", "one\ntwo\nthree\n")
    made.write("b.txt", "b\n")
    made.commit("first")
    return made


@requirement("GIT-02")
def test_in_as_few_words_as_git_short(repository: RandomRepository) -> None:
    reads = Reads(repository.root)
    head = repository.git("rev-parse", "HEAD").decode().strip()
    assert reads("git.status").text() == f"main at {head[:9]}, clean"
    repository.write("a.txt", "other\n")
    repository.git("add", "a.txt")
    repository.write("a.txt", "again\n")
    repository.path("b.txt").chmod(0o755)
    repository.write("new dir/file\nname", "x")
    changed = ["MM a.txt", " M b.txt"]
    assert reads("git.status").text().splitlines()[1:] == [*changed, "?? new dir/ (1 file)"]
    each = reads("git.status", untracked="all").text().splitlines()[1:]
    assert each == [*changed, "?? new dir/file\\x0aname"]
    some = of(StatusResult, reads("git.status", paths=["b.txt"]))
    assert [one.path for one in some.modified] == ["b.txt"] and not some.untracked
    assert of(StatusResult, reads("git.status", paths=["."])).total == 3


@requirement("GIT-02")
def test_before_the_first_commit_and_without_a_branch(tmp_path: Path, repository: RandomRepository) -> None:
    empty = RandomRepository.empty(tmp_path / "empty")
    answer = of(StatusResult, Reads(empty.root)("git.status"))
    assert (answer.branch, answer.head_commit, answer.is_clean) == ("main", None, True)
    assert answer.text() == "main at no commit yet, clean"
    repository.git("checkout", "--quiet", "--detach")
    assert of(StatusResult, Reads(repository.root)("git.status")).branch is None


@requirement("GIT-02")
def test_ahead_and_behind(repository: RandomRepository) -> None:
    repository.git("branch", "up")
    repository.git("branch", "--set-upstream-to=up")
    repository.commit("ahead")
    answer = of(StatusResult, Reads(repository.root)("git.status"))
    assert (answer.upstream, answer.ahead, answer.behind) == ("up", 1, 0)
    repository.git("branch", "-D", "up")
    assert "(up gone)" in Reads(repository.root)("git.status").text()


@requirement("GIT-02")
@pytest.mark.parametrize("act", ["merge", "cherry-pick", "revert", "rebase", "bisect"])
def test_in_the_middle_of_something(repository: RandomRepository, act: str) -> None:
    repository.git("checkout", "--quiet", "-b", "side")
    repository.write("a.txt", "one\nside\nthree\n")
    repository.commit("side")
    repository.git("checkout", "--quiet", "main")
    repository.write("a.txt", "one\nmain\nthree\n")
    repository.commit("main")
    commands = {"revert": ("revert", "--no-edit", "HEAD~1"), "bisect": ("bisect", "start")}
    if act == "revert":
        repository.write("a.txt", "one\nmain again\nthree\n")
        repository.commit("again")
    repository.git(*commands.get(act, (act, "side")), check=False)
    answer = of(StatusResult, Reads(repository.root)("git.status"))
    assert answer.state == act.replace("-", "") == state_of(open_repository(repository.root))
    assert f"{answer.state} in progress" in answer.text()
    assert answer.conflicts == conflicts(open_repository(repository.root))
    if act != "bisect":
        assert [one.path for one in answer.conflicts] == ["a.txt"] and "UU a.txt" in answer.text()
        listed = repository.git("ls-files", "--unmerged", "-z").split(b"\0")[:-1]
        found = answer.conflicts[0]
        assert [found.ancestor_oid, found.ours_oid, found.theirs_oid] == [one.split()[1].decode() for one in listed]
    if act == "rebase":
        assert answer.progress is not None and answer.progress.startswith("main onto ")
    if act == "cherry-pick":
        repository.git("cherry-pick", "--abort")
        assert of(StatusResult, Reads(repository.root)("git.status")).state == "none"


@requirement("GIT-02")
def test_several_commits_are_one_cherry_pick_until_the_last(repository: RandomRepository) -> None:
    repository.git("checkout", "--quiet", "-b", "side")
    for text in ("side 1", "side 2"):
        repository.write("a.txt", text)
        repository.commit(text)
    repository.git("checkout", "--quiet", "main")
    repository.write("a.txt", "main")
    repository.commit("main")
    repository.git("cherry-pick", "side~1", "side", check=False)
    repository.commit("resolved")
    assert not (repository.root / ".git/CHERRY_PICK_HEAD").exists()
    assert of(StatusResult, Reads(repository.root)("git.status")).state == "cherrypick"


def test_what_git_does_not_look_at(repository: RandomRepository) -> None:
    reads = Reads(repository.root)
    repository.git("update-index", "--assume-unchanged", "a.txt")
    repository.write("a.txt", "hidden\n")
    assert of(StatusResult, reads("git.status")).is_clean
    repository.git("update-index", "--no-assume-unchanged", "a.txt")
    repository.git("checkout", "--quiet", "a.txt")
    repository.write("dir/in.txt", "x\n")
    repository.commit("dir")
    repository.git("sparse-checkout", "set", "--cone", "--sparse-index")
    assert not repository.path("dir").exists()
    assert of(StatusResult, reads("git.status")).is_clean


def test_line_ends_and_filters_are_judged_as_git_does(repository: RandomRepository) -> None:
    repository.git("config", "filter.upper.clean", "tr a-z A-Z")
    repository.git("config", "filter.upper.smudge", "tr A-Z a-z")
    repository.git("config", "core.autocrlf", "true")
    repository.write(".gitattributes", "*.up filter=upper\n")
    repository.write("x.up", "text\n")
    repository.write("crlf.txt", "one\r\ntwo\r\n")
    repository.commit("filtered")
    for path in ("x.up", "crlf.txt"):
        os.utime(repository.path(path), (1, 1))
    reads = Reads(repository.root)
    assert of(StatusResult, reads("git.status")).is_clean
    assert reads("git.diff").text() == "no differences"
    repository.write("crlf.txt", "one\r\nother\r\n")
    assert "+other" in reads("git.diff").text() and "\r" not in reads("git.diff").text()


def test_many_files_come_in_pages_of_one_state(repository: RandomRepository) -> None:
    for number in range(1200):
        repository.write(f"many/{number:04}.txt", "x")
    reads = Reads(repository.root)
    assert reads("git.status").text().splitlines()[1:] == ["?? many/ (1200 files)"]
    found = [of(StatusResult, page) for page in pages(reads, "git.status", untracked="all")]
    assert [path for page in found for path in page.untracked] == [f"many/{n:04}.txt" for n in range(1200)]
    assert "[500 of 1200]" in found[0].text() and "cursor=" in found[0].text()
    repository.path("many/0000.txt").unlink()
    with pytest.raises(CursorExpired):
        reads("git.status", untracked="all", cursor=found[0].pagination.next_cursor)
    with pytest.raises(CursorInvalid):
        reads("git.status", untracked="all", cursor=found[0].pagination.next_cursor, paths=["many"])


def test_an_untracked_folder_is_one_entry_with_its_files_counted(repository: RandomRepository) -> None:
    reads = Reads(repository.root)
    repository.write(".gitignore", "*.pyc\n")
    repository.write("env/lib/a.py", "x")
    repository.write("env/lib/a.pyc", "ignored")
    repository.write("env/b.py", "x")
    repository.write("envy.txt", "x")
    repository.write("one/new\nline", "x")
    repository.git("init", "--quiet", "inner")
    repository.write("inner/x", "x")
    answer = of(StatusResult, reads("git.status", paths=["env", "envy.txt", "one", "inner"]))
    assert answer.untracked == ("env/", "envy.txt", "inner/", "one/")
    assert [(one.path, one.files, one.more) for one in answer.untracked_folders] == [
        ("env/", 2, False),
        ("one/", 1, False),
    ]
    assert answer.text().splitlines()[1:] == ["?? env/ (2 files)", "?? envy.txt", "?? inner/", "?? one/ (1 file)"]
    inside = of(StatusResult, reads("git.status", paths=["env/lib"]))
    assert [(one.path, one.files) for one in inside.untracked_folders] == [("env/lib/", 1)]
    assert "untracked: 5 (.gitignore, env/, envy.txt, inner/, one/)" in reads("git.diff").text()
    with pytest.raises(ValidationError):
        reads("git.status", untracked="none")


def test_more_untracked_files_than_are_counted_is_said(
    repository: RandomRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codeplane.git.read.status._MAX_COUNTED", 100)
    repository.write("b/x", "x")
    for number in range(50):
        repository.write(f"many/{number:04}.txt", "x")
    repository.write("z/x", "x")
    answer = Reads(repository.root)("git.status")
    assert answer.text().splitlines()[1:] == ["?? b/ (1 file)", "?? many/ (over 6 files)", "?? z/"]


def test_paths_that_are_not_there_or_not_ours(repository: RandomRepository) -> None:
    reads = Reads(repository.root)
    with pytest.raises(NotFound):
        reads("git.status", paths=["nowhere.txt"])
    for path in ("../x", ".git/config", "/etc/passwd", "a\0b"):
        with pytest.raises(PathDenied):
            reads("git.status", paths=[path])
    # A pathspec is meant literally: no magic, no globs.
    repository.write(":(top)x", "1")
    assert of(StatusResult, reads("git.status", paths=[":(top)x"])).untracked == (":(top)x",)


def test_reading_takes_no_lock_and_leaves_the_index_alone(repository: RandomRepository) -> None:
    (repository.root / ".git/index.lock").write_bytes(b"")
    index = (repository.root / ".git/index").read_bytes()
    os.utime(repository.path("a.txt"), (1, 1))
    reads = Reads(repository.root)
    assert of(StatusResult, reads("git.status")).is_clean
    assert reads("git.diff").text() == "no differences"
    assert (repository.root / ".git/index").read_bytes() == index
