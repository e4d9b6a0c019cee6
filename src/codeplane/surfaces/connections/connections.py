"""Limits on connections: a total, a share for each other account, and a reserve for the owner.

A connection whose client owes the server bytes (a head, a body, the next request) is waiting, and has a deadline. When
there is no room for a new connection, the longest waiting one of the same account makes room, or of the account that
has most; a connection whose request is being served never does. Requests of other accounts come in turn, so many a
second for each account.
"""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Protocol

_SWEEP_SEC = 0.5
# Connections beyond the limit, for health checks and for the owner's token alone.
RESERVE = 32
# Requests that each other account may make in a second, and how many at once before that counts.
_REQUESTS_A_SEC = 200
_BURST = 200

Address = tuple[str, int]


class Accounts(Protocol):
    """Looks up the account at the other end of a connection."""

    def account(self, client: Address, server: Address) -> int | None:
        """Return the user id, or None when it is unknown."""
        ...

    def is_own(self, client: Address, account: int | None) -> bool:
        """Return whether it is the owner's account."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits on connections."""

    all: int
    per_account: int

    @property
    def others(self) -> int:
        """The limit for all accounts but the owner's together."""
        return max(1, self.all // 2)


class Connection:
    """An open connection."""

    __slots__ = ("_registry", "close", "deadline", "expire", "group", "is_own", "is_reserved")

    def __init__(
        self, registry: "Connections", *, group: Hashable, is_own: bool, is_reserved: bool, close: Callable[[], None]
    ) -> None:
        """`close` ends it at once; `expire` tells the client why, once its protocol sets it."""
        self._registry = registry
        self.group = group
        self.is_own = is_own
        self.is_reserved = is_reserved
        self.close = close
        self.expire = close
        self.deadline = 0.0

    def wait_until(self, deadline: float) -> None:
        """Expect bytes from the client by a deadline of the monotonic clock."""
        self.deadline = deadline
        self._registry.set_waiting(self, waiting=True)

    def serve(self) -> None:
        """Expect nothing from the client while it is served."""
        self._registry.set_waiting(self, waiting=False)

    def request_delay(self) -> float:
        """Return how many seconds a request waits before it is served."""
        return 0.0 if self.is_own else self._registry.request_delay(self.group)

    def release(self) -> None:
        """Release the connection's place."""
        self._registry.release(self)


class Connections:
    """All connections of a server, on all ports."""

    def __init__(self, accounts: Accounts, limits: Limits) -> None:
        self._accounts = accounts
        self._limits = limits
        self._open: set[Connection] = set()
        self._count: Counter[Hashable] = Counter()
        self._others = 0
        # The longest waiting first.
        self._waiting: dict[Hashable, dict[Connection, None]] = {}
        # When the next request of an account is due, by the monotonic clock.
        self._due: dict[Hashable, float] = {}

    def admit(self, sock: socket.socket, *, may_use_reserve: bool) -> Connection | None:
        """Admit a new connection, or return None when there is no room."""
        try:
            client, server = sock.getpeername()[:2], sock.getsockname()[:2]
        except OSError:
            return None
        account = self._accounts.account(client, server)
        is_own = self._accounts.is_own(client, account)
        group: Hashable = "own" if is_own else client[0] if account is None else account
        if not is_own and not self._room_among_others(group):
            return None
        is_reserved = False
        if len(self._open) >= self._limits.all and not self._evict(self._heaviest()):
            if not may_use_reserve or (len(self._open) >= self._limits.all + RESERVE and not self._evict("reserve")):
                return None
            is_reserved = True
        connection = Connection(
            self,
            group="reserve" if is_reserved else group,
            is_own=is_own,
            is_reserved=is_reserved,
            close=lambda: _shut(sock),
        )
        self._open.add(connection)
        self._count[connection.group] += 1
        self._others += connection.group not in ("own", "reserve")
        return connection

    async def sweep(self) -> None:
        """End the connections past their deadline, as long as the server runs."""
        while True:
            await asyncio.sleep(_SWEEP_SEC)
            now = time.monotonic()
            for late in [
                connection for some in self._waiting.values() for connection in some if connection.deadline < now
            ]:
                late.expire()
            self._due = {group: due for group, due in self._due.items() if due > now - _BURST / _REQUESTS_A_SEC}

    def request_delay(self, group: Hashable) -> float:
        """Count an account's next request and return how many seconds it has to wait."""
        now = time.monotonic()
        due = max(self._due.get(group, 0.0), now - _BURST / _REQUESTS_A_SEC)
        self._due[group] = due + 1 / _REQUESTS_A_SEC
        return due - now

    def set_waiting(self, connection: Connection, *, waiting: bool) -> None:
        """Set whether bytes are expected from the client."""
        if connection not in self._open:
            return
        group = self._waiting.setdefault(connection.group, {})
        group.pop(connection, None)
        if waiting:
            group[connection] = None

    def release(self, connection: Connection) -> None:
        """Remove an ended connection; further calls do nothing."""
        if connection not in self._open:
            return
        self.set_waiting(connection, waiting=False)
        self._open.remove(connection)
        self._count[connection.group] -= 1
        self._others -= connection.group not in ("own", "reserve")
        if not self._count[connection.group]:
            del self._count[connection.group]
            self._waiting.pop(connection.group, None)

    def _room_among_others(self, group: Hashable) -> bool:
        if self._count[group] >= self._limits.per_account and not self._evict(group):
            return False
        return self._others < self._limits.others or self._evict(self._heaviest(besides="own"))

    def _heaviest(self, *, besides: str = "reserve") -> Hashable:
        """Return the account with the most connections that has one to evict."""
        able = [group for group, some in self._waiting.items() if some and group not in (besides, "reserve")]
        return max(able, key=lambda group: self._count[group], default="nobody")

    def _evict(self, group: Hashable) -> bool:
        """Evict the longest waiting connection of an account; False when all are being served."""
        oldest = next(iter(self._waiting.get(group, ())), None)
        if oldest is None:
            return False
        self.release(oldest)
        oldest.close()
        return True


def _shut(sock: socket.socket) -> None:
    """Shut a connection down in both directions; its loop then closes it."""
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
