"""Reads actions from the log's table."""

from collections.abc import Sequence

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call
from codeplane.kernel.errors import ApprovalNotFound
from codeplane.kernel.ports import ProjectionStore, Question
from codeplane.kernel.short_ids import match_stored_id
from codeplane.trust.approvals.action import COLUMNS, Action, Cell, action_from_row, preview_hash
from codeplane.trust.approvals.events import reasons_of

_MAX_DUE = 500


class ActionStore:
    """Finds actions by id, by key, by content and by time."""

    def __init__(self, log: ProjectionStore) -> None:
        self._log = log

    async def get(self, action_id: str) -> Action:
        """An action by its id or a unique beginning or end of it."""
        actions = await self._select("action_id = ?", (action_id,))
        if not actions:
            whole_id = await match_stored_id(self._log, "actions.action_id", action_id, "action", ApprovalNotFound)
            actions = await self._select("action_id = ?", (whole_id,))
        return actions[0]

    def by_key(self, actor: Actor, operation: str, key: str | None) -> Action | None:
        """The action that was proposed under an idempotency key."""
        values = (actor.owner_id, operation, key)
        rows = self._log.lookup(
            f"SELECT {COLUMNS} FROM actions WHERE owner_id = ? AND operation = ? AND key = ?", values
        )
        return action_from_row(rows[0]) if rows else None

    async def open_equal(self, question: Question, now_ns: int) -> Action | None:
        """The oldest open action of the same caller with the same arguments, preview and reasons."""
        actor = question.call.actor
        return _first(
            await self._select(
                """status = 'PENDING' AND operation = ? AND actor_kind = ? AND actor_id = ? AND owner_id = ?
                   AND arguments_hash = ? AND preview_hash = ? AND reasons = ? AND expires_ns > ?
                   ORDER BY position LIMIT 1""",
                (
                    *(question.call.operation.name, actor.kind.value, actor.actor_id, actor.owner_id),
                    *(question.arguments_hash, preview_hash(question), reasons_of(question), now_ns),
                ),
            )
        )

    async def open_of(self, actor_id: str) -> list[Action]:
        """The open actions of an agent or device, and of the agents that act for it."""
        return await self._select(
            "status = 'PENDING' AND (actor_id = ? OR actor_id LIKE ? ESCAPE '!')",
            (actor_id, f"{escape_like(actor_id)}/%"),
        )

    async def count_open(self) -> int:
        """How many actions wait for a decision."""
        ((count,),) = await self._log.select("SELECT count(*) FROM actions WHERE status = 'PENDING'")
        return int(str(count))

    async def count_open_of(self, call: Call) -> tuple[int, int]:
        """How many actions wait for a decision, of all callers and of the call's."""
        ((everyone, own),) = await self._log.select(
            """SELECT count(*), count(*) FILTER (WHERE actor_kind = ? AND actor_id = ?) FROM actions
               WHERE status = 'PENDING'""",
            (call.actor.kind.value, call.actor.actor_id),
        )
        return int(str(everyone)), int(str(own))

    async def list_expired(self, now_ns: int) -> list[Action]:
        """Open actions whose time is over."""
        return await self._list_due("actions_expiry", "status = 'PENDING' AND expires_ns <= ?", now_ns)

    async def list_unreminded(self, before_ns: int) -> list[Action]:
        """Open actions that expire before a time, without a reminder yet."""
        return await self._list_due(
            "actions_expiry", "status = 'PENDING' AND expires_ns <= ? AND reminded = 0", before_ns
        )

    async def not_started(self, now_ns: int) -> list[Action]:
        """Approved actions that have neither run nor expired."""
        return await self._list_due("actions_waiting", "status = 'APPROVED' AND started = 0 AND expires_ns > ?", now_ns)

    async def _list_due(self, index: str, where: str, at_ns: int) -> list[Action]:
        # The index is named because SQLite would scan all open actions instead, every second.
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM actions INDEXED BY {index} WHERE {where} LIMIT {_MAX_DUE}", (at_ns,)
        )
        return [action_from_row(row) for row in rows]

    async def _select(self, where: str, values: Sequence[Cell]) -> list[Action]:
        rows = await self._log.select(f"SELECT {COLUMNS} FROM actions WHERE {where}", values)
        return [action_from_row(row) for row in rows]


def escape_like(text: str) -> str:
    """The text without wildcards, for LIKE with ESCAPE '!'."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _first(actions: list[Action]) -> Action | None:
    return actions[0] if actions else None
