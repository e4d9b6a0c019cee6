"""Pages of turns and of items."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from codeplane.kernel.errors import CursorInvalid, InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue, dumps

MAX_ENTRIES = 200
# Bytes of one page, unless a single entry is larger.
MAX_BYTES = 4 * 1024 * 1024
_DIRECTIONS = ("asc", "desc")

# Returns an entry as it is sent.
Entry = Callable[[], Awaitable[JsonObject]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """Which page is wanted: entries that begin before `before` (0 is all of them), without the first `skip`."""

    limit: int
    is_ascending: bool = False
    before: int = 0
    skip: int = 0

    @classmethod
    def of(cls, params: JsonObject, *, default: str, limit: int = 50) -> "PageRequest":
        """Return the page that a request asks for."""
        direction, wanted = params.get("sortDirection") or default, params.get("limit")
        if direction not in _DIRECTIONS:
            raise InvalidArgument(f"sortDirection is {str(direction)[:100]!r}", hint="asc or desc")
        if wanted is not None and (not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 1):
            raise InvalidArgument("limit has to be a positive number")
        before, skip = _open_cursor(params.get("cursor"))
        size = min(wanted or limit, MAX_ENTRIES)
        return cls(limit=size, is_ascending=direction == "asc", before=before, skip=skip)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Entries, and the cursor of the next page if there is one."""

    data: list[JsonValue]
    next_cursor: str | None


async def page_of(entries: Sequence[Entry], request: PageRequest, *, last: int, older: int | None) -> Page:
    """Return a page of the entries, which are oldest first, begin before `last`, and follow those before `older`."""
    if request.is_ascending and older is not None:
        raise InvalidArgument(
            "this thread is too long to be listed from its beginning", hint='ask with "sortDirection": "desc"'
        )
    ordered = list(entries if request.is_ascending else reversed(entries))
    data: list[JsonValue] = []
    size = MAX_BYTES
    for entry in ordered[request.skip : request.skip + request.limit]:
        wire = await entry()
        size -= len(dumps(wire))
        if size < 0 and data:
            break
        data.append(wire)
    seen = request.skip + len(data)
    following = None
    if seen < len(ordered):
        following = f"{last}.{seen}"
    elif older is not None:
        following = f"{older}.0"
    return Page(data=data, next_cursor=following)


def _open_cursor(cursor: JsonValue) -> tuple[int, int]:
    """Return the two numbers of a cursor; CursorInvalid when it is none of ours."""
    if cursor is None:
        return 0, 0
    before, _, skip = cursor.partition(".") if isinstance(cursor, str) else ("", "", "")
    if not (before.isdecimal() and skip.isdecimal() and before.isascii() and skip.isascii() and len(before) < 18):
        raise CursorInvalid("the cursor is none of this list", hint="pass on nextCursor as it came, or none at all")
    return int(before), int(skip)
