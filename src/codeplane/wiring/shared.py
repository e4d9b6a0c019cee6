"""What every workspace of one CodePlane uses."""

from collections.abc import Callable
from dataclasses import dataclass

from codeplane.adapters.bubblewrap import bubblewrap_of_other_work_tree
from codeplane.adapters.hook_enclosure import HookEnclosure
from codeplane.adapters.secret_files import SecretFiles
from codeplane.index.parser_pool import Workers
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import Config
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import SandboxMissing
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.kernel.ports import Ledger
from codeplane.observe.logs import Logs


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The same for all of them: settings, log, time and words."""

    config: Config
    log: Ledger
    clock: Clock
    logs: Logs
    cursors: Cursors
    secrets: SecretFiles
    reconciled: Callable[[str, int], None]
    # Whether git's hooks and filters run without the network now.
    offline: Callable[[], bool]
    # Those of git whose hooks and filters may have it.
    online_runs: OnlineRuns
    workers: Workers

    def hook_enclosure(self) -> HookEnclosure:
        """What git's hooks and filters run in; SandboxMissing where the only bubblewrap is not to be trusted."""
        if (program := bubblewrap_of_other_work_tree(self.secrets)) is not None:
            # Else they would run as if there were none, in reach of everything.
            raise SandboxMissing(
                f"the only bubblewrap lies in a work tree, where agents write: {program}",
                hint="install bubblewrap elsewhere, or take that folder out of PATH",
            )
        return HookEnclosure(self.secrets, writable=self.config.git.hook_writable)
