"""The table of grants, a projection of the `capability.*` events."""

import json
from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.ledger.rows import Cell
from codeplane.trust.capabilities.grant import ApprovalMode, Grant, GrantContext

REQUESTED = "capability.requested"
GRANTED = "capability.granted"
DENIED = "capability.denied"
REVOKED = "capability.revoked"
EXPIRED = "capability.expired"

PREFIX = "capability/"
COLUMNS = """grant_id, agent, verified, capabilities, context, issued_ns, expires_ns, granted_by, state, ended_ns,
             ended_by, reason, position"""
_MODES: dict[str, ApprovalMode] = {"automatic": "automatic", "trust": "trust", "always": "always"}


class GrantTable:
    """Grants by state: requested, granted, denied, revoked or expired."""

    name: ClassVar[str] = "grants"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("grants",)
    types: ClassVar[frozenset[str]] = frozenset({REQUESTED, GRANTED, DENIED, REVOKED, EXPIRED, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE grants(
            grant_id TEXT PRIMARY KEY, agent TEXT, verified INTEGER, capabilities TEXT, context TEXT,
            issued_ns INTEGER, expires_ns INTEGER, granted_by TEXT, state TEXT, ended_ns INTEGER, ended_by TEXT,
            reason TEXT, position INTEGER)""",
        "CREATE INDEX grants_by_position ON grants(position)",
        "CREATE INDEX grants_live ON grants(expires_ns) WHERE state = 'GRANTED'",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == RETENTION_APPLIED:
            streams = payload["streams"]
            assert isinstance(streams, list)
            for stream, _ in streams:
                if stream.startswith(PREFIX):
                    tables.execute("DELETE FROM grants WHERE grant_id = ?", (stream.removeprefix(PREFIX),))
        elif event.type in (REQUESTED, GRANTED):
            self._put(tables, event)
        else:
            tables.execute(
                "UPDATE grants SET state = ?, ended_ns = ?, ended_by = ?, reason = ? WHERE grant_id = ?",
                (
                    event.type.removeprefix("capability.").upper(),
                    event.at_ns,
                    event.actor,
                    _text(payload.get("reason")),
                    _text(payload["grant_id"]),
                ),
            )

    @staticmethod
    def _put(tables: Tables, event: Event) -> None:
        payload = event.payload
        issued, expires = payload.get("issued_ns"), payload.get("expires_ns")
        tables.execute(
            """INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL,
               coalesce(?, (SELECT reason FROM grants WHERE grant_id = ?1)),
               coalesce((SELECT position FROM grants WHERE grant_id = ?1), ?))""",
            (
                _text(payload["grant_id"]),
                _text(payload["agent"]),
                bool(payload["verified"]),
                dumps(payload["capabilities"]),
                dumps(payload["context"]),
                issued if isinstance(issued, int) else None,
                expires if isinstance(expires, int) else None,
                _text(payload.get("granted_by")),
                event.type.removeprefix("capability.").upper(),
                _text(payload.get("justification")),
                event.position,
            ),
        )


def grant_to_json(grant: Grant) -> JsonObject:
    """A grant as JSON for its events."""
    return {
        "grant_id": grant.grant_id,
        "agent": grant.agent,
        "verified": grant.verified,
        "capabilities": sorted(grant.capabilities),
        "context": context_to_json(grant.context),
        "issued_ns": grant.issued_ns,
        "expires_ns": grant.expires_ns,
        "granted_by": grant.granted_by,
    }


def context_to_json(context: GrantContext) -> JsonObject:
    """The bounds that are set, as JSON."""
    wire: JsonObject = {}
    if context.allowed_paths is not None:
        wire["allowed_paths"] = list(context.allowed_paths)
    if context.allowed_tools is not None:
        wire["allowed_tools"] = list(context.allowed_tools)
    if context.max_agents is not None:
        wire["max_agents"] = context.max_agents
    if context.approval_mode is not None:
        wire["approval_mode"] = context.approval_mode
    return wire


def grant_from_json(wire: JsonObject) -> Grant:
    """The grant that `grant_to_json` wrote."""
    capabilities, context = wire["capabilities"], wire["context"]
    assert isinstance(capabilities, list) and isinstance(context, dict)
    return Grant(
        grant_id=str(wire["grant_id"]),
        agent=str(wire["agent"]),
        verified=bool(wire["verified"]),
        capabilities=frozenset(map(str, capabilities)),
        issued_ns=int(str(wire["issued_ns"])),
        expires_ns=int(str(wire["expires_ns"])),
        granted_by=str(wire["granted_by"]),
        context=_context_from_json(context),
    )


def grant_from_row(row: tuple[Cell, ...]) -> Grant:
    """The grant in a row of the table."""
    grant_id, agent, verified, capabilities, context, issued, expires, granted_by, *_ = row
    return Grant(
        grant_id=str(grant_id),
        agent=str(agent),
        verified=bool(verified),
        capabilities=frozenset(json.loads(str(capabilities))),
        issued_ns=int(str(issued or 0)),
        expires_ns=int(str(expires or 0)),
        granted_by=str(granted_by or ""),
        context=_context_from_json(json.loads(str(context))),
    )


def _context_from_json(wire: JsonObject) -> GrantContext:
    max_agents, mode = wire.get("max_agents"), wire.get("approval_mode")
    return GrantContext(
        allowed_paths=_names(wire.get("allowed_paths")),
        allowed_tools=_names(wire.get("allowed_tools")),
        max_agents=max_agents if isinstance(max_agents, int) else None,
        # An unknown mode is the strictest one.
        approval_mode=None if mode is None else _MODES.get(str(mode), "always"),
    )


def _names(value: JsonValue) -> tuple[str, ...] | None:
    return tuple(map(str, value)) if isinstance(value, list) else None


def _text(value: JsonValue) -> str | None:
    return None if value is None else value if isinstance(value, str) else dumps(value)
