"""`cpl explore` at a terminal: progress on stderr, the summary on stdout, as Markdown and as events."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.work.explore.explore_plane import SHOP

pytestmark = requirement("EXR-10")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("explored") / "shop", SHOP))
    yield running
    running.stop()


def test_the_summary_is_on_stdout_and_progress_on_stderr(server: Server) -> None:
    done = cpl("explore", "--goal", "money", cwd=server.repo)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# shop\n") and "- `shop/cli.py:4 shop = shop.cli:main`" in done.stdout
    assert "On “money”" in done.stdout
    assert "into what it calls (`cpl call explain_symbol symbol=shop/cli.py:4`)" in done.stdout
    assert "(test_run)" not in done.stdout
    assert "def main" in cpl("call", "explain_symbol", "symbol=shop/cli.py:4", cwd=server.repo).stdout
    assert (
        done.stderr.startswith("plan 1: gitStatus, listDir, indexRepo") and "✓ entryPoints  2 EntryPoint" in done.stderr
    )
    plain = cpl("explore", "--markdown", cwd=server.repo)
    assert "## Languages" in plain.stdout


def test_events_lists_and_earlier_summaries_are_for_programs_too(server: Server) -> None:
    done = cpl("explore", "--json", cwd=server.repo)
    envelopes = [json.loads(line) for line in done.stdout.splitlines()]
    assert "planSnapshot" in envelopes[1]["payload"] and "completed" in envelopes[-1]["payload"]
    session_id = envelopes[-1]["payload"]["sessionId"]
    assert session_id in cpl("explore", "--list", cwd=server.repo).stdout
    assert "completed" in cpl("explore", "--show", session_id, cwd=server.repo).stdout
    replayed = cpl("explore", "--replay", session_id, cwd=server.repo)
    assert replayed.returncode == 0 and "0 different" in replayed.stdout


def test_a_folder_beside_is_explored_and_errors_are_said(server: Server, tmp_path: Path) -> None:
    other = make_repo(tmp_path / "beside", {"README.md": "# Beside\n\nA repository that lies beside the first one.\n"})
    done = cpl("explore", str(other), "--markdown", cwd=server.repo)
    assert done.stdout.startswith("# beside\n\nA repository that lies beside the first one.")
    for arguments in (("--show", "nothing"), ("--replay", "nothing"), ("--resume", "nothing")):
        failed = cpl("explore", *arguments, cwd=server.repo)
        assert failed.returncode == 1 and "EXPLORE_NOT_FOUND" in failed.stderr
