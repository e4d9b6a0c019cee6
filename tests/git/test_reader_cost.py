"""What reading git costs and shows: few processes, one length of hashes, nothing of what is kept for recovery."""

import asyncio
from pathlib import Path

import pytest

from codeplane.git.read.show import ShowResult
from codeplane.git.write.branches import Branches, CreateBranchRequest
from codeplane.kernel.errors import InvalidArgument, RefNotFound
from tests.git.desk import Desk, call, run
from tests.git.random_repository import RandomRepository
from tests.git.read_operations import Reads
from tests.git.test_reader_matches_git import of
from tests.interaction.requirements import requirement

RECOVERY = "refs/codeplane/recovery/20250101T000000Z-mut_1/work"


@pytest.fixture
def repository(tmp_path: Path) -> RandomRepository:
    made = RandomRepository.empty(tmp_path / "made")
    for number in (1, 2):
        made.write("a.txt", f"{number}\n")
        made.commit(f"number {number}")
    return made


@requirement("GIT-23")
@pytest.mark.parametrize(
    "operation, arguments, most",
    [
        ("git.status", {}, 1),
        ("git.diff", {}, 2),
        ("git.diff", {"staged": True}, 1),
        ("git.diff", {"base": "HEAD"}, 2),
        ("git.diff", {"base": "HEAD~1", "target": "main"}, 1),
        ("git.log", {}, 2),
        ("git.show", {}, 3),
    ],
)
def test_so_many_processes_and_no_more(
    repository: RandomRepository, tmp_path: Path, operation: str, arguments: dict[str, object], most: int
) -> None:
    repository.write("a.txt", "changed\n")
    traces = tmp_path / "traces"
    traces.mkdir()
    # Git writes a file for each process when it is given a folder.
    Reads(repository.root, env={"GIT_TRACE2_EVENT": str(traces)})(operation, **arguments)
    assert 1 <= len(list(traces.iterdir())) <= most


@requirement("GIT-23")
@pytest.mark.parametrize("operation", ["git.status", "git.show"])
async def test_a_call_that_is_given_up_at_any_moment_ends(repository: RandomRepository, operation: str) -> None:
    for turns in range(60):
        task = asyncio.create_task(Reads(repository.root).ask(operation))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        ended, _ = await asyncio.wait({task}, timeout=30)
        assert ended and (task.cancelled() or task.exception() is None)


@requirement("GIT-23")
def test_names_that_are_not_asked_for_first_are_still_judged(repository: RandomRepository) -> None:
    reads = Reads(repository.root)
    repository.git("branch", "twice")
    repository.git("tag", "twice", "HEAD~1")
    for arguments in ({"base": "twice"}, {"base": "HEAD", "target": "twice"}, {"base": "twice", "staged": True}):
        with pytest.raises(InvalidArgument, match="ambiguous"):
            reads("git.diff", **arguments)
    for name in ("absent", "HEAD~9", "0123456", "HEAD^9", "^HEAD", "-x", "HEAD:a.txt", "a..b^"):
        with pytest.raises(RefNotFound):
            reads("git.diff", base="HEAD", target=name)
    with pytest.raises(RefNotFound, match="there is no commit"):
        reads("git.diff", base="mian")
    repository.git("tag", "--annotate", "-m", "words", "noted")
    tagged = of(ShowResult, reads("git.show", ref="noted"))
    assert tagged.tag is not None and tagged.tag.message == "words"
    assert of(ShowResult, reads("git.show", ref=repository.git("rev-parse", "noted").decode().strip())).tag is not None
    assert of(ShowResult, reads("git.show", ref="HEAD~1")).tag is None


@requirement("GIT-23")
def test_hashes_in_texts_have_one_length(repository: RandomRepository) -> None:
    repository.git("config", "core.abbrev", "5")
    repository.git("tag", "one")
    reads = Reads(repository.root)
    head = repository.git("rev-parse", "HEAD").decode().strip()
    assert reads("git.status").text().split()[2].rstrip(",") == head[:9]
    assert reads("git.log").text().split()[0] == head[:9]
    assert reads("git.branches").text().split()[2] == head[:9]
    assert reads("git.tags").text().split()[1] == head[:9]
    assert reads("git.blame", path="a.txt").text().split()[1].lstrip("^") == head[:9]


@requirement("GIT-23")
def test_what_is_kept_for_recovery_is_in_no_answer(repository: RandomRepository) -> None:
    kept = repository.git("commit-tree", "-m", "kept work", "HEAD^{tree}", "-p", "HEAD").decode().strip()
    repository.git("update-ref", RECOVERY, kept)
    reads = Reads(repository.root)
    asked: tuple[tuple[str, dict[str, object]], ...] = (
        ("git.status", {}),
        ("git.log", {}),
        ("git.branches", {}),
        ("git.tags", {}),
        ("git.show", {}),
    )
    for operation, arguments in asked:
        answer = reads(operation, **arguments)
        assert "codeplane" not in answer.model_dump_json() and "kept work" not in answer.model_dump_json(), operation
    near = RECOVERY.removeprefix("refs/") + "x"
    with pytest.raises(RefNotFound) as caught:
        reads("git.show", ref=near)
    assert "codeplane" not in caught.value.hint
    with pytest.raises(RefNotFound) as caught:
        run(Branches(Desk(repository).writer).create(call(), CreateBranchRequest(name="ok", ref=near)))
    assert "codeplane" not in caught.value.hint
    # Asked for by its whole name, it is shown.
    assert "kept work" in reads("git.show", ref=RECOVERY).text()
    assert "kept work" in reads("git.log", ref=RECOVERY).text()


def test_a_shallow_clone_says_so_also_in_a_further_work_tree(repository: RandomRepository, tmp_path: Path) -> None:
    clone, linked = tmp_path / "clone", tmp_path / "linked"
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.root}", str(clone))
    RandomRepository(root=clone).git("worktree", "add", "--quiet", "--detach", str(linked))
    for root in (clone, linked):
        assert "shallow" in Reads(root)("git.log").text()
    assert "shallow" not in Reads(repository.root)("git.log").text()
