"""A hook writes in git's folder: what it plants there for git to use outside of the enclosure is taken away."""

import os
import shlex
import time
from pathlib import Path

import pytest

from codeplane.git.write.commits import CommitRequest, Commits
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.kernel.config import GitConfig
from codeplane.kernel.errors import DeadlineExceeded, GitRefused
from tests.git.desk import call, run, simple
from tests.git.test_guarded_programs import Guarded, needs_bubblewrap
from tests.interaction.requirements import requirement

pytestmark = [requirement("TRUST-48"), needs_bubblewrap]
KEPT = "the owner's\n"


@pytest.fixture
def desk(tmp_path: Path) -> Guarded:
    made = simple(tmp_path).made
    made.git("config", "core.hooksPath", ".husky")
    return Guarded(made)


def _folder(desk: Guarded) -> Path:
    return desk.made.root / ".git"


def _link(place: str, target: Path) -> str:
    """Commands of a hook that put a link in the place of something in git's folder."""
    made = f".git/{place}"
    return f"mkdir -p $(dirname {made}); rm -rf {made}; ln -s {shlex.quote(str(target))} {made}"


@pytest.mark.parametrize("place", ["commit-graph", "commit-graphs/chain", "alternates"])
def test_a_hook_changes_nothing_that_git_believes_of_its_objects(desk: Guarded, place: str) -> None:
    desk.hook("post-commit", f"mkdir -p .git/objects/info/commit-graphs; echo x > .git/objects/info/{place}")
    assert "Read-only file system" in desk.commit(text="1\n")
    assert not (_folder(desk) / "objects" / "info" / place).exists()
    # It stores objects as ever.
    desk.hook("post-commit", "echo stored | git hash-object -w --stdin > id.txt")
    desk.commit(text="2\n")
    assert desk.made.git("cat-file", "-p", (desk.made.root / "id.txt").read_text().strip()) == b"stored\n"


@pytest.mark.parametrize(
    "place",
    [
        *("COMMIT_EDITMSG", "logs/HEAD", "logs/refs/heads/main", "info/exclude", "MERGE_MSG", "SQUASH_MSG"),
        *("FETCH_HEAD", "packed-refs", "refs/tags/evil", "logs/refs/tags/evil"),
        # Folders of many files are not looked through, but branches can be called like them.
        *("logs/refs/heads/lfs/evil", "refs/heads/objects/evil", "logs/refs/heads/annex/evil"),
        *("objects/pack/evil", "objects/evil", "lfs/objects/ab/cd/evil", "lfs/tmp"),
    ],
)
def test_a_link_that_git_would_write_through_is_taken_away(desk: Guarded, tmp_path: Path, place: str) -> None:
    target = tmp_path / "profile"
    target.write_text(KEPT)
    desk.hook("pre-commit", _link(place, target))
    head = desk.made.git("rev-parse", "HEAD")
    with pytest.raises(GitRefused, match=rf"the hook pre-commit made what only git makes in its folder.*{place}"):
        desk.commit()
    desk.hook("pre-commit", "true")
    desk.commit(text="again\n")
    assert target.read_text() == KEPT
    assert desk.made.git("rev-parse", "HEAD~1") == head
    assert not (_folder(desk) / place).is_symlink()


