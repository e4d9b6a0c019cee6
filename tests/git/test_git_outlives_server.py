"""Git that goes on after its server was killed: nothing is recorded before it has ended, and then what it did, once."""

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from tests.harness import Server, git, make_repo, start, until
from tests.interaction.requirements import requirement

pytestmark = requirement("GIT-40")

COMMIT: JsonObject = {"message": "slow", "paths": ["x.txt"], "idempotency_key": "first"}
OTHER: JsonObject = {"message": "other", "allow_empty": True}


def _repo(folder: Path) -> Path:
    """A repository whose hook waits until it is told how to end."""
    root = make_repo(folder, {"README.md": "# shop\n"})
    for name, value in (("user.name", "Test"), ("user.email", "test@example.com")):
        git(root, "config", name, value)
    os.mkfifo(root / ".git" / "gate")
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\ntest -e go && exit 0\ntouch waits\nread code < .git/gate\nexit $code\n")
    hook.chmod(0o755)
    (root / ".git" / "info" / "exclude").write_text("waits\ngo\n")
    (root / "x.txt").write_text("x\n")
    return root


def _error(server: Server, operation: str, arguments: JsonObject) -> str:
    error = server.call(operation, **arguments).get("error")
    return str(error["error"]) if isinstance(error, dict) else ""


def _recorded(server: Server) -> list[str]:
    """What the log says of mutations."""
    types = ["mutation.applied", "mutation.rolled_back"]
    result = server.call("ledger.events", types=types, limit=100)["result"]
    assert isinstance(result, dict) and isinstance(result["results"], list)
    return [f"{event['type']} {event['payload']['what']}" for event in result["results"] if isinstance(event, dict)]


def _commit(server: Server) -> None:
    with suppress(CodePlaneError, OSError):
        server.call("git.commit", **COMMIT)


@pytest.mark.parametrize(
    ("code", "answer", "recorded"),
    [("0", "RESULT_GONE", "mutation.applied commit"), ("1", "", "mutation.applied stage x.txt")],
)
def test_nothing_is_recorded_before_git_has_ended(tmp_path: Path, code: str, answer: str, recorded: str) -> None:
    root = _repo(tmp_path / "repo")
    server = start(root)
    first = threading.Thread(target=_commit, args=(server,))
    first.start()
    until((root / "waits").exists)
    # The second of them too finds it running.
    for _ in range(2):
        server.kill()
        first.join()
        server = start(root)
        again = server.call("git.commit", **COMMIT)["error"]
        assert isinstance(again, dict) and again["error"] == "OUTCOME_UNKNOWN" and "under way" in str(again["message"])
        assert _error(server, "git.commit", OTHER) == "GIT_BUSY"
        assert _error(server, "git.stage", {"paths": ["x.txt"]}) == "GIT_BUSY"
        assert "'git_still_runs': ['commit (mut_" in str(server.call("status"))
        assert _recorded(server) == []
    head = git(root, "rev-parse", "HEAD")
    (root / "go").touch()
    (root / ".git" / "gate").write_text(f"{code}\n")
    until(lambda: "git_still_runs" not in str(server.call("status")))
    assert (git(root, "rev-parse", "HEAD") != head) == (code == "0")
    (found,) = _recorded(server)
    assert found.startswith(recorded)
    # What was not done runs now; what was is not done again.
    assert _error(server, "git.commit", COMMIT) == answer
    assert git(root, "log", "--format=%s").split()[0] == "slow"
    assert git(root, "rev-list", "--count", "HEAD") == "2\n"
    assert _error(server, "git.commit", OTHER) == ""
    assert server.stop() == 0
