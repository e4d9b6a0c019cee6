"""An answer without a model: the passages of the repository that fit a question best, marked as such."""

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import ShuttingDown
from codeplane.work.items.kind import Door

_MAX_QUERY = 4000
_ADVICE = "No model is configured, so this is what the index finds. Add one: cpl models"


class IndexAnswer:
    """Answers questions from the index alone."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def ask(self, question: str, caller: Caller) -> str:
        """The passages, with their places, and how to add a model."""
        outcome = await self._door.call("search", {"query": question[:_MAX_QUERY], "limit": 8}, caller)
        if isinstance(outcome.error, ShuttingDown):
            raise outcome.error
        if outcome.error is not None:
            found = f"{outcome.error.name}: {outcome.error.message}"
        else:
            # A conversation has no cursors: a person asks for more.
            found = (outcome.result.text() if outcome.result is not None else "").partition("\nmore: cursor=")[0]
        return f"{found}\n\n{_ADVICE}"
