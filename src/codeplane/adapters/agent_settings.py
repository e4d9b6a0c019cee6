"""The file of settings that `cpl agents` writes, beside the owner's own: `agents.yaml`."""

from pathlib import Path

from codeplane.adapters.entry_file import EntryFile

NAME = "agents.yaml"
_HEAD = "# Written by `cpl agents`; if ~/.config/codeplane/config.yaml has `agents.acp`, those count instead.\n"


class AgentSettings(EntryFile):
    """Adds and removes outside agents in the file, and leaves everything else in it alone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / NAME, head=_HEAD, section="agents", entries="acp")
