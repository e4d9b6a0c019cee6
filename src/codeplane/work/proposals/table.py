"""The table of proposals."""

from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.kernel.json import dumps
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.work.proposals.proposal import APPLIED, COLUMNS, OPEN, REJECTED

SKILL_PROPOSED, IMPROVEMENT_PROPOSED = "skill.proposed", "improvement.proposed"
PROPOSAL_APPLIED, PROPOSAL_REJECTED = "proposal.applied", "proposal.rejected"
_PREFIX = "proposal/"
_ENDS = {PROPOSAL_APPLIED: APPLIED, PROPOSAL_REJECTED: REJECTED}


def proposal_stream(proposal_id: str) -> str:
    """The stream of a proposal."""
    return f"{_PREFIX}{proposal_id}"


class ProposalTable:
    """Proposals, open and decided."""

    name: ClassVar[str] = "proposals"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("proposals",)
    types: ClassVar[frozenset[str]] = frozenset({SKILL_PROPOSED, IMPROVEMENT_PROPOSED, *_ENDS, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE proposals(
            proposal_id TEXT PRIMARY KEY, kind TEXT, title TEXT, rationale TEXT, name TEXT, content TEXT,
            operation TEXT, arguments TEXT, state TEXT, reason TEXT, proposed_by TEXT, thread_id TEXT,
            untrusted INTEGER, created_ns INTEGER, position INTEGER) WITHOUT ROWID""",
        "CREATE INDEX proposals_by_position ON proposals(position)",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == RETENTION_APPLIED:
            streams = payload["streams"]
            assert isinstance(streams, list)
            for stream, _ in streams:
                if stream.startswith(_PREFIX):
                    tables.execute("DELETE FROM proposals WHERE proposal_id = ?", (stream.removeprefix(_PREFIX),))
            return
        proposal_id = event.stream.removeprefix(_PREFIX)
        if event.type in _ENDS:
            tables.execute(
                "UPDATE proposals SET state = ?, reason = ? WHERE proposal_id = ?",
                (_ENDS[event.type], str(payload.get("reason") or ""), proposal_id),
            )
            return
        marks = ", ".join("?" * len(COLUMNS.split(",")))
        tables.execute(
            f"INSERT OR IGNORE INTO proposals({COLUMNS}) VALUES ({marks})",
            (
                *(proposal_id, str(payload["kind"]), str(payload["title"]), str(payload["rationale"])),
                *(str(payload["name"]), str(payload["content"]), str(payload["operation"])),
                *(dumps(payload["arguments"]), OPEN, "", event.actor, event.correlation.thread_id),
                *(int(bool(payload["untrusted"])), event.at_ns, event.position),
            ),
        )
