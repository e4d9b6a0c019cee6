"""`git.diff` and `git.show`: which sides, pages that join to the whole, what is withheld, text that git can apply."""

from pathlib import Path

import pytest

from codeplane.git.read.diff import DiffResult
from codeplane.git.read.diff_page import MAX_BYTES, MAX_LINE, Line
from codeplane.git.read.show import ShowResult
from codeplane.kernel.errors import CursorExpired, InvalidArgument, NotFound, PathDenied, RefNotFound
from tests.git.random_repository import RandomRepository
from tests.git.read_operations import Reads
from tests.git.test_reader_matches_git import of, pages, same_patch
from tests.interaction.requirements import requirement


@pytest.fixture
def repository(tmp_path: Path) -> RandomRepository:
    made = RandomRepository.empty(tmp_path / "made")
    made.write("a.txt", "one\ntwo\nthree\n")
    made.write("moved.txt", "".join(f"line {n}\n" for n in range(30)))
    made.commit("first")
    return made


@requirement("GIT-03")
def test_which_sides_are_compared(repository: RandomRepository) -> None:
    reads = Reads(repository.root)
    repository.write("a.txt", "one\nstaged\nthree\n")
    repository.git("add", "a.txt")
    repository.write("a.txt", "one\nstaged\nthree\nlater\n")
    repository.write("new.txt", "untracked\n")
    unstaged = of(DiffResult, reads("git.diff"))
    assert [line.content for line in unstaged.files[0].hunks[0].lines if line.origin == "+"] == ["later"]
    assert unstaged.staged_not_shown == 1 and unstaged.untracked == ("new.txt",)
    assert unstaged.text().splitlines()[0] == (
        "1 file +1 -0; staged and not shown here: 1 (staged=true); untracked: 1 (new.txt)"
    )
    assert "+staged" in reads("git.diff", staged=True).text() and "+later" not in reads("git.diff", staged=True).text()
    both = of(DiffResult, reads("git.diff", base="HEAD"))
    assert (both.stats.insertions, both.stats.deletions) == (2, 1)
    assert reads("git.diff", base="HEAD", paths=["moved.txt"]).text().startswith("no differences")
    assert reads("git.diff", base="HEAD", stat_only=True).text().splitlines()[1:] == ["M a.txt +2 -1"]
    with pytest.raises(InvalidArgument):
        reads("git.diff", staged=True, target="HEAD")


@requirement("GIT-03")
def test_the_text_is_a_patch_that_git_applies(repository: RandomRepository) -> None:
    before = repository.git("rev-parse", "HEAD").decode().strip()
    repository.write("a.txt", "one\n2\nthree")
    repository.path("moved.txt").rename(repository.path("there.txt"))
    repository.write("there.txt", repository.path("there.txt").read_text().replace("line 7", "LINE 7"))
    repository.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    repository.path("link").symlink_to("a.txt")
    repository.commit("second")
    tree = repository.git("rev-parse", "HEAD^{tree}")
    output = reads_text(repository, base=before, target="HEAD")
    assert "rename from moved.txt\nrename to there.txt" in output and "new file mode 100755" in output
    repository.git("checkout", "--quiet", before)
    repository.git("apply", "--index", "-", stdin=output.encode() + b"\n")
    assert repository.git("write-tree") == tree


def reads_text(repository: RandomRepository, **arguments: object) -> str:
    return Reads(repository.root)("git.diff", **arguments).text()


