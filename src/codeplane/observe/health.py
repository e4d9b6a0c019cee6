"""The server's health, set by the ledger's writer and read by probes."""

from codeplane.kernel.errors import CodePlaneError


class Health:
    """Whether the log can be written, and on which port the server listens."""

    def __init__(self) -> None:
        self.port: int | None = None
        self._storage: str | None = None
        self._lost = 0

    @property
    def lost_records(self) -> int:
        """Lost records that the log does not mention yet."""
        return self._lost

    def note_failure(self, error: CodePlaneError) -> None:
        """Note that a record could not be written."""
        self._storage = f"{error.name}: {error.message}"
        self._lost += 1

    def note_commit(self) -> None:
        """Note that the log can be written."""
        self._storage = None

    def note_losses(self, lost: int) -> None:
        """Note that the log now mentions so many lost records."""
        self._lost -= lost

    def problems(self) -> list[str]:
        """Why the server is not ready; empty when it is."""
        return [self._storage] if self._storage else []
