"""The work tree that an outside agent has in a thread, as its table has it."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.kernel.json import JsonObject
from codeplane.ledger.rows import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTree:
    """What is known of the work tree of a thread, and of the agent's session in it."""

    thread_id: str
    agent: str = ""
    # The agent's own id of the session, empty before the first.
    session_id: str = ""
    # What changes are counted from: the commit that was checked out, or what was applied last. Empty without a tree.
    base_commit: str = ""
    # The newest commit of the checkout when the tree was made.
    opened_at: str = ""
    changed_files: int = 0
    # What applied its changes to the checkout last.
    mutation_id: str = ""

    @property
    def is_open(self) -> bool:
        """Whether there is a work tree."""
        return bool(self.base_commit)

    def to_json(self) -> JsonObject:
        """All of it, as each event about it has it."""
        return {
            "agent": self.agent,
            "session_id": self.session_id,
            "base_commit": self.base_commit,
            "opened_at": self.opened_at,
            "changed_files": self.changed_files,
            "mutation_id": self.mutation_id,
        }


COLUMNS = "thread_id, agent, session_id, base_commit, opened_at, changed_files, mutation_id"


def tree_from_row(row: Sequence[Cell]) -> ThreadTree:
    """The tree in a row of the table."""
    thread_id, agent, session_id, base_commit, opened_at, changed_files, mutation_id = row
    return ThreadTree(
        thread_id=str(thread_id),
        agent=str(agent),
        session_id=str(session_id),
        base_commit=str(base_commit),
        opened_at=str(opened_at),
        changed_files=int(str(changed_files)),
        mutation_id=str(mutation_id),
    )
