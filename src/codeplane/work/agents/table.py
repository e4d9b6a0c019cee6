"""The table of the work trees that outside agents have in threads; each event about one has all of it."""

from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.work.agents.events import AGENT_CHANGED, AGENT_STARTED, TREE_APPLIED, TREE_DISCARDED, TREE_OPENED
from codeplane.work.agents.thread_tree import COLUMNS

_PREFIX = "thread/"
_TYPES = frozenset({AGENT_STARTED, AGENT_CHANGED, TREE_OPENED, TREE_APPLIED, TREE_DISCARDED})


class ThreadTreeTable:
    """Work trees of threads."""

    name: ClassVar[str] = "thread_trees"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("thread_trees",)
    types: ClassVar[frozenset[str]] = _TYPES | {RETENTION_APPLIED}
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE thread_trees(
            thread_id TEXT PRIMARY KEY, agent TEXT, session_id TEXT, base_commit TEXT, opened_at TEXT,
            changed_files INTEGER, mutation_id TEXT, sequence INTEGER) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            streams = event.payload["streams"]
            assert isinstance(streams, list)
            for stream, first in streams:
                tables.execute(
                    "DELETE FROM thread_trees WHERE thread_id = ? AND sequence < ?",
                    (stream.removeprefix(_PREFIX), first),
                )
            return
        tree = event.payload.get("tree")
        if not isinstance(tree, dict):
            # That of a job, which has a table of its own.
            return
        tables.execute(
            f"INSERT OR REPLACE INTO thread_trees({COLUMNS}, sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                event.stream.removeprefix(_PREFIX),
                *(str(tree[name]) for name in ("agent", "session_id", "base_commit", "opened_at")),
                int(str(tree["changed_files"])),
                str(tree["mutation_id"]),
                event.sequence,
            ),
        )
