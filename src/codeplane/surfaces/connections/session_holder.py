"""Whom a session counts for, as the guard of HTTP tells the surface that opens it."""

from collections.abc import Hashable
from dataclasses import dataclass

# Where it is in the state of a request.
HOLDER = "session_holder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """An account of this machine, or an address, and the actor whose token it shows."""

    is_own: bool
    group: Hashable
