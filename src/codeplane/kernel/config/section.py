"""A section of the settings, and the types that several sections share."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict


class Section(BaseModel):
    """A group of settings; unknown keys are rejected by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _pattern(line: str) -> str:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line]).match_file("any/name")
    except Exception as error:  # the library and its engines each refuse in their own way
        raise ValueError(f"{line!r} is not a .gitignore pattern") from error
    return line


def _absolute(path: str) -> str:
    if path and not path.startswith("/"):
        raise ValueError(f"{path!r} is not an absolute path")
    return path


def _in_home(path: str) -> str:
    if not path or path.startswith("/") or ".." in path.split("/"):
        raise ValueError(f"{path!r} is not a path below the home folder")
    return path


def _server_name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", name):
        raise ValueError(f"{name!r} is no name for it: small letters, digits and hyphens, at most 32")
    return name


# YAML takes a bare `off` for false.
Off = BeforeValidator(lambda value: "off" if value is False else value)
# Patterns with the meaning they have in a .gitignore.
Patterns = tuple[Annotated[str, AfterValidator(_pattern)], ...]
AbsolutePath = Annotated[str, AfterValidator(_absolute)]
HomePath = Annotated[str, AfterValidator(_in_home)]
ServerName = Annotated[str, AfterValidator(_server_name)]
# What a call of an outside tool can do, and whose account it acts with.
ToolRisk = Literal["read", "write", "exfiltration", "high", "destructive"]
ToolIdentity = Literal["user", "bot", "none"]
Level = Literal["DEBUG", "INFO", "WARN", "ERROR", "debug", "info", "warn", "error"]
Capability = Literal[
    "read_files",
    "write_files",
    "execute_tools",
    "execute_shell",
    "spawn_agents",
    "p2p_mesh",
    "context_sharing",
    "streaming_tasks",
]
