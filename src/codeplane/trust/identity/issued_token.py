"""The record of a token issued to an agent, and the table of issued tokens."""

import json
from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import Capability
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, dumps
from codeplane.ledger.projection import Tables
from codeplane.ledger.rows import Cell
from codeplane.trust.capabilities.grant import TokenRights
from codeplane.trust.identity.agent_token import TokenContext

ISSUED, SESSION, REVOKED, KEYS_ROTATED = (
    "agent.token_issued",
    "agent.session_issued",
    "agent.token_revoked",
    "agent.keys_rotated",
)
KEYS_STREAM = "agent/keys"
_KEEP_EXPIRED_NS = 7 * 86_400 * SECOND_NS


def agent_stream(agent_id: str) -> str:
    """The event stream of one agent."""
    return f"agent/{agent_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """The record of one token; the token itself is not stored."""

    token_id: str
    agent_id: str
    key_id: str
    issued_ns: int
    expires_ns: int
    capabilities: tuple[Capability, ...]
    context: TokenContext
    # For a session's token, the token that it was exchanged for.
    session_of: str | None = None
    revoked_ns: int | None = None

    @property
    def rights(self) -> TokenRights:
        """The rights of its holder."""
        return TokenRights(
            capabilities=frozenset(self.capabilities),
            allowed_paths=self.context.allowed_paths,
            allowed_tools=self.context.allowed_tools,
            max_agents=self.context.max_agents,
            approval_mode=self.context.approval_mode,
            expires_ns=self.expires_ns,
        )

    def to_json(self) -> JsonObject:
        """The record as JSON for its event."""
        return {
            "token_id": self.token_id,
            "agent_id": self.agent_id,
            "key_id": self.key_id,
            "at_ns": self.issued_ns,
            "expires_ns": self.expires_ns,
            "capabilities": list(self.capabilities),
            "context": self.context.to_json(),
            "session_of": self.session_of,
        }


def token_from_json(wire: JsonObject) -> IssuedToken:
    """The record that `IssuedToken.to_json` wrote."""
    session_of, capabilities = wire["session_of"], wire["capabilities"]
    assert isinstance(capabilities, list)
    return IssuedToken(
        token_id=str(wire["token_id"]),
        agent_id=str(wire["agent_id"]),
        key_id=str(wire["key_id"]),
        issued_ns=_number(wire, "at_ns"),
        expires_ns=_number(wire, "expires_ns"),
        capabilities=tuple(capabilities),
        context=TokenContext.model_validate(wire["context"]),
        session_of=None if session_of is None else str(session_of),
    )


class IssuedTokenTable:
    """The tokens of agents; issuing one deletes those that expired more than a week earlier."""

    name: ClassVar[str] = "agent_tokens"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("agent_tokens",)
    types: ClassVar[frozenset[str]] = frozenset({ISSUED, SESSION, REVOKED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE agent_tokens(
            token_id TEXT PRIMARY KEY, agent_id TEXT, key_id TEXT, issued_ns INTEGER, expires_ns INTEGER,
            capabilities TEXT, context TEXT, session_of TEXT, revoked_ns INTEGER)""",
        "CREATE INDEX agent_tokens_by_end ON agent_tokens(expires_ns)",
    )
    SELECT: ClassVar[str] = """SELECT token_id, agent_id, key_id, issued_ns, expires_ns, capabilities, context,
        session_of, revoked_ns FROM agent_tokens ORDER BY issued_ns, token_id"""

    def apply(self, tables: Tables, event: Event) -> None:
        fact = event.payload
        if event.type == REVOKED:
            ids = fact["token_ids"]
            assert isinstance(ids, list)
            for token_id in ids:
                tables.execute(
                    "UPDATE agent_tokens SET revoked_ns = ? WHERE token_id = ? AND revoked_ns IS NULL",
                    (_number(fact, "at_ns"), str(token_id)),
                )
            return
        issued_ns = _number(fact, "at_ns")
        tables.execute("DELETE FROM agent_tokens WHERE expires_ns < ?", (issued_ns - _KEEP_EXPIRED_NS,))
        session_of = fact["session_of"]
        tables.execute(
            "INSERT OR REPLACE INTO agent_tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            (
                str(fact["token_id"]),
                str(fact["agent_id"]),
                str(fact["key_id"]),
                issued_ns,
                _number(fact, "expires_ns"),
                dumps(fact["capabilities"]),
                dumps(fact["context"]),
                None if session_of is None else str(session_of),
            ),
        )

    @staticmethod
    def from_row(row: tuple[Cell, ...]) -> IssuedToken:
        """The token in a row of `SELECT`."""
        token_id, agent_id, key_id, issued_ns, expires_ns, capabilities, context, session_of, revoked_ns = row
        return IssuedToken(
            token_id=str(token_id),
            agent_id=str(agent_id),
            key_id=str(key_id),
            issued_ns=int(str(issued_ns)),
            expires_ns=int(str(expires_ns)),
            capabilities=tuple(json.loads(str(capabilities))),
            context=TokenContext.model_validate_json(str(context)),
            session_of=None if session_of is None else str(session_of),
            revoked_ns=None if revoked_ns is None else int(str(revoked_ns)),
        )


def _number(fact: JsonObject, name: str) -> int:
    value = fact[name]
    assert isinstance(value, int)
    return value
