"""Which explorations a caller may see: people all of them, others those that they or their work started."""

from codeplane.kernel.call import Call
from codeplane.kernel.errors import ExploreNotFound, WorkNotFound
from codeplane.kernel.ports import Ledger, Readable, ScopeOf
from codeplane.ledger.own_actors import own_actor_condition
from codeplane.ledger.rows import Cell
from codeplane.work.explore.events import WORK_PREFIX
from codeplane.work.explore.exploration import KIND
from codeplane.work.items.item import WorkItem
from codeplane.work.items.store import WorkStore


class ExploreAccess:
    """Finds explorations."""

    def __init__(self, *, log: Ledger, store: WorkStore, scope_of: ScopeOf, readable: Readable) -> None:
        self._log = log
        self._store = store
        self._scope_of = scope_of
        self._readable = readable

    def condition(self, call: Call) -> tuple[str, list[Cell]]:
        """The SQL condition on what the caller may see, with its values."""
        scope = self._scope_of(call)
        if scope is None:
            return "kind = ?", [KIND]
        own, values = own_actor_condition("created_by", scope)
        return f"kind = ? AND ({own} OR work_id = ?)", [KIND, *values, call.actor.actor_id]

    async def get(self, call: Call, explore_id: str) -> WorkItem:
        """An exploration that the caller may see; ExploreNotFound for others, the same whether there are any."""
        scope = self._scope_of(call)
        name = explore_id.replace("-", "")
        name = name if name.startswith(WORK_PREFIX) or len(name) < 32 else WORK_PREFIX + name
        try:
            item = await self._store.get(name)
        except WorkNotFound as error:
            message = error.message if scope is None else f"there is no exploration {explore_id!r}"
            raise ExploreNotFound(message) from None
        is_own = scope is None or item.actor == call.actor or await self._log.own_actors((item.created_by,), scope)
        if item.kind == KIND and is_own and item.stream in await self._readable(call, [item.stream]):
            return item
        raise ExploreNotFound(f"there is no exploration {explore_id!r}")
