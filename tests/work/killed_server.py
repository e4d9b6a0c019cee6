"""A CodePlane that kills itself, as `kill -9` does, at the step that `KILL_AT` names; else it is `cpl up --json`.

A step is one of the edit journal's or of the record of git's changes, or `record OPERATION`: the moment in which the
end of a call of that operation is about to be written to the log.
"""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from types import ModuleType

from codeplane.edit.journal import Journal
from codeplane.git.write.pending_mutations import PendingMutations
from codeplane.kernel.call_record import CALL_FINISHED
from codeplane.kernel.event import Appended, Draft, SealedPayload
from codeplane.ledger.log import SqliteLog
from codeplane.surfaces.cli.entry import main
from codeplane.wiring import edit, foundation

KILL_AT = os.environ["KILL_AT"]


def step(name: str) -> None:
    """End this process at once, where it is told to."""
    if name == KILL_AT:
        os.kill(os.getpid(), signal.SIGKILL)


class KilledLog(SqliteLog):
    """The log, which is not reached by the end of some calls."""

    async def append(
        self,
        drafts: Sequence[Draft],
        *,
        expect: Mapping[str, int] | None = None,
        sealed: Sequence[SealedPayload] = (),
    ) -> Appended:
        for draft in drafts:
            if draft.type == CALL_FINISHED:
                step(f"record {draft.payload['operation']}")
        return await super().append(drafts, expect=expect, sealed=sealed)


if __name__ == "__main__":
    replaced: tuple[tuple[ModuleType, str, object], ...] = (
        (edit, "Journal", partial(Journal, step=step)),
        (edit, "PendingMutations", partial(PendingMutations, step=step)),
        (foundation, "SqliteLog", KilledLog),
    )
    for module, name, made in replaced:
        setattr(module, name, made)
    sys.argv = ["cpl", "up", "--json", *sys.argv[1:]]
    main()
