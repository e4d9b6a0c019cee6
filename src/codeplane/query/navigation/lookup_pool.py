"""Keeps a lookup from one question to the next: an editor asks many about the same state of the same files."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from codeplane.code.resolve.overlaid_world import OverlaidFile, OverlaidWorld
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.snapshot import Snapshot
from codeplane.query.knowledge import Knowledge
from codeplane.query.navigation.positions import Unit
from codeplane.query.navigation.symbol_lookup import SymbolLookup

# What a lookup has read and resolved stays in memory: after so many questions it starts over.
_MAX_QUESTIONS = 300
_MAX_HELD = 4


@dataclass(slots=True, kw_only=True)
class _Held:
    snapshot: Snapshot
    unit: Unit
    overlay: tuple[tuple[str, str], ...]
    version: int
    lookup: SymbolLookup
    lock: threading.Lock = field(default_factory=threading.Lock)
    questions: int = 0


class LookupPool:
    """Gives a lookup of a state to one question at a time; any thread may use it."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._held: list[_Held] = []
        self._lock = threading.Lock()

    @contextmanager
    def lookup(self, snapshot: Snapshot, unit: Unit, overlay: Mapping[str, OverlaidFile]) -> Iterator[SymbolLookup]:
        """Give a lookup, one that was used before if there is a free one of the same state."""
        held = self._take(snapshot, unit, tuple(sorted((path, file.digest) for path, file in overlay.items())), overlay)
        try:
            yield held.lookup
        finally:
            held.questions += 1
            # One that found files without facts would not notice when those come.
            if held.lookup.world.missing or held.questions >= _MAX_QUESTIONS:
                with self._lock:
                    self._held = [each for each in self._held if each is not held]
            held.lock.release()

    def new(self, snapshot: Snapshot, unit: Unit, overlay: Mapping[str, OverlaidFile]) -> SymbolLookup:
        """Make a lookup that nobody else uses."""
        store, modules = self._knowledge.store, self._knowledge.modules
        world = OverlaidWorld(snapshot, store, modules, overlay) if overlay else World(snapshot, store, modules)
        return SymbolLookup(world, Resolver(world), unit)

    def _take(
        self,
        snapshot: Snapshot,
        unit: Unit,
        digests: tuple[tuple[str, str], ...],
        overlay: Mapping[str, OverlaidFile],
    ) -> _Held:
        version = self._knowledge.store.version
        with self._lock:
            for held in self._held:
                is_same = held.snapshot.files is snapshot.files and held.version == version
                if is_same and held.unit == unit and held.overlay == digests and held.lock.acquire(blocking=False):
                    return held
        made = _Held(
            snapshot=snapshot, unit=unit, overlay=digests, version=version, lookup=self.new(snapshot, unit, overlay)
        )
        made.lock.acquire()
        with self._lock:
            self._held = [made, *self._held][:_MAX_HELD]
        return made
