"""Once git has done its deed, nothing that fails afterwards makes it a refusal; what is told of it tells it apart."""

import os
from pathlib import Path

import pytest

from codeplane.git.write.branches import Branches, CreateBranchRequest, DeleteBranchRequest
from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.commits import AmendRequest, CommitRequest, CommitResult, Commits
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.staging import DiscardRequest, StageRequest, Staging
from codeplane.git.write.stash import Stashes, StashPopRequest
from codeplane.git.write.tags import CreateTagRequest, DeleteTagRequest, Tags
from codeplane.kernel.call import Call
from codeplane.work.task import mutation_fingerprint
from tests.git.desk import Desk, call, repository_state, run, simple
from tests.interaction.requirements import requirement

_WRAPPER = """#!/bin/sh
for word in "$@"; do
  if [ "$word" = commit ]; then "{git}" "$@"; code=$?; touch "{mark}"; exit $code; fi
  if [ -e "{mark}" ] && [ "$word" = "{dies}" ]; then kill -9 $$; fi
done
exec "{git}" "$@"
"""


def dying(folder: Path, command: str) -> Desk:
    """A desk whose git dies on a command once something was committed."""
    tools = folder / "tools"
    tools.mkdir()
    found = next(place for one in os.environ["PATH"].split(":") if (place := Path(one) / "git").exists())
    (tools / "git").write_text(_WRAPPER.format(git=found, mark=folder / "committed", dies=command))
    (tools / "git").chmod(0o755)
    return simple(folder, PATH=f"{tools}:{os.environ['PATH']}")


@requirement("GIT-20")
@pytest.mark.parametrize("command", ["diff-tree", "status", "rev-parse"])
def test_what_cannot_be_found_out_is_said_and_is_no_refusal(tmp_path: Path, command: str) -> None:
    desk = dying(tmp_path, command)
    before = repository_state(desk.made)
    desk.made.write("a.txt", "changed\n")
    asked = call()
    done = run(Commits(desk.writer).commit(asked, CommitRequest(message="x", paths=("a.txt",))))
    assert done.oid == desk.made.git("rev-parse", "HEAD").decode().strip() == done.delta.head
    assert done.delta.head_before != done.delta.head and done.delta.branch == "main"
    assert asked.effects is not None
    if command == "diff-tree":
        assert done.delta.files == ()
        assert any("delta not known" in warning for warning in asked.warnings)
    elif command == "status":
        assert done.delta.mutation_id is None and done.delta.clean is None
        assert any("cannot be undone" in warning for warning in asked.warnings)
    if command != "status":
        (tmp_path / "committed").unlink()
        desk.undo(done.delta.mutation_id)
        desk.made.git("checkout", "--quiet", "--", "a.txt")
        assert repository_state(desk.made) == before


