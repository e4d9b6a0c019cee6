"""Repositories made at random: what every reading operation answers is what the git command line says."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pytest

from codeplane.git.read.blame import BlameHunk, BlameResult
from codeplane.git.read.commit_info import Commit
from codeplane.git.read.diff import DiffResult
from codeplane.git.read.diff_page import DiffFile
from codeplane.git.read.log import LogResult
from codeplane.git.read.merge_analysis import MergeAnalysisResult
from codeplane.git.read.refs import BranchesResult, TagsResult
from codeplane.git.read.show import ShowResult
from codeplane.git.read.stash_list import StashListResult
from codeplane.git.read.status import StatusResult
from codeplane.index.files.paths import path_text
from codeplane.kernel.operation import Result
from tests.git.random_repository import RandomRepository, made
from tests.git.read_operations import Reads
from tests.interaction.requirements import requirement

# A sample in every run; CODEPLANE_GIT_CASES=3000 is the soak.
CASES = int(os.environ.get("CODEPLANE_GIT_CASES", "5"))
FIRST = int(os.environ.get("CODEPLANE_GIT_FIRST", "0"))
R = TypeVar("R", bound=Result)
_HEADS = (
    "diff --git ",
    "index ",
    "--- ",
    "+++ ",
    "old mode ",
    "new mode ",
    "deleted file ",
    "new file ",
    "similarity ",
    "rename ",
    "copy ",
    "Binary files ",
    "* Unmerged ",
)


@requirement("GIT-01")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_the_answers_are_gits(tmp_path: Path, seed: int) -> None:
    repository = made(tmp_path / "made", seed)
    reads = Reads(repository.root)
    same_status(repository, reads)
    same_diffs(repository, reads)
    same_branches(repository, reads)
    same_tags(repository, reads)
    same_stashes(repository, reads)
    if repository.git("rev-parse", "--verify", "--quiet", "HEAD", check=False):
        same_log(repository, reads)
        same_show(repository, reads)
        same_blame(repository, reads)
        same_merge(repository, reads, tmp_path / "clone")
    shutil.rmtree(tmp_path)


def text(out: bytes) -> str:
    return out.decode("utf-8", "backslashreplace")


def askable(path: bytes) -> bool:
    """Whether a caller can name a path at all: JSON carries text alone."""
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True


def name(path: bytes) -> str:
    return path_text(os.fsdecode(path))


def of(kind: type[R], answer: Result) -> R:
    assert isinstance(answer, kind)
    return answer


def pages(reads: Reads, operation: str, **arguments: object) -> Iterator[Result]:
    cursor: str | None = None
    for _ in range(1000):
        answer = reads(operation, cursor=cursor, **arguments)
        yield answer
        cursor = answer.pagination.next_cursor  # type: ignore[attr-defined]  # every paged answer has one
        if cursor is None:
            return
    raise AssertionError("the pages have no end")


def same_status(repository: RandomRepository, reads: Reads) -> None:
    for mode, untracked in (("-uall", "all"), ("-unormal", "folders")):
        same_status_lines(repository, of(StatusResult, reads("git.status", untracked=untracked)), mode)


def same_status_lines(repository: RandomRepository, answer: StatusResult, mode: str) -> None:
    parts = iter(repository.git("status", "--porcelain=v1", "-z", mode, "--find-renames").split(b"\0")[:-1])
    expected = []
    for part in parts:
        old = f"{name(next(parts))} -> " if part[:1] in b"RC" or part[1:2] in b"RC" else ""
        expected.append(f"{part[:2].decode()} {old}{name(part[3:])}")
    lines = [re.sub(r"^(\?\? .*/) \(\d+ files?\)$", r"\1", line) for line in answer.text().splitlines()[1:]]
    assert sorted(lines) == sorted(expected)
    assert answer.is_clean == (not expected)
    output = repository.git("symbolic-ref", "--short", "--quiet", "HEAD", check=False)
    assert answer.branch == (text(output).strip() or None)


def bodies(files: Sequence[DiffFile]) -> list[str]:
    return [line for file in files for hunk in file.hunks for line in hunk.text().split("\n")]


def same_patch(files: Sequence[DiffFile], printed: bytes) -> None:
    """Every line git prints is one of ours in turn, or a head that we carry as fields."""
    ours, at = bodies(files), 0
    # Git quotes names but for those in conflict.
    for line in text(printed.replace(b"new\nline", b"new line")).split("\n")[:-1]:
        if at < len(ours) and line == ours[at]:
            at += 1
        else:
            assert line.startswith(_HEADS), (line, ours[at : at + 2])
    assert at == len(ours)


def same_files(repository: RandomRepository, files: Sequence[DiffFile], command: Sequence[str]) -> None:
    parts = iter(repository.git(*command, "--name-status", "-z", "--find-renames").split(b"\0")[:-1])
    expected = {}
    for letter in parts:
        path = next(parts)
        old, path = (path, next(parts)) if letter[:1] in b"RC" else (None, path)
        if letter != b"U" or name(path) not in expected:
            expected[name(path)] = (letter[:1].decode(), name(old) if old else None)
    letters = {"typechange": "T", "unmerged": "U"}
    assert {one.path: (letters.get(one.status, one.status[0].upper()), one.old_path) for one in files} == expected
    for file in files:
        if file.hunks and not file.binary:
            lines = [line for hunk in file.hunks for line in hunk.lines]
            assert file.insertions == sum(line.origin == "+" for line in lines)
            assert file.deletions == sum(line.origin == "-" for line in lines)


def same_diffs(repository: RandomRepository, reads: Reads) -> None:
    commits = text(repository.git("rev-list", "--branches", "--max-count=30", check=False)).split()
    asked: list[tuple[dict[str, object], list[str]]] = [({}, ["--ours"]), ({"staged": True}, ["--cached"])]
    if repository.git("rev-parse", "--verify", "--quiet", "HEAD", check=False):
        asked.append(({"base": "HEAD", "context": 0}, ["HEAD", "-U0"]))
    if len(commits) > 1:
        one, other = repository.chance.sample(commits, 2)
        asked += [({"base": one}, [one]), ({"base": one, "target": other}, [one, other])]
        asked.append(({"base": f"{one}...{other}", "paths": ["dir"]}, [f"{one}...{other}", "--", "dir"]))
    for arguments, options in asked:
        if "--" in options and not repository.git("diff", *options):
            continue
        answer = of(DiffResult, reads("git.diff", **arguments))
        assert answer.pagination.next_cursor is None
        same_patch(answer.files, repository.git("diff", "--find-renames", *options))
        if "--" not in options:
            same_files(repository, answer.files, ["diff", *options])
        stat = of(DiffResult, reads("git.diff", stat_only=True, **arguments))
        assert stat.stats == answer.stats
        assert [file.stat() for file in stat.files] == [file.stat() for file in answer.files]


def same_branches(repository: RandomRepository, reads: Reads) -> None:
    printed = repository.git("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads")
    answer = of(BranchesResult, reads("git.branches"))
    assert {f"{one.name} {one.oid}" for one in answer.branches} == set(text(printed).splitlines())
    current = repository.git("symbolic-ref", "--short", "--quiet", "HEAD", check=False)
    assert [one.name for one in answer.branches if one.current] in ([text(current).strip()], [])


def same_tags(repository: RandomRepository, reads: Reads) -> None:
    printed = repository.git("for-each-ref", "--format=%(refname:short)", "refs/tags")
    answer = of(TagsResult, reads("git.tags"))
    assert {tag.name for tag in answer.tags} == set(text(printed).splitlines())
    for tag in answer.tags:
        assert text(repository.git("rev-parse", f"{tag.name}^{{commit}}")).strip() == tag.target


def same_stashes(repository: RandomRepository, reads: Reads) -> None:
    printed = text(repository.git("stash", "list", "--format=%H")).split()
    assert [one.oid for one in of(StashListResult, reads("git.stash_list")).stashes] == printed


def same_log(repository: RandomRepository, reads: Reads) -> None:
    name_of = repository.chance.choice([b"a.py", *filter(askable, repository.tracked())]).decode()
    for arguments, options in (
        ({}, ["HEAD"]),
        ({"grep": "PLAIN"}, ["-i", "--grep=plain", "HEAD"]),
        ({"author": "ada@"}, ["--author=ada@", "HEAD"]),
        ({"since": "2023-11-14T22:15:30Z"}, ["--since=2023-11-14T22:15:30Z", "HEAD"]),
        ({"paths": ["dir"]}, ["HEAD", "--", "dir"]),
        ({"paths": [name_of]}, ["--follow", "HEAD", "--", name_of]),
        ({"paths": ["a.py", "b.txt"]}, ["HEAD", "--", "a.py", "b.txt"]),
    ):
        printed = text(repository.git("--literal-pathspecs", "log", "--format=%H", *options)).split()
        if not printed:
            continue
        commits: list[Commit] = []
        for page in pages(reads, "git.log", limit=4, **arguments):
            commits += of(LogResult, page).commits
        assert [commit.oid for commit in commits] == printed, arguments
        for commit in commits[:2]:
            facts = repository.git("log", "-1", "--format=%an%x00%ae%x00%aI%x00%P%x00%B", commit.oid)
            expected = [part.rstrip("\n") for part in text(facts).split("\0")]
            author = commit.author
            parents = " ".join(commit.parents)
            assert [author.name, author.email, author.time, parents, commit.message] == expected


def same_show(repository: RandomRepository, reads: Reads) -> None:
    for commit in text(repository.git("rev-list", "--all", "--max-count=4")).split():
        answer = of(ShowResult, reads("git.show", ref=commit))
        same_patch(answer.files, repository.git("show", "--format=", "-m", "--first-parent", "--find-renames", commit))
    for entry in repository.git("ls-tree", "-r", "-z", "HEAD").split(b"\0")[:-1]:
        facts, _, path = entry.partition(b"\t")
        if not askable(path):
            continue
        file = of(ShowResult, reads("git.show", ref=f"HEAD:{path.decode()}")).file
        content = repository.git("cat-file", "blob", facts.split()[2].decode())
        assert file is not None and file.binary == (b"\0" in content)
        if not file.binary:
            assert file.content == text(content.removesuffix(b"\n"))


def same_blame(repository: RandomRepository, reads: Reads) -> None:
    tracked = [path for path in repository.tracked() if not repository.path(path).is_symlink()]
    known = repository.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split(b"\0")
    for path in [one for one in tracked if one in known and askable(one)][:3]:
        printed = repository.git("blame", "--line-porcelain", "--", path, check=False)
        lines = printed.split(b"\n")
        expected = [text(line)[:40] for line, after in pairwise(lines) if after.startswith(b"author ")]
        hunks: list[BlameHunk] = []
        for page in pages(reads, "git.blame", path=os.fsdecode(path), limit=3):
            hunks += of(BlameResult, page).hunks
        found = [hunk.oid or "0" * 40 for hunk in hunks for _ in range(hunk.start_line, hunk.end_line + 1)]
        assert found == expected


def same_merge(repository: RandomRepository, reads: Reads, clone: Path) -> None:
    if repository.git("ls-files", "--unmerged"):
        return
    before = repository.git("count-objects", "-v")
    branch = repository.chance.choice(repository.branches())
    answer = of(MergeAnalysisResult, reads("git.merge_analysis", ref=branch))
    assert repository.git("count-objects", "-v") == before
    there = RandomRepository(root=clone)
    clone.mkdir()
    there.git("clone", "--quiet", "--no-local", str(repository.root), ".")
    there.git("checkout", "--quiet", text(repository.git("rev-parse", "HEAD")).strip())
    there.git("merge", "--no-edit", answer.commit, check=False)
    stages: dict[str, list[int]] = {}
    for entry in there.git("ls-files", "-z", "--unmerged").split(b"\0")[:-1]:
        facts, _, path = entry.partition(b"\t")
        stages.setdefault(name(path), []).append(int(facts.split()[2]))
    conflicts = {
        one.path: [
            stage
            for stage, oid in enumerate((one.ancestor_oid, one.ours_oid, one.theirs_oid), start=1)
            if oid is not None
        ]
        for one in answer.conflicts or ()
    }
    assert conflicts == stages
    ended = text(there.git("rev-parse", "HEAD")).strip()
    assert (ended == answer.into) == (answer.analysis == "up_to_date" or bool(stages))
    assert (ended == answer.commit) == (answer.analysis == "fastforward" or answer.commit == answer.into)
