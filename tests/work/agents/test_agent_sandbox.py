"""An outside agent reaches its own work tree and home, and nothing else that its settings do not name."""

import socket
from pathlib import Path

import pytest

from codeplane.adapters.agent_home import fill_home
from codeplane.kernel.errors import ConfigInvalid, OutsideAgentFailed
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config
from tests.harness import git
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import result
from tests.work.agents.agent_plane import agent_thread, scripted

pytestmark = requirement("OAG-02")


async def test_its_own_writes_never_reach_the_checkout_nor_git(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted()) as thread:
        before = git(thread.repo, "rev-parse", "HEAD")
        turn = await thread.do(
            ["write", "shop.py", "price = 2\n"],
            ["write", str(thread.repo / "shop.py"), "price = 666\n"],
            ["write", str(thread.repo / "evil.py"), "evil\n"],
            ["write", ".git", "gitdir: /elsewhere\n"],
            ["shell", f"ln -s {thread.repo} checkout && echo evil > checkout/evil.py"],
            ["shell", "git commit --quiet --all --message sneaky"],
            ["shell", "git branch sneaky"],
            ["shell", "git config core.hooksPath /tmp"],
            ["shell", f"ls {thread.repo}"],
        )
        assert turn["status"] == "COMPLETED", turn
        answer = str(turn["assistant_message"])
        # Where the checkout is, there is memory of the sandbox at best.
        assert "[wrote shop.py]" in answer and "cannot write .git" in answer and "Read-only file system" in answer
        assert (thread.repo / "shop.py").read_text() == "price = 1\n"
        assert sorted(path.name for path in thread.repo.iterdir()) == [".codeplane", ".git", "docs", "shop.py"]
        assert git(thread.repo, "rev-parse", "HEAD") == before and "sneaky" not in git(thread.repo, "branch", "--list")
        assert "hooksPath" not in (thread.repo / ".git/config").read_text()
        # A link that leads out is shown for review as a link, and is applied as one.
        files = (await thread.diff())["files"]
        assert files == [{"path": "checkout", "change": "created"}, {"path": "shop.py", "change": "changed"}]


async def test_it_sees_no_home_no_variable_and_no_network_but_what_is_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".agent").mkdir(parents=True)
    (home / ".agent/auth.json").write_text("for the agent")
    (home / ".ssh").mkdir()
    (home / ".ssh/id_ed25519").write_text("private")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SOME_TOKEN", "a-secret-of-mine")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        agent = scripted(env={"GIVEN": "yes"}, home=[".agent/auth.json"])
        async with agent_thread(tmp_path, agent) as thread:
            turn = await thread.do(
                ["read", str(home / ".ssh/id_ed25519")],
                ["shell", "cat ~/.agent/auth.json"],
                ["shell", "echo changed > ~/.agent/auth.json"],
                ["environment"],
                ["network", url],
            )
            answer = str(turn["assistant_message"])
            assert "cannot read" in answer and "private" not in answer
            assert "[0: for the agent]" in answer
            assert "GIVEN" in answer and "SOME_TOKEN" not in answer
            assert "no network" in answer and "reached it" not in answer
            # What it did to its copy stays there.
            assert (home / ".agent/auth.json").read_text() == "for the agent"


async def test_secrets_files_of_the_repository_are_empty_for_it(tmp_path: Path) -> None:
    files = {"shop.py": "price = 1\n", ".env": "TOKEN=tops3cretvalue99\n"}
    async with agent_thread(tmp_path, scripted(), files=files) as thread:
        turn = await thread.do(["shell", "cat .env; git show HEAD:shop.py"], ["fs_read", ".env"])
        assert "tops3cretvalue99" not in str(turn["assistant_message"])


async def test_an_agent_with_the_network_counts_as_having_read_what_others_wrote(tmp_path: Path) -> None:
    for network in (True, False):
        async with agent_thread(tmp_path / str(network), scripted(network=network)) as thread:
            assert (await thread.do(["say", "Hello."]))["status"] == "COMPLETED"
            marked = [str(subject) for (subject,) in await thread.opened.log.select("SELECT subject FROM untrusted")]
            assert any(thread.thread_id in subject for subject in marked) is network, marked


def test_a_file_in_the_repository_cannot_name_agents(tmp_path: Path) -> None:
    workspace = Workspace(root=tmp_path / "repo")
    workspace.config.parent.mkdir(parents=True)
    workspace.config.write_text("agents:\n  acp:\n    evil: {command: /bin/sh}\n")
    with pytest.raises(ConfigInvalid):
        load_workspace_config(workspace, (), {"HOME": str(tmp_path)})
    workspace.config.write_text("agents:\n  token_minutes: 5\n")
    assert load_workspace_config(workspace, (), {"HOME": str(tmp_path)}).config.agents.token_minutes == 5


def test_a_link_in_its_home_is_not_written_through(tmp_path: Path) -> None:
    real, home, outside = tmp_path / "real", tmp_path / "agent", tmp_path / "outside"
    for folder in (real / ".agent", home, outside):
        folder.mkdir(parents=True)
    (real / ".agent/auth.json").write_text("mine")
    (home / ".agent").symlink_to(outside)
    fill_home(real, (".agent/auth.json", "not-there"), home)
    assert (home / ".agent/auth.json").read_text() == "mine" and not [*outside.iterdir()]
    (real / ".agent/large").write_bytes(b"")
    with (real / ".agent/large").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    with pytest.raises(OutsideAgentFailed, match="too large"):
        fill_home(real, (".agent",), home)


async def test_what_it_may_see_is_listed_without_values(tmp_path: Path) -> None:
    async with agent_thread(tmp_path, scripted(env={"KEY": "abc123secretvalue"}, home=[".agent"])) as thread:
        listed = result(await thread.ask("acp_agent.list"))
        assert "abc123secretvalue" not in str(listed)
        agents = listed["agents"]
        assert isinstance(agents, list) and isinstance(agent := agents[0], dict)
        assert (agent["network"], agent["home"], agent["variables"]) == (False, [".agent"], ["KEY", "TRICKS"])
