"""The repository operations over one root: those of the serving workspace, and those of every attached one."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codeplane.adapters.bubblewrap import Bubblewrap
from codeplane.adapters.disk import replace_file
from codeplane.adapters.git_cli import GitCli, clean_environment
from codeplane.adapters.git_clone import GitClone
from codeplane.adapters.pygit2_repo import GitRepo
from codeplane.adapters.secret_files import SecretFiles
from codeplane.adapters.watchfiles_watcher import Watcher
from codeplane.code.resolve.world import SharedModules
from codeplane.git.read.reading import Before, Reading
from codeplane.git.read.reading_operations import reading_operations
from codeplane.git.read.tracked_state import git_status_of
from codeplane.git.safety.guarded import GuardedPrograms
from codeplane.index.archive_operations import PortableOperations
from codeplane.index.contexts.operations import ContextOperations
from codeplane.index.derived_index import Follower
from codeplane.index.fact_store import FactStore
from codeplane.index.files.include import NOTHING_INCLUDED, IncludeRules
from codeplane.index.freshness import Fresh
from codeplane.index.fulltext import FullText
from codeplane.index.indexer import Indexer
from codeplane.index.parser_pool import Parsers
from codeplane.index.service import STREAM, IndexService
from codeplane.index.vector_index import Filler
from codeplane.index.workspaces.folders import Folders
from codeplane.index.workspaces.leases import Leases
from codeplane.index.workspaces.operations import WorkspaceOperations
from codeplane.index.workspaces.register import Attached, Register
from codeplane.index.workspaces.workspaces import CHECKOUT, Workspaces
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import EmbeddingsConfig
from codeplane.kernel.json import JsonObject
from codeplane.kernel.secret_files import SecretRules
from codeplane.kernel.workspace import Workspace
from codeplane.query.compare.operations import CompareOperations
from codeplane.query.explain.explain import ExplainOperations
from codeplane.query.fact_queries.operations import FactOperations
from codeplane.query.knowledge import Knowledge
from codeplane.query.overview.map_repo import MapOperations
from codeplane.query.read.list_dir import ListOperations
from codeplane.query.read.read_files import ReadOperations
from codeplane.query.search.search import SearchOperations
from codeplane.refactor.structural.operations import StructuralOperations
from codeplane.testing.suite import CACHE
from codeplane.vectors.embedder_loader import embedder
from codeplane.wiring.changing import Changing, changing
from codeplane.wiring.shared import Shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A root with its index and the operations that answer from it."""

    index: IndexService
    contexts: ContextOperations
    operations: tuple[object, ...]
    changing: Changing | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """An attached workspace that somebody has asked about."""

    repository: Repository
    catalogue: Catalogue
    leases: Leases

    def state(self, call: Call) -> JsonObject:
        return self.repository.index.state(call)

    async def stop(self) -> None:
        await self.leases.close()
        await self.repository.index.stop()


def repository(
    shared: Shared,
    *,
    root: Path,
    home: Path,
    exports: Path,
    repo: GitRepo,
    stream: str = STREAM,
    attached: bool = False,
    before: Before | None = None,
    hidden: Path | None = None,
) -> Repository:
    """Build the operations over a root; the index is kept in `home`, and of an attached one nothing else is written.

    `hidden` is the folder of CodePlane that the filters of an attached one must not see, the serving one's.
    `before` encloses the git that reads it, where others can write its settings.

    What the last run left half-changed is put right at once, before anybody reads.
    """
    shared.secrets.add(root)
    secrets = shared.secrets.rules_of(root)
    include = NOTHING_INCLUDED if attached else IncludeRules(shared.config.index.include)
    index = _index(shared, root, home, repo, stream, secrets, include, serving=(hidden or home).parent)
    knowledge = Knowledge(
        fresh=index.ready,
        behind=index.behind,
        filled=index.filled,
        store=index.store,
        text=index.text,
        modules=SharedModules(),
        vectors=index.vectors,
    )
    contexts = ContextOperations(
        home=home,
        root=root,
        fresh=index.ready,
        parsers=index.parsers,
        is_indexed=lambda: index.newest() is not None,
    )
    max_file_bytes = shared.config.index.max_file_bytes
    runs = shared.online_runs if before is None else None
    changed: Changing | None = None
    environment: Callable[[], dict[str, str]] = clean_environment
    if before is None:
        guarded = GuardedPrograms(
            home=hidden or home,
            enclosure=shared.hook_enclosure(),
            clock=shared.clock,
            offline=shared.offline,
            runs=shared.online_runs,
        )
        environment = lambda: guarded.environment(root, clean_environment())  # noqa: E731  # one of two
    if not attached:
        changed = changing(shared, root=root, home=home, knowledge=knowledge, contexts=contexts, parsers=index.parsers)
    return Repository(
        index=index,
        contexts=contexts,
        changing=changed,
        operations=(
            index,
            PortableOperations(index=index, folder=exports),
            contexts,
            SearchOperations(root=root, knowledge=knowledge, cursors=shared.cursors),
            StructuralOperations(root=root, knowledge=knowledge, cursors=shared.cursors),
            ReadOperations(
                root=root,
                repo=repo,
                max_file_bytes=max_file_bytes,
                knowledge=knowledge,
                secrets=secrets,
                git=git_status_of(
                    Reading(
                        root=root,
                        environment=environment,
                        timeout_sec=shared.config.git.timeout_sec,
                        before=before,
                        secrets=secrets,
                        runs=runs,
                    )
                ),
            ),
            MapOperations(root=root, knowledge=knowledge, cursors=shared.cursors),
            ExplainOperations(root=root, knowledge=knowledge),
            ListOperations(root=root, knowledge=knowledge, cursors=shared.cursors),
            FactOperations(root=root, knowledge=knowledge),
            *reading_operations(
                root=root,
                environment=environment,
                timeout_sec=shared.config.git.timeout_sec,
                cursors=shared.cursors,
                clock=shared.clock,
                before=before,
                secrets=secrets,
                runs=runs,
            ),
            CompareOperations(
                root=root,
                home=home,
                knowledge=knowledge,
                parsers=index.parsers,
                cursors=shared.cursors,
                environment=environment,
                timeout_sec=shared.config.git.timeout_sec,
                before=before,
                secrets=secrets,
                runs=runs,
            ),
            *(changed.operations if changed is not None else ()),
        ),
    )


