"""Pages of git results: a cursor holds where the next page starts and the state that it belongs to."""

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
from codeplane.kernel.workspace_request import WorkspaceRequest

T = TypeVar("T")


class PagedRequest(WorkspaceRequest):
    """A request whose answer can have more pages."""

    cursor: str | None = Field(None, description="next_cursor of the page before")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some items, and where the next ones are."""

    items: Sequence[T]
    pagination: Pagination


class Pages:
    """Issue and open the cursors of one kind of result."""

    def __init__(self, cursors: Cursors) -> None:
        self._cursors = cursors

    def page(self, call: Call, request: PagedRequest, items: Sequence[T], *, limit: int, state: str) -> Page[T]:
        """Return the requested page of a whole list; CursorExpired when the list has changed."""
        first = 0
        if request.cursor:
            first = self.position(call, request, state=state)["first"]
        after = first + limit
        return Page(
            items=items[first:after],
            pagination=self.pagination(
                call, request, {"first": after} if after < len(items) else None, state=state, total=len(items)
            ),
        )

    def pagination(
        self, call: Call, request: PagedRequest, place: dict[str, int] | None, *, state: str, total: int | None = None
    ) -> Pagination:
        """Return the cursor of the next page; none when `place` is None."""
        cursor = None
        if place is not None:
            content: JsonObject = {"state": state, "place": dict(place)}
            cursor = self._cursors.issue(scope=_scope(call, request), state=content)
        return Pagination(next_cursor=cursor, total_estimate=total)

    def position(self, call: Call, request: PagedRequest, *, state: str | None = None) -> dict[str, int]:
        """Return the place in a request's cursor; CursorExpired when the state has changed since."""
        content = self._content(call, request)
        if state is not None and content["state"] != state:
            raise CursorExpired("the repository has changed since this cursor was given", hint="ask again without it")
        place = content["place"]
        assert isinstance(place, dict)
        return {name: int(str(value)) for name, value in place.items()}

    def state(self, call: Call, request: PagedRequest) -> str | None:
        """Return the state in a request's cursor; None without a cursor."""
        return str(self._content(call, request)["state"]) if request.cursor else None

    def _content(self, call: Call, request: PagedRequest) -> JsonObject:
        assert request.cursor is not None
        return self._cursors.open(request.cursor, scope=_scope(call, request))


def _scope(call: Call, request: PagedRequest) -> str:
    arguments = digest(canonical_json(request.model_dump(mode="json", exclude={"cursor", "limit"})))
    return f"{call.operation.name}:{call.task.session_id if call.task else ''}:{arguments}"
