"""The operations on trusted clients: `client.list`, `client.allow` and `client.revoke`."""

import asyncio

from pydantic import Field

from codeplane.kernel.actor import ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import InvalidArgument, NotFound, PolicyDenied
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.trust.clients.registry import ALLOWED, REVOKED, AnsweringClient, ClientRegistry, client_stream
from codeplane.trust.people import require_person

_NAME = r"^[a-z0-9][a-z0-9._-]*$"


class ClientRequest(Request):
    """A client by name."""

    name: str = Field(min_length=1, max_length=64, pattern=_NAME, description="as in claude-code")


class AllowRequest(ClientRequest):
    """A client, and the hash of its secret."""

    secret_hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the secret, in hexadecimal digits")


class ClientView(Result):
    """A trusted client."""

    name: str
    since: str
    allowed_by: str

    @classmethod
    def of(cls, client: AnsweringClient) -> "ClientView":
        """The view of a client, without its secret or the hash of it."""
        return cls(name=client.name, since=rfc3339(client.since_ns), allowed_by=client.allowed_by)

    def text(self) -> str:
        return f"{self.name}: its person's answers count, since {self.since[:19]}Z"


class ClientList(Result):
    """The trusted clients."""

    items: tuple[ClientView, ...]

    def text(self) -> str:
        none = "no client passes answers on; a person decides with cpl, in the dashboard or on a device"
        return "\n".join(item.text() for item in self.items) or none


class RevokedClient(Result):
    """A client that is no longer trusted."""

    name: str

    def text(self) -> str:
        return f"{self.name}: its person is not asked any more"


class ClientOperations:
    """Lists, allows and revokes trusted clients."""

    def __init__(self, registry: ClientRegistry) -> None:
        self._registry = registry
        # Changes are applied in the order of the log.
        self._changing = asyncio.Lock()

    @operation("client.list", risk=Risk.READ)
    async def list(self, call: Call, request: Request) -> ClientList:
        """The MCP clients through which a person answers questions."""
        clients = sorted(self._registry.clients.values(), key=lambda client: client.name)
        return ClientList(items=tuple(map(ClientView.of, clients)))

    @operation("client.allow", risk=Risk.WRITE, people=True)
    async def allow(self, call: Call, request: AllowRequest) -> ClientView:
        """Let the person at a registered MCP client answer there; for the owner, see `cpl clients allow`."""
        require_person(call.actor)
        if call.actor.kind is not ActorKind.OWNER:
            raise PolicyDenied(
                f"{call.actor} is not the owner, and only the owner lets a client pass answers on",
                hint=f"on the owner's machine: cpl clients allow {request.name}",
            )
        async with self._changing:
            for other in self._registry.clients.values():
                if other.secret_hash == request.secret_hash and other.name != request.name:
                    # A client that holds it would stay trusted when one of the two is revoked.
                    raise InvalidArgument(
                        f"that is the secret of {other.name}",
                        hint=f"each client has a secret of its own: cpl clients allow {request.name}",
                    )
            payload = {"name": request.name, "secret_hash": request.secret_hash}
            await call.record([(client_stream(request.name), ALLOWED, {**payload})])
        return ClientView.of(self._registry.clients[request.name])

    @operation("client.revoke", risk=Risk.WRITE, people=True)
    async def revoke(self, call: Call, request: ClientRequest) -> RevokedClient:
        """Ask the person at a client no more, from now on; also about what was asked there already."""
        require_person(call.actor)
        async with self._changing:
            if request.name not in self._registry.clients:
                known = ", ".join(sorted(self._registry.clients)) or "none"
                raise NotFound(f"no client {request.name!r} passes answers on", hint=f"these do: {known}")
            self._registry.forget(request.name)
            await call.record([(client_stream(request.name), REVOKED, {"name": request.name})])
        return RevokedClient(name=request.name)
