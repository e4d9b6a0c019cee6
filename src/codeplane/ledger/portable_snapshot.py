"""A ledger that another node starts from: its events, streams and tables at one offset of the shared log."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from codeplane.kernel.errors import LedgerCorrupt
from codeplane.ledger.database import open_writer, refuse_newer, translate

_SIDECARS = ("-wal", "-shm")


def export_ledger(path: Path, target: Path, *, log_id: str) -> int:
    """Write a consistent copy of a ledger, without what is only its node's; returns its offset of the shared log.

    The copy has the events that retention has left, too: with them every node refuses the same repeated events.
    """
    target.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as source:
            source.execute("VACUUM INTO ?", (str(target),))
        with closing(sqlite3.connect(target, isolation_level=None)) as copy:
            # Sealed with a key of the node.
            copy.execute("DELETE FROM payloads")
            copy.execute("UPDATE log_state SET node = '', shared_log = ?", (log_id,))
            (offset,) = copy.execute("SELECT shared_offset FROM log_state").fetchone()
    except sqlite3.Error as error:
        raise translate(error, target) from error
    return int(offset)


def install_ledger(snapshot: Path, path: Path) -> None:
    """Put a snapshot in a ledger's place, which keeps its node's id, blobs and payloads.

    SchemaTooNew for a snapshot of a newer CodePlane, LedgerCorrupt for a damaged one; the ledger is left alone then.
    """
    refuse_newer(snapshot)
    with closing(open_writer(snapshot)) as connection:
        try:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise LedgerCorrupt(f"the snapshot of the shared log is damaged: {verdict}", hint="make a new one")
            connection.execute("UPDATE log_state SET node = 'node_' || lower(hex(randomblob(8)))")
            if path.exists():
                _keep_own(connection, path)
            # Into one file, which is moved alone.
            connection.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.Error as error:
            raise translate(error, snapshot) from error
    with snapshot.open("rb") as written:
        os.fsync(written.fileno())
    for suffix in _SIDECARS:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    snapshot.replace(path)


def _keep_own(connection: sqlite3.Connection, path: Path) -> None:
    """Copy what only this node has from the ledger that is replaced."""
    # Migrated first, and everything in one file.
    open_writer(path).close()
    connection.execute("ATTACH ? AS old", (str(path),))
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE log_state SET node = (SELECT node FROM old.log_state)")
    connection.execute("INSERT OR IGNORE INTO payloads SELECT * FROM old.payloads")
    connection.execute(
        "INSERT OR IGNORE INTO blobs(hash, at_ns, size, data) SELECT hash, at_ns, size, data FROM old.blobs"
    )
    connection.execute("UPDATE log_state SET blob_bytes = (SELECT coalesce(sum(size), 0) FROM blobs)")
    connection.execute("COMMIT")
    connection.execute("DETACH old")
