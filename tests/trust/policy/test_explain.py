"""What is explained of a call is what becomes of it, also by rules about files that it comes upon on its way."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from codeplane.trust.policy.models import PolicyExplained
from codeplane.wiring.app import Plane
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.trust.approvals.agent_calls import action_of, executed
from tests.trust.policy.calls import HEAD, own, write

pytestmark = requirement("TRUST-17")

# One policy for all: who calls says which of its rules speaks.
RULES = HEAD + "".join(
    f'{verdict} contains "locked" if {{ input.context.client == "{verdict}"\n'
    '  input.risk != "READ"; some one in input.paths; startswith(one, "locked/") }\n'
    for verdict in ("deny", "ask")
)
DENIED = {"POLICY_DENIED", "PATH_DENIED", "CAPABILITY_DENIED"}
SECRET = "locked/secret.txt"


def edited(root: Path) -> None:
    (root / SECRET).write_text("edited\n")


def fresh(root: Path) -> None:
    (root / "locked/new.txt").write_text("new\n")


def staged(root: Path) -> None:
    edited(root)
    git(root, "add", "--all")


def stashed(root: Path) -> None:
    edited(root)
    git(root, "stash", "push", "--quiet")


def linked(root: Path) -> None:
    (root / "by").symlink_to("locked")


def nothing(root: Path) -> None:
    return None


CASES: tuple[tuple[str, JsonObject, Callable[[Path], None]], ...] = (
    ("write_files", {"edits": [{"path": SECRET, "content": "x\n"}]}, nothing),
    ("write_files", {"edits": [{"path": "by/secret.txt", "content": "x\n"}]}, linked),
    ("git.discard", {"paths": [SECRET]}, edited),
    ("git.discard", {"paths": ["locked"]}, edited),
    ("git.discard", {"paths": ["."]}, edited),
    ("git.discard", {"paths": ["locked"]}, nothing),
    ("git.discard", {"paths": ["."], "untracked": True}, fresh),
    ("git.discard", {"paths": ["."]}, fresh),
    ("git.stage", {"paths": ["."]}, edited),
    ("git.stage", {"paths": ["open"]}, edited),
    ("git.unstage", {"paths": ["."]}, staged),
    ("git.commit", {"message": "m", "paths": ["."]}, edited),
    ("git.amend", {"message": "m", "paths": ["locked"]}, edited),
    ("git.reset", {"mode": "hard"}, edited),
    ("git.reset", {"mode": "hard", "ref": "other"}, nothing),
    ("git.reset", {"mode": "soft", "ref": "other"}, nothing),
    ("git.checkout", {"ref": "other"}, nothing),
    ("git.checkout", {"ref": "other", "paths": ["."]}, nothing),
    ("git.checkout", {"ref": "fresh", "create": True, "start": "other"}, nothing),
    ("git.checkout", {"ref": "fresh", "create": True}, nothing),
    ("git.merge", {"ref": "other"}, nothing),
    ("git.cherrypick", {"commit": "other"}, nothing),
    ("git.revert", {"commit": "HEAD"}, nothing),
    ("git.stash_push", {}, edited),
    ("git.stash_push", {"include_untracked": True}, fresh),
    ("git.stash_pop", {}, stashed),
    ("git.stash_apply", {}, stashed),
    ("git.create_branch", {"name": "more"}, nothing),
)


async def explained(opened: Plane, name: str, arguments: JsonObject, caller: Caller) -> str:
    """The verdict that is foretold to whoever would call."""
    answer = await opened.conveyor.call("policy.explain", {"operation": name, "arguments": arguments}, caller)
    assert isinstance(answer.result, PolicyExplained), answer.error
    return answer.result.verdict


async def decided(opened: Plane, name: str, arguments: JsonObject, caller: Caller) -> str:
    """The verdict that the call itself gets; what it asks is answered with yes, and must not be refused after that."""
    outcome = await opened.conveyor.call(name, arguments, caller)
    if outcome.error is None:
        return "allow"
    if outcome.error.name in DENIED:
        return "deny"
    action_id = action_of(outcome)
    approved = await opened.conveyor.call("approval.approve", {"action_id": action_id}, OWNER)
    assert approved.error is None, approved.error
    done = await executed(opened, action_id)
    assert done["outcome"] == "ok", done
    return "ask"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that each test copies: two commits, and another branch with a third."""
    root = make_repo(tmp_path_factory.mktemp("history") / "repo", {"open/a.txt": "a\n"})
    (root / "locked").mkdir()
    (root / SECRET).write_text("second\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "second")
    git(root, "checkout", "--quiet", "-b", "other")
    (root / SECRET).write_text("third\n")
    git(root, "commit", "--quiet", "--all", "--message", "third")
    git(root, "checkout", "--quiet", "main")
    git(root, "config", "user.name", "Test")
    git(root, "config", "user.email", "test@example.com")
    return root


@pytest.mark.parametrize("verdict", ["deny", "ask", "none"])
@pytest.mark.parametrize(("name", "arguments", "prepare"), CASES, ids=lambda one: getattr(one, "__name__", str(one)))
async def test_what_is_explained_is_what_happens(
    tmp_path: Path, history: Path, name: str, arguments: JsonObject, prepare: Callable[[Path], None], verdict: str
) -> None:
    root = Path(shutil.copytree(history, tmp_path / "repo", symlinks=True))
    prepare(root)
    write(own(root), mine=RULES)
    caller = replace(AGENT, client=verdict)
    async with plane(root) as opened:
        foretold = await explained(opened, name, arguments, caller)
        assert await decided(opened, name, arguments, caller) == foretold


@pytest.mark.parametrize("path", [".codeplane/config.yaml", ".git/config", "mine/config.yaml"])
async def test_a_path_that_nobody_writes_is_refused_in_both(tmp_path: Path, path: str) -> None:
    root = make_repo(tmp_path / "repo")
    async with plane(root) as opened:
        (root / "mine").symlink_to(".codeplane")
        arguments: JsonObject = {"edits": [{"path": path, "content": "x\n"}]}
        assert await explained(opened, "write_files", arguments, AGENT) == "deny"
        assert await decided(opened, "write_files", arguments, AGENT) == "deny"


async def test_what_agents_do_not_hold_is_refused_in_both(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    async with plane(root, "trust.agent_capabilities=read_files") as opened:
        arguments: JsonObject = {"edits": [{"path": "a.txt", "content": "x\n"}]}
        assert await explained(opened, "write_files", arguments, AGENT) == "deny"
        assert await decided(opened, "write_files", arguments, AGENT) == "deny"
