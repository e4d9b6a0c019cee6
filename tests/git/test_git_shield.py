"""A hook runs in the middle of a git command, after the check of what it writes: git writes no `.codeplane/` then."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.stash import Stashes, StashPushRequest
from codeplane.kernel.errors import GitRefused
from tests.git.desk import call, run, simple
from tests.git.test_guarded_programs import Guarded, needs_bubblewrap
from tests.interaction.requirements import requirement

pytestmark = [requirement("TRUST-66"), needs_bubblewrap]
POLICY = "the owner's\n"
# Commands of a hook that make the commit $evil, whose files are those of HEAD and a policy.
EVIL = """
blob=$(echo evil | git hash-object -w --stdin)
policy=$(printf "100644 blob $blob\\tallow.rego\\n" | git mktree)
own=$(printf "040000 tree $policy\\tpolicy\\n" | git mktree)
tree=$( (git ls-tree HEAD; printf "040000 tree $own\\t%s\\n") | git mktree)
evil=$(git commit-tree -m evil -p HEAD $tree)
"""


@pytest.fixture
def desk(tmp_path: Path) -> Guarded:
    made = simple(tmp_path).made
    made.git("config", "core.hooksPath", ".husky")
    desk = Guarded(made)
    (desk.home / "policy").mkdir()
    (desk.home / "policy" / "deny.rego").write_text(POLICY)
    return desk


def _on_stash(desk: Guarded, commands: str) -> None:
    """A hook that runs its commands when the stash was made, and before git takes the changes out of the files."""
    desk.hook(
        "reference-transaction",
        f'[ "$1" = committed ] && grep -q refs/stash && [ ! -e .git/done ] || exit 0\ntouch .git/done\n{commands}',
    )


def _policies(desk: Guarded) -> dict[str, str]:
    return {path.name: path.read_text() for path in (desk.home / "policy").iterdir()}


def _push(desk: Guarded) -> None:
    desk.made.write("a.txt", "changed\n")
    run(Stashes(desk.writer).push(call(), StashPushRequest()))


def test_a_branch_that_a_hook_moves_brings_no_policy(desk: Guarded) -> None:
    _on_stash(desk, f"{EVIL.replace('%s', '.codeplane')}git update-ref refs/heads/main $evil")
    with pytest.raises(GitRefused, match=r"\.codeplane"):
        _push(desk)
    assert (desk.made.root / ".git" / "done").exists()
    assert _policies(desk) == {"deny.rego": POLICY}


def test_a_branch_that_a_hook_moves_brings_other_files(desk: Guarded) -> None:
    _on_stash(desk, f"{EVIL.replace('%s', 'docs')}git update-ref refs/heads/main $evil")
    _push(desk)
    assert (desk.made.root / "docs" / "policy" / "allow.rego").read_text() == "evil\n"
    assert _policies(desk) == {"deny.rego": POLICY}


def test_an_index_that_a_hook_writes_takes_no_policy_away(desk: Guarded) -> None:
    planting = "git update-index --add --cacheinfo 100644,$blob,.codeplane/policy/deny.rego; mv .git/i .git/index"
    _on_stash(desk, f"{EVIL}\ncp .git/index .git/i; export GIT_INDEX_FILE=.git/i; {planting}")
    _push(desk)
    assert (desk.made.root / ".git" / "done").exists()
    assert _policies(desk) == {"deny.rego": POLICY}


# Writes another tree under the id of the one that the commit `side` has.
FORGED = """
import hashlib, os, pathlib, subprocess, sys, zlib
git = lambda *words: subprocess.run(["git", *words], capture_output=True, check=True).stdout
tree = git("rev-parse", "side^{tree}").decode().strip()
body = b"40000 .codeplane\\0" + bytes.fromhex(sys.argv[1]) + git("cat-file", "tree", tree)
place = pathlib.Path(".git/objects", tree[:2], tree[2:])
new = place.with_name("new")
new.write_bytes(zlib.compress(b"tree %d\\0" % len(body) + body))
new.replace(place)
pathlib.Path(".git/done").touch()
"""


def _forge(desk: Guarded) -> None:
    desk.made.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    desk.made.write("s.txt", "theirs\n")
    desk.made.commit("theirs")
    desk.made.git("checkout", "--quiet", "main")
    (desk.made.root / ".git" / "forge.py").write_text(FORGED)
    desk.hook("reference-transaction", f"[ ! -e .git/done ] || exit 0\n{EVIL}python3 .git/forge.py $own")


def test_a_tree_that_a_hook_forges_brings_no_policy(desk: Guarded) -> None:
    _forge(desk)
    with pytest.raises(GitRefused, match=r"\.codeplane"):
        run(Merges(desk.writer).merge(call(), MergeRequest(ref="side")))
    assert (desk.made.root / ".git" / "done").exists()
    assert _policies(desk) == {"deny.rego": POLICY}


def test_hooks_in_there_are_enclosed_and_write_their_cache(desk: Guarded) -> None:
    tries = ("cat .codeplane/owner.token", "touch .git/hooks/x", "touch .git/config.worktree")
    lines: Sequence[str] = [f"({one}) > /dev/null 2>&1 && echo DONE {one} >> done.txt" for one in tries]
    desk.hook("post-checkout", "\n".join([*lines, f"touch {shlex.quote(str(Path.home()))}/.cache/own && touch ran"]))
    run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="new", create=True)))
    assert (desk.made.root / "ran").exists()
    assert (desk.home / "hook-cache" / "own").exists()
    assert not (desk.made.root / "done.txt").exists()
