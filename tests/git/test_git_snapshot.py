"""What is read without git is what git says."""

from pathlib import Path

import pytest

from codeplane.git.read.index_file import index_lines
from codeplane.git.read.object_store import ObjectStore, settings_in
from codeplane.git.write.git_snapshot import take_snapshot
from tests.git.desk import Desk, run, simple
from tests.git.random_repository import RandomRepository, made
from tests.interaction.requirements import requirement


def listed(repository: RandomRepository) -> frozenset[bytes]:
    return frozenset(line for line in repository.git("ls-files", "--stage", "-z").split(b"\0") if line)


@requirement("GIT-22")
@pytest.mark.parametrize("seed", [3, 14])
def test_the_index_is_read_as_git_lists_it(tmp_path: Path, seed: int) -> None:
    repository = made(tmp_path / "made", seed)
    assert index_lines(repository.root / ".git" / "index") == listed(repository)


@requirement("GIT-22")
def test_conflicts_intentions_and_flags_are_read(tmp_path: Path) -> None:
    repository = simple(tmp_path).made
    repository.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    repository.write("a.txt", "other\n")
    repository.commit("other")
    repository.git("merge", "main", check=False)
    repository.write("meant", "x\n")
    repository.git("add", "--intent-to-add", "meant")
    repository.git("update-index", "--skip-worktree", "b.txt")
    found = index_lines(repository.root / ".git" / "index")
    assert found == listed(repository) and any(b" 2\ta.txt" in line for line in found)


@requirement("GIT-22")
@pytest.mark.parametrize("settings", [("index.version", "4"), ("core.splitIndex", "true")])
def test_an_index_in_another_form_is_left_to_git(tmp_path: Path, settings: tuple[str, str]) -> None:
    desk = simple(tmp_path)
    desk.made.git("config", *settings)
    desk.made.git("update-index", "--split-index" if settings[1] == "true" else "--index-version=4")
    assert index_lines(desk.made.root / ".git" / "index") is None
    assert run(take_snapshot(desk.git)).index == listed(desk.made)


@requirement("GIT-22")
@pytest.mark.parametrize("raw", [b"", b"DIRC", b"DIRC" + b"\0\0\0\2\0\0\0\5" + b"\0" * 40, b"x" * 100])
def test_an_index_that_is_broken_is_left_to_git(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "index").write_bytes(raw)
    assert index_lines(tmp_path / "index") is None
    assert index_lines(tmp_path / "absent") == frozenset()


def asked(desk: Desk) -> dict[str, str]:
    lines = desk.made.git("for-each-ref", "--format=%(objectname) %(refname)").decode().splitlines()
    return {name: oid for oid, _, name in (line.partition(" ") for line in lines)}


@requirement("GIT-22")
def test_refs_are_read_loose_packed_and_in_further_work_trees(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.made.git("branch", "n\u00e4w/one")
    desk.made.git("pack-refs", "--all")
    desk.made.git("branch", "loose", "HEAD~1")
    desk.made.git("tag", "-a", "-m", "words", "mark")
    assert ObjectStore(desk.made.root).refs() == asked(desk)
    desk.made.git("worktree", "add", "--quiet", "-b", "far", str(tmp_path / "far"))
    far = desk.git.at(tmp_path / "far")
    assert ObjectStore(far.root).refs() is None
    picture = run(take_snapshot(far))
    assert picture.refs == asked(desk) and picture.branch == "far" and picture.index == listed(desk.made)


def test_a_repository_of_longer_names_is_left_to_git(tmp_path: Path) -> None:
    repository = RandomRepository.empty(tmp_path / "long", "--object-format=sha256")
    repository.write("a", "x\n")
    repository.commit("first")
    desk = Desk(repository)
    picture = run(take_snapshot(desk.git))
    assert picture.index == listed(repository) and len(str(picture.head)) == 64
    entry = run(desk.writer.contents.capture(["a"]))["a"]
    assert entry is not None and entry.split(" ")[1].encode() in next(iter(picture.index))


def test_settings_are_read_and_those_of_other_files_left_to_git(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    config = desk.made.root / ".git" / "config"
    assert settings_in(config, "branch.") == ()
    desk.made.git("config", "branch.A/\u00e4.Merge", "refs/heads/x")
    desk.made.git("config", "--add", "branch.A/\u00e4.merge", "refs/heads/y")
    assert settings_in(config, "branch.") == (
        ("branch.A/\u00e4.merge", "refs/heads/x"),
        ("branch.A/\u00e4.merge", "refs/heads/y"),
    )
    desk.made.git("config", "include.path", "other")
    assert settings_in(config, "branch.") is None
    assert len(run(take_snapshot(desk.git)).settings) == 2


def test_stashes_are_read_newest_first(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    for number in range(3):
        desk.made.write("a.txt", f"{number}\n")
        desk.made.git("stash", "push", "-m", f"stash {number}")
    lines = desk.made.git("stash", "list", "--format=%H %gs").decode().splitlines()
    assert [f"{oid} {output}" for oid, output in run(take_snapshot(desk.git)).stashes] == lines
