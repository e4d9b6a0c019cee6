"""Which outside tools the owner trusts, with the declarations that were trusted."""

from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.ledger.projection import Tables

TOOL_TRUSTED, TOOL_DISTRUSTED = "tool.trusted", "tool.distrusted"
STREAM = "tools"


class ToolTrustTable:
    """One row for each tool that the owner trusts."""

    name: ClassVar[str] = "tool_trust"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("tool_trust",)
    types: ClassVar[frozenset[str]] = frozenset({TOOL_TRUSTED, TOOL_DISTRUSTED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE tool_trust(
            server TEXT, tool TEXT, fingerprint TEXT, risk TEXT, trusted_by TEXT, trusted_ns INTEGER,
            PRIMARY KEY (server, tool)) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        server, tool = str(payload["server"]), str(payload["tool"])
        if event.type == TOOL_DISTRUSTED:
            tables.execute("DELETE FROM tool_trust WHERE server = ? AND tool = ?", (server, tool))
            return
        tables.execute(
            "INSERT OR REPLACE INTO tool_trust VALUES (?, ?, ?, ?, ?, ?)",
            (server, tool, str(payload["fingerprint"]), str(payload["risk"]), event.actor, event.at_ns),
        )
