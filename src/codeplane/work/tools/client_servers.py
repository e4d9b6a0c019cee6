"""MCP servers of clients: offered for a thread, started when the owner agrees, and ended with the session."""

import hmac
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.client_servers import ClientServer, OfferedServer
from codeplane.kernel.errors import CodePlaneError, NotFound, ToolServerUnavailable
from codeplane.kernel.ids import digest
from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.json import canonical
from codeplane.kernel.operation import Assessment, Preview, Request, Result, Risk, assesses, operation, previews
from codeplane.kernel.plural import plural
from codeplane.work.tools.declaration import ServerSpec
from codeplane.work.tools.registry import ToolRegistry

_START = "tools.start"
MAX_EACH = 16
_MAX_ALL = 64
_DIGITS = 6
_ADD = "the owner adds it, with what it needs: cpl tools add"


class StartServerRequest(Request):
    """A server that a client offers now, in all that a person has to see of it."""

    server: str = Field(min_length=1, max_length=200, description="its name, as its client has it")
    command: str = Field("", max_length=4096, description="the program that is started")
    args: tuple[str, ...] = Field((), max_length=200, description="its arguments")
    variables: tuple[str, ...] = Field((), max_length=200, description="its variables; those of secrets by name alone")
    reads: tuple[str, ...] = Field((), max_length=50, description="folders that the sandbox shows it, to read")
    url: str = Field("", max_length=2000, description="of a server over HTTP")
    headers: tuple[str, ...] = Field((), max_length=100, description="of its requests, by name alone")
    definition: str = Field(min_length=64, max_length=64, description="a hash of all of it, secrets too")


class StartedServer(Result):
    """A server of a client that runs, and its tools."""

    server: str
    tools: tuple[str, ...]

    def text(self) -> str:
        return f"{self.server}: {plural(len(self.tools), 'tool')}: {', '.join(self.tools)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPlan:
    """A client's server as it would be started: what a person is shown of it, and how it is reached."""

    request: StartServerRequest
    # Makes the server for a thread, under a name of its own there.
    spec: Callable[[str, str], ServerSpec] = field(repr=False)
    # Values that are left out of the record once it is started.
    secrets: tuple[str, ...] = field(default=(), repr=False)


PlanServer = Callable[[ClientServer, str], Awaitable[ServerPlan]]
Learn = Callable[[Sequence[str]], None]


@dataclass(slots=True)
class _Offer:
    plan: ServerPlan
    connections: set[str]


