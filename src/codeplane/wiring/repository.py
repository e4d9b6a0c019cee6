"""The repository operations over one root: those of the serving workspace, and those of every attached one."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codeplane.adapters.git_cli import GitCli, clean_environment
from codeplane.adapters.pygit2_repo import GitRepo
from codeplane.adapters.watchfiles_watcher import Watcher
from codeplane.code.resolve.world import SharedModules
from codeplane.git.read.co_change import CoChangeReader
from codeplane.git.read.file_status import file_status_reader
from codeplane.git.read.operations import read_operations
from codeplane.git.read.reader import READING_FILES, Before, GitReader
from codeplane.git.read.state_hash import StateHash
from codeplane.git.safety.guarded_programs import GuardedPrograms
from codeplane.git.safety.recovery_secrets import clear_and_log
from codeplane.index.archive_operations import ArchiveOperations
from codeplane.index.contexts.operations import ContextOperations
from codeplane.index.derived_index import DerivedIndex
from codeplane.index.fact_store import FactStore
from codeplane.index.files.include import NOTHING_INCLUDED, IncludeRules
from codeplane.index.freshness import SnapshotSource
from codeplane.index.fulltext import FullText
from codeplane.index.indexer import Indexer
from codeplane.index.parser_pool import ParserPool
from codeplane.index.service import STREAM, IndexService
from codeplane.index.vector_index import VectorIndex
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.secret_paths import SecretRules
from codeplane.observe.index_metrics import IndexMetrics
from codeplane.query.compare.operations import CompareOperations
from codeplane.query.explain.explain import ExplainOperations
from codeplane.query.fact_queries.operations import FactOperations
from codeplane.query.knowledge import Knowledge
from codeplane.query.navigation.operations import NavigationOperations
from codeplane.query.overview.map_repo import MapOperations
from codeplane.query.read.list_dir import ListOperations
from codeplane.query.read.read_files import ReadOperations
from codeplane.query.search.past_changes import PastChangesReader
from codeplane.query.search.search import SearchOperations
from codeplane.query.syntax.operations import SyntaxOperations
from codeplane.query.task_context.context_for import TaskContextOperations
from codeplane.query.task_context.related_tests import RelatedTests
from codeplane.refactor.decisions.table import DecisionTable
from codeplane.refactor.scip.store import newest_by_language
from codeplane.refactor.structural.operations import StructuralOperations
from codeplane.vectors.text_vectors import SharedEmbedder
from codeplane.wiring.edit import Edits, build_edits
from codeplane.wiring.foundation import Foundation
from codeplane.wiring.last_run import LastRun
from codeplane.wiring.part import House, Part, PlaneWiring, Sweep

_WALK_SEC = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A root with its index and the operations that answer from it."""

    index: IndexService
    contexts: ContextOperations
    operations: tuple[object, ...]
    edits: Edits | None


def build_repository(
    foundation: Foundation,
    *,
    root: Path,
    home: Path,
    exports: Path,
    repo: GitRepo,
    stream: str = STREAM,
    attached: bool = False,
    before: Before | None = None,
    hidden: Path | None = None,
    watches: bool = True,
) -> Repository:
    """Build the operations over a root; the index is kept in `home`, and of an attached one nothing else is written.

    `hidden` is the folder of CodePlane that git's programs must not see, where it is not `home` but the serving one's.
    `before` encloses the git that reads it, where others can write its settings.

    What the last run left half-changed is put right at once, before anybody reads.
    """
    foundation.secrets.add(root)
    secrets = foundation.secrets.rules_of(root)
    include = NOTHING_INCLUDED if attached else IncludeRules(foundation.config.index.include)
    index = _index(
        foundation, root, home, repo, stream, secrets, include, serving=(hidden or home).parent, watches=watches
    )
    knowledge = Knowledge(
        fresh=index.wait_until_ready,
        wait_for_facts=index.wait_for_facts,
        wait_for_vectors=index.wait_for_vectors,
        store=index.store,
        text=index.text,
        modules=SharedModules(),
        vectors=index.vectors,
    )
    contexts = ContextOperations(
        home=home,
        root=root,
        fresh=index.wait_until_ready,
        parsers=index.parsers,
        is_indexed=lambda: index.newest_snapshot() is not None,
    )
    max_file_bytes = foundation.config.index.max_file_bytes
    runs = foundation.online_runs if before is None else None
    edits: Edits | None = None
    environment: Callable[[], dict[str, str]] = clean_environment
    if before is None:
        guarded = GuardedPrograms(
            home=hidden or home,
            enclosure=foundation.hook_enclosure(),
            clock=foundation.clock,
            offline=foundation.offline,
            runs=foundation.online_runs,
        )
        environment = lambda: guarded.environment(root, clean_environment())  # noqa: E731  # one of two
        before = lambda _, command: guarded.without_links(root) if command in READING_FILES else ()  # noqa: E731
    if not attached:
        edits = build_edits(
            foundation,
            root=root,
            home=home,
            knowledge=knowledge,
            contexts=contexts,
            parsers=index.parsers,
            hidden=hidden,
        )
    git_reader = GitReader(
        root=root,
        environment=environment,
        timeout_sec=foundation.config.git.timeout_sec,
        before=before,
        secrets=secrets,
        runs=runs,
    )
    history = CoChangeReader(git_reader)
    changes = PastChangesReader(git_reader)
    return Repository(
        index=index,
        contexts=contexts,
        edits=edits,
        operations=(
            index,
            ArchiveOperations(index=index, folder=exports),
            contexts,
            SearchOperations(root=root, knowledge=knowledge, cursors=foundation.cursors, history=changes),
            StructuralOperations(root=root, knowledge=knowledge, cursors=foundation.cursors),
            ReadOperations(
                root=root,
                repo=repo,
                max_file_bytes=max_file_bytes,
                knowledge=knowledge,
                secrets=secrets,
                git=file_status_reader(git_reader),
            ),
            MapOperations(root=root, knowledge=knowledge, cursors=foundation.cursors),
            ExplainOperations(
                root=root,
                knowledge=knowledge,
                tests=RelatedTests(knowledge=knowledge, reaching=edits.suite.impact, history=history)
                if edits is not None
                else None,
            ),
            ListOperations(root=root, knowledge=knowledge, cursors=foundation.cursors),
            TaskContextOperations(root=root, knowledge=knowledge, history=history, changes=changes),
            FactOperations(root=root, knowledge=knowledge),
            NavigationOperations(root=root, knowledge=knowledge),
            SyntaxOperations(root=root, knowledge=knowledge),
            *read_operations(
                root=root,
                environment=environment,
                timeout_sec=foundation.config.git.timeout_sec,
                cursors=foundation.cursors,
                clock=foundation.clock,
                before=before,
                secrets=secrets,
                runs=runs,
            ),
            CompareOperations(
                root=root,
                home=home,
                knowledge=knowledge,
                parsers=index.parsers,
                cursors=foundation.cursors,
                environment=environment,
                timeout_sec=foundation.config.git.timeout_sec,
                before=before,
                secrets=secrets,
                runs=runs,
            ),
            *(edits.operations if edits is not None else ()),
        ),
    )


