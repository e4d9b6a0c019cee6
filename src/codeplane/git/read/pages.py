"""Pages of what git answers: a cursor holds where the next one starts, and what it must still be a page of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CursorExpired
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject
from codeplane.kernel.json import canonical as canonical_json
from codeplane.kernel.page import Pagination
from codeplane.kernel.place import InWorkspace

T = TypeVar("T")


class Continued(InWorkspace):
    """A request whose answer can have more pages."""

    cursor: str | None = Field(None, description="next_cursor of the page before")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some items, and where the next ones are."""

    items: Sequence[T]
    pagination: Pagination


class Pages:
    """Gives out and takes back the cursors of one kind of answer."""

    def __init__(self, cursors: Cursors) -> None:
        self._cursors = cursors

    def page(self, call: Call, request: Continued, items: Sequence[T], *, limit: int, state: str) -> Page[T]:
        """The page of a list that is known in whole; CursorExpired when it is no longer the list it was."""
        first = 0
        if request.cursor:
            first = self.opened(call, request, state=state)["first"]
        after = first + limit
        return Page(
            items=items[first:after],
            pagination=self.pagination(
                call, request, {"first": after} if after < len(items) else None, state=state, total=len(items)
            ),
        )

    def pagination(
        self, call: Call, request: Continued, place: dict[str, int] | None, *, state: str, total: int | None = None
    ) -> Pagination:
        """Where the next page starts; nowhere when there is no place."""
        cursor = None
        if place is not None:
            held: JsonObject = {"state": state, "place": dict(place)}
            cursor = self._cursors.issue(scope=_scope(call, request), state=held)
        return Pagination(next_cursor=cursor, total_estimate=total)

    def opened(self, call: Call, request: Continued, *, state: str | None = None) -> dict[str, int]:
        """The place a cursor holds; CursorExpired when what it was given for has changed."""
        held = self._held(call, request)
        if state is not None and held["state"] != state:
            raise CursorExpired("the repository has changed since this cursor was given", hint="ask again without it")
        place = held["place"]
        assert isinstance(place, dict)
        return {name: int(str(value)) for name, value in place.items()}

    def state(self, call: Call, request: Continued) -> str | None:
        """What the answer spoke of when the request's cursor was given; None without one."""
        return str(self._held(call, request)["state"]) if request.cursor else None

    def _held(self, call: Call, request: Continued) -> JsonObject:
        assert request.cursor is not None
        return self._cursors.open(request.cursor, scope=_scope(call, request))


def _scope(call: Call, request: Continued) -> str:
    asked = digest(canonical_json(request.model_dump(mode="json", exclude={"cursor", "limit"})))
    return f"{call.operation.name}:{call.task.session_id if call.task else ''}:{asked}"
