"""Commands, operations, settings and errors that sentences name are there."""

import asyncio
import re
import shlex
import tempfile
from pathlib import Path

import pytest
import typer

from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import Config
from codeplane.kernel.errors import ERRORS
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.acp_shim import SHIM as ACP
from codeplane.surfaces.cli.app_server_shim import SHIM as APP_SERVER
from codeplane.surfaces.cli.commands import app
from codeplane.surfaces.cli.lsp_shim import USAGE as LSP_USAGE
from codeplane.surfaces.cli.shim import USAGE
from codeplane.wiring.app import load_workspace_config
from tests.docs.markdown import ROOT, documents
from tests.interaction.requirements import requirement
from tests.kernel.plane import running_here

pytestmark = requirement("DOCS-04")

DOCUMENTS = {document.name: document for document in documents()}
WORDS = [(name, word) for name, document in DOCUMENTS.items() for word in document.words()]
_HINTED = re.compile(r"(?:^|: |`|, or )(cpl [^;,`()]+)")
# A file that other tools write, an entry of another program's settings, and a field of what rules see.
OTHERS = {"index.scip", "mcp.codeplane", "actor.kind", "index.subscribe"}
COMMANDS = typer.main.get_command(app)
# Commands that parse their own options.
SHIMS = {"mcp": USAGE, "acp": ACP.usage, "lsp": LSP_USAGE, "app-server": APP_SERVER.usage}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """Every operation there is."""

    async def listed() -> Catalogue:
        with tempfile.TemporaryDirectory() as folder:
            workspace = Workspace(root=Path(folder))
            loaded = load_workspace_config(workspace, (), {}).without_terminal()
            async with running_here(workspace, loaded=loaded) as plane:
                return plane.conveyor.catalogue

    return asyncio.run(listed())


def wrong_with(line: str, catalogue: Catalogue) -> str | None:
    """What of a `cpl` command is not there: its name, an option, an operation or an argument of one."""
    name, *rest = shlex.split(line.replace("…", ""), comments=True)[1:] or ["--help"]
    command = COMMANDS
    if name in SHIMS:
        return next((part for part in rest if part.startswith("-") and part not in f"{SHIMS[name]} --help"), None)
    context = typer.Context(command, info_name="cpl")
    words = [name, *rest]
    while words and hasattr(command, "get_command") and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            return f"no command {words[0]!r}"
        command, words = found, words[1:]
        context = typer.Context(command, parent=context)
    parameters = command.get_params(context)
    options = {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        if word.startswith("-") and word.partition("=")[0] not in options | {"-h", "--help"}:
            return f"no option {word}"
    if command.name == "call" and words and not words[0].startswith("-"):
        return _wrong_call(words, catalogue)
    return None


def _wrong_call(words: list[str], catalogue: Catalogue) -> str | None:
    operation = next((found for found in catalogue if found.name == words[0]), None)
    if operation is None:
        return f"no operation {words[0]!r}"
    known = {*operation.request.model_fields, "session_id", "idempotency_key"}
    given = (re.match(r"(\w+)[.:\w]*=", word) for word in words[1:])
    return next((f"{words[0]} takes no {found[1]!r}" for found in given if found and found[1] not in known), None)


def test_commands_are_there_with_their_options(catalogue: Catalogue) -> None:
    parts = [(name, part.strip()) for name, word in WORDS for part in word.split("&&")]
    answer = [(name, part) for name, part in parts if part.startswith("cpl ")]
    assert len(answer) > 50
    assert {(name, word): output for name, word in answer if (output := wrong_with(word, catalogue))} == {}


def test_commands_in_hints_are_there(catalogue: Catalogue) -> None:
    hints = [(kind.name, found[1].strip()) for kind in ERRORS for found in _HINTED.finditer(kind.default_hint)]
    assert len(hints) > 20
    assert {(name, line): output for name, line in hints if (output := wrong_with(line, catalogue))} == {}


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("cpl statsu", "no command"),
        ("cpl up --detatch", "no option"),
        ("cpl approvals aprove act_1", "no command"),
        ("cpl call sesion.info", "no operation"),
        ("cpl call search qeury=x", "takes no"),
        ("cpl mcp --toolst all", "--toolst"),
    ],
)
def test_what_is_misspelt_would_be_seen(catalogue: Catalogue, line: str, output: str) -> None:
    assert output in (wrong_with(line, catalogue) or "")


def test_settings_and_operations_are_there(catalogue: Catalogue) -> None:
    settings = {
        f"{section}.{key}"
        for section, field in Config.model_fields.items()
        for key in getattr(field.annotation, "model_fields", {})
    }
    known = settings | {found.name for found in catalogue}
    first = {name.partition(".")[0] for name in known if "." in name}
    known |= OTHERS | _literals()
    unknown = set()
    for name, word in WORDS:
        found = re.fullmatch(r"(\w+)(\.\w+)(?:: .*|=.*| .*)?", word)
        if found and found[1] in first and found[1] + found[2] not in known:
            unknown.add((name, word))
    assert unknown == set()


def _literals() -> set[str]:
    """Events and files have names of that shape, too; they are written down in the code."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    return {found for text in texts for found in re.findall(r"\"(\w+\.\w+)\"", text)}


def test_errors_are_there() -> None:
    names = {kind.name for kind in ERRORS}
    prefixes = {name.partition("_")[0] for name in names if "_" in name}
    shaped = [(name, word) for name, word in WORDS if re.fullmatch(r"[A-Z]+(_[A-Z]+)+", word)]
    assert [(name, word) for name, word in shaped if word.partition("_")[0] in prefixes and word not in names] == []


def test_trouble_speaks_of_every_error() -> None:
    """Whatever somebody is shown can be looked up, with what to do."""
    answer = set(DOCUMENTS["docs/guides/trouble.md"].words())
    assert {kind.name for kind in ERRORS} - answer == set()
