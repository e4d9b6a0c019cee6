"""MCP servers that the client of a thread brings along, and the port by which a surface offers them."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from codeplane.kernel.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientServer:
    """A server as a client describes it, not approved yet: a program with its arguments, or an address."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def to_json(self) -> JsonObject:
        """The whole server, including secrets."""
        return {
            "name": self.name,
            "command": self.command,
            "args": list(self.args),
            "env": dict(self.env),
            "url": self.url,
            "headers": dict(self.headers),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedServer:
    """The result of an offer: the arguments of `tools.start` that request it, or why it cannot be requested."""

    name: str
    arguments: JsonObject = field(default_factory=dict)
    problem: str = ""
    hint: str = ""


class ServerOffers(Protocol):
    """Holds what clients offer while their sessions are open; nothing is started by an offer."""

    def offer(
        self, thread_id: str, connection_id: str, servers: Sequence[ClientServer]
    ) -> Awaitable[Sequence[OfferedServer]]:
        """Offer these servers, and no others, for a thread while the connection has it open."""
        ...

    def withdraw(self, thread_id: str, connection_id: str) -> Awaitable[None]:
        """Withdraw a connection's offers for a thread; servers that no other connection offers end."""
        ...
