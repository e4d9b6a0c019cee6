"""What runs Rego, as the trust plane needs it."""

from collections.abc import Mapping
from typing import Protocol

from codeplane.kernel.json import JsonObject, JsonValue


class Program(Protocol):
    """A policy that is compiled, or on its way to be."""

    def settled(self, wait_sec: float = 0.0) -> bool:
        """Whether it is compiled, after waiting for it at most so long; PolicyInvalid when it cannot be."""
        ...

    def evaluate(self, document: JsonObject | str) -> JsonValue:
        """What it answers to an input, or to the JSON of one; raises when it does not answer, or not in time.

        BlockingIOError says that it was not asked, being compiled or busy with somebody else's question.
        """
        ...

    async def evaluate_aside(self, document: JsonObject | str) -> JsonValue:
        """As `evaluate`, while everything else goes on where it takes long."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class Engine(Protocol):
    """Makes programs of texts."""

    def program(self, sources: Mapping[str, str], *, packages: Mapping[str, str], entry: str) -> Program:
        """A program that begins to be compiled; a file may define rules in its package, or below it, alone."""
        ...
