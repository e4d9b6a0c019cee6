"""The list of questions as a person reads it: who decided, what is next, and that there is nothing."""

import asyncio
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from codeplane.surfaces.cli.commands.approvals import approvals
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import action_of, asking, call, decide

pytestmark = requirement("TRUST-10")


async def test_who_decided_is_said(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        first = action_of(await call(opened, "fixture.send", text="first"))
        second = action_of(await call(opened, "fixture.send", text="second"))
        await decide(opened, "approval.reject", action_id=first, reason="no")
        answer = (await decide(opened, "approval.list")).result
        assert answer is not None
        waiting, rejected = answer.text().split("\n")
        assert waiting.startswith(second) and "(asked " in waiting
        assert rejected.startswith(f"{first} REJECTED") and "(decided by owner:owner, asked " in rejected


def test_nothing_waits_and_nothing_was_asked_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_repo(tmp_path / "repo"))
    assert CliRunner().invoke(approvals, []).output == "nothing waits for a decision\n"
    assert CliRunner().invoke(approvals, ["--all"]).output == "nothing was asked about yet\n"


async def test_how_to_decide_is_said_beside_what_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = make_repo(tmp_path / "repo")
    async with asking(repo) as opened:
        action = action_of(await call(opened, "fixture.send", text="a"))
    monkeypatch.chdir(repo)
    listed = await asyncio.to_thread(CliRunner().invoke, approvals, [])
    (line,) = listed.stdout.splitlines()
    assert line.startswith(f"{action} PENDING ")
    assert "cpl approvals show ID" in listed.stderr and "cpl approvals approve ID, or reject ID" in listed.stderr


async def test_a_list_that_is_cut_ends_with_the_command_for_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo(tmp_path / "repo")
    async with asking(repo) as opened:
        older, newer = [action_of(await call(opened, "fixture.send", text=text)) for text in ("a", "b")]
    monkeypatch.chdir(repo)
    first, more = (await asyncio.to_thread(CliRunner().invoke, approvals, ["--all", "-n", "1"])).output.splitlines()
    assert first.startswith(newer) and more == ("more: cpl approvals --all -n 2")
    following = (await asyncio.to_thread(CliRunner().invoke, approvals, shlex.split(more)[3:])).output.splitlines()
    assert len(following) == 2 and following[1].startswith(older)
