"""The holder of a session, which the HTTP guard passes to the surface."""

from collections.abc import Hashable
from dataclasses import dataclass

# Where it is in the state of a request.
HOLDER = "session_holder"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHolder:
    """A local account or an address, and the actor of its token."""

    is_own: bool
    group: Hashable
