"""The operations that change a repository, over one root: edits, undo, git, tests and checkpoints."""

import asyncio
import os
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from codeplane.adapters.bubblewrap import Bubblewrap
from codeplane.adapters.file_lock import lock_holder
from codeplane.adapters.git_cli import clean_environment
from codeplane.adapters.process_tree import LinuxProcessTree
from codeplane.adapters.secret_files import SecretFiles
from codeplane.edit.consequences import Consequences
from codeplane.edit.engine import Engine
from codeplane.edit.history.mutation_record import Reversal
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.index_moves import IndexMoves
from codeplane.edit.journal import Journal
from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.edit.path_locks import PathLocks
from codeplane.edit.scope import Scope
from codeplane.edit.syntax_diff import SyntaxComparer
from codeplane.edit.undo.operations import UndoOperations
from codeplane.edit.undo.show import ShowOperations
from codeplane.edit.write_files import WriteOperations
from codeplane.git.safety.command import Git
from codeplane.git.safety.guarded_programs import GuardedPrograms
from codeplane.git.safety.known_links import KnownLinks
from codeplane.git.safety.recovery_secrets import RecoverySecrets
from codeplane.git.safety.secret_contents import SecretContents
from codeplane.git.write.call_endings import CallEndings
from codeplane.git.write.exclude_file import exclude_git_folders
from codeplane.git.write.mutation_recovery import MutationRecovery
from codeplane.git.write.operations import GitWrites
from codeplane.git.write.pending_mutations import PendingMutations
from codeplane.git.write.reversal import GitReversal
from codeplane.git.write.reversal_recovery import ReversalRecovery
from codeplane.git.write.writer import Writer
from codeplane.index.contexts.operations import ContextOperations
from codeplane.index.files.include import IncludeRules
from codeplane.index.parser_pool import ParserPool
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import TestsConfig
from codeplane.kernel.errors import CodePlaneError, GitRefused, NotGit
from codeplane.kernel.event_log import EventLog
from codeplane.query.knowledge import Knowledge
from codeplane.refactor.scip.store import ScipStore
from codeplane.testing.checkpoint.checkpoint import CheckpointOperations
from codeplane.testing.checkpoint.lint import Linters
from codeplane.testing.operations import TestOperations
from codeplane.testing.process import MARK
from codeplane.testing.sandbox import ProcessTree, Sandbox
from codeplane.testing.suite import CACHE, Suite
from codeplane.wiring.foundation import Foundation
from codeplane.wiring.refactor import refactor_operations

_TESTS = "tests"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestTools:
    """The tools that run the repository's own code."""

    environment: Mapping[str, str]
    sandbox: Sandbox
    tree: ProcessTree

    @classmethod
    def at(
        cls, home: Path, environment: Mapping[str, str], secrets: SecretFiles, *, sandbox: Sandbox | None = None
    ) -> "TestTools":
        """As it is on this machine, or in another sandbox."""
        cache = home / _TESTS / CACHE
        own = Bubblewrap(home=Path.home(), hidden=(home,), cache=cache, environment=environment, secrets=secrets)
        return cls(environment=environment, sandbox=sandbox or own, tree=LinuxProcessTree(variable=MARK))

    def suite(self, *, root: Path, home: Path, knowledge: Knowledge, config: TestsConfig) -> Suite:
        """The tests of a repository."""
        return Suite(
            root=root,
            home=home / _TESTS,
            knowledge=knowledge,
            config=config,
            environment=self.environment,
            sandbox=self.sandbox,
            tree=self.tree,
        )

    def linters(self, *, root: Path, config: TestsConfig) -> Linters:
        """Its linters."""
        return Linters(root=root, config=config, environment=self.environment, sandbox=self.sandbox, tree=self.tree)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """The operations that change a repository, and the changes that the last run left half-made."""

    operations: tuple[object, ...]
    recovered: tuple[RecoveredMutation, ...]
    # Git of the last run that still works; its changes are recorded when it has ended.
    unfinished: MutationRecovery | None
    locks: PathLocks
    kept: MutationStore
    pending: PendingMutations
    git: Git
    moves: IndexMoves
    suite: Suite
    knowledge: Knowledge
    scip: ScipStore
    recovery_secrets: RecoverySecrets
    scope: Scope
    engine: Engine

    def endings(
        self, log: EventLog, catalogue: Catalogue, recovered: Sequence[RecoveredMutation] | None = None
    ) -> CallEndings:
        """The endings of the calls that the last run left under way."""
        known = self.recovered if recovered is None else recovered
        ended = {mutation.mutation_id for mutation in known}
        return CallEndings(
            log=log,
            journaled=[operation.name for operation in catalogue if operation.journaled],
            recovered=known,
            mutations=self.kept,
            notes=self.pending.notes(),
            running=[started.call_id for started in self.pending.left.values() if started.mutation_id not in ended],
        )


