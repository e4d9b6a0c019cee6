"""Pages of long answers: opaque cursors over a fixed snapshot."""

from pydantic import Field

from codeplane.kernel.operation import Request, Result


class PageRequest(Request):
    """A request for one page."""

    cursor: str | None = Field(None, description="next_cursor of the page before")
    limit: int = Field(20, ge=1, le=100)


class Pagination(Result):
    """Where the next page starts; without next_cursor everything has been returned."""

    next_cursor: str | None = None
    total_estimate: int | None = None

    def line(self) -> str:
        """What an agent reads at the end of a page."""
        return f"\nmore: cursor={self.next_cursor}" if self.next_cursor else ""
