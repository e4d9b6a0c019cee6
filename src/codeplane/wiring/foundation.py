"""The foundation of every plane and workspace: settings, log, time, secrets."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codeplane import __version__
from codeplane.adapters.bubblewrap import bubblewrap_of_other_work_tree
from codeplane.adapters.file_replacement import storage_error
from codeplane.adapters.hook_sandbox import HookSandbox
from codeplane.adapters.pygit2_repo import GitRepo
from codeplane.adapters.sealed_bytes import SealedBytes
from codeplane.adapters.secret_files import EMPTY, SecretFiles
from codeplane.adapters.tool_secrets import known_secrets
from codeplane.adapters.yaml_config import LoadedConfig
from codeplane.index.worker_process import Workers
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import Config, EmbeddingsConfig
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import SandboxMissing
from codeplane.kernel.model_provider import ModelProvider
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.secret_paths import SecretRules
from codeplane.kernel.shared_log import SharedStore
from codeplane.kernel.workspace import Workspace
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import Projection
from codeplane.observe.health import Health
from codeplane.observe.index_metrics import ReconcileTimes
from codeplane.observe.logs import Logs
from codeplane.observe.metrics import Metrics
from codeplane.observe.stream_metrics import StreamMetrics
from codeplane.observe.tracing import Tracing
from codeplane.trust.identity import is_token_missing, owner_token
from codeplane.trust.identity.server_key import ServerKey
from codeplane.trust.policy.engine import Engine
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.vectors.embedder_loader import load_embedder
from codeplane.vectors.text_vectors import SharedEmbedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The inputs of a start."""

    workspace: Workspace
    loaded: LoadedConfig
    clock: Clock
    health: Health
    logs: Logs
    # Programs that run many planes one after the other share these between them.
    engine: Engine
    workers: Workers
    # The log that this plane shares with others, if it does.
    shared: SharedStore | None = None
    shared_key: bytes | None = None
    # Models that the program brings along, by the names of their providers.
    models: Mapping[str, ModelProvider] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """The parts that all planes share; it knows none of them."""

    workspace: Workspace
    loaded: LoadedConfig
    clock: Clock
    health: Health
    logs: Logs
    engine: Engine
    workers: Workers
    shared: SharedStore | None
    models: Mapping[str, ModelProvider]
    token: str
    # Of everything that is stored as it is: what work saw and planned, and answers by their keys.
    seal: SealedBytes
    log: SqliteLog
    repo: GitRepo
    cursors: Cursors
    catalogue: Catalogue
    secrets: SecretFiles
    # For what people decide by and look back on: it holds words that an agent could have put into a secrets file.
    redactor: Redactor
    # For what leaves for agents and other machines.
    outward: Redactor
    metrics: Metrics
    reconciles: ReconcileTimes
    streams: StreamMetrics
    tracing: Tracing
    untrusted: UntrustedMarks
    # Those of git whose hooks and filters may have the network.
    online_runs: OnlineRuns
    # The model of all vectors; None where the settings want none.
    embedder: SharedEmbedder | None

    @classmethod
    def of(cls, start: Start, catalogue: Catalogue, tables: Sequence[Projection]) -> "Foundation":
        """Open the log and read the owner's token; the tables are those of all planes."""
        config, clock, logs, workspace = start.loaded.config, start.clock, start.logs, start.workspace
        token = _token(workspace, logs)
        secrets = SecretFiles(
            serving=workspace.root,
            rules=SecretRules(config.index.secrets),
            empty=workspace.home / EMPTY,
            aliases=workspace.home / "secret-aliases.json",
            on_surplus=lambda file: logs.logger("secrets").warning(
                "not every value of a secrets file is left out of answers: there are too many", file=file
            ),
        )
        tool_secrets = known_secrets(config, start.loaded.tool_secrets)
        known = [token, *start.loaded.provider_keys.values(), *tool_secrets]
        redactor = Redactor(known=known)
        outward = Redactor(known=known, matcher=secrets.matcher)
        logs.redact(redactor)
        metrics = Metrics(clock=clock, logger=logs.logger("calls"), version=__version__)
        own_key = ServerKey.at(workspace.server_key).derive("payloads")
        seal = SealedBytes(own_key) if start.shared_key is None else SealedBytes(start.shared_key, own_key)
        log = _log(start, metrics, redactor, tables, seal)
        cursors, online_runs = Cursors(clock=clock), OnlineRuns()
        return cls(
            workspace=workspace,
            loaded=start.loaded,
            clock=clock,
            health=start.health,
            logs=logs,
            engine=start.engine,
            models=start.models,
            workers=start.workers,
            shared=start.shared,
            token=token,
            seal=seal,
            log=log,
            repo=GitRepo(workspace.root),
            cursors=cursors,
            catalogue=catalogue,
            secrets=secrets,
            redactor=redactor,
            outward=outward,
            metrics=metrics,
            reconciles=ReconcileTimes(),
            streams=StreamMetrics(position=lambda: log.position),
            tracing=Tracing.of(
                config.observe,
                redactor=redactor,
                outward=outward,
                cursors=cursors,
                logger=logs.logger("traces"),
                version=__version__,
            ),
            untrusted=UntrustedMarks(online_runs=online_runs, require_token=config.server.require_token),
            online_runs=online_runs,
            embedder=_embedder(config.embeddings),
        )

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self.loaded.config

    def offline(self) -> bool:
        """Whether git's hooks and filters run without the network now.

        A mark of any agent counts: a hook that a marked agent wrote is run by the commits of others, too.
        """
        return self.untrusted.has_marks

    def hook_enclosure(self) -> HookSandbox:
        """The sandbox of git's hooks and filters; raises SandboxMissing where the only bubblewrap is untrusted."""
        if (program := bubblewrap_of_other_work_tree(self.secrets)) is not None:
            # Else they would run as if there were none, in reach of everything.
            raise SandboxMissing(
                f"the only bubblewrap lies in a work tree, where agents write: {program}",
                hint="install bubblewrap elsewhere, or take that folder out of PATH",
            )
        return HookSandbox(self.secrets, writable=self.config.git.hook_writable)

    async def close(self) -> None:
        """Send the last traces and close the log."""
        await asyncio.to_thread(self.tracing.stop)
        await self.log.stop()
        await asyncio.to_thread(self.log.close)


def _token(workspace: Workspace, logs: Logs) -> str:
    was_garbled = is_token_missing(workspace.owner_token)
    try:
        token = owner_token(workspace.owner_token)
    except OSError as error:
        raise storage_error(error, workspace.owner_token) from error
    if was_garbled:
        logs.logger("codeplane").warning(
            "the owner's token was made again, its file held none", file=str(workspace.owner_token)
        )
    return token


def _log(
    start: Start, metrics: Metrics, redactor: Redactor, tables: Sequence[Projection], seal: SealedBytes
) -> SqliteLog:
    def on_commit(events: int, spent_ns: int) -> None:
        # A failed commit is reported with no events.
        if events:
            start.health.note_commit()
        metrics.count_commit(events=events, spent_ns=spent_ns)

    return SqliteLog(
        path=start.workspace.ledger,
        projections=tables,
        config=start.loaded.config.ledger,
        clock=start.clock,
        on_commit=on_commit,
        on_lost=start.health.note_failure,
        redactor=redactor,
        shared=start.shared,
        seal=seal,
    )


def _embedder(config: EmbeddingsConfig) -> SharedEmbedder | None:
    if config.model == "none":
        return None
    key = os.environ.get(config.key_variable) if config.key_variable else None
    return SharedEmbedder(lambda: load_embedder(config, key=key))