def build_edits(
    foundation: Foundation,
    *,
    root: Path,
    home: Path,
    knowledge: Knowledge,
    contexts: ContextOperations,
    parsers: ParserPool,
    hidden: Path | None = None,
) -> Edits:
    """Build the operations; half-made changes of the last run are repaired first, before anybody reads.

    What guards git's programs is in `hidden`, or else in `home`.
    """
    config = foundation.config
    kept = MutationStore(home / "undo", foundation.clock, config.edits.undo_days, config.edits.undo_mb)
    journal = Journal(root=root, folder=home / "journal", mutations=kept)
    recovered = _log_recovered(foundation, journal.recover())
    tools = TestTools.at(home, os.environ, foundation.secrets)
    suite = tools.suite(root=root, home=home, knowledge=knowledge, config=config.tests)
    secrets = foundation.secrets.rules_of(root)
    scope = Scope(root, secrets, IncludeRules(config.index.include))
    consequences = Consequences(
        root=root,
        knowledge=knowledge,
        syntax=SyntaxComparer(parsers=parsers, known=knowledge.store),
        impact=suite.impact,
        unlisted=scope.unlisted_paths,
    )
    locks = PathLocks()
    programs = GuardedPrograms(
        home=hidden or home,
        enclosure=foundation.hook_enclosure(),
        clock=foundation.clock,
        offline=foundation.offline,
        runs=foundation.online_runs,
    )
    git = Git(root, config.git, clean_environment, programs, links=KnownLinks(home / "git-links.json"))
    with suppress(NotGit, GitRefused):
        # Before the first hook runs; what is new later is refused by what would write through it.
        git.refuse_new_links()
    _exclude_git_folders(foundation, root)
    moves = IndexMoves(git)
    engine = Engine(
        root=root,
        scope=scope,
        journal=journal,
        mutations=kept,
        locks=locks,
        consequences=consequences,
        moves=moves,
        clock=foundation.clock,
        config=config.edits,
    )
    pending = PendingMutations(home / "git")
    writer = Writer(
        git=git,
        locks=locks,
        consequences=consequences,
        mutations=kept,
        pending=pending,
        clock=foundation.clock,
        secrets=secrets,
        secret_contents=(apart := SecretContents(home / "overwritten-secrets", secrets)),
    )
    unfinished = None
    if not pending.is_empty:
        unfinished = _build_recovery(foundation, writer)
        recovered += _log_recovered(foundation, _run_apart(unfinished.recover()))
    git_reversal = GitReversal(writer)
    if not pending.reversals.is_empty:
        _run_apart(_reversal_recovery(foundation, writer, git_reversal).recover())
    writes = GitWrites.over(writer, lock_holder)
    reversals: dict[str, Reversal] = {"files": engine, "git": git_reversal}
    tests = TestOperations(root=root, suite=suite, cursors=foundation.cursors)
    scip = ScipStore(home / "scip.db")
    return Edits(
        recovered=recovered,
        unfinished=unfinished,
        locks=locks,
        kept=kept,
        pending=pending,
        git=git,
        moves=moves,
        suite=suite,
        knowledge=knowledge,
        scip=scip,
        recovery_secrets=RecoverySecrets(git, writer.contents, secrets, apart),
        scope=scope,
        engine=engine,
        operations=(
            WriteOperations(root=root, scope=scope, engine=engine),
            UndoOperations(
                root=root,
                mutations=kept,
                reversals=reversals,
                consequences=consequences,
                cursors=foundation.cursors,
                secrets=secrets,
            ),
            ShowOperations(root=root, mutations=kept, reversals=reversals, cursors=foundation.cursors, secrets=secrets),
            *refactor_operations(
                foundation,
                root=root,
                home=home,
                knowledge=knowledge,
                contexts=contexts,
                scope=scope,
                engine=engine,
                scip=scip,
            ),
            *writes.all,
            tests,
            CheckpointOperations(
                root=root,
                writer=writer,
                commits=writes.commits,
                staging=writes.staging,
                tests=tests,
                linters=tools.linters(root=root, config=config.tests),
            ),
        ),
    )


def _exclude_git_folders(foundation: Foundation, root: Path) -> None:
    try:
        exclude_git_folders(root)
    except (OSError, CodePlaneError) as error:
        # Nothing of it is staged or removed even so; git_status of the command line lists it.
        foundation.logs.logger("git").warning("git's own folder is not excluded from the work tree", error=str(error))


def _build_recovery(foundation: Foundation, writer: Writer) -> MutationRecovery:
    logger = foundation.logs.logger("git")
    return MutationRecovery(
        writer.undo_parts, lambda warning: logger.warning("recovering a git mutation", warning=warning)
    )


def _reversal_recovery(foundation: Foundation, writer: Writer, reversal: GitReversal) -> ReversalRecovery:
    logger = foundation.logs.logger("git")
    return ReversalRecovery(
        writer.undo_parts,
        reversal,
        lambda started, outcome, reason: logger.warning(
            "an undo or redo was under way when the last run ended",
            verb=started.verb,
            mutation_id=started.mutation_id,
            outcome=outcome,
            reason=reason,
        ),
    )


def _run_apart(work: Coroutine[None, None, T]) -> T:
    # In a thread: this is called while an event loop runs, and waits as for the files above.
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, work).result()


def _log_recovered(foundation: Foundation, recovered: Sequence[RecoveredMutation]) -> tuple[RecoveredMutation, ...]:
    logger = foundation.logs.logger("edits")
    for found in recovered:
        logger.warning(
            "a mutation was under way when the last run ended",
            mutation_id=found.mutation_id,
            outcome=found.outcome,
            conflicts=list(found.conflicts[:100]),
            reason=found.reason,
        )
    return tuple(recovered)
