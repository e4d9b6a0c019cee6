"""Reading beside the writer: a few threads, each with its own read-only connection."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from codeplane.kernel.errors import ShuttingDown
from codeplane.kernel.trace import span
from codeplane.ledger.database import open_reader, translate

T = TypeVar("T")
_THREADS = 2


class Readers:
    """Runs read functions off the event loop; each sees one consistent state of the database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="codeplane-read")

    async def run(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """The function's answer, given a connection inside one read transaction."""
        try:
            reading = asyncio.get_running_loop().run_in_executor(self._pool, self.run_here, function)
        except RuntimeError as error:
            raise ShuttingDown("the ledger is closed") from error
        with span("sqlite.read"):
            return await reading

    def run_here(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """The same on the calling thread."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = open_reader(self._path)
            with self._lock:
                self._open.append(connection)
        try:
            connection.execute("BEGIN")
            try:
                return function(connection)
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise translate(error, self._path) from error

    def close(self) -> None:
        """End the threads and close their connections."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for connection in self._open:
            connection.close()
