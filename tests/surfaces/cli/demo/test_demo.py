"""`cpl demo`, from outside: what it does, what it says of it, and that nothing of it is left."""

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import cpl, git
from tests.interaction.requirements import requirement
from tests.surfaces.cli.demo.demo_process import FOREVER, Demo, processes_in, programs, start_demo

pytestmark = requirement("CLI-21")

OPERATIONS = [
    *("session.create", "map_repo", "search", "read_files", "write_files", "test.run", "read_files", "write_files"),
    *("test.run", "semantic_diff", "checkpoint", "run_bash", "undo", "undo", "undo", "git.status", "session.close"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the demo makes its temporary folder."""
    made = tmp_path / "temporary"
    made.mkdir()
    return made


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A demo that has ended, and whose server still answers."""

    demo: Demo
    opened: Path

    def asked(self, operation: str, **arguments: object) -> JsonObject:
        result = self.demo.owner().call(operation, arguments)["result"]  # type: ignore[arg-type]  # plain JSON values
        assert isinstance(result, dict)
        return result


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """One that was played with --keep and --open, by somebody whose own settings would spoil it."""
    folder, settings = tmp_path_factory.mktemp("kept"), tmp_path_factory.mktemp("settings")
    (settings / "codeplane").mkdir()
    (settings / "codeplane" / "config.yaml").write_text("shell:\n  enabled: false\n")
    opened = settings / "opened"
    browser = settings / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    browser.chmod(0o755)
    environ = {"XDG_CONFIG_HOME": str(settings), "CODEPLANE__TRUST__MODE": "always", "BROWSER": str(browser)}
    with start_demo(folder, "--keep", "--open", environ=environ) as demo:
        assert demo.end() == (0, ""), demo.output
        yield Kept(demo=demo, opened=opened)
        assert cpl("down", "--repo", str(demo.workspace.root)).returncode == 0


class TestKept:
    def test_the_ledger_holds_the_session_in_its_order(self, kept: Kept) -> None:
        rows = kept.asked("call.list", client="demo-agent", limit=100)["results"]
        assert isinstance(rows, list)
        calls = [row for row in reversed(rows) if isinstance(row, dict)]
        assert [call["operation"] for call in calls] == OPERATIONS
        assert {str(call["actor"]).partition(":")[0] for call in calls} == {"agent"}
        assert {call["surface"] for call in calls} == {"mcp"}

    def test_the_command_ran_after_a_person_agreed(self, kept: Kept) -> None:
        [action] = kept.demo.owner().approvals(status="")
        assert (action.tool, action.status, action.decided_by) == ("run_bash", "EXECUTED", "owner:owner")
        assert action.action_id in kept.demo.output
        assert "nobody decided" in kept.demo.output

    def test_what_is_printed_came_from_the_server(self, kept: Kept) -> None:
        mutations = kept.asked("mutation.list")["mutations"]
        assert isinstance(mutations, list)
        ids = {str(one["mutation_id"]) for one in mutations if isinstance(one, dict)}
        assert len([one for one in ids if one in kept.demo.output]) >= 2
        position = kept.asked("ledger.events", newest=True, limit=1)["last_position"]
        text = int(kept.demo.value_of("ledger").split()[0])
        assert 0 < text <= int(str(position))

    def test_the_failure_came_before_the_fix(self, kept: Kept) -> None:
        output = kept.demo.output
        assert 0 < output.index("1 failed") < output.index("fixed: ") < output.index("total                      45.00")

    def test_the_repository_is_as_it_was(self, kept: Kept) -> None:
        root = kept.demo.workspace.root
        assert git(root, "status", "--porcelain") == ""
        assert git(root, "rev-list", "--count", "HEAD") == "1\n"

    def test_the_link_that_is_printed_is_the_one_that_is_opened(self, kept: Kept) -> None:
        assert kept.opened.read_text() == kept.demo.value_of("dashboard")

    def test_it_says_where_it_is_and_how_to_end_it(self, kept: Kept) -> None:
        assert f"cpl down --repo {kept.demo.workspace.root} && rm -r " in kept.demo.lines[-1]
        assert str(kept.demo.pid) in kept.demo.lines[-2]


def nothing_is_left(folder: Path) -> bool:
    return [*folder.iterdir()] == [] and processes_in(folder) == []


def test_a_person_who_rejects_is_heeded_and_nothing_is_left(folder: Path) -> None:
    with start_demo(folder, *FOREVER) as demo:
        demo.until("waiting for you")
        owner = demo.owner()
        [action] = owner.approvals()
        owner.reject(action.action_id, reason="not on a Friday")
        code, complaint = demo.end()
    assert (code, complaint) == (0, ""), demo.output
    assert "REJECTED" in demo.output and "not on a Friday" in demo.output
    assert "nobody decided" not in demo.output and "total " not in demo.output
    assert ", clean" in demo.output
    assert demo.lines[-1].startswith(f"gone       the server (pid {demo.pid})")
    assert nothing_is_left(folder)


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        (signal.SIGTERM, "waiting for you"),
        (signal.SIGINT, "  1  "),
        (signal.SIGHUP, "dashboard"),
        (signal.SIGTERM, "A recorded agent session"),
    ],
    ids=["while a call waits", "while a call runs", "before the first call", "before the server is there"],
)
def test_a_signal_leaves_nothing(folder: Path, number: signal.Signals, moment: str) -> None:
    with start_demo(folder, *FOREVER) as demo:
        demo.until(moment)
        demo.signal(number)
        code, complaint = demo.end()
    assert code == 128 + number, complaint
    assert "Traceback" not in complaint
    assert nothing_is_left(folder)


