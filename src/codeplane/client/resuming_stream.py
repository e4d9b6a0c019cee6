"""A stream that connects again after a lost connection and goes on after the last item seen."""

from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Generic, Self, TypeVar

from codeplane.client.wire import ConnectionHandle, Wire
from codeplane.kernel.errors import CodePlaneError, ServerUnreachable, ShuttingDown

T = TypeVar("T")

HEARTBEAT_MS = 15_000
# Without several heartbeats the connection is lost, even if nobody closed it.
SILENCE_SEC = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnection:
    """How often to connect again without getting anything new, and the pauses, each twice the one before."""

    tries: int = 12
    first_sec: float = 0.1
    most_sec: float = 5.0

    def pause_sec(self, failures: int) -> float:
        """Return how long to wait after so many failures in a row, at least one."""
        # Far beyond any sensible pause, and no overflow.
        return min(self.most_sec, self.first_sec * 2.0 ** min(failures - 1, 60))


class ResumingStream(ABC, Generic[T]):
    """An iterator of items, each exactly once and without holes; `close` ends it from any thread.

    Raises StreamGap when items are gone, and ServerUnreachable or ShuttingDown when the server does not come back.
    """

    def __init__(self, wire: Wire, *, reconnection: Reconnection) -> None:
        self._handle = wire.handle or ConnectionHandle()
        self._wire = replace(wire, handle=self._handle)
        self._reconnection = reconnection
        self._failures = 0
        self._items = self._read()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        return next(self._items)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the stream and its connection; the work that it reports on continues."""
        self._handle.close()
        # Another thread that is reading ends too, because its connection is gone.
        with suppress(ValueError):
            self._items.close()

    @abstractmethod
    def _read_connection(self) -> Generator[T, None, None]:
        """Yield what one connection brings, until the stream is over."""

    @abstractmethod
    def _lost(self, error: CodePlaneError) -> CodePlaneError:
        """Return the error that is raised when the server does not come back."""

    def _read(self) -> Generator[T, None, None]:
        while not self._handle.is_closed():
            try:
                yield from self._read_connection()
                return
            except (ServerUnreachable, ShuttingDown) as error:
                if self._handle.is_closed():
                    return
                self._failures += 1
                if self._failures > self._reconnection.tries:
                    raise self._lost(error) from error
            self._handle.wait(self._reconnection.pause_sec(self._failures))
