"""What a person at the command line is told of what agents asked for over MCP."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import anyio.to_thread

from codeplane.client import Client
from tests.harness import PATIENCE_SEC, Server, cpl, git, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.trust.shell.shells import needs_bubblewrap

from .clients import connect_client, failure_of, text_in, text_of


async def asked(server: Server, tool: str, **arguments: object) -> str:
    """The action that an agent's call becomes."""
    async with connect_client(server, toolset="all") as client:
        found = re.search(r"\((act_\w+)\)", await failure_of(client, tool, **arguments))
    assert found is not None
    return found[1]


@requirement("TRUST-10")
@needs_bubblewrap
async def test_a_trusted_command_runs_again_for_another_reason_and_is_named(server: Server) -> None:
    action = await asked(server, "run_bash", command="echo one", justification="to see")
    approved = cpl("approvals", "approve", action, "--trust", cwd=server.repo)
    assert approved.returncode == 0, approved.stderr
    async with connect_client(server, toolset="all") as client:
        assert "one" in await text_of(client, "run_bash", command="echo one", justification="to see it again")
        assert (await failure_of(client, "run_bash", command="echo two")).startswith("APPROVAL_PENDING")
    trusted = cpl("approvals", "trusted", cwd=server.repo)
    assert "run_bash, this very call and no other: $ echo one; folder .; timeout 10 s" in trusted.stdout


@requirement("TRUST-10")
@needs_bubblewrap
async def test_who_approves_a_command_that_fails_is_told_how_and_what_it_said(server: Server) -> None:
    action = await asked(server, "run_bash", command="seq 40; echo broken >&2; exit 3")
    approved = cpl("approvals", "approve", action, cwd=server.repo)
    assert approved.returncode == 1
    assert "run: the command exited with 3" in approved.stdout
    assert "run: ok" not in approved.stdout
    assert "40" in approved.stdout.splitlines() and "broken" in approved.stdout.splitlines()
    shown = cpl("approvals", "show", action, cwd=server.repo)
    assert "outcome: the command exited with 3" in shown.stdout and "  broken" in shown.stdout.splitlines()
    reported = Client(server.host, server.port, token=server.token).approval(action)
    assert (reported.exit_code, reported.failure, reported.state) == (3, "the command exited with 3", "EXECUTED")
    assert reported.answer.endswith("broken")
    async with connect_client(server, toolset="all", name="another") as client:
        hidden = await client.call_tool("approval_show", {"action_id": action})
        assert hidden.is_error and "APPROVAL_NOT_FOUND" in text_in(hidden)


@requirement("TRUST-10")
async def test_expired_not_run_and_rejected_are_told_apart(server: Server) -> None:
    edited = server.repo / "README.md"
    edited.write_text("edited\n")
    rejected = await asked(server, "git_discard", paths=["README.md"])
    changed = await asked(server, "git_discard", paths=["."])
    assert cpl("approvals", "reject", rejected, "-m", "no", cwd=server.repo).returncode == 0
    edited.write_text("edited again\n")
    output = cpl("approvals", "approve", changed, cwd=server.repo)
    assert output.returncode == 1 and "has changed" in output.stdout and "ask again" in output.stdout
    listed = cpl("approvals", "--all", cwd=server.repo).stdout
    assert f"{rejected} REJECTED" in listed and f"{changed} NOT RUN" in listed
    audit = cpl("audit", "--action", changed, cwd=server.repo).stdout
    assert "not_run" in audit and "rejected" not in audit

    def metrics() -> bytes:
        return server.request("GET", "/metrics", headers={"authorization": f"Bearer {server.token}"})[1]

    # What the log adds up to is counted now and then.
    until(lambda: b'codeplane_approvals_total{outcome="not_run"} 1.0' in metrics())


