"""What stands in the way of serving; told by the ledger's writer, asked by probes."""

from codeplane.kernel.errors import CodePlaneError


class Health:
    """Whether the log can be written, and where the server is."""

    def __init__(self) -> None:
        self.port: int | None = None
        self._storage: str | None = None
        self._lost = 0

    @property
    def lost(self) -> int:
        """Records that could not be written, and of which the log does not tell yet."""
        return self._lost

    def failed(self, error: CodePlaneError) -> None:
        """A record could not be written."""
        self._storage = f"{error.name}: {error.message}"
        self._lost += 1

    def committed(self) -> None:
        """The log can be written."""
        self._storage = None

    def recorded(self, lost: int) -> None:
        """The log tells of so many lost records."""
        self._lost -= lost

    def problems(self) -> list[str]:
        """Why it is not ready, if it is not."""
        return [self._storage] if self._storage else []
