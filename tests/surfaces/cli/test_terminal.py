"""What others wrote, on the owner's terminal: shown, and not obeyed."""

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import CPL, cpl, make_repo, start
from tests.interaction.requirements import requirement

pytestmark = requirement("CLI-32")

TITLE, CLEAR = "\x1b]0;mine\x07", "\x9b2J"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository with control characters in a file, and in the name of another, and its server."""
    files = {"a.txt": f"first {TITLE}{CLEAR}\ttab \x7f größer\n", f"n{CLEAR}.txt": "x\n"}
    files["b.txt"] = "שלום 👨‍👩‍👧 if admin\u202e \u2066// check\u2069 \u200f\n"
    repo = make_repo(tmp_path_factory.mktemp("terminal") / "repo", files)
    server = start(repo)
    yield repo
    server.stop()


def on_terminal(*arguments: str) -> str:
    """The output of a command whose stdout and stderr are a terminal."""
    own, given = pty.openpty()
    process = subprocess.Popen([CPL, *arguments], stdin=subprocess.DEVNULL, stdout=given, stderr=given)
    os.close(given)
    pieces = []
    try:
        while piece := os.read(own, 65_536):
            pieces.append(piece)
    except OSError:
        # The terminal is gone when the last program that used it has ended.
        pass
    finally:
        os.close(own)
        process.wait(timeout=60)
    return b"".join(pieces).decode()


def test_control_characters_of_an_answer_are_escaped_on_a_terminal(repo: Path) -> None:
    words = ("call", "read_files", "paths=a.txt", "--repo", str(repo))
    output = on_terminal(*words)
    assert "first \\x1b]0;mine\\x07\\x9b2J\ttab \\x7f größer" in output
    assert not {"\x1b", "\x07", "\x9b", "\x7f"} & {*output}
    # A program that reads it is given what is there.
    assert f"first {TITLE}{CLEAR}\ttab \x7f größer" in cpl(*words).stdout


def test_changes_of_the_writing_direction_are_escaped_too(repo: Path) -> None:
    output = on_terminal("call", "read_files", "paths=b.txt", "--repo", str(repo))
    # Letters of every script and the joins of pictures stay.
    assert "שלום 👨‍👩‍👧 if admin\\u202e \\u2066// check\\u2069 \\u200f" in output


def test_so_are_those_of_names_and_of_errors(repo: Path) -> None:
    output = on_terminal("call", "list_dir", "--repo", str(repo))
    assert "n\\xc2\\x9b2J.txt" in output and "\x9b" not in output
    output = on_terminal("call", "read_files", "paths=m\x9b2J.txt", "--repo", str(repo))
    assert "\x9b" not in output
