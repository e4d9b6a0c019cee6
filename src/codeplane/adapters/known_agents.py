"""Outside agents that speak ACP, by name: how each is started, and what it needs to see beside its work tree."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from codeplane.kernel.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent:
    """One agent; `package` is what npm knows its adapter by, where it has one."""

    program: str
    args: tuple[str, ...] = ()
    package: str = ""
    home: tuple[str, ...] = ()
    # A variable that holds its key, given to it where it is set.
    key: str = ""

    def settings(self, environ: Mapping[str, str]) -> JsonObject:
        """Its settings here: the program if it is installed, else npm's way to run the package."""
        command, args = self.program, self.args
        if self.package and shutil.which(self.program, path=environ.get("PATH")) is None:
            command, args = "npx", ("--yes", self.package, *self.args)
        entry: JsonObject = {"command": command, "network": True}
        entry |= {"args": list[JsonValue](args)} if args else {}
        entry |= {"home": list[JsonValue](self.home)} if self.home else {}
        entry |= {"env": {self.key: f"${{{self.key}}}"}} if self.key and environ.get(self.key) else {}
        return entry


KNOWN: Mapping[str, KnownAgent] = {
    "claude-code": KnownAgent(
        program="claude-agent-acp",
        package="@agentclientprotocol/claude-agent-acp",
        home=(".claude/.credentials.json", ".claude/settings.json"),
        key="ANTHROPIC_API_KEY",
    ),
    "codex": KnownAgent(
        program="codex-acp",
        package="@zed-industries/codex-acp",
        home=(".codex/auth.json", ".codex/config.toml"),
        key="OPENAI_API_KEY",
    ),
    "gemini": KnownAgent(
        program="gemini",
        args=("--acp",),
        home=(".gemini/oauth_creds.json", ".gemini/google_accounts.json", ".gemini/settings.json"),
        key="GEMINI_API_KEY",
    ),
    "goose": KnownAgent(
        program="goose",
        args=("acp",),
        package="@aaif/goose-acp",
        home=(".config/goose/config.yaml",),
    ),
    "opencode": KnownAgent(
        program="opencode",
        args=("acp",),
        home=(".local/share/opencode/auth.json", ".config/opencode/opencode.json"),
    ),
}
