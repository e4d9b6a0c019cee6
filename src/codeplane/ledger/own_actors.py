"""Whose doings a reader may see: its own, those of the work that it started, and those in its threads."""

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
# An actor `assistant:<id>` acts in the thread of that id.
_IN_THREAD_OF = "EXISTS (SELECT 1 FROM streams t WHERE t.stream = 'thread/' || substr({column}, 11) AND t.owner = ?)"


def own_actor_condition(column: str, scope: EventScope) -> tuple[str, tuple[Cell, ...]]:
    """An SQL condition that the actor in a column is the reader, its work or an assistant of its threads, with its
    values."""
    started, in_thread = _STARTED_BY.format(column=column), _IN_THREAD_OF.format(column=column)
    condition = f"({column} = ? OR ({column} GLOB 'job:*' AND {started})"
    return f"{condition} OR ({column} GLOB 'assistant:*' AND {in_thread}))", (scope.actor,) * 3


def own_actors(connection: sqlite3.Connection, actors: Collection[str], scope: EventScope) -> frozenset[str]:
    """Those of the actors that are the reader, its work or assistants of its threads."""
    condition, values = own_actor_condition("value", scope)
    rows = connection.execute(
        f"SELECT value FROM json_each(?) WHERE {condition}", (dumps(sorted(actors)), *values)
    ).fetchall()
    return frozenset(str(actor) for (actor,) in rows)
