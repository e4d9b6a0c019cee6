"""The list of questions as a person reads it: who decided, what is next, and that there is nothing."""

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from codeplane.surfaces.cli.commands.approvals import approvals
from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import run
from tests.trust.approvals.asking import action_of, asking, call, decide

pytestmark = requirement("TRUST-10")


def test_who_decided_is_said(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with asking(tmp_path) as opened:
            first = action_of(await call(opened, "fixture.send", text="first"))
            second = action_of(await call(opened, "fixture.send", text="second"))
            await decide(opened, "approval.reject", action_id=first, reason="no")
            answer = (await decide(opened, "approval.list")).result
            assert answer is not None
            waiting, rejected = answer.text().split("\n")
            assert waiting.startswith(second) and "(asked " in waiting
            assert rejected.startswith(f"{first} REJECTED") and "(decided by owner:owner, asked " in rejected

    run(scenario())


def test_nothing_waits_and_nothing_was_asked_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_repo(tmp_path / "repo"))
    assert CliRunner().invoke(approvals, []).output == "nothing waits for a decision\n"
    assert CliRunner().invoke(approvals, ["--all"]).output == "nothing was asked about yet\n"


def test_how_to_decide_is_said_beside_what_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> str:
        async with asking(repo) as opened:
            return action_of(await call(opened, "fixture.send", text="a"))

    repo = make_repo(tmp_path / "repo")
    action = run(scenario())
    monkeypatch.chdir(repo)
    listed = CliRunner().invoke(approvals, [])
    (line,) = listed.stdout.splitlines()
    assert line.startswith(f"{action} PENDING ")
    assert "cpl approvals show ID" in listed.stderr and "cpl approvals approve ID, or reject ID" in listed.stderr


def test_a_list_that_is_cut_ends_with_the_command_for_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> list[str]:
        async with asking(repo) as opened:
            return [action_of(await call(opened, "fixture.send", text=text)) for text in ("a", "b")]

    repo = make_repo(tmp_path / "repo")
    older, newer = run(scenario())
    monkeypatch.chdir(repo)
    first, more = CliRunner().invoke(approvals, ["--all", "-n", "1"]).output.splitlines()
    assert first.startswith(newer) and more == ("more: cpl approvals --all -n 2")
    following = CliRunner().invoke(approvals, shlex.split(more)[3:]).output.splitlines()
    assert len(following) == 2 and following[1].startswith(older)
