"""`cpl search` and `cpl index`: for people, and for pipes."""

import json
import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import CPL, cpl, git, make_repo, start
from tests.interaction.requirements import requirement

FILES = {
    "src/app.py": "def greet(name):\n    return f'hello {name}'\n",
    "main.py": "from src.app import greet\ngreet(1)\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same repository with a server, which tests only ask."""
    running = start(make_repo(tmp_path_factory.mktemp("served") / "repo", FILES))
    yield running.repo
    running.stop()


LINES = [
    "main.py:1:21:from src.app import greet",
    "main.py:2:1:greet(1)",
    "src/app.py:1:5:def greet(name):",
]


def test_without_a_server_it_is_the_same(repo: Path) -> None:
    done = cpl("search", "greet", cwd=repo)
    assert done.stdout.splitlines() == LINES
    assert f"3 of 3 in 2 files, literal, epoch 1 at {git(repo, 'rev-parse', 'HEAD')[:9]}" in done.stderr
    assert cpl("search", "no such text", cwd=repo).returncode == 1


@requirement("CLI-10")
def test_lines_for_pipes_and_json(served: Path) -> None:
    done = cpl("search", "greet", cwd=served)
    assert done.stdout.splitlines() == LINES
    assert f"3 of 3 in 2 files, literal, epoch 1 at {git(served, 'rev-parse', 'HEAD')[:9]}" in done.stderr
    hits = [
        json.loads(line)
        for line in cpl("search", "greet", "-m", "definitions", "--json", cwd=served).stdout.splitlines()
    ]
    assert [(hit["path"], hit["line"], hit["symbol"]["kind"]) for hit in hits] == [("src/app.py", 1, "function")]
    around = cpl("search", "greet(1)", "-C", "1", cwd=served)
    assert around.stdout.splitlines() == ["main.py-1-from src.app import greet", "main.py:2:1:greet(1)"]
    uses = cpl("search", "greet", "-m", "references", cwd=served)
    assert "1 proven, 2 strong" in uses.stderr


@requirement("CLI-10")
def test_nothing_found_and_nonsense_have_their_exit_codes(served: Path) -> None:
    assert cpl("search", "no such text", "-m", "literal", cwd=served).returncode == 1
    refused = cpl("search", "greet", "-m", "nonsense", cwd=served)
    assert refused.returncode == 1 and "hint:" in refused.stderr
    assert cpl("search", "(", "-m", "regex", cwd=served).returncode == 1


@requirement("CLI-10")
def test_colours_on_a_terminal_unless_unwanted(served: Path) -> None:
    def shown(environment: dict[str, str]) -> str:
        ours, theirs = pty.openpty()
        done = subprocess.Popen(
            [CPL, "search", "greet", "src"],
            cwd=served,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TERM": "xterm", "LINES": "50", "COLUMNS": "100", **environment},
        )
        os.close(theirs)
        raw = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            raw += part
        done.wait()
        os.close(ours)
        return raw.decode()

    assert "\x1b[1;31mgreet\x1b[0m" in shown({})
    assert "\x1b[" not in shown({"NO_COLOR": "1", "PAGER": "cat"})


@requirement("CLI-10")
def test_an_index_is_carried_to_a_clone(repo: Path, tmp_path: Path) -> None:
    archive = tmp_path / "it.cplindex"
    done = cpl("index", "export", str(archive), cwd=repo)
    assert done.returncode == 0 and str(archive) in done.stdout, done.stderr
    git(tmp_path, "clone", "-q", str(repo), str(tmp_path / "clone"))
    taken = cpl("index", "import", str(archive), cwd=tmp_path / "clone")
    assert taken.returncode == 0 and "taken over" in taken.stdout, taken.stderr
    assert list((tmp_path / "clone" / ".codeplane" / "exports").iterdir()) == []
    (tmp_path / "text").write_text("no archive")
    refused = cpl("index", "import", str(tmp_path / "text"), cwd=repo)
    assert refused.returncode == 1 and "ARCHIVE_REFUSED" in refused.stderr
    assert cpl("index", "import", str(tmp_path / "missing"), cwd=repo).returncode == 2


@requirement("RNK-02")
def test_a_question_is_answered_in_a_few_lines(tmp_path: Path) -> None:
    files = {f"src/size_{number}.py": f"def parse_size_{number}(text):\n    return text\n" for number in range(30)}
    repo = make_repo(tmp_path / "repo", files)
    done = cpl("search", "how is the size parsed from text?", cwd=repo)
    assert len(done.stdout.splitlines()) == 10 and "10 of 30" in done.stderr and "ranked" in done.stderr
    more = cpl("search", "how is the size parsed from text?", "-n", "25", cwd=repo)
    assert len(more.stdout.splitlines()) == 25
    assert len(cpl("search", "return text", cwd=repo).stdout.splitlines()) == 30
