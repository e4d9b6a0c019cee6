"""`cpl diff`: for people, for pipes, and for pull requests."""

import json
import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import CPL, cpl, make_repo, start
from tests.interaction.requirements import requirement

FILES = {"shop.py": "def total(items):\n    return sum(items)\n\n\ndef tax(a):\n    return a\n"}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository with changes, served."""
    root = make_repo(tmp_path_factory.mktemp("diff") / "repo", FILES)
    (root / "shop.py").write_text(
        FILES["shop.py"].replace("total(items)", "total(items, tax)").replace("tax(a)", "tax(b)")
    )
    server = start(root)
    yield root
    server.stop()


@requirement("CMP-03")
def test_lines_structure_markdown_and_json(repo: Path) -> None:
    patch = cpl("diff", cwd=repo).stdout
    assert "+def total(items, tax):" in patch and "-def total(items):" in patch
    answer = cpl("diff", "--semantic", cwd=repo)
    assert answer.returncode == 0
    assert "! shop.py:1 signature function total: tax has to be given" in answer.stdout.splitlines()
    assert "\x1b[" not in answer.stdout and "cursor" not in answer.stdout
    one = cpl("diff", "-s", "-n", "1", cwd=repo)
    assert "there is more" in one.stderr and "tax(" not in one.stdout
    assert cpl("diff", "--markdown", cwd=repo).stdout.startswith("## Structural changes: HEAD (")
    pages = [json.loads(line) for line in cpl("diff", "-s", "--json", cwd=repo).stdout.splitlines()]
    assert [change["name"] for change in pages[0]["structural_changes"]] == ["total", "tax"]


@requirement("CMP-03")
def test_exit_codes(repo: Path) -> None:
    assert cpl("diff", "-s", "--exit-code", cwd=repo).returncode == 1
    assert cpl("diff", "-s", "--exit-code", "HEAD", "HEAD", cwd=repo).returncode == 0
    refused = cpl("diff", "-s", "nope", cwd=repo)
    assert refused.returncode == 1 and "hint:" in refused.stderr
    assert cpl("diff", "nope", cwd=repo).returncode == 1


@requirement("CMP-03")
def test_colours_on_a_terminal_unless_unwanted(repo: Path) -> None:
    def shown(**environment: str) -> str:
        ours, theirs = pty.openpty()
        done = subprocess.Popen(
            [CPL, "diff", "-s"],
            cwd=repo,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TERM": "xterm", "LINES": "50", "COLUMNS": "100", "PAGER": "cat", **environment},
        )
        os.close(theirs)
        raw = b""
        try:
            while part := os.read(ours, 65536):
                raw += part
        except OSError:
            pass
        os.close(ours)
        assert done.wait() == 0
        return raw.decode()

    assert "\x1b[1;31m! shop.py:1 signature function total" in shown()
    assert "\x1b[1;31m" not in shown(NO_COLOR="1")


def test_the_hint_stands_once_behind_all_pages(tmp_path: Path) -> None:
    names = [f"total_{number}" for number in range(120)]
    root = make_repo(tmp_path / "repo", {"shop.py": "".join(f"def {name}(a):\n    return a\n\n\n" for name in names)})
    (root / "shop.py").write_text("".join(f"def {name}(a, b):\n    return a\n\n\n" for name in names))
    answer = cpl("diff", "--semantic", cwd=root).stdout.splitlines()
    pages = [json.loads(line) for line in cpl("diff", "-s", "--json", cwd=root).stdout.splitlines()]
    hint = pages[0]["agentic_hint"].split("\n")
    assert len(pages) == 2
    assert answer[-len(hint) :] == hint
    assert sum(line == hint[0] for line in answer) == 1
    assert sum("signature function total_" in line for line in answer) == 120
