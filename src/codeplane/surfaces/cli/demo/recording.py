"""The recorded session, as data."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Literal

from codeplane.kernel.json import JsonObject

State = Literal["done", "refused", "rejected"]

_FILE = "session.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of the agent, and what its answer must contain."""

    say: str
    tool: str
    arguments: JsonObject
    name: str = ""
    says: str = ""
    show: str = ""
    lines: int = 2
    asks: bool = False
    sandboxed: bool = False
    only: tuple[str, ...] = ()

    def applies(self, states: Mapping[str, State]) -> bool:
        """Return whether the step is played, given the outcome of earlier steps."""
        return not self.only or states.get(self.only[0]) == self.only[1]


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A session: title, server settings and steps."""

    title: str
    settings: Mapping[str, str]
    steps: tuple[Step, ...]

    @cached_property
    def overrides(self) -> list[str]:
        """The settings as arguments of `--set`."""
        return [f"{key}={value}" for key, value in self.settings.items()]


def load_recording() -> Recording:
    """Load the session that comes with CodePlane."""
    document = tomllib.loads(files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))
    return Recording(
        title=document["title"],
        settings=document["settings"],
        steps=tuple(
            Step(**{"arguments": {}, **step, "only": tuple(step.get("only", ()))}) for step in document["steps"]
        ),
    )
