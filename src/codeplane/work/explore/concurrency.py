"""How much of an exploration runs at once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject

DEFAULT_IN_FLIGHT = 4
MOST_IN_FLIGHT = 32
GREP_PARALLEL, SEMANTIC_TOP_K = "grep.parallel", "semantic.topK"
MOST_TOP_K = 200
# Bounds of the index itself, which no exploration changes.
_OF_INDEX = {"embed.batch": 64, "embed.concurrentBatches": 1}


def default_caps() -> dict[str, int]:
    """The bounds of single operations that hold unless somebody sets others."""
    return {GREP_PARALLEL: 2 * (os.cpu_count() or 1), SEMANTIC_TOP_K: MOST_TOP_K, **_OF_INDEX}


@dataclass(frozen=True, slots=True, kw_only=True)
class Concurrency:
    """How many operations are in flight, and the bounds of single ones by name."""

    max_in_flight_ops: int
    op_caps: Mapping[str, int]

    @classmethod
    def default(cls) -> "Concurrency":
        """What holds unless somebody sets something else."""
        return cls(max_in_flight_ops=DEFAULT_IN_FLIGHT, op_caps=default_caps())

    def change(self, max_in_flight_ops: int | None, op_caps: Mapping[str, int]) -> "Concurrency":
        """The same with other numbers; InvalidArgument for a bound that is not known or cannot be set."""
        caps, known = dict(self.op_caps), default_caps()
        for name, value in op_caps.items():
            if name not in known:
                raise InvalidArgument(f"opCaps has {name[:50]!r}", hint=f"it takes {', '.join(known)}")
            if name in _OF_INDEX and value != _OF_INDEX[name]:
                raise InvalidArgument(
                    f"{name} belongs to the index and stays {_OF_INDEX[name]}", hint="leave it out of opCaps"
                )
            most = MOST_TOP_K if name == SEMANTIC_TOP_K else 1024
            if not 1 <= value <= most:
                raise InvalidArgument(f"{name} is between 1 and {most}, not {value}", hint="send a number between them")
            caps[name] = value
        return Concurrency(max_in_flight_ops=max_in_flight_ops or self.max_in_flight_ops, op_caps=caps)

    def to_wire(self) -> JsonObject:
        """The numbers as clients see them."""
        return {"maxInFlightOps": self.max_in_flight_ops, "opCaps": dict(self.op_caps)}


class ConcurrencySettings:
    """The numbers for all explorations of this server, and for single ones; they last until it ends."""

    def __init__(self) -> None:
        self._default = Concurrency.default()
        self._by_exploration: dict[str, Concurrency] = {}

    def of(self, work_id: str) -> Concurrency:
        """The numbers of one exploration."""
        return self._by_exploration.get(work_id, self._default)

    def set(self, concurrency: Concurrency, work_id: str | None) -> None:
        """Set the numbers of one exploration, or of all that have none of their own."""
        if work_id is None:
            self._default = concurrency
        else:
            self._by_exploration[work_id] = concurrency

    def forget(self, work_id: str) -> None:
        """Drop the numbers of an exploration that has ended."""
        self._by_exploration.pop(work_id, None)

    @property
    def default(self) -> Concurrency:
        """The numbers of explorations that have none of their own."""
        return self._default