@pytest.mark.parametrize("place", ["refs/tags", "logs/refs/heads", "info"])
def test_a_folder_that_leads_elsewhere_is_taken_away(desk: Guarded, tmp_path: Path, place: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    desk.hook("pre-commit", _link(place, tmp_path / "elsewhere"))
    with pytest.raises(GitRefused, match=place):
        desk.commit()
    assert not (_folder(desk) / place).is_symlink()


def test_a_link_in_a_folder_that_cannot_be_listed_is_found(desk: Guarded, tmp_path: Path) -> None:
    desk.hook("pre-commit", f"{_link('logs/HEAD', tmp_path / 'x')}; chmod 311 .git/logs")
    with pytest.raises(GitRefused, match="logs/HEAD"):
        desk.commit()
    assert not (_folder(desk) / "logs" / "HEAD").is_symlink()


def test_a_hook_that_git_does_not_listen_to_leaves_no_link_either(desk: Guarded, tmp_path: Path) -> None:
    desk.hook("post-commit", _link("COMMIT_EDITMSG", tmp_path / "x"))
    assert "taken away: COMMIT_EDITMSG" in desk.commit()
    assert not (_folder(desk) / "COMMIT_EDITMSG").is_symlink()


def test_a_hook_that_takes_too_long_leaves_no_link_either(desk: Guarded, tmp_path: Path) -> None:
    desk.config = GitConfig(timeout_sec=3)
    desk.__post_init__()
    desk.hook("pre-commit", f"{_link('COMMIT_EDITMSG', tmp_path / 'x')}; touch planted; sleep 60")
    with pytest.raises(DeadlineExceeded):
        desk.commit()
    assert (desk.made.root / "planted").exists()
    end = time.monotonic() + 20
    while (_folder(desk) / "COMMIT_EDITMSG").is_symlink() and time.monotonic() < end:
        time.sleep(0.01)
    assert not (_folder(desk) / "COMMIT_EDITMSG").is_symlink()


def test_links_that_were_there_stay(desk: Guarded, tmp_path: Path) -> None:
    (tmp_path / "rr-cache").mkdir()
    (_folder(desk) / "rr-cache").symlink_to(tmp_path / "rr-cache")
    desk.hook("pre-commit", "true")
    desk.commit()
    assert (_folder(desk) / "rr-cache").is_symlink()
    desk.hook("pre-commit", _link("rr-cache", tmp_path / "other"))
    with pytest.raises(GitRefused, match="rr-cache"):
        desk.commit(text="again\n")


@pytest.mark.parametrize(
    ("place", "planting"),
    [
        ("MERGE_AUTOSTASH", "git rev-parse HEAD~1 | tee .git/MERGE_HEAD > .git/MERGE_AUTOSTASH; touch .git/MERGE_MODE"),
        ("MERGE_MSG", "echo evil > .git/MERGE_MSG"),
        ("CHERRY_PICK_HEAD", "git rev-parse HEAD~1 > .git/CHERRY_PICK_HEAD"),
        ("sequencer", "mkdir .git/sequencer; printf '[options]\\n\\tstrategy = x/evil\\n' > .git/sequencer/opts"),
        ("rebase-merge", "mkdir .git/rebase-merge; echo x/evil > .git/rebase-merge/strategy"),
        ("rebase-apply", "mkdir .git/rebase-apply; chmod 0 .git/rebase-apply"),
        ("BISECT_LOG", "touch .git/BISECT_LOG"),
        ("REVERT_HEAD", "touch .git/REVERT_HEAD .git/codeplane-set-aside"),
    ],
)
def test_what_git_would_go_on_with_is_set_aside(desk: Guarded, place: str, planting: str) -> None:
    desk.hook("pre-commit", planting)
    with pytest.raises(GitRefused, match=rf"made what only git makes in its folder.*{place}"):
        desk.commit()
    assert not (_folder(desk) / place).exists()
    assert list(_folder(desk).glob(f"codeplane-set-aside-*/{place}"))
    desk.hook("pre-commit", "true")
    desk.commit(text="again\n")


def _merge(desk: Guarded, *, conflict: bool) -> None:
    """A merge of `side` that stopped, or one that can be made."""
    made = desk.made
    made.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    made.write("a.txt" if conflict else "c.txt", "theirs\n")
    made.commit("theirs")
    made.git("checkout", "--quiet", "main")
    if conflict:
        made.git("merge", "--quiet", "side", check=False)
        made.write("a.txt", "resolved\n")
        made.git("add", "a.txt")


def test_a_merge_that_is_under_way_stays_what_it_is(desk: Guarded) -> None:
    _merge(desk, conflict=True)
    side = (_folder(desk) / "MERGE_HEAD").read_bytes()
    desk.hook("pre-commit", "git rev-parse HEAD~2 > .git/MERGE_HEAD")
    with pytest.raises(GitRefused, match="MERGE_HEAD"):
        run(Merges(desk.writer).merge(call(), MergeRequest(action="continue")))
    assert (_folder(desk) / "MERGE_HEAD").read_bytes() == side
    # What stashes changes meanwhile writes it again.
    desk.hook("pre-commit", "cat .git/MERGE_HEAD > kept; rm .git/MERGE_HEAD; cat kept > .git/MERGE_HEAD; rm kept")
    assert run(Merges(desk.writer).merge(call(), MergeRequest(action="continue"))).success
    assert desk.made.git("rev-parse", "HEAD^2") == side


def test_a_pick_that_is_under_way_is_not_given_a_strategy(desk: Guarded) -> None:
    opts = _folder(desk) / "sequencer" / "opts"
    desk.made.git("checkout", "--quiet", "-b", "side", "HEAD~2")
    desk.made.git("cherry-pick", "main~1", "main", check=False)
    desk.made.git("reset", "--quiet", "--hard", check=False)
    opts.parent.mkdir(exist_ok=True)
    desk.hook("pre-commit", "echo evil > .git/sequencer/opts; mv .git/sequencer .git/s; true")
    desk.commit()
    assert opts.parent.exists() and not opts.exists()


def test_a_hook_makes_no_settings_hooks_or_work_trees_that_are_not_there_yet(desk: Guarded) -> None:
    folder = _folder(desk)
    sub = folder / "modules" / "sub"
    sub.mkdir(parents=True)
    (sub / "HEAD").touch()
    tries = (
        "echo evil > .git/config.worktree",
        "mkdir -p .git/worktrees/evil",
        "mkdir -p .git/modules/sub/hooks && touch .git/modules/sub/hooks/post-commit",
        "echo evil > .git/modules/sub/config.worktree",
        "mkdir -p .git/modules/sub/worktrees/evil",
    )
    desk.hook("pre-commit", "\n".join(f"({one}) 2> /dev/null && echo DONE" for one in tries) + "\ntrue")
    assert "DONE" not in desk.commit()
    desk.hook("pre-commit", "echo .. > .git/modules/sub/commondir")
    with pytest.raises(GitRefused, match="modules/sub/commondir"):
        desk.commit(text="again\n")
    assert not (sub / "commondir").exists()


def test_a_filter_writes_nothing_in_gits_folder(desk: Guarded) -> None:
    made = desk.made
    for name in ("lfs", "annex"):
        (_folder(desk) / name).mkdir()
    allowed = ("touch made.txt", "echo blob | git hash-object --stdin")
    other = (
        *("ln -sf /x .git/COMMIT_EDITMSG", "mkdir .git/sequencer", "rm .git/logs/HEAD", "mv .git .g"),
        *("touch .git/lfs/x", "touch .git/annex/x", "touch .git/objects/x"),
    )
    lines = [f"({one}) 2> /dev/null && echo DONE {shlex.quote(one)} >> done.txt" for one in (*allowed, *other)]
    made.write("f.sh", "\n".join([*lines, "cat\n"]).replace("--stdin)", "--stdin > id)"))
    made.write(".gitattributes", "*.nb filter=f\n")
    made.git("config", "filter.f.clean", "sh f.sh")
    desk.commit("a.nb", "1\n")
    assert set((made.root / "done.txt").read_text().splitlines()) == {f"DONE {one}" for one in allowed}
    assert made.git("show", "HEAD:a.nb") == b"1\n"


def test_git_annex_writes_folders_of_its_own(desk: Guarded) -> None:
    made = desk.made
    tool = made.root.parent / "bin" / "git-annex"
    tool.parent.mkdir()
    tool.write_text(
        "#!/bin/sh\ntouch .git/annex/x; echo blob | git hash-object -w --stdin > .git/annex/id\n"
        "touch .git/lfs/x .git/x 2> /dev/null; cat\n"
    )
    tool.chmod(0o755)
    (_folder(desk) / "lfs").mkdir()
    desk.variables = {"PATH": f"{tool.parent}:{os.environ['PATH']}"}
    made.write(".gitattributes", "*.nb filter=annex\n")
    made.git("config", "filter.annex.clean", "git-annex smudge --clean -- %f")
    desk.commit("a.nb", "1\n")
    assert made.git("cat-file", "blob", (_folder(desk) / "annex" / "id").read_text().strip()) == b"blob\n"
    assert not (_folder(desk) / "lfs" / "x").exists() and not (_folder(desk) / "x").exists()


def test_hooks_go_on_doing_what_hooks_do(desk: Guarded) -> None:
    made = desk.made
    made.write("b.txt", "unstaged\n")
    desk.hook(
        "pre-commit",
        # As lint-staged and pre-commit do: what is not staged is put away, and comes back.
        "set -e; git stash store -q -m backup $(git stash create); git diff --binary > .git/unstaged.patch\n"
        "git checkout -q -- .; echo fixed >> a.txt; git add a.txt; git apply .git/unstaged.patch; git stash drop -q\n"
        "rm .git/unstaged.patch; git stash push -q -- b.txt; git stash pop -q; git tag checked; git branch checked",
    )
    desk.hook("prepare-commit-msg", 'sed -i "s/x/y/" "$1"')
    desk.hook("commit-msg", 'grep -v "^#" "$1" > "$1.new"; mv "$1.new" "$1"; echo signed >> "$1"')
    desk.hook("post-commit", "git notes add -m noted; git gc -q")
    made.write("a.txt", "changed\n")
    made.git("add", "a.txt")
    run(Commits(desk.writer).commit(call(), CommitRequest(message="x")))
    assert made.git("show", "HEAD:a.txt") == b"changed\nfixed\n"
    assert made.git("log", "-1", "--format=%B").decode().split() == ["y", "signed"]
    assert made.git("notes", "show").decode().split() == ["noted"]
    assert (made.root / "b.txt").read_text() == "unstaged\n"
    assert not list(_folder(desk).glob("codeplane-set-aside*"))


def test_the_message_of_a_merge_is_changed_by_hooks(desk: Guarded) -> None:
    _merge(desk, conflict=False)
    desk.hook("prepare-commit-msg", 'sed -i "1s/.*/by a hook/" "$1"; echo >> "$1"')
    desk.hook("commit-msg", 'echo signed >> "$1"')
    assert run(Merges(desk.writer).merge(call(), MergeRequest(ref="side"))).success
    assert desk.made.git("log", "-1", "--format=%B").decode().split() == ["by", "a", "hook", "signed"]


def test_a_hook_in_a_linked_work_tree_writes_its_own_folder_alone(desk: Guarded, tmp_path: Path) -> None:
    for name in ("one", "two"):
        desk.made.git("worktree", "add", "--quiet", str(tmp_path / name))
    root = tmp_path / "one"
    desk.hook("pre-commit", 'echo made > made.txt && git add made.txt; touch "$GIT_DIR/../two/x"; true')
    (root / ".husky").mkdir()
    os.link(desk.made.root / ".husky" / "pre-commit", root / ".husky" / "pre-commit")
    run(desk.git.at(root).run("commit", "--quiet", "--allow-empty", "--message=x"))
    assert "made.txt" in desk.made.git("show", "--name-only", "--format=", "one").decode().split()
    assert not (_folder(desk) / "worktrees" / "two" / "x").exists()
