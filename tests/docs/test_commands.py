"""Every command in the documents is run, in order, where they say; what cannot be is listed with its reason."""

import shutil
import warnings
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from tests.docs.markdown import Command, Document, documents, is_transcript
from tests.docs.project import files_for, prepare, write
from tests.docs.reader import Reader, not_shown, tidy
from tests.docs.untold import ELSEWHERE, ENDLESS, NOT_RUN
from tests.harness import Server, git, make_repo, start
from tests.interaction.requirements import requirement

pytestmark = requirement("DOCS-01")

DOCUMENTS = {document.name: document for document in documents()}
WITH_COMMANDS = [name for name, document in DOCUMENTS.items() if any(document.commands())]
RUN, TEXT = {"sh", "console"}, {"text", "yaml", "json", "rego", "python", "lua", "toml"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of who reads one document after another."""
    return _prepared_home(tmp_path_factory.mktemp("home"))


def _prepared_home(folder: Path) -> Path:
    """A home with a name for commits, where an agent does not wait for an answer."""
    write(folder / ".gitconfig", "[user]\n\tname = Reader\n\temail = reader@example.com\n")
    write(folder / ".config/codeplane/config.yaml", "approvals: {wait_sec: 0}\n")
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[Server]:
    """One server, in whose repository the documents are played one after another."""
    repo = make_repo(tmp_path_factory.mktemp("docs") / "repo")
    overrides = [] if shutil.which("bwrap") else ["tests.sandbox=off", "shell.sandbox=off"]
    running = start(repo, overrides=overrides, environ=Reader(repo=repo, home=home).environment())
    yield running
    running.stop()


def test_every_block_says_what_it_is() -> None:
    unsaid = [
        f"{document.name}:{block.line}"
        for document in DOCUMENTS.values()
        for block in document.blocks()
        if block.language not in RUN | TEXT and not is_transcript(block)
    ]
    assert unsaid == [], "name the block's language: sh or console to have it run, text for what is only shown"


def test_what_is_not_run_is_still_there() -> None:
    texts = {command.text for document in DOCUMENTS.values() for command in document.commands()}
    assert {*NOT_RUN, *ENDLESS} - texts == set()
    assert {begins for begins in ELSEWHERE if not any(text.startswith(begins) for text in texts)} == set()


@pytest.mark.parametrize("name", [name for name in WITH_COMMANDS if name != "README.md"])
def test_a_documents_commands(name: str, served: Server, home: Path) -> None:
    reader = Reader(repo=served.repo, home=home, forks=True)
    begun = _laid_out(served.repo, name)
    wrong: list[str] = []
    for section, commands in groupby(DOCUMENTS[name].commands(), key=lambda command: command.section):
        tidy(served.repo, begun)
        prepare(reader, name, section)
        # What was changed behind the server's back is seen before the first command asks.
        served.call("search", query="shop", fresh="strict")
        wrong += _typed(reader, commands)
    wrong += reader.leave()
    assert wrong == [], "\n\n".join(wrong)


def test_the_readmes_commands(tmp_path: Path) -> None:
    """From `cpl init` to `cpl down`, with the server that is started there, by somebody who has read nothing else."""
    home = _prepared_home(tmp_path / "home")
    reader = Reader(repo=make_repo(tmp_path / "repo", files_for("README.md")), home=home)
    wrong = _typed(reader, DOCUMENTS["README.md"].commands())
    wrong += reader.leave()
    assert wrong == [], "\n\n".join(wrong)


def test_what_is_false_would_be_seen(tmp_path: Path) -> None:
    typed = "$ echo one   # says it\none\n$ false\n$ echo two\nthree\n$ true\nerror: no (NOT_FOUND)\n"
    text = f"# A\n\n```console\n{typed}```\n"
    reader = Reader(repo=tmp_path, home=tmp_path)
    commands = list(Document(name="a.md", text=text).commands())
    assert [command.text for command in commands] == ["echo one", "false", "echo two", "true"]
    assert [reader.type(command) is None for command in commands] == [True, False, False, False]


def test_a_shown_output_is_compared_but_for_what_chance_decides() -> None:
    shown = "mut_5f0c0d1e7a42c9d1f3aa at 4f1c2aa41, 0.2 s\n…\nM a.py +1 -1 …"
    assert not_shown(shown, "mut_a1e4e79d0d3bf95bce46 at 1234567ab, 3.1 s\nmore\nM a.py +1 -1 and so on\n") == []
    assert not_shown(shown, "mut_a1e4e79d0d3bf95bce46 at 1234567ab, 3.1 s\nM a.py +2 -1\n") == ["M a.py +1 -1 …"]


def _laid_out(repo: Path, document: str) -> str:
    tidy(repo, "main")
    git(repo, "rm", "-r", "--quiet", ".")
    for name, text in files_for(document).items():
        write(repo / name, text)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "first")
    return git(repo, "rev-parse", "HEAD").strip()


def _typed(reader: Reader, commands: "Iterator[Command]") -> list[str]:
    wrong = []
    for command in commands:
        if reason := _untold(command.text):
            warnings.warn(f"NOT RUN {command}: {reason}", stacklevel=2)
        elif output := reader.type(command):
            wrong.append(output)
    return wrong


def _untold(text: str) -> str | None:
    return NOT_RUN.get(text) or next((where for begins, where in ELSEWHERE.items() if text.startswith(begins)), None)
