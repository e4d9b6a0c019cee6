"""All operations that read git in one work tree."""

from collections.abc import Callable, Mapping
from pathlib import Path

from codeplane.git.read.blame import BlameOperations
from codeplane.git.read.diff import DiffOperations
from codeplane.git.read.log import LogOperations
from codeplane.git.read.merge_analysis import MergeAnalysisOperations
from codeplane.git.read.reader import Before, GitReader
from codeplane.git.read.refs import RefOperations
from codeplane.git.read.remote_list import RemoteReadOperations
from codeplane.git.read.show import ShowOperations
from codeplane.git.read.stash_list import StashReadOperations
from codeplane.git.read.status import StatusOperations
from codeplane.git.read.submodule_list import SubmoduleReadOperations
from codeplane.git.read.worktree_list import WorktreeReadOperations
from codeplane.kernel.clock import Clock
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules


def read_operations(
    *,
    root: Path,
    environment: Callable[[], Mapping[str, str]],
    timeout_sec: float,
    cursors: Cursors,
    clock: Clock,
    before: Before | None = None,
    secrets: SecretRules = NOTHING_SHOWN,
    runs: OnlineRuns | None = None,
) -> tuple[object, ...]:
    """Build the operations; `environment` returns git's environment, `before` its sandbox command."""
    reader = GitReader(
        root=root, environment=environment, timeout_sec=timeout_sec, before=before, secrets=secrets, runs=runs
    )
    return (
        StatusOperations(reader=reader, cursors=cursors),
        DiffOperations(reader=reader, cursors=cursors),
        LogOperations(reader=reader, cursors=cursors, clock=clock),
        ShowOperations(reader=reader, cursors=cursors),
        BlameOperations(reader=reader, cursors=cursors),
        RefOperations(reader=reader, cursors=cursors),
        RemoteReadOperations(reader=reader),
        StashReadOperations(reader=reader),
        MergeAnalysisOperations(reader=reader),
        SubmoduleReadOperations(reader=reader),
        WorktreeReadOperations(reader=reader),
    )
