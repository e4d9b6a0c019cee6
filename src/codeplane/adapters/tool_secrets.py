"""Secrets of outside tools: `${NAME}` in their settings stands for a variable, or for what a sealed file holds."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.adapters.sealed_file import SealedFile
from codeplane.kernel.config import Config, McpServerConfig, OutsideAgentConfig, OutsideProgram
from codeplane.kernel.errors import ToolServerUnavailable

# As other clients write them: ${NAME}, ${env:NAME}, ${NAME:-default}.
PLACEHOLDER = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|(?:^|[_-])(?:API[_-]?)?KEYS?(?:$|[_-])|AUTH|COOKIE", re.I)


class ToolSecrets(SealedFile):
    """Secrets of outside tools by name."""

    def __init__(self, folder: Path) -> None:
        hint = "enter the secrets again: cpl tools secret NAME"
        super().__init__(folder, name="tool-secrets", label="secrets of outside tools", hint=hint)


class ToolTokens(SealedFile):
    """OAuth tokens of MCP servers by the servers' names."""

    def __init__(self, folder: Path) -> None:
        hint = "sign in again: cpl tools login NAME"
        super().__init__(folder, name="oauth-tokens", label="oauth tokens of outside tools", hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretValues:
    """The values that placeholders stand for."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    def expand(self, text: str) -> str:
        """The text with its placeholders replaced; ToolServerUnavailable when one has no value."""
        return PLACEHOLDER.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        name, default = found.group(1), found.group(2)
        value = self.values.get(name, default)
        if value is None:
            raise ToolServerUnavailable(
                f"there is no value for ${{{name}}}",
                hint=f"export {name}=…, or keep it sealed: cpl tools secret {name}",
            )
        return value


def load_tool_secrets(config: Config, environ: Mapping[str, str], folder: Path | None) -> SecretValues:
    """The values of all placeholders in the settings; a variable that is set counts before the file."""
    names = {found.group(1) for text in _texts(config) for found in PLACEHOLDER.finditer(text)}
    if not names:
        return SecretValues()
    stored = ToolSecrets(folder).read() if folder is not None else {}
    values = {name: environ.get(name) or stored.get(name) for name in names}
    return SecretValues(values={name: value for name, value in values.items() if value})


def known_secrets(config: Config, values: SecretValues) -> list[str]:
    """What must not be shown or recorded: all values of placeholders, and those written out under a telling name."""
    written = [
        text
        for program in _programs(config)
        for name, text in _named(program)
        if is_secret_name(name) and not PLACEHOLDER.search(text)
    ]
    # The scheme in front of it is no secret.
    return [*values.values.values(), *(text.removeprefix("Bearer ").strip() for text in written)]


def is_secret_name(name: str) -> bool:
    """Whether a variable or header of that name is likely to hold a secret."""
    return _SECRET_NAME.search(name) is not None


def _programs(config: Config) -> list[OutsideProgram | OutsideAgentConfig]:
    return [*config.mcp.servers.values(), *config.tools.plugins.values(), *config.agents.acp.values()]


def _named(program: OutsideProgram | OutsideAgentConfig) -> Iterator[tuple[str, str]]:
    yield from program.env.items()
    if isinstance(program, McpServerConfig):
        yield from program.headers.items()
        if program.oauth is not None and program.oauth.client_secret:
            yield "client_secret", program.oauth.client_secret


def _texts(config: Config) -> Iterator[str]:
    for program in _programs(config):
        yield from program.args
        yield from (text for _, text in _named(program))
        if isinstance(program, McpServerConfig):
            yield program.url