def workspaces(shared: Shared, workspace: Workspace) -> tuple[Workspaces, WorkspaceOperations]:
    """The further workspaces of a serving one, and the operations that attach and detach them."""
    config = shared.config.workspaces
    said = shared.logs.logger("workspaces")
    folder = workspace.workspaces.resolve()
    folders = Folders(serving=workspace.root.resolve(), home=Path.home().resolve(), roots=config.roots)

    def opened(attached: Attached, home: Path) -> _Opened:
        built = repository(
            shared,
            root=attached.root,
            home=home,
            exports=workspace.exports / attached.name,
            repo=GitRepo(attached.root),
            stream=f"{STREAM}/{attached.name}",
            attached=True,
            before=_enclosed(workspace, attached.root, shared.secrets),
            hidden=workspace.home,
        )
        leases = Leases()
        return _Opened(repository=built, catalogue=Catalogue(built.operations, around=leases.around), leases=leases)

    register = Register(
        workspace.attached,
        write=replace_file,
        clone_at=lambda name: folder / name / CHECKOUT,
        refuse=folders.refuse,
        said=lambda event, facts: said.warning(event, **facts),
    )
    found = Workspaces(folder=folder, register=register, opened=opened)
    cloner = GitClone(max_mb=config.max_clone_mb, timeout_sec=config.clone_timeout_sec, outside=workspace.root)
    operations = WorkspaceOperations(workspaces=found, folders=folders, cloner=cloner, max_attached=config.max_attached)
    return found, operations


def _enclosed(workspace: Workspace, root: Path, secrets: SecretFiles) -> Before | None:
    """What encloses the git that reads a folder inside the serving repository: tests and commands can write all of it,
    its own settings of git too, and git would run the filters they name."""
    home = workspace.home.resolve()
    if workspace.root.resolve() not in root.parents or home in root.parents:
        return None
    sandbox = Bubblewrap(
        home=Path.home(),
        hidden=(home,),
        cache=workspace.home / "tests" / CACHE,
        environment=os.environ,
        secrets=secrets,
    )
    if sandbox.missing():
        return None
    reach = _Reach(root=root)
    return lambda folder: sandbox.command([], cwd=folder, enclosure=reach)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """One folder, and nothing else."""

    root: Path
    writable: tuple[Path, ...] = ()
    tools: tuple[Path, ...] = ()
    network: bool = False
    copy: None = None
    secrets: tuple[str, ...] = ()


def _index(
    shared: Shared,
    root: Path,
    home: Path,
    repo: GitRepo,
    stream: str,
    secrets: SecretRules,
    include: IncludeRules,
    *,
    serving: Path,
) -> IndexService:
    config = shared.config.index
    said = shared.logs.logger("index")
    return IndexService(
        indexer=lambda published, saw: Indexer(
            root=root,
            home=home,
            git_at=partial(GitCli, serving=serving),
            repo=repo,
            clock=shared.clock,
            max_file_bytes=config.max_file_bytes,
            published=published,
            secrets=secrets,
            include=include,
            saw=saw,
            reconciled=shared.reconciled,
        ),
        fresh=lambda indexer: Fresh(indexer=indexer, clock=shared.clock, verify_after_sec=config.verify_after_sec),
        follower=lambda told: Follower(
            facts=FactStore(home / "facts.db"),
            text=FullText(home / "tantivy"),
            parsers=Parsers(
                processes=config.processes or min(os.cpu_count() or 1, 4),
                memory_bytes=config.memory_mb * 1024 * 1024,
                workers=shared.workers,
            ),
            told=told,
        ),
        vectors=_vectors(home, shared.config.embeddings),
        watcher=Watcher(root) if config.watch else None,
        log=shared.log,
        wait_sec=config.wait_sec,
        said=lambda event, facts: said.warning(event, **facts),
        stream=stream,
    )


def _vectors(home: Path, config: EmbeddingsConfig) -> Callable[[FactStore], Filler] | None:
    if config.model == "none":
        return None
    key = os.environ.get(config.key_variable) if config.key_variable else None
    return lambda store: Filler(home / "vectors", embedder=lambda: embedder(config, key=key), facts=store.facts)
