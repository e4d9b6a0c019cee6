"""Conveyors of a running CodePlane with some ports listened to or replaced."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import cast

from codeplane.kernel.call import Call
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import PolicyDenied
from codeplane.kernel.event_log import EventScope
from codeplane.kernel.operation import Assessment, Preview, Result
from codeplane.kernel.ports import Decision, Question, Verdict
from codeplane.kernel.stages.ports import StagePorts
from codeplane.wiring.app import Plane


class Overheard:
    """Passes everything on to the real part, and notes the methods that were called."""

    def __init__(self, part: object, stage: str, heard: list[str]) -> None:
        self._part = part
        self._stage = stage
        self._heard = heard

    def __getattr__(self, name: str) -> object:
        method = getattr(self._part, name)

        def note(*args: object, **kwargs: object) -> object:
            self._heard.append(f"{self._stage}.{name}")
            return method(*args, **kwargs)

        return note


def ports_of(opened: Plane) -> StagePorts:
    """The ports that were wired."""
    return opened.conveyor.ports


def overhear(opened: Plane, heard: list[str], *, only: tuple[str, ...], **instead: object) -> Conveyor:
    """A conveyor with the same ports, of which the named ones are listened to."""
    ports = replace(ports_of(opened), **instead)  # type: ignore[arg-type]  # implementations by port names
    ears = {
        field.name: Overheard(getattr(ports, field.name), field.name, heard)
        for field in fields(ports)
        if field.name in only
    }
    return Conveyor(catalogue=opened.conveyor.catalogue, ports=replace(ports, **ears))  # type: ignore[arg-type]  # as above


def exchange(opened: Plane, **instead: object) -> Conveyor:
    """A conveyor with the same ports but for the given ones."""
    return overhear(opened, [], only=(), **instead)


class Asking:
    """An authority that wants a person to decide everything."""

    async def decide(self, call: Call, assessment: Assessment) -> Decision:
        return Decision(verdict=Verdict.ASK, reasons=("somebody should look at this",))

    def may_write(self, call: Call, path: str) -> None:
        return None

    def event_scope(self, call: Call) -> EventScope | None:
        return None

    async def readable(self, call: Call, ids: Sequence[str]) -> frozenset[str]:
        return frozenset(ids)

    async def replays(self, call: Call, result: Result) -> None:
        return None


class Person:
    """An approver with an opinion."""

    def __init__(self, *, agrees: bool) -> None:
        self.agrees = agrees
        self.shown: list[Preview] = []

    async def recall(self, call: Call, arguments_hash: str) -> bool:
        return False

    async def approve(self, question: Question) -> str:
        self.shown.append(question.preview)
        if not self.agrees:
            raise PolicyDenied("a person said no")
        return "act_1"

    async def confirm(self, action_id: str, question: Question) -> None:
        return None


class Broken:
    """An authority that cannot decide."""

    async def decide(self, call: Call, assessment: Assessment) -> Decision:
        raise RuntimeError("the policy does not compile")

    def may_write(self, call: Call, path: str) -> None:
        cast(Callable[[], None], self.decide)()

    def event_scope(self, call: Call) -> EventScope | None:
        return None

    async def readable(self, call: Call, ids: Sequence[str]) -> frozenset[str]:
        return frozenset(ids)

    async def replays(self, call: Call, result: Result) -> None:
        return None
