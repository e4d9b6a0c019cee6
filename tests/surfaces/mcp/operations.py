"""Operations with which the tests see what the surface does: slow, large, old, dangerous and broken ones."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.declared_operation import DeclaredResult, declare
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Budget, Request, Result, Risk, operation


class Nothing(Request):
    """No arguments."""


class Named(Request):
    """Which wait is meant."""

    name: str


class Sized(Request):
    """How long the answer is to be."""

    size: int = Field(ge=1)
    char: str = "x"


class Paths(Request):
    """Arguments that callers like to spell in their own way."""

    paths: tuple[str, ...]
    max_depth: int = 1
    deep: bool = False


class Sentence(Result):
    """A sentence, and perhaps a note."""

    said: str
    note: str | None = None

    def text(self) -> str:
        return self.said


class Tick(Result):
    """One item of a stream."""

    number: int


class SurfaceOperations:
    """State of the fixture server that no client could see otherwise."""

    def __init__(self) -> None:
        self._released: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._waiting: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._ended: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._how: dict[str, str] = {}
        self._made: defaultdict[str, int] = defaultdict(int)

    @operation("fixture.wait", risk=Risk.READ)
    async def wait(self, call: Call, request: Named) -> Sentence:
        """Report that it waits, and answer when it is released."""
        self._how[request.name] = "waiting"
        self._waiting[request.name].set()
        try:
            await call.progress(0, 1, "waiting")
            await self._released[request.name].wait()
            self._how[request.name] = "released"
        except asyncio.CancelledError:
            self._how[request.name] = "cancelled"
            raise
        finally:
            self._ended[request.name].set()
        return Sentence(said=f"{request.name} was released")

    @operation("fixture.release", risk=Risk.READ)
    async def release(self, call: Call, request: Named) -> Sentence:
        """Release a wait."""
        self._released[request.name].set()
        return Sentence(said="released")

    @operation("fixture.started", risk=Risk.READ)
    async def started(self, call: Call, request: Named) -> Sentence:
        """Answer when a wait has started."""
        await self._waiting[request.name].wait()
        return Sentence(said="started")

    @operation("fixture.ended", risk=Risk.READ)
    async def ended(self, call: Call, request: Named) -> Sentence:
        """Answer when a wait has ended, with how."""
        await self._ended[request.name].wait()
        return Sentence(said=self._how[request.name])

    @operation("fixture.answer", risk=Risk.READ)
    async def answer(self, call: Call, request: Sized) -> Sentence:
        """Answer with as much text as is wanted."""
        return Sentence(said=request.char * request.size)

    @operation("fixture.old", risk=Risk.READ, deprecated="use fixture_answer")
    async def old(self, call: Call, request: Nothing) -> Sentence:
        """Answer as in former times."""
        return Sentence(said="still here")

    @operation("fixture.paths", risk=Risk.READ)
    async def paths(self, call: Call, request: Paths) -> Sentence:
        """Say how the arguments were understood."""
        return Sentence(said=f"{list(request.paths)} {request.max_depth} {request.deep}")

    @operation("fixture.write", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def write(self, call: Call, request: Named) -> Sentence:
        """Change something."""
        return Sentence(said=f"wrote {request.name} as {call.actor}")

    @operation("fixture.destroy", risk=Risk.DESTRUCTIVE)
    async def destroy(self, call: Call, request: Nothing) -> Sentence:
        """Destroy something."""
        return Sentence(said="destroyed")

    @operation("fixture.send", risk=Risk.EXFILTRATION)
    async def send(self, call: Call, request: Nothing) -> Sentence:
        """Send something away."""
        return Sentence(said="sent")

    @operation("fixture.shell", risk=Risk.HIGH)
    async def shell(self, call: Call, request: Nothing) -> Sentence:
        """Run a command."""
        return Sentence(said="ran")

    @operation("fixture.crash", risk=Risk.READ)
    async def crash(self, call: Call, request: Nothing) -> Sentence:
        """Break."""
        raise RuntimeError("a bug of the fixture's")

    @operation("fixture.odd", risk=Risk.READ)
    async def odd(self, call: Call, request: Nothing) -> Sentence:
        """Fail on a file whose name is no text."""
        call.warn("skipped b\udc80")
        raise InvalidArgument("cannot read a\udcff", details={"paths": ["a\udcff"]})

    @operation("fixture.whoami", risk=Risk.READ)
    async def whoami(self, call: Call, request: Nothing) -> Sentence:
        """Say who calls."""
        return Sentence(said=str(call.actor), note=call.caller.client)

    @operation("fixture.ticks", risk=Risk.READ)
    async def ticks(self, call: Call, request: Nothing) -> AsyncIterator[Tick]:
        """Count, as a stream."""
        for number in range(3):
            yield Tick(number=number)

    @operation("fixture.flood", risk=Risk.READ)
    async def flood(self, call: Call, request: Named) -> AsyncIterator[Sentence]:
        """Yield a thousand items of 64 KB, as fast as they are taken."""
        for number in range(1000):
            self._made[request.name] = number
            yield Sentence(said="x" * 65_536)

    @operation("fixture.flooded", risk=Risk.READ)
    async def flooded(self, call: Call, request: Named) -> Tick:
        """Say how many items a flood has made."""
        return Tick(number=self._made[request.name])


class Declared(Request):
    """A declared operation."""

    name: str
    schema_: dict[str, JsonValue] = Field(default={"type": "object"}, alias="schema")


class DeclaringOperations:
    """Operations that come and go while the server runs."""

    def __init__(self) -> None:
        self.catalogue: Catalogue | None = None
        self._called = asyncio.Event()

    @operation("fixture.declare", risk=Risk.READ)
    async def declare(self, call: Call, request: Declared) -> Sentence:
        """Declare an operation that answers with its arguments, or waits when told so."""

        async def echo(call: Call, arguments: JsonObject) -> DeclaredResult:
            if arguments.get("wait"):
                self._called.set()
                await asyncio.Event().wait()
            return DeclaredResult(content=arguments, source="fixture")

        assert self.catalogue is not None
        name = f"ext.fixture.{request.name}"
        schema = request.schema_
        added = declare(name, description="Answer with the arguments.", schema=schema, risk=Risk.READ, handler=echo)
        self.catalogue.change(add=[added])
        return Sentence(said=name)

    @operation("fixture.remove", risk=Risk.READ)
    async def remove(self, call: Call, request: Named) -> Sentence:
        """Remove it."""
        assert self.catalogue is not None
        self.catalogue.change(remove=[f"ext.fixture.{request.name}"])
        return Sentence(said="removed")

    @operation("test_trigger_tool_change", risk=Risk.READ)
    async def trigger(self, call: Call, request: Nothing) -> Sentence:
        """Change the list of tools, as the conformance suite asks for."""
        await self.declare(call, Declared(name=f"triggered-{call.call_id}"))
        return Sentence(said="changed")

    @operation("fixture.called", risk=Risk.READ)
    async def called(self, call: Call, request: Nothing) -> Sentence:
        """Answer when a declared operation waits."""
        await self._called.wait()
        return Sentence(said="called")
