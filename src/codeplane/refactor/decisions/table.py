"""The table of decisions: which question was answered how, and by whom."""

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from codeplane.kernel.event import Event
from codeplane.ledger.projection import Tables
from codeplane.ledger.rows import Cell

# Retention has no class for this stream: a decision is valid until it is forgotten.
STREAM = "decision"
MADE, FORGOTTEN = "decision.made", "decision.forgotten"
COLUMNS = "decision_id, question, root, title, candidate, included, excluded, actor, at_ns"
MAX_KEPT = 1_000

# A file and an offset in bytes.
Place = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to a question: a candidate, open places to change, and certain edits to leave out."""

    decision_id: str
    question: str
    root: str
    title: str
    candidate: str
    included: frozenset[Place]
    excluded: frozenset[Place]
    actor: str
    at_ns: int

    @classmethod
    def from_row(cls, row: tuple[Cell, ...]) -> "Decision":
        """Build a decision from a row of the table."""
        decision_id, question, root, title, candidate, included, excluded, actor, at_ns = row
        return cls(
            decision_id=str(decision_id),
            question=str(question),
            root=str(root),
            title=str(title),
            candidate=str(candidate),
            included=_places(included),
            excluded=_places(excluded),
            actor=str(actor),
            at_ns=int(str(at_ns)),
        )


class DecisionTable:
    """One row per question, with the newest decision."""

    name: ClassVar[str] = "decisions"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("decisions",)
    types: ClassVar[frozenset[str]] = frozenset({MADE, FORGOTTEN})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE decisions(
            decision_id TEXT PRIMARY KEY, question TEXT UNIQUE, root TEXT, title TEXT, candidate TEXT, included TEXT,
            excluded TEXT, actor TEXT, at_ns INTEGER) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == FORGOTTEN:
            forgotten = payload["decision_ids"]
            assert isinstance(forgotten, list)
            for decision_id in forgotten:
                tables.execute("DELETE FROM decisions WHERE decision_id = ?", (str(decision_id),))
            return
        texts = [str(payload[name]) for name in ("decision_id", "question", "root", "title", "candidate")]
        places = [msgspec.json.encode(payload[name]).decode() for name in ("included", "excluded")]
        tables.execute(
            "INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*texts, *places, event.actor, event.at_ns),
        )
        tables.execute(
            "DELETE FROM decisions WHERE decision_id IN "
            "(SELECT decision_id FROM decisions ORDER BY at_ns DESC, decision_id DESC LIMIT -1 OFFSET ?)",
            (MAX_KEPT,),
        )


def _places(cell: Cell) -> frozenset[Place]:
    return frozenset(msgspec.json.decode(str(cell), type=list[Place]))
