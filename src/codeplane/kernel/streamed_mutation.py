"""Mutations that stream: what they have yielded, for equal calls with the same key."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from codeplane.kernel.errors import CodePlaneError, ResultGone
from codeplane.kernel.json import JsonValue
from codeplane.kernel.operation import Result

_MAX_ITEMS = 1000
_MAX_BYTES = 1024 * 1024

# Who holds a key, of which operation, and the key.
Place = tuple[str, str, str]


class StreamedItems(Result):
    """All items of a stream that has ended, as they are stored under its key."""

    items: tuple[JsonValue, ...]


@dataclass(slots=True, kw_only=True)
class StreamedMutation:
    """A stream that is under way: its items so far, within a bound, and its end."""

    arguments_hash: str
    items: list[Result] = field(default_factory=list)
    # More was yielded than is kept.
    overflowed: bool = False
    ended: bool = False
    error: CodePlaneError | None = None
    _bytes: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, item: Result) -> None:
        """Keep an item for those that attach."""
        self._bytes += len(item.model_dump_json())
        if len(self.items) >= _MAX_ITEMS or self._bytes > _MAX_BYTES:
            self.overflowed = True
        else:
            self.items.append(item)
        self._notify()

    def end(self, error: CodePlaneError | None) -> None:
        """Note how it ended."""
        self.ended, self.error = True, error
        self._notify()

    def stored_items(self) -> StreamedItems | None:
        """The items to store under the key; None when there were more than are kept, or some are secret."""
        if self.overflowed or any(item.secret for item in self.items):
            return None
        return StreamedItems(items=tuple(item.model_dump(mode="json") for item in self.items))

    async def attach(self) -> AsyncGenerator[Result, None]:
        """The items from the first on, until it ends; raises how it ended where that was an error."""
        at = 0
        while True:
            changed = self._changed
            while at < len(self.items):
                yield self.items[at]
                at += 1
            if self.overflowed:
                raise ResultGone(
                    f"the call with this key has given more than {len(self.items)} items, and the others are not kept",
                    hint="the call itself continues; read what it did in the log",
                )
            if self.ended:
                if self.error is not None:
                    raise self.error
                return
            await changed.wait()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class StreamedMutations:
    """The streams that are under way, by their keys."""

    def __init__(self) -> None:
        self._by_place: dict[Place, StreamedMutation] = {}

    def find(self, place: Place, arguments_hash: str) -> StreamedMutation | None:
        """The stream that an equal call with this key has open, if one has."""
        found = self._by_place.get(place)
        return found if found is not None and found.arguments_hash == arguments_hash else None

    def begin(self, place: Place, arguments_hash: str) -> StreamedMutation:
        """Keep what a call yields from now on."""
        stream = self._by_place[place] = StreamedMutation(arguments_hash=arguments_hash)
        return stream

    def end(self, place: Place, error: CodePlaneError | None) -> None:
        """Report the call's end to those attached; a second end is ignored."""
        if (found := self._by_place.pop(place, None)) is not None:
            found.end(error)
