"""Joins a ledger with a shared log before it is opened: both have to be parts of one history."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from codeplane.kernel.errors import SharedLogMismatch, SharedLogUnavailable
from codeplane.kernel.shared_log import SharedIdentity, SharedStore
from codeplane.ledger.database import open_writer, translate
from codeplane.ledger.portable_snapshot import export_ledger, install_ledger

# Batches that may pile up before a snapshot is made and they are trimmed.
SNAPSHOT_EVERY = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerState:
    """How far a ledger is, on its own and in the shared log it belongs to."""

    node: str
    position: int
    shared_log: str
    shared_offset: int

    @classmethod
    def at(cls, path: Path) -> "LedgerState":
        """The state of the ledger in a file, which is made when it is missing."""
        with closing(open_writer(path)) as connection:
            try:
                row = connection.execute(
                    "SELECT node, last_position, shared_log, shared_offset FROM log_state"
                ).fetchone()
            except sqlite3.Error as error:
                raise translate(error, path) from error
        node, position, shared_log, offset = row
        return cls(node=node, position=position, shared_log=shared_log, shared_offset=offset)


async def join_shared(store: SharedStore, path: Path) -> SharedIdentity:
    """Prepare the ledger in a file for a shared log: found the log, start from its snapshot, or go on where it was."""
    state = await asyncio.to_thread(LedgerState.at, path)
    identity = await store.connect(0 if state.shared_log else state.position)
    await _take_part(store, path, state, identity)
    return identity


async def _take_part(store: SharedStore, path: Path, state: LedgerState, identity: SharedIdentity) -> None:
    if state.shared_log:
        if state.shared_log != identity.log_id:
            raise SharedLogMismatch(
                f"this ledger belongs to {state.shared_log}, and the shared log is {identity.log_id}"
            )
        if state.shared_offset > await store.end():
            raise SharedLogMismatch(
                f"this ledger is at {state.shared_offset}, beyond the end of the shared log",
                hint="the shared log lost batches: restore it, or begin a new one with this ledger",
            )
        if state.shared_offset < await store.start():
            await _install(store, path)
        return
    if state.position == 0:
        if identity.base or await store.start():
            await _install(store, path)
        else:
            await asyncio.to_thread(_belong, path, identity)
        return
    if state.position != identity.base or await store.end():
        raise SharedLogMismatch(
            f"this ledger has {state.position} events of its own, which the shared log does not hold"
        )
    await _found_log(store, path, identity)


async def share_snapshot(store: SharedStore, path: Path, *, log_id: str, every: int = SNAPSHOT_EVERY) -> int | None:
    """Store a snapshot of a ledger and trim the batches it holds, once there are many; returns its offset."""
    if await store.end() - await store.start() < every:
        return None
    target = path.with_name(f"{path.name}.export")
    try:
        offset = await asyncio.to_thread(export_ledger, path, target, log_id=log_id)
        await store.put_snapshot(offset, target)
    finally:
        target.unlink(missing_ok=True)
    await store.trim(offset)
    return offset


async def _found_log(store: SharedStore, path: Path, identity: SharedIdentity) -> None:
    """Let the others start from what this ledger holds, then belong to the log."""
    target = path.with_name(f"{path.name}.export")
    try:
        await asyncio.to_thread(export_ledger, path, target, log_id=identity.log_id)
        await store.put_snapshot(0, target)
    finally:
        target.unlink(missing_ok=True)
    await asyncio.to_thread(_belong, path, identity)


async def _install(store: SharedStore, path: Path) -> None:
    target = path.with_name(f"{path.name}.install")
    try:
        if await store.get_snapshot(target) is None:
            raise SharedLogUnavailable("the shared log has no snapshot to start from yet")
        await asyncio.to_thread(install_ledger, target, path)
    finally:
        for leftover in (target, *(target.with_name(target.name + suffix) for suffix in ("-wal", "-shm", "-journal"))):
            leftover.unlink(missing_ok=True)


def _belong(path: Path, identity: SharedIdentity) -> None:
    with closing(open_writer(path)) as connection:
        try:
            connection.execute("UPDATE log_state SET shared_log = ?", (identity.log_id,))
        except sqlite3.Error as error:
            raise translate(error, path) from error
