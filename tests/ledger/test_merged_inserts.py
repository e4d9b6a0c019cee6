"""Inserts of one statement in a row are written together, and mean what they mean one by one."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from codeplane.ledger.merged_inserts import MergedInserts
from codeplane.ledger.rows import Cell
from tests.interaction.requirements import requirement

pytestmark = requirement("LOG-04")

STATEMENTS = (
    "INSERT OR IGNORE INTO t VALUES (?, ?, 'x')",
    "INSERT INTO t(k, n, s) VALUES (?, ?, NULL) ON CONFLICT(k) DO UPDATE SET n = n + excluded.n",
    "INSERT OR REPLACE INTO t VALUES (?, ?, 'y')",
    "INSERT INTO t VALUES (?1, ?2, ?1) ON CONFLICT(k) DO UPDATE SET s = ?1",
    "UPDATE t SET n = n + 1 WHERE k = ? AND n < ?",
    "DELETE FROM t WHERE k = ? AND n > ?",
    "INSERT INTO u VALUES (?, ?)",
    "UPDATE u SET n = n + (SELECT coalesce(max(n), 0) FROM t) WHERE k = ? AND n < ?",
)


@pytest.fixture
def tables() -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
    with closing(sqlite3.connect(":memory:")) as merged, closing(sqlite3.connect(":memory:")) as plain:
        for connection in (merged, plain):
            connection.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, n INTEGER, s TEXT)")
            connection.execute("CREATE TABLE u(k INTEGER, n INTEGER)")
        yield merged, plain


@pytest.mark.parametrize("seed", range(20))
def test_merged_inserts_leave_the_same_rows(tables: tuple[sqlite3.Connection, sqlite3.Connection], seed: int) -> None:
    merged, plain = tables
    drawn, inserts = random.Random(seed), MergedInserts(merged)
    for _ in range(60):
        statement = drawn.choice(STATEMENTS)
        for _ in range(drawn.randrange(1, 40)):
            values: tuple[Cell, ...] = (drawn.randrange(30), drawn.randrange(5))
            inserts.execute(statement, values)
            plain.execute(statement, values)
    inserts.flush()
    for content in ("SELECT * FROM t ORDER BY k", "SELECT * FROM u ORDER BY rowid"):
        assert merged.execute(content).fetchall() == plain.execute(content).fetchall()


def test_a_question_sees_the_inserts_before_it(tables: tuple[sqlite3.Connection, sqlite3.Connection]) -> None:
    inserts = MergedInserts(tables[0])
    inserts.execute("INSERT INTO t VALUES (?, ?, ?)", (1, 2, "a"))
    assert inserts.execute("SELECT n FROM t").fetchall() == [(2,)]


def test_statements_on_other_tables_do_not_part_inserts(
    tables: tuple[sqlite3.Connection, sqlite3.Connection],
) -> None:
    run: list[str] = []
    tables[0].set_trace_callback(run.append)
    inserts = MergedInserts(tables[0])
    for number in range(8):
        inserts.execute("INSERT INTO t VALUES (?, ?, ?)", (number, 0, None))
        inserts.execute("UPDATE u SET n = ? WHERE k = ?", (number, 1))
    inserts.flush()
    assert len([statement for statement in run if statement.startswith("INSERT")]) == 1


def test_a_long_run_of_inserts_takes_few_statements(tables: tuple[sqlite3.Connection, sqlite3.Connection]) -> None:
    connection = tables[0]
    run: list[str] = []
    connection.set_trace_callback(run.append)
    inserts = MergedInserts(connection)
    for number in range(33):
        inserts.execute("INSERT INTO t VALUES (?, ?, ?)", (number, 0, None))
    inserts.flush()
    assert len([statement for statement in run if statement.startswith("INSERT")]) == 3
