"""Whose doings a reader may see: its own, and those of the work that it started, or that such work started."""

import sqlite3
from collections.abc import Collection

from codeplane.kernel.event_log import EventScope
from codeplane.kernel.json import dumps
from codeplane.ledger.rows import Cell

# Up from a work item's stream over who began each: an actor `job:<id>` is the work item of that id.
_STARTED_BY = """EXISTS (
    WITH RECURSIVE starter(actor) AS (
        SELECT w.owner FROM streams w WHERE w.stream = 'work/' || substr({column}, 5)
        UNION
        SELECT w.owner FROM starter JOIN streams w ON w.stream = 'work/' || substr(starter.actor, 5)
        WHERE starter.actor GLOB 'job:*')
    SELECT 1 FROM starter WHERE actor = ?)"""


def own_actor_condition(column: str, scope: EventScope) -> tuple[str, tuple[Cell, ...]]:
    """An SQL condition that the actor in a column is the reader or its work, with its values."""
    started = _STARTED_BY.format(column=column)
    return f"({column} = ? OR ({column} GLOB 'job:*' AND {started}))", (scope.actor, scope.actor)


def own_actors(connection: sqlite3.Connection, actors: Collection[str], scope: EventScope) -> frozenset[str]:
    """Those of the actors that are the reader or its work."""
    condition, values = own_actor_condition("value", scope)
    rows = connection.execute(
        f"SELECT value FROM json_each(?) WHERE {condition}", (dumps(sorted(actors)), *values)
    ).fetchall()
    return frozenset(str(actor) for (actor,) in rows)