@requirement("GIT-03")
def test_pages_join_to_the_whole(repository: RandomRepository) -> None:
    for number in range(4):
        repository.write(f"big{number}.txt", "".join(f"{number} line {n}\n" for n in range(1500)))
    repository.commit("big")
    for number in range(4):
        lines = [f"{number} line {n}" if n % 7 else f"other {n}" for n in range(1500)]
        repository.write(f"big{number}.txt", "\n".join(lines) + "\n")
    repository.write("whole.txt", "".join(f"new {n}\n" for n in range(9000)))
    repository.git("add", "--all")
    reads = Reads(repository.root)
    found = [of(DiffResult, page) for page in pages(reads, "git.diff", staged=True)]
    assert len(found) > 3
    joined: list[Line] = []
    for page in found:
        assert len(page.text()) < MAX_BYTES + 4000
        assert page.stats == found[0].stats
        for hunk in (hunk for file in page.files for hunk in file.hunks):
            old = [line.old_lineno for line in hunk.lines if line.old_lineno is not None]
            new = [line.new_lineno for line in hunk.lines if line.new_lineno is not None]
            assert len(old) == hunk.old_lines and len(new) == hunk.new_lines
            assert not old or old[0] == hunk.old_start
            assert not new or new[0] == hunk.new_start
            assert hunk.old_start >= 0 and hunk.new_start >= 0
            joined += hunk.lines
    printed = repository.git("diff", "--cached").decode().splitlines()
    heads = ("diff ", "index ", "--- ", "+++ ", "@@ ", "new file ")
    assert [line.text() for line in joined] == [line for line in printed if not line.startswith(heads)]
    cursor = found[0].pagination.next_cursor
    repository.write("a.txt", "changed\n")
    repository.git("add", "a.txt")
    with pytest.raises(CursorExpired):
        reads("git.diff", staged=True, cursor=cursor)


@requirement("GIT-03")
def test_a_line_that_is_too_long_is_cut_and_said(repository: RandomRepository) -> None:
    repository.write("a.txt", "x" * 100_000)
    output = Reads(repository.root)("git.diff").text()
    assert f"lines are cut at {MAX_LINE} bytes" in output and len(output) < 2 * MAX_LINE


@requirement("GIT-03")
def test_secrets_and_what_is_ours_are_listed_without_their_content(repository: RandomRepository) -> None:
    repository.write(".env", "TOKEN=hunter2\n")
    repository.write(".codeplane/notes", "hunter2\n")
    repository.write("plain.txt", "seen\n")
    repository.commit("secrets")
    reads = Reads(repository.root)
    for answer in (
        reads("git.diff", base="HEAD~1"),
        reads("git.show"),
        reads("git.diff", base="HEAD~1", target="HEAD"),
    ):
        assert "hunter2" not in answer.text() and "hunter2" not in answer.model_dump_json()
        assert ".env" in answer.text() and "+seen" in answer.text()
    repository.git("mv", ".env", "open.txt")
    assert "hunter2" not in reads("git.diff", staged=True).model_dump_json()
    oid = repository.git("rev-parse", "HEAD:.env").decode().strip()
    for ref in ("HEAD:.env", ":.env", "HEAD:.git/config", "HEAD:.codeplane/notes", "HEAD:../x", ":0:.env"):
        with pytest.raises(PathDenied):
            reads("git.show", ref=ref)
    with pytest.raises(RefNotFound):
        reads("git.show", ref=oid)
    with pytest.raises(PathDenied):
        reads("git.blame", path=".env", ref="HEAD~0")
    with pytest.raises(PathDenied):
        reads("git.diff", paths=[".git"])


def test_names_that_lead_nowhere(repository: RandomRepository) -> None:
    repository.git("branch", "topic")
    reads = Reads(repository.root)
    for ref in ("topci", "-h", "--output=x", "HEAD~99", "", "a\nb", "0" * 40, "HEAD:a.txt^{commit}"):
        with pytest.raises((RefNotFound, NotFound)) as refused:
            reads("git.show", ref=ref, paths=[])
        assert refused.value.hint
    with pytest.raises(RefNotFound, match="topci") as refused:
        reads("git.diff", base="topci")
    assert "topic" in refused.value.hint
    for path in ("nowhere.txt", "a.tx"):
        for name in ("git.diff", "git.show", "git.log", "git.status"):
            with pytest.raises(NotFound):
                reads(name, paths=[path])
    repository.git("tag", "topic", "HEAD")
    repository.write("a.txt", "other\n")
    repository.commit("second")
    repository.git("branch", "--force", "topic")
    with pytest.raises(InvalidArgument, match="ambiguous"):
        reads("git.diff", base="topic")
    assert reads("git.diff", base="refs/tags/topic").text() != ""


