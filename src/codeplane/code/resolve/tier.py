"""How sure it is that a place means a symbol."""

from typing import Literal

Tier = Literal["PROVEN", "STRONG", "ANCHORED", "UNKNOWN"]
TIERS: tuple[Tier, ...] = ("PROVEN", "STRONG", "ANCHORED", "UNKNOWN")
# Sure enough to be changed without a question.
SURE: frozenset[Tier] = frozenset({"PROVEN", "STRONG"})