def test_without_git_it_says_so(folder: Path, tmp_path: Path) -> None:
    with start_demo(folder, environ={"PATH": programs(tmp_path / "bin", "python3")}) as demo:
        code, complaint = demo.end()
    assert code == 1
    assert complaint == "error: git is not installed, or not on PATH (NOT_FOUND)\n\nhint: install git, then: cpl demo\n"
    assert nothing_is_left(folder)


def test_without_a_sandbox_what_needs_one_is_refused_and_the_rest_goes_on(folder: Path, tmp_path: Path) -> None:
    with start_demo(folder, environ={"PATH": programs(tmp_path / "bin", "git", "python3", "bash", "sh")}) as demo:
        code, complaint = demo.end()
    assert (code, complaint) == (0, ""), demo.output
    refused = [line for line in demo.lines if "SANDBOX_MISSING" in line]
    assert len(refused) == 4
    assert "nobody decided" in demo.output and "passed" not in demo.output
    assert ", clean" in demo.output
    assert nothing_is_left(folder)


def test_a_step_that_goes_otherwise_is_named(folder: Path) -> None:
    with start_demo(folder, *FOREVER) as demo:
        demo.until("waiting for you")
        owner = demo.owner()
        (demo.workspace.root / "tillroll" / "offers.py").write_text("THREE_FOR_TWO = frozenset()\n")
        [action] = owner.approvals()
        owner.reject(action.action_id)
        code, complaint = demo.end()
    assert code == 1
    assert complaint.startswith("error: step 14 (undo) did not go as recorded: CANNOT_UNDO: ")
    assert nothing_is_left(folder)


def test_a_server_that_is_ended_meanwhile_is_an_error_with_what_to_do(folder: Path) -> None:
    with start_demo(folder, *FOREVER) as demo:
        demo.until("waiting for you")
        assert cpl("down", "--repo", str(demo.workspace.root)).returncode == 0
        code, complaint = demo.end()
    assert code == 3
    assert complaint.startswith("error: the demo's server went away: ")
    assert complaint.endswith("\nhint: play it again: cpl demo\n")
    assert nothing_is_left(folder)
