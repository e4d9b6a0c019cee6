"""The part by which the app restores, starts, sweeps and stops a plane."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias, TypeVar

from prometheus_client.registry import Collector

from codeplane.kernel.call import Call
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import Projection
from codeplane.wiring.foundation import Foundation

Section: TypeAlias = Callable[[Call], JsonObject | Awaitable[JsonObject]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Periodic work; `every_sec` of 0 is each turn of the background loop, about once a second."""

    run: Callable[[], Awaitable[None]]
    every_sec: float = 0.0
    # Whether the first turn runs it, or the first period has to pass.
    at_start: bool = True


async def _nothing_left() -> JsonObject:
    return {}


async def _nothing_to_stop() -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One plane's contribution to a running CodePlane."""

    # Objects whose operations go into the catalogue.
    operations: tuple[object, ...] = ()
    # Sections of the `status` operation.
    status: Mapping[str, Section] = field(default_factory=dict)
    # Why the server is not ready, if it is not.
    problems: Callable[[], list[str]] = list
    collectors: tuple[Collector, ...] = ()
    # Loads what earlier runs recorded before anything is served; returns what the last run left unfinished.
    restore: Callable[[], Awaitable[JsonObject]] = _nothing_left
    # Runs once every part is restored and every operation is known.
    start: Callable[[], None] = lambda: None
    # Loops that run until the end.
    tasks: tuple[Callable[[], Coroutine[object, object, None]], ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    # Parts are stopped in the reverse order.
    stop: Callable[[], Awaitable[None]] = _nothing_to_stop


class PlaneWiring:
    """Builds one plane: first what needs no conveyor, since the conveyor is made of it, then its part."""

    tables: ClassVar[tuple[type[Projection], ...]] = ()

    def __init__(self, house: "House") -> None:
        """`house` has the foundation and the planes before this one."""
        self.foundation = house.foundation

    def part(self, conveyor: Conveyor) -> Part:
        """The plane's part."""
        raise NotImplementedError


W = TypeVar("W", bound=PlaneWiring)


@dataclass(frozen=True, slots=True)
class House:
    """The foundation and the planes on it, by their types."""

    foundation: Foundation
    _planes: dict[type[PlaneWiring], PlaneWiring] = field(default_factory=dict)

    def add(self, kind: type[PlaneWiring]) -> None:
        """Build a plane; it may ask for those before it."""
        self._planes[kind] = kind(self)

    def plane(self, kind: type[W]) -> W:
        """A plane that has been built."""
        plane = self._planes[kind]
        assert isinstance(plane, kind)
        return plane

    def parts(self, conveyor: Conveyor) -> tuple[Part, ...]:
        """The parts of all planes, in the order in which they were built."""
        return tuple(plane.part(conveyor) for plane in self._planes.values())