@requirement("GIT-20")
def test_a_resolved_conflict_is_compared_with_our_side(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.made.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    desk.made.write("a.txt", "of topic\nsecond\nthird\n")
    desk.made.commit("of topic")
    desk.made.git("merge", "main", check=False)
    desk.made.write("a.txt", "both\nsecond\nthird\n")
    done = run(Staging(desk.writer).stage(call(), StageRequest(paths=("a.txt",))))
    assert "M a.txt +1 -1" in done.text()


@requirement("GIT-20")
def test_different_mutations_have_different_fingerprints(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    branches, tags, reset = Branches(desk.writer), Tags(desk.writer), Reset(desk.writer)
    found = []

    def record_call(asked: Call) -> None:
        assert asked.effects is not None
        found.append(mutation_fingerprint(asked.effects))

    for request in (CreateBranchRequest(name="one"), CreateBranchRequest(name="two")):
        run(branches.create(asked := call(), request))
        record_call(asked)
    run(Checkout(desk.writer).checkout(asked := call(), CheckoutRequest(ref="one")))
    record_call(asked)
    run(tags.create(asked := call(), CreateTagRequest(name="mark")))
    record_call(asked)
    run(tags.delete(asked := call(), DeleteTagRequest(name="mark")))
    record_call(asked)
    for mode in ("soft", "mixed"):
        run(reset.reset(asked := call(), ResetRequest.model_validate({"ref": "HEAD~1", "mode": mode})))
        record_call(asked)
    for _ in range(2):
        run(Staging(desk.writer).stage(asked := call(), StageRequest(paths=("b.txt",))))
        record_call(asked)
    assert len(set(found)) == len(found)
    run(Staging(desk.writer).stage(asked := call(), StageRequest(paths=("b.txt",))))
    record_call(asked)
    assert found[-1] == found[-2], "nothing changed, twice"


def recoveries(desk: Desk) -> bytes:
    return desk.made.git("for-each-ref", "refs/codeplane/")


@requirement("GIT-20")
def test_what_lives_on_is_not_called_lost(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    before = repository_state(desk.made)
    for done in (
        run(Commits(desk.writer).amend(call(), AmendRequest(message="better"))),
        run(Reset(desk.writer).reset(call(), ResetRequest(ref="HEAD~1", mode="soft"))),
        run(Reset(desk.writer).reset(call(), ResetRequest(ref="HEAD", mode="mixed"))),
    ):
        assert done.delta.recovery is None and "lost" not in done.text()
    desk.made.git("reset", "--quiet", "--hard")
    desk.made.write("a.txt", "aside\n")
    desk.made.git("stash")
    popped = run(Stashes(desk.writer).pop(call(), StashPopRequest()))
    assert popped.delta.recovery is None
    assert before.refs != repository_state(desk.made).refs


@requirement("GIT-20")
def test_refs_that_keep_what_is_to_be_had_elsewhere_go(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.made.git("tag", "mark", "HEAD~1")
    desk.made.git("branch", "merged", "HEAD~1")
    desk.made.git("checkout", "--quiet", "--detach")
    gone = run(Tags(desk.writer).delete(call(), DeleteTagRequest(name="mark")))
    left = run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="main")))
    removed = run(Branches(desk.writer).delete(call(), DeleteBranchRequest(name="merged", force=True)))
    assert [one.delta.recovery for one in (gone, left, removed)] == [None] * 3
    assert recoveries(desk) == b""
    desk.undo(removed.delta.mutation_id)
    assert b"merged" in desk.made.git("branch")


def test_commits_that_nothing_reaches_and_discarded_work_are_told(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.made.git("checkout", "--quiet", "--detach")
    desk.made.commit("on no branch")
    left = run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="main")))
    desk.made.write("a.txt", "work\n")
    thrown = run(Staging(desk.writer).discard(call(), DiscardRequest(paths=(".",))))
    hard = run(Reset(desk.writer).reset(call(), ResetRequest(ref="HEAD~1", mode="hard")))
    for done in (left, thrown, hard):
        assert f"lost work is kept in {done.delta.recovery}" in done.text()
        assert desk.made.git("rev-parse", str(done.delta.recovery))


def committed(desk: Desk, subject: str) -> CommitResult:
    desk.made.write("a.txt", f"{subject}\n")
    return run(Commits(desk.writer).commit(call(), CommitRequest(message=f"{subject}\n\nbody", paths=("a.txt",))))


def test_what_is_kept_and_undone_says_what_it_was(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    old = desk.made.git("rev-parse", "HEAD").decode()
    done = committed(desk, "Add prices")
    kept = desk.mutations.get(str(done.delta.mutation_id))
    assert kept is not None and kept.what == f"commit {done.oid[:7]} Add prices"
    undone = run(desk.reversal.undo(call(), kept))
    assert undone.refs == (f"main {done.oid[:7]} → {old[:7]}",)
    assert (undone.head_before, undone.head, undone.branch) == (done.oid, old.strip(), "main")
    run(Branches(desk.writer).create(call(), CreateBranchRequest(name="topic")))
    run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="topic")))
    desk.made.write("b.txt", "staged\n")
    staged = run(Staging(desk.writer).stage(call(), StageRequest(paths=(".",))))
    assert [one.what for one in desk.mutations.all()][:3] == [
        "stage a.txt, b.txt",
        "checkout topic",
        "create_branch topic",
    ]
    kept = desk.mutations.get(str(staged.delta.mutation_id))
    assert kept is not None
    assert run(desk.reversal.undo(call(), kept)).refs == ("index: a.txt, b.txt",)
    kept = desk.mutations.all()[1]
    assert run(desk.reversal.undo(call(), kept)).refs == ("HEAD topic → main",)
