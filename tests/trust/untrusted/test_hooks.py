"""After untrusted content a commit sends nothing away: hooks have no network, or a person is asked about the call."""

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.wiring.app import Plane
from tests.git.test_guarded_programs import needs_bubblewrap
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.trust.approvals.agent_calls import action_of, call, decide, executed, refused, shown
from tests.trust.untrusted.engine import engine
from tests.trust.untrusted.test_marks import reads

pytestmark = requirement("TRUST-63")
# By its real path: the sandbox of hooks has an empty folder for temporary files, where an environment may be.
PYTHON = os.path.realpath(sys.executable)

HOOK = """#!/bin/sh
exec {python} -c 'import socket; socket.create_connection(("127.0.0.1", {port}), 5).sendall(b"secret")'
"""


@pytest.fixture(scope="module")
def search() -> Iterator[str]:
    """The setting that names a running search engine."""
    with engine() as setting:
        yield setting


class Listener:
    """A socket on loopback that counts who connects."""

    def __init__(self, listening: socket.socket) -> None:
        listening.setblocking(False)
        self._listening = listening
        self.port: int = listening.getsockname()[1]

    def taken(self) -> int:
        """How many have connected since it was asked last."""
        count = 0
        while True:
            try:
                self._listening.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1


@contextmanager
def listening() -> Iterator[Listener]:
    with socket.create_server(("127.0.0.1", 0)) as found:
        yield Listener(found)


def hooked(folder: Path, port: int) -> Path:
    """A repository whose hook an agent can write, as husky has it."""
    repo = make_repo(
        folder / "shop", {"README.md": "# shop\n", ".husky/pre-commit": HOOK.format(python=PYTHON, port=port)}
    )
    (repo / ".husky" / "pre-commit").chmod(0o755)
    git(repo, "commit", "--quiet", "--all", "--message", "executable")
    for name, value in (("core.hooksPath", ".husky"), ("user.name", "Test"), ("user.email", "test@example.com")):
        git(repo, "config", name, value)
    return repo


async def committed(opened: Plane, message: str) -> Outcome:
    return await call(opened, "git.commit", message=message, allow_empty=True)


@needs_bubblewrap
async def test_a_hook_has_the_network_until_untrusted_content_is_read(tmp_path: Path, search: str) -> None:
    with listening() as listener:
        repo = await asyncio.to_thread(hooked, tmp_path, listener.port)
        async with plane(repo, search) as opened:
            assert (await committed(opened, "before")).error is None
            assert listener.taken() == 1
            await reads(opened)
            failed = await committed(opened, "after")
            assert refused(failed) == "GIT_REFUSED" and listener.taken() == 0
            assert failed.error is not None
            output = failed.error.message
            assert "the hook pre-commit had no network, since an agent has read untrusted content" in output
            assert "cpl approvals clear" in output
            # What an agent wrote is no safer when somebody else commits.
            mine = await opened.conveyor.call("git.commit", {"message": "mine", "allow_empty": True}, OWNER)
            assert refused(mine) == "GIT_REFUSED" and listener.taken() == 0
        async with plane(repo, search) as opened:
            assert refused(await committed(opened, "after a restart")) == "GIT_REFUSED"
            assert listener.taken() == 0
            await decide(opened, "untrusted.clear")
            assert (await committed(opened, "cleared")).error is None
            assert listener.taken() == 1


WAITING = """#!/bin/sh
touch started
while [ ! -e told ]; do sleep 0.05; done
exec {python} -c 'import socket; socket.create_connection(("127.0.0.1", {port}), 5).sendall(b"secret")'
"""


async def appeared(file: Path) -> None:
    async with asyncio.timeout(60):
        while not file.exists():
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("program", ["hook", "filter"])
async def test_no_content_is_given_while_a_hook_or_filter_has_the_network(
    tmp_path: Path, search: str, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr("codeplane.trust.untrusted.marks._WAIT_SEC", 0.1)
    with listening() as listener:
        repo = await asyncio.to_thread(hooked, tmp_path, listener.port)
        script = repo / ".husky" / "pre-commit"
        script.write_text(WAITING.format(python=PYTHON, port=listener.port))
        if program == "filter":
            script.rename(repo / "waiting.sh")
            git(repo, "config", "filter.f.clean", "./waiting.sh; cat")
            (repo / ".git" / "info" / "attributes").write_text("README.md filter=f\n")
            (repo / "README.md").write_text("# changed\n")
        async with plane(repo, search, 'trust.allow=["web.search"]') as opened:
            wanted = call(opened, "git.diff") if program == "filter" else committed(opened, "waits")
            running = asyncio.create_task(wanted)
            await appeared(repo / "started")
            withheld = await call(opened, "web.search", query="what to send")
            assert refused(withheld) == "GIT_BUSY" and not running.done()
            assert withheld.error is not None and "have the network" in withheld.error.message
            # What waits for such a run is given it when that has ended.
            monkeypatch.setattr("codeplane.trust.untrusted.marks._WAIT_SEC", 60)
            waiting = asyncio.create_task(reads(opened))
            (repo / "told").touch()
            assert (await running).error is None and listener.taken() >= 1
            await waiting
            if shutil.which("bwrap") is not None and program == "hook":
                assert refused(await committed(opened, "after")) == "GIT_REFUSED" and listener.taken() == 0


async def test_commands_without_hooks_or_network_do_not_keep_content_back() -> None:
    runs = OnlineRuns()
    with runs.run():
        assert not await runs.wait_for_end(0.01)
        runs.dismiss()
        assert await runs.wait_for_end(0.01)


async def test_without_bubblewrap_such_a_commit_is_asked_about(
    tmp_path: Path, search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(os.path.realpath(str(shutil.which(name))))
    monkeypatch.setenv("PATH", str(programs))
    with listening() as listener:
        repo = await asyncio.to_thread(hooked, tmp_path, listener.port)
        async with plane(repo, search) as opened:
            assert (await committed(opened, "before")).error is None
            assert listener.taken() == 1
            await reads(opened)
            asked = await committed(opened, "after")
            assert refused(asked) == "APPROVAL_PENDING" and listener.taken() == 0
            why = str((await shown(opened, action_of(asked)))["reasons"])
            assert "this runs hooks or filters of git (pre-commit) with the network" in why
            explained = await opened.conveyor.call("policy.explain", {"operation": "git.commit"}, OWNER)
            assert explained.result is not None and '"ask"' in explained.result.model_dump_json()
            # Files are written without git, and looked at without its hooks.
            edits = [{"path": "a.txt", "content": "a\n"}]
            assert (await opened.conveyor.call("write_files", {"edits": edits}, AGENT)).error is None
            assert (await call(opened, "git.status")).error is None
            await decide(opened, "approval.approve", action_id=action_of(asked))
            await executed(opened, action_of(asked))
            assert listener.taken() == 1
            git(repo, "config", "--unset", "core.hooksPath")
            assert (await committed(opened, "without hooks")).error is None
