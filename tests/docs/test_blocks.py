"""Settings, rules and data that the documents show can be used as they stand there."""

import json
from collections import Counter
from pathlib import Path

import pytest

from codeplane.adapters.rego import Rego
from codeplane.adapters.yaml_config import load_workspace_config
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import Config
from codeplane.kernel.workspace import Workspace
from codeplane.trust.policy.policy import Policy
from tests.docs.markdown import Block, documents
from tests.interaction.requirements import requirement

pytestmark = requirement("DOCS-02")

BLOCKS = [(document.name, block) for document in documents() for block in document.blocks()]

# Settings that no file of a repository may have.
_OWNERS = ("models:", "mcp:", "tools:", "notifications:", "agents:")


def of(language: str) -> list[object]:
    """All blocks of a language, each named by its place."""
    return [pytest.param(block, id=f"{name}:{block.line}") for name, block in BLOCKS if block.language == language]


@pytest.mark.parametrize("block", of("yaml"))
def test_settings_are_taken(block: Block, tmp_path: Path) -> None:
    workspace = Workspace(root=tmp_path / "repo")
    home = tmp_path / "home"
    # Models and outside tools are taken from the owner's own file alone.
    file = home / ".config/codeplane/config.yaml" if block.text.startswith(_OWNERS) else workspace.config
    file.parent.mkdir(parents=True)
    file.write_text(block.text, encoding="utf-8")
    loaded = load_workspace_config(workspace, (), {"HOME": str(home)})
    assert loaded.config != Config()


@pytest.mark.parametrize("block", of("json"))
def test_data_is_whole(block: Block) -> None:
    assert isinstance(json.loads(block.text), dict)


@pytest.mark.parametrize("block", of("rego"))
def test_rules_can_be_used(block: Block, tmp_path: Path) -> None:
    (tmp_path / "shown.rego").write_text(block.text, encoding="utf-8")
    settings = Config().policy
    rules = Policy(folder=tmp_path, engine=Rego(timeout_ms=settings.timeout_ms), config=settings, clock=SystemClock())
    try:
        rules.wait_until_compiled(15.0)
        assert not rules.problems()
    finally:
        rules.close()


def test_python_is_run_where_its_server_is() -> None:
    """Blocks that test_guide.py of the surface or of the client runs; another one needs a test of its own."""
    run = {"docs/guides/app-server.md": 1, "docs/guides/client.md": 3, "docs/guides/connect.md": 3}
    assert Counter(name for name, block in BLOCKS if block.language == "python") == run
