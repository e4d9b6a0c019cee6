"""The operations that change a repository, over one root: edits, undo, git, tests and checkpoints."""

import os
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.bubblewrap import Bubblewrap
from codeplane.adapters.git_cli import clean_environment
from codeplane.adapters.process_tree import LinuxProcessTree
from codeplane.repo.checkpoint.checkpoint import CheckpointOperations
from codeplane.repo.checkpoint.lint import Linters
from codeplane.repo.edit.consequences import Consequences
from codeplane.repo.edit.engine import Engine
from codeplane.repo.edit.index_moves import IndexMoves
from codeplane.repo.edit.journal import Journal, Recovered
from codeplane.repo.edit.locks import PathLocks
from codeplane.repo.edit.scope import Scope
from codeplane.repo.edit.syntax import Syntax
from codeplane.repo.edit.write_files import WriteOperations
from codeplane.repo.git.command import Git
from codeplane.repo.git.reversal import GitReversal
from codeplane.repo.git.writing import Writer
from codeplane.repo.git.writing_operations import GitWrites
from codeplane.repo.index.parsers import Parsers
from codeplane.repo.knowledge import Knowledge
from codeplane.repo.testing.operations import TestOperations
from codeplane.repo.testing.process import MARK
from codeplane.repo.testing.suite import Suite
from codeplane.repo.undo.mutations import KeptMutations
from codeplane.repo.undo.operations import UndoOperations
from codeplane.shared import Shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Changing:
    """What changes a repository, and what the last run left half-changed."""

    operations: tuple[object, ...]
    recovered: tuple[Recovered, ...]
    kept: KeptMutations
    suite: Suite


def changing(shared: Shared, *, root: Path, home: Path, knowledge: Knowledge, parsers: Parsers) -> Changing:
    """Build the operations; what the last run left half-changed is put right at once, before anybody reads."""
    config = shared.config
    kept = KeptMutations(home / "undo", shared.clock, config.edits.undo_days, config.edits.undo_mb)
    journal = Journal(root=root, folder=home / "journal", kept=kept)
    recovered = _recovered(shared, journal)
    tree = LinuxProcessTree(variable=MARK)
    sandbox = Bubblewrap(home=Path.home(), hidden=(home,), cache=home / "tests" / "cache", environment=os.environ)
    suite = Suite(
        root=root,
        home=home / "tests",
        knowledge=knowledge,
        config=config.tests,
        environment=os.environ,
        sandbox=sandbox,
        tree=tree,
    )
    scope = Scope(root)
    consequences = Consequences(
        root=root,
        knowledge=knowledge,
        syntax=Syntax(parsers=parsers, known=knowledge.store.facts, folder=home),
        impact=suite.impact,
        unlisted=scope.unlisted,
    )
    locks = PathLocks()
    git = Git(root, config.git, clean_environment)
    engine = Engine(
        root=root,
        scope=scope,
        journal=journal,
        kept=kept,
        locks=locks,
        consequences=consequences,
        moves=IndexMoves(git),
        clock=shared.clock,
        config=config.edits,
    )
    writer = Writer(git=git, locks=locks, consequences=consequences, mutations=kept, clock=shared.clock)
    writes = GitWrites.over(writer)
    tests = TestOperations(root=root, suite=suite, cursors=shared.cursors)
    return Changing(
        recovered=recovered,
        kept=kept,
        suite=suite,
        operations=(
            WriteOperations(root=root, scope=scope, engine=engine),
            UndoOperations(
                kept=kept,
                reversals={"files": engine, "git": GitReversal(writer)},
                consequences=consequences,
                cursors=shared.cursors,
            ),
            *writes.all,
            tests,
            CheckpointOperations(
                root=root,
                writer=writer,
                commits=writes.commits,
                staging=writes.staging,
                tests=tests,
                linters=Linters(root=root, config=config.tests, environment=os.environ, sandbox=sandbox, tree=tree),
            ),
        ),
    )


def _recovered(shared: Shared, journal: Journal) -> tuple[Recovered, ...]:
    recovered = tuple(journal.recover())
    said = shared.logs.logger("edits")
    for found in recovered:
        said.warning(
            "a mutation was under way when the last run ended",
            mutation_id=found.mutation_id,
            outcome=found.outcome,
            conflicts=list(found.conflicts[:100]),
            reason=found.reason,
        )
    return recovered