def test_show_a_tag_a_merge_a_folder_and_a_file(repository: RandomRepository) -> None:
    repository.git("tag", "--annotate", "-m", "the first\n\nwith a body", "v1")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.write("dir/side.txt", "side\n")
    repository.commit("on the side")
    repository.git("checkout", "--quiet", "main")
    repository.write("a.txt", "mine\n")
    repository.commit("mine: on main")
    repository.git("merge", "--quiet", "--no-edit", "side")
    reads = Reads(repository.root)
    tagged = of(ShowResult, reads("git.show", ref="v1"))
    assert tagged.tag is not None and tagged.tag.message == "the first\n\nwith a body"
    assert tagged.commit is not None and tagged.commit.subject == "first"
    merge = of(ShowResult, reads("git.show"))
    assert [file.path for file in merge.files] == ["dir/side.txt"]
    assert "changes against the first" in merge.text()
    folder = of(ShowResult, reads("git.show", ref="HEAD:")).folder
    assert folder is not None and folder.entries == ("a.txt", "dir/", "moved.txt")
    assert reads("git.show", ref="HEAD:dir").text() == "== dir/ (1 entry)\nside.txt"
    assert reads("git.show", ref="HEAD~1:a.txt").text() == "== a.txt (1 line)\nmine"
    assert (
        of(ShowResult, reads("git.show", ref=":/mine: on")).commit
        == of(ShowResult, reads("git.show", ref="main~1")).commit
    )
    with pytest.raises(NotFound):
        reads("git.show", ref="HEAD:gone.txt")


def test_a_long_file_comes_in_pages(repository: RandomRepository) -> None:
    content = "".join(f"{n} {'x' * 50}\n" for n in range(3000))
    repository.write("long.txt", content)
    repository.commit("long")
    found = [of(ShowResult, page).file for page in pages(Reads(repository.root), "git.show", ref="HEAD:long.txt")]
    assert len(found) > 2
    assert "\n".join(file.content for file in found if file) + "\n" == content


def test_a_conflict_is_shown_against_our_side(repository: RandomRepository) -> None:
    repository.git("checkout", "--quiet", "-b", "side")
    repository.write("a.txt", "one\nside\nthree\n")
    repository.commit("side")
    repository.git("checkout", "--quiet", "main")
    repository.write("a.txt", "one\nmain\nthree\n")
    repository.commit("main")
    repository.git("merge", "side", check=False)
    reads = Reads(repository.root)
    answer = of(DiffResult, reads("git.diff"))
    assert "+<<<<<<< HEAD" in answer.text() and "+side" in answer.text()
    same_patch(answer.files, repository.git("diff", "--ours"))
    assert of(DiffResult, reads("git.diff", staged=True)).files[0].status == "unmerged"
    assert reads("git.show", ref=":3:a.txt").text().splitlines()[2] == "side"
    with pytest.raises(NotFound):
        reads("git.show", ref=":1:moved.txt")


def test_settings_of_a_person_do_not_change_the_answer(repository: RandomRepository) -> None:
    repository.write("a.txt", "one\n2\nthree\n")
    repository.path("moved.txt").rename(repository.path("there.txt"))
    repository.git("add", "--all")
    plain = reads_text(repository, staged=True)
    for setting in (
        "diff.noprefix=true",
        "diff.mnemonicPrefix=true",
        "diff.external=false",
        "diff.renames=false",
        "diff.context=0",
        "diff.interHunkContext=50",
        "color.ui=always",
        "color.diff=always",
        "diff.colorMoved=zebra",
        "diff.relative=true",
        "diff.orderFile=nowhere",
        "core.pager=false",
        "diff.wordRegex=.",
    ):
        name, _, value = setting.partition("=")
        repository.git("config", name, value)
        assert reads_text(repository, staged=True) == plain, setting
        repository.git("config", "--unset", name)
    repository.git("config", "diff.evil.textconv", "touch ran; cat")
    repository.git("config", "diff.evil.command", "touch ran")
    repository.write(".gitattributes", "*.txt diff=evil\n")
    reads_text(repository, base="HEAD")
    for name, arguments in (("git.show", {}), ("git.blame", {"path": "a.txt"}), ("git.show", {"ref": "HEAD:a.txt"})):
        Reads(repository.root)(name, **arguments)
    assert not repository.path("ran").exists()
