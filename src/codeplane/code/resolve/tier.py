"""How certain it is that a place refers to a symbol."""

from typing import Literal

Tier = Literal["PROVEN", "STRONG", "ANCHORED", "UNKNOWN"]
TIERS: tuple[Tier, ...] = ("PROVEN", "STRONG", "ANCHORED", "UNKNOWN")
# Certain enough to change without asking.
SURE: frozenset[Tier] = frozenset({"PROVEN", "STRONG"})
