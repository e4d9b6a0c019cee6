"""What `retention.applied` does when it is applied: events go, wherever the event was decided."""

import sqlite3
from collections.abc import Sequence

from codeplane.kernel.event import Event
from codeplane.ledger import snapshots
from codeplane.ledger.projection import Projection


def delete_streams(connection: sqlite3.Connection, projections: Sequence[Projection], event: Event) -> list[str]:
    """Delete the beginnings of streams that the event names; returns the streams that are forgotten with it.

    Only the log and the event decide what goes, so that a second application changes nothing.
    """
    streams, forgotten = event.payload["streams"], event.payload.get("forgotten", [])
    assert isinstance(streams, list) and isinstance(forgotten, list)
    parts = [(str(stream), int(first)) for stream, first in streams]
    last = max((_last_position(connection, stream, first) for stream, first in parts), default=0)
    if last > _snapshot_position(connection, projections):
        # The node that decided took a snapshot before; this one has to, or its tables could not be rebuilt.
        store_snapshots(connection, projections, at_ns=event.at_ns)
    for stream, first in parts:
        connection.execute("DELETE FROM events WHERE stream = ? AND sequence < ?", (stream, first))
        connection.execute("UPDATE streams SET first = max(first, ?) WHERE stream = ?", (first, stream))
    connection.execute("UPDATE log_state SET dropped_position = max(dropped_position, ?)", (last,))
    return [str(stream) for stream in forgotten if _forget(connection, str(stream))]


def store_snapshots(connection: sqlite3.Connection, projections: Sequence[Projection], *, at_ns: int) -> None:
    """Store a snapshot of every projection, as it is in the open transaction."""
    for projection in projections:
        position, data = capture(connection, projection)
        snapshots.store(
            connection,
            name=projection.name,
            version=projection.version,
            position=position,
            at_ns=at_ns,
            data=data,
        )


def capture(connection: sqlite3.Connection, projection: Projection) -> tuple[int, bytes]:
    """The position of a projection, and the content of its tables."""
    (position,) = connection.execute("SELECT position FROM projections WHERE name = ?", (projection.name,)).fetchone()
    return int(position), snapshots.capture(connection, projection.tables)


def _last_position(connection: sqlite3.Connection, stream: str, first: int) -> int:
    (position,) = connection.execute(
        "SELECT coalesce(max(position), 0) FROM events WHERE stream = ? AND sequence < ?", (stream, first)
    ).fetchone()
    return int(position)


def _snapshot_position(connection: sqlite3.Connection, projections: Sequence[Projection]) -> int:
    """Up to here, snapshots hold what the events made of every table."""
    newest = [
        connection.execute(
            "SELECT coalesce(max(position), 0) FROM snapshots WHERE projection = ? AND version = ?",
            (projection.name, projection.version),
        ).fetchone()[0]
        for projection in projections
    ]
    return min(map(int, newest), default=2**62)


def _forget(connection: sqlite3.Connection, stream: str) -> bool:
    """Forget the number of an empty stream; one that goes on meanwhile keeps it."""
    return bool(connection.execute("DELETE FROM streams WHERE stream = ? AND first > head", (stream,)).rowcount)
