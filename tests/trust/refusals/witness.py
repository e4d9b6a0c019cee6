"""Operations of every risk and capability that do nothing but count: what was refused was not counted."""

from collections import Counter
from collections.abc import AsyncIterator

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.ids import new_id
from codeplane.kernel.operation import Assessment, Budget, Preview, Request, Result, Risk, assesses, operation, previews


class Named(Request):
    """What is done, in a word."""

    name: str = ""


class Touched(Request):
    """A path that would be written."""

    path: str = Field(max_length=4096)


class Done(Result):
    """It was done."""

    done: str


class Counted(Result):
    """How often each operation ran."""

    counts: dict[str, int]


class WitnessOperations:
    """Counts what runs."""

    def __init__(self) -> None:
        self._ran: Counter[str] = Counter()

    @operation("witness.count", risk=Risk.READ)
    async def count(self, call: Call, request: Request) -> Counted:
        """Say how often each of the others ran."""
        return Counted(counts=dict(self._ran))

    @operation("witness.read", risk=Risk.READ)
    async def read(self, call: Call, request: Named) -> Done:
        """Read."""
        return self._done(call)

    @operation("witness.ticks", risk=Risk.READ)
    async def ticks(self, call: Call, request: Named) -> AsyncIterator[Done]:
        """Read, as a stream."""
        yield self._done(call)

    @operation("witness.write", risk=Risk.WRITE, capability="write_files")
    async def write(self, call: Call, request: Named) -> Done:
        """Write."""
        return self._done(call)

    @operation("witness.budgeted", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files")
    async def budgeted(self, call: Call, request: Named) -> Done:
        """Write, and be counted for it."""
        return self._done(call)

    @operation("witness.touch", risk=Risk.WRITE, capability="write_files")
    async def touch(self, call: Call, request: Touched) -> Done:
        """Write at a path that is known before."""
        return self._done(call)

    @assesses("witness.touch")
    def assess_touch(self, request: Touched) -> Assessment:
        """The path is what it touches."""
        return Assessment(risk=Risk.WRITE, paths=(request.path,))

    @operation("witness.destroy", risk=Risk.DESTRUCTIVE, capability="write_files")
    async def destroy(self, call: Call, request: Named) -> Done:
        """Destroy."""
        return self._done(call)

    @operation("witness.shifting", risk=Risk.DESTRUCTIVE, capability="write_files")
    async def shifting(self, call: Call, request: Named) -> Done:
        """Destroy something else each time."""
        return self._done(call)

    @previews("witness.shifting")
    async def preview_shifting(self, request: Named) -> Preview:
        """Never the same."""
        return Preview(summary="destroy", body=new_id("what"))

    @operation("witness.send", risk=Risk.EXFILTRATION, capability="execute_tools")
    async def send(self, call: Call, request: Named) -> Done:
        """Send something away."""
        return self._done(call)

    @operation("witness.shell", risk=Risk.HIGH, capability="execute_shell")
    async def shell(self, call: Call, request: Named) -> Done:
        """Run a command."""
        return self._done(call)

    @operation("witness.tools", risk=Risk.WRITE, capability="execute_tools")
    async def tools(self, call: Call, request: Named) -> Done:
        """Run a program."""
        return self._done(call)

    @operation("witness.command", risk=Risk.WRITE, capability="execute_shell")
    async def command(self, call: Call, request: Named) -> Done:
        """What needs the shell and is not one."""
        return self._done(call)

    @operation("witness.spawn", risk=Risk.WRITE, capability="spawn_agents")
    async def spawn(self, call: Call, request: Named) -> Done:
        """Start an agent."""
        return self._done(call)

    @operation("witness.mesh", risk=Risk.WRITE, capability="p2p_mesh")
    async def mesh(self, call: Call, request: Named) -> Done:
        """Talk to another agent."""
        return self._done(call)

    @operation("witness.share", risk=Risk.WRITE, capability="context_sharing")
    async def share(self, call: Call, request: Named) -> Done:
        """Share context."""
        return self._done(call)

    @operation("witness.tasks", risk=Risk.WRITE, capability="streaming_tasks")
    async def tasks(self, call: Call, request: Named) -> Done:
        """Stream a task."""
        return self._done(call)

    @operation("witness.nameless", risk=Risk.WRITE, capability="something_else")
    async def nameless(self, call: Call, request: Named) -> Done:
        """What needs a capability that nobody can be given."""
        return self._done(call)

    @operation("witness.forbidden", risk=Risk.WRITE, capability="write_files")
    async def forbidden(self, call: Call, request: Named) -> Done:
        """What the owner's policy denies to everyone."""
        return self._done(call)

    @operation("witness.owners", risk=Risk.WRITE, capability="write_files")
    async def owners(self, call: Call, request: Named) -> Done:
        """What the owner's policy leaves to the owner."""
        return self._done(call)

    @operation("witness.asked", risk=Risk.WRITE, capability="write_files")
    async def asked(self, call: Call, request: Named) -> Done:
        """What the owner's policy asks about."""
        return self._done(call)

    def _done(self, call: Call) -> Done:
        self._ran[call.operation.name] += 1
        return Done(done=call.operation.name)
