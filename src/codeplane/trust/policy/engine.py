"""The port to a Rego engine."""

from collections.abc import Mapping
from typing import Protocol

from codeplane.kernel.json import JsonObject, JsonValue


class Program(Protocol):
    """A policy that is compiled or being compiled."""

    def is_compiled(self, wait_sec: float = 0.0) -> bool:
        """Whether it is compiled, after waiting at most so long; PolicyInvalid when it does not compile."""
        ...

    def evaluate(self, document: JsonObject | str) -> JsonValue:
        """Evaluate an input, or the JSON of one; raises when there is no answer, or not in time.

        BlockingIOError means that it was not evaluated: it is still being compiled, or busy.
        """
        ...

    async def evaluate_async(self, document: JsonObject | str) -> JsonValue:
        """As `evaluate`, without blocking the event loop."""
        ...

    def close(self) -> None:
        """Release its resources."""
        ...


class Engine(Protocol):
    """Compiles Rego sources."""

    def program(self, sources: Mapping[str, str], *, packages: Mapping[str, str], entry: str) -> Program:
        """Start compiling a program; each file may define rules only in its package or below it."""
        ...