class ClientServers:
    """What clients offer for their threads now, and the operation that starts it."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        policy: Literal["ask", "off"],
        secret: bytes,
        plan: PlanServer,
        learn: Learn,
    ) -> None:
        """`plan` says how a server would be started, and raises where it cannot; `secret` seals definitions."""
        self._registry = registry
        self._policy = policy
        self._secret = secret
        self._plan = plan
        self._learn = learn
        # By thread and definition.
        self._offers: dict[tuple[str, str], _Offer] = {}

    async def offer(
        self, thread_id: str, connection_id: str, servers: Sequence[ClientServer]
    ) -> Sequence[OfferedServer]:
        """Offer these servers, and no others, for a thread while the connection has it open."""
        planned = [await self._planned(server, at) for at, server in enumerate(servers)]
        definitions = {found.request.definition for found in planned if isinstance(found, ServerPlan)}
        await self._release(thread_id, connection_id, keep=definitions)
        answers: list[OfferedServer] = []
        for found in planned:
            if isinstance(found, ServerPlan):
                found = self._hold(thread_id, connection_id, found)
            answers.append(found)
        return answers

    async def withdraw(self, thread_id: str, connection_id: str) -> None:
        """Take back what a connection offers for a thread; servers that nobody else offers for it end."""
        await self._release(thread_id, connection_id, keep=set())

    @operation(_START, risk=Risk.HIGH, capability="execute_tools", timeout_sec=0)
    async def start(self, call: Call, request: StartServerRequest) -> StartedServer:
        """Start an MCP server that the client of an open conversation brings along, for that conversation alone.

        It runs in the sandbox, without the network. Only what a client offers now is started, after a person agreed
        to exactly that; surfaces ask for it when a session is opened.
        """
        offers = self._offered(request)
        self._learn(offers[0][1].plan.secrets)
        names = [await self._run(thread_id, offer) for thread_id, offer in offers]
        served = self._registry.get(names[0])
        return StartedServer(server=request.server, tools=tuple(tool.operation for tool in served.tools))

    @assesses(_START)
    def assess(self, request: StartServerRequest) -> Assessment:
        """It starts a program, or reaches an address, that an agent names."""
        if request.url:
            host = urlsplit(request.url).hostname or request.url
            return Assessment(risk=Risk.HIGH, effects=(f"its tools are used, which run at {host}",), remotes=(host,))
        return Assessment(risk=Risk.HIGH, effects=("a program of the client's choice runs in the sandbox",))

    @previews(_START)
    async def preview(self, request: StartServerRequest) -> Preview:
        """Everything that decides what is run."""
        words = request.url or " ".join([request.command, *request.args])
        lines = [f"server: {request.server}"]
        if request.url:
            lines += [f"address: {request.url}", *(f"header: {name}" for name in request.headers)]
        else:
            lines += [f"command: {request.command}", *(f"  argument: {word}" for word in request.args)]
            lines += [f"variable: {line}" for line in request.variables]
            lines += ["sandbox: no network, the repository to read"]
            lines += [f"reads: {folder}" for folder in request.reads]
        lines += [f"definition: {request.definition[:16]}", "", "each of its tools asks until you trust it"]
        return Preview(
            summary=escape_invisible(f"start the MCP server {request.server} of the client: {words}")[:300],
            body="\n".join(escape_invisible(line).replace("\n", " ⏎ ") for line in lines),
        )

    async def _planned(self, server: ClientServer, at: int) -> ServerPlan | OfferedServer:
        if self._policy == "off":
            return OfferedServer(name=server.name, problem="tools.from_clients is off", hint=_ADD)
        if at >= MAX_EACH:
            return OfferedServer(name=server.name, problem=f"a session can have {MAX_EACH} servers", hint=_ADD)
        sealed = hmac.new(self._secret, canonical(server.to_json()), sha256).hexdigest()
        try:
            return await self._plan(server, sealed)
        except CodePlaneError as error:
            return OfferedServer(name=server.name, problem=error.message, hint=error.hint)

    def _hold(self, thread_id: str, connection_id: str, plan: ServerPlan) -> OfferedServer:
        name, key = plan.request.server, (thread_id, plan.request.definition)
        if key not in self._offers and len(self._offers) >= _MAX_ALL:
            return OfferedServer(name=name, problem=f"clients offer {_MAX_ALL} servers already", hint=_ADD)
        offer = self._offers.setdefault(key, _Offer(plan=plan, connections=set()))
        offer.connections.add(connection_id)
        return OfferedServer(name=name, arguments=plan.request.model_dump(mode="json", exclude_defaults=True))

    def _offered(self, request: StartServerRequest) -> list[tuple[str, _Offer]]:
        """The offers of a definition; NotFound where there is none, or where the request says something else of it."""
        offers = [
            (thread_id, offer)
            for (thread_id, definition), offer in self._offers.items()
            # What a person was shown is what is started.
            if definition == request.definition and offer.plan.request == request
        ]
        if not offers:
            raise NotFound(
                f"no open session offers the MCP server {request.server[:100]!r}",
                hint="its client offers it again when it opens the session",
            )
        return offers

    async def _run(self, thread_id: str, offer: _Offer) -> str:
        """Start a server for a thread, unless it runs there; the name that it has here."""
        request = offer.plan.request
        suffix = digest(f"{thread_id} {request.definition}".encode())[:_DIGITS]
        spec = offer.plan.spec(thread_id, suffix)
        if self._registry.knows(spec.name):
            return spec.name
        try:
            await self._registry.add(spec)
        except CodePlaneError:
            await self._registry.remove(spec.name)
            raise
        if (thread_id, request.definition) not in self._offers:
            await self._registry.remove(spec.name)
            raise ToolServerUnavailable(f"the session of {request.server} ended while it was started")
        return spec.name

    async def _release(self, thread_id: str, connection_id: str, *, keep: set[str]) -> None:
        for (thread, definition), offer in [*self._offers.items()]:
            if thread != thread_id or definition in keep:
                continue
            offer.connections.discard(connection_id)
            if not offer.connections:
                del self._offers[thread, definition]
                suffix = digest(f"{thread_id} {definition}".encode())[:_DIGITS]
                await self._registry.remove(offer.plan.spec(thread_id, suffix).name)
