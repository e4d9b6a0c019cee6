"""The outcome of an executed action: its failure, and the end of its answer."""

from dataclasses import dataclass

from codeplane.kernel.call_record import key_holder
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural
from codeplane.kernel.ports import Ledger
from codeplane.trust.approvals.action import Action, ActionStatus

_MAX_LINES = 20
_MAX_CHARACTERS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionOutcome:
    """The outcome of an action, as far as it is stored."""

    failure: str | None = None
    exit_code: int | None = None
    answer: str | None = None
    # The source of untrusted content in the answer.
    untrusted: tuple[str, str] | None = None


class OutcomeReader:
    """Reads the answers that are stored by idempotency key."""

    def __init__(self, log: Ledger, catalogue: Catalogue) -> None:
        self._log = log
        self._catalogue = catalogue

    async def of(self, action: Action) -> ActionOutcome:
        """The outcome of an action; empty for one that did not run, or whose answer is no longer stored."""
        if action.status is not ActionStatus.EXECUTED:
            return ActionOutcome()
        rows = await self._log.select(
            "SELECT result_hash, error FROM idempotency WHERE owner_id = ? AND tool_name = ? AND key = ?",
            (key_holder(action.actor), action.operation, action.key),
        )
        data = await self._log.get(str(rows[0][0])) if rows and rows[0][0] is not None else None
        if data is None:
            return ActionOutcome()
        try:
            result = self._catalogue.get(action.operation).restore_result(data.decode())
        except CodePlaneError:
            return ActionOutcome()
        code = getattr(result, "exit_code", None)
        return ActionOutcome(
            failure=result.unmet(),
            exit_code=code if isinstance(code, int) else None,
            answer=_end(result),
            untrusted=result.untrusted_source(),
        )


def _end(result: Result) -> str:
    text = result.text().rstrip("\n")
    lines = text[-_MAX_CHARACTERS:].split("\n")[-_MAX_LINES:]
    shown = "\n".join(lines)
    return (
        shown if len(shown) == len(text) else f"[… {plural(len(text) - len(shown), 'character')} before this]\n{shown}"
    )
