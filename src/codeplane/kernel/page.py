"""Pages of long answers: opaque cursors over a fixed snapshot."""

from pydantic import Field

from codeplane.kernel.operation import Request, Result
from codeplane.kernel.plural import plural


class PageRequest(Request):
    """A request for one page."""

    cursor: str | None = Field(None, description="next_cursor of the page before")
    limit: int = Field(20, ge=1, le=100)


class Pagination(Result):
    """The start of the next page; without next_cursor this is the last page."""

    next_cursor: str | None = None
    total_estimate: int | None = None

    def line(self, hidden: int = 0) -> str:
        """The lines at the end of a page, for agents: how many of it the owner's rules hide, and where it goes on."""
        left_out = f"\n[{plural(hidden, 'item')} hidden by the owner's rules]" if hidden else ""
        return left_out + (f"\nmore: cursor={self.next_cursor}" if self.next_cursor else "")
