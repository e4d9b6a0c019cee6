"""Pages of long answers: opaque cursors over a fixed snapshot."""

from pydantic import Field

from codeplane.kernel.operation import Request, Result


class PageRequest(Request):
    """A request for one page."""

    cursor: str | None = Field(None, description="next_cursor of the page before")
    limit: int = Field(20, ge=1, le=100)


class Pagination(Result):
    """The start of the next page; without next_cursor this is the last page."""

    next_cursor: str | None = None
    total_estimate: int | None = None

    def line(self) -> str:
        """The line at the end of a page, for agents."""
        return f"\nmore: cursor={self.next_cursor}" if self.next_cursor else ""
