"""A proposal: a skill, a policy, or a call that only people may decide on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.kernel.json import JsonObject
from codeplane.ledger.rows import Cell

COLUMNS = (
    "proposal_id, kind, title, rationale, name, content, operation, arguments, state, reason, proposed_by, thread_id, "
    "untrusted, created_ns, position"
)
SKILL, POLICY, SCOPE, RUNTIME = "skill", "policy", "scope", "runtime"
# Kinds whose content becomes a file of `.codeplane/`, and the place of it there.
FILES = {SKILL: "skills/{name}/SKILL.md", POLICY: "policy/{name}.rego"}
# Calls that can be proposed, and what kind of change each is.
CALLS = {
    "schedule.create": RUNTIME,
    "schedule.update": RUNTIME,
    "schedule.delete": RUNTIME,
    "job.resume": RUNTIME,
    "capability.grant": SCOPE,
}
OPEN, APPLIED, REJECTED = "OPEN", "APPLIED", "REJECTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What somebody proposes, and what became of it."""

    proposal_id: str
    kind: str
    title: str
    rationale: str
    # The file of a skill or policy, by its name.
    name: str
    content: str
    # Or a call.
    operation: str
    arguments: JsonObject
    state: str
    reason: str
    proposed_by: str
    thread_id: str | None
    # Whether who proposed it had read untrusted content before.
    untrusted: bool
    created_ns: int
    position: int

    @classmethod
    def from_row(cls, row: Sequence[Cell]) -> "Proposal":
        """The proposal that a row of the table holds."""
        texts = [str(cell) for cell in row[:11]]
        return cls(
            proposal_id=texts[0],
            kind=texts[1],
            title=texts[2],
            rationale=texts[3],
            name=texts[4],
            content=texts[5],
            operation=texts[6],
            arguments=json.loads(texts[7]),
            state=texts[8],
            reason=texts[9],
            proposed_by=texts[10],
            thread_id=None if row[11] is None else str(row[11]),
            untrusted=bool(row[12]),
            created_ns=int(str(row[13])),
            position=int(str(row[14])),
        )

    @property
    def target(self) -> str:
        """The file that it would write, below `.codeplane/`; empty for a call."""
        return FILES[self.kind].format(name=self.name) if self.kind in FILES else ""