@requirement("TRUST-10")
async def test_an_agent_that_would_decide_is_told_that_a_person_does(server: Server) -> None:
    (server.repo / "README.md").write_text("edited\n")
    action = await asked(server, "git_discard", paths=["README.md"])
    made = server.call("agent.token", agent="eager", capabilities=["write_files"], allowed_tools=["write_files"])
    result = made["result"]
    assert isinstance(result, dict)
    agent = Client(server.host, server.port, token=str(result["token"]))
    for name, arguments in (
        ("approval.approve", {"action_id": action}),
        ("approval.reject", {"action_id": action}),
        ("capability.grant", {"agent": "eager", "capabilities": ["execute_shell"]}),
    ):
        error = agent.call(name, arguments)["error"]  # type: ignore[arg-type]  # plain JSON
        assert isinstance(error, dict) and error["error"] == "POLICY_DENIED", error
        assert "a person decides" in str(error["hint"]) and "capability_request" not in str(error["hint"])


@requirement("TRUST-10")
async def test_an_undo_of_the_newest_says_whose_it_was(server: Server) -> None:
    async with connect_client(server, name="writer") as client:
        await text_of(client, "write_files", edits=[{"path": "new.txt", "content": "new\n"}])
    undone = cpl("call", "undo", cwd=server.repo)
    assert undone.returncode == 0, undone.stderr
    assert "undone: write_files new.txt (made by agent:writer; it was the newest change of all)" in undone.stdout
    nothing = cpl("call", "undo", cwd=server.repo)
    assert nothing.returncode == 1 and "hint: nothing is left to undo: mutation_list" in nothing.stderr
    again = cpl("call", "redo", cwd=server.repo)
    assert "made by agent:writer" in again.stdout
    assert cpl("call", "write_files", "path=own.txt", "content=x", cwd=server.repo).returncode == 0
    assert "made by" not in cpl("call", "undo", cwd=server.repo).stdout, "one's own needs no name"


@requirement("TRUST-10")
async def test_a_checkpoint_outside_a_tokens_paths_says_how_to_ask(server: Server) -> None:
    made = server.call("agent.token", agent="bound", capabilities=["write_files"], allowed_paths=["docs"])
    result = made["result"]
    assert isinstance(result, dict)
    (server.repo / "new.txt").write_text("new\n")
    agent = Client(server.host, server.port, token=str(result["token"]))
    error = agent.call("checkpoint", {"message": "m", "tests": "none", "lint": False})["error"]
    assert isinstance(error, dict) and error["error"] == "PATH_DENIED", error
    assert "capability_request with allowed_paths" in str(error["hint"])


@requirement("TRUST-62")
async def test_an_equal_push_is_told_at_once_that_one_waits_and_one_answer_is_for_both(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "shop")
    git(tmp_path, "clone", "--quiet", "--bare", str(root), str(tmp_path / "origin.git"))
    git(root, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(root, "fetch", "--quiet", "origin")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "more")
    server = start(root, overrides=["approvals.wait_sec=600"])
    reported: list[str] = []

    async def push(**more: object) -> None:
        async with connect_client(server, toolset="all") as client:
            reported.append(await text_of(client, "git_push", remote="origin", ref="main", **more))

    def waiting() -> list[str]:
        return re.findall(r"(?m)^(act_\w+) PENDING", cpl("approvals", cwd=root).stdout)

    try:
        # One that waited behind the other would be told only after ten minutes.
        with anyio.fail_after(PATIENCE_SEC):
            async with anyio.create_task_group() as calls:
                calls.start_soon(push)
                (action,) = await anyio.to_thread.run_sync(until, waiting)
                async with connect_client(server, toolset="all") as client:
                    joined = await failure_of(client, "git_push", remote="origin", ref="main")
                assert joined.startswith(
                    "APPROVAL_PENDING: an equal call waits already, and one answer and one run are for both"
                )
                key = re.search(r'to wait for that answer, call again .* idempotency_key "(\w+)"', joined)
                assert f"({action})" in joined and key is not None
                calls.start_soon(lambda: push(idempotency_key=key[1]))
                approved = await anyio.to_thread.run_sync(lambda: cpl("approvals", "approve", action, cwd=root))
                assert approved.returncode == 0, approved
        assert len(reported) == 2 and reported[0].partition("\n")[0] == reported[1].partition("\n")[0]
        assert git(tmp_path / "origin.git", "rev-parse", "main") == git(root, "rev-parse", "main")
        assert len(cpl("approvals", "--all", cwd=root).stdout.splitlines()) == 1
    finally:
        server.kill()