def _index(
    foundation: Foundation,
    root: Path,
    home: Path,
    repo: GitRepo,
    stream: str,
    secrets: SecretRules,
    include: IncludeRules,
    *,
    serving: Path,
    watches: bool,
) -> IndexService:
    config = foundation.config.index
    logger = foundation.logs.logger("index")
    return IndexService(
        indexer=lambda published, saw: Indexer(
            root=root,
            home=home,
            git_at=partial(GitCli, serving=serving),
            repo=repo,
            clock=foundation.clock,
            max_file_bytes=config.max_file_bytes,
            published=published,
            secrets=secrets,
            include=include,
            saw=saw,
            reconciled=foundation.reconciles.count_pass,
        ),
        fresh=lambda indexer: SnapshotSource(
            indexer=indexer, clock=foundation.clock, verify_after_sec=config.verify_after_sec
        ),
        follower=lambda on_progress: DerivedIndex(
            facts=FactStore(home / "facts.db"),
            text=FullText(home / "tantivy"),
            parsers=ParserPool(
                processes=config.processes or min(os.cpu_count() or 1, 4),
                memory_bytes=config.memory_mb * 1024 * 1024,
                workers=foundation.workers,
            ),
            on_progress=on_progress,
        ),
        vectors=_vectors(home, foundation.embedder),
        watcher=Watcher(root) if config.watch and watches else None,
        log=foundation.log,
        wait_sec=config.wait_sec,
        logger=lambda event, facts: logger.warning(event, **facts),
        stream=stream,
    )


def _vectors(home: Path, embedder: SharedEmbedder | None) -> Callable[[FactStore], VectorIndex] | None:
    if embedder is None:
        return None
    return lambda store: VectorIndex(home / "vectors", embedder=embedder, facts=store.facts)


class RepositoryWiring(PlaneWiring):
    """The repository that is served: its index, its mutations, and the recovery of the last run's."""

    tables = (DecisionTable,)

    def __init__(self, house: House) -> None:
        super().__init__(house)
        foundation, workspace = self.foundation, self.foundation.workspace
        self.served = build_repository(
            foundation, root=workspace.root, home=workspace.home, exports=workspace.exports, repo=foundation.repo
        )
        self.index = self.served.index
        edits = self.served.edits
        assert edits is not None, "only attached workspaces are read-only"
        self.edits = edits
        self.state_hash = StateHash(root=workspace.root, head=foundation.repo.head, snapshot=self.index.newest_snapshot)

    def part(self, conveyor: Conveyor) -> Part:
        foundation, index, edits = self.foundation, self.index, self.edits
        last_run = LastRun(foundation=foundation, edits=edits)
        return Part(
            operations=self.served.operations,
            status={
                "index": index.state,
                "contexts": self.served.contexts.state,
                "ledger": lambda call: last_run.state(),
            },
            problems=index.problems,
            collectors=(
                IndexMetrics(
                    state=index.describe,
                    head=foundation.repo.head,
                    clock=foundation.clock,
                    reconciles=foundation.reconciles,
                    indexers=lambda: newest_by_language(edits.scip.tools()),
                ),
            ),
            restore=lambda: last_run.restore(foundation.catalogue),
            tasks=(lambda: last_run.follow(foundation.catalogue), self._clear_secrets),
            sweeps=(Sweep(run=self._walk_secrets, every_sec=_WALK_SEC),),
            stop=self._stop,
        )

    async def _clear_secrets(self) -> None:
        """Take secrets out of what git keeps for recovery, once they are known."""
        await self._walk_secrets()
        await clear_and_log(self.edits.recovery_secrets, self.foundation.logs.logger("codeplane").warning)

    async def _walk_secrets(self) -> None:
        await asyncio.to_thread(self.foundation.secrets.walk)

    async def _stop(self) -> None:
        await self.edits.suite.stop()
        await self.index.stop()
