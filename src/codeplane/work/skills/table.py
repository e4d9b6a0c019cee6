"""The table of skills that the owner trusts, by name and hash."""

from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.ledger.projection import Tables

STREAM = "skills"
TRUSTED, DISTRUSTED = "skill.trusted", "skill.distrusted"


class SkillTrustTable:
    """Which skills of the project may be used, as they were when a person looked at them."""

    name: ClassVar[str] = "skill_trust"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("skill_trust",)
    types: ClassVar[frozenset[str]] = frozenset({TRUSTED, DISTRUSTED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE skill_trust(
            name TEXT, hash TEXT, trusted_by TEXT, trusted_ns INTEGER, PRIMARY KEY(name, hash)) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        name = str(event.payload["name"])
        tables.execute("DELETE FROM skill_trust WHERE name = ?", (name,))
        if event.type == TRUSTED:
            tables.execute(
                "INSERT INTO skill_trust(name, hash, trusted_by, trusted_ns) VALUES (?, ?, ?, ?)",
                (name, str(event.payload["hash"]), event.actor, event.at_ns),
            )
