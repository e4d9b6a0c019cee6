"""The edit engine, the only way to change files: changes are admitted, locked, journaled, and kept for undo."""

import asyncio
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from codeplane.disk.short_work import ShortWork
from codeplane.edit.batch import Change
from codeplane.edit.batch_delta import BatchDelta, batch_delta
from codeplane.edit.consequences import Consequence, Consequences
from codeplane.edit.delta import Delta, SemanticLines
from codeplane.edit.group_commit import GroupCommit
from codeplane.edit.history.file_versions import FileVersionReader
from codeplane.edit.history.mutation_record import CALL, FileVersions, MutationRecord
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.index_moves import IndexMove, IndexMoves, PlannedMoves, moves_from_json
from codeplane.edit.journal import Journal, PlannedBatch
from codeplane.edit.path_locks import PathLocks
from codeplane.edit.placeholder import refuse_placeholders
from codeplane.edit.preview import preview_changes
from codeplane.edit.reversal import reverse_batch
from codeplane.edit.scope import Scope
from codeplane.edit.syntax_diff import SyntaxDiff
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import EditsConfig
from codeplane.kernel.errors import CodePlaneError, StorageFailed, TooLarge
from codeplane.kernel.event import Draft
from codeplane.kernel.ids import derived_event_id, new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Preview
from codeplane.kernel.trace import span

STREAM = "mutations"
APPLIED, UNDONE, REDONE, ROLLED_BACK = "mutation.applied", "mutation.undone", "mutation.redone", "mutation.rolled_back"
_MB = 1024 * 1024
# Of so much text the differences are found in about the time of a switch of threads.
SHORT_BYTES = 16 * 1024
_NAMED = 100
_NAMED_MOVES = 5
_NOT_MOVED = "its entry changed meanwhile, or git was busy"
GIT_MV = "git_mv"


_NO_LINES: SemanticLines = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedChanges:
    """The delta and consequences of changes, and the changed files that git ignores."""

    delta: Delta
    consequence: Consequence
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Transaction:
    """One batch on its way to the disk; `kind` is the type of the event that records it."""

    journal_id: str
    record: MutationRecord
    changes: Sequence[Change]
    dropped: Sequence[str] = ()
    computed: BatchDelta
    kind: str


class Engine:
    """Change the files of one work tree; everything that writes files goes through here."""

    def __init__(
        self,
        *,
        root: Path,
        scope: Scope,
        journal: Journal,
        mutations: MutationStore,
        locks: PathLocks,
        consequences: Consequences | None,
        moves: IndexMoves | None,
        clock: Clock,
        config: EditsConfig,
    ) -> None:
        self._root = root
        self._short = ShortWork(root)
        self._scope = scope
        self._commits = GroupCommit(journal=journal, mutations=mutations)
        self._mutations = mutations
        self._locks = locks
        self._consequences = consequences
        self._moves = moves
        self._clock = clock
        self._config = config

    async def apply(
        self, call: Call, changes: Sequence[Change], *, what: str, semantic: SemanticLines = _NO_LINES
    ) -> AppliedChanges:
        """Make all changes or none; each path occurs once and is located (`Scope.locate`)."""
        self._refuse_large(changes)
        paths = [change.path for change in changes]
        with span("index.wait"):
            before = await self._consequences.before() if self._consequences is not None else None
        prepare = partial(self._prepare, call, changes)
        ignored, computed = await self._short.run_if(self._is_short(changes), prepare)
        mutation_id = new_id("mut")
        record = MutationRecord(
            mutation_id=mutation_id,
            kind="files",
            what=what,
            at_ns=self._clock.now_ns(),
            session_id=call.task.session_id if call.task else None,
            state="applied",
            paths=tuple(paths),
            details=computed.stats(str(call.actor)).to_json(),
        )
        # Parsed while the disk is busy.
        comparing = asyncio.ensure_future(self._compare(computed))
        try:
            transaction = _Transaction(
                journal_id=mutation_id, record=record, changes=changes, computed=computed, kind=APPLIED
            )
            computed = await self._run_shielded(call, transaction)
            compared = await comparing
        finally:
            comparing.cancel()
        consequence = Consequence()
        if self._consequences is not None:
            with span("index.refresh", files=len(paths)):
                consequence = await self._consequences.of(before, paths, compared=compared)
        call.report_change(computed.effects(consequence.symbols))
        delta = computed.delta(mutation_id, symbols=compared.around, semantic=semantic)
        return AppliedChanges(delta=delta, consequence=consequence, ignored=tuple(sorted(map(path_text, ignored))))

    def _is_short(self, changes: Sequence[Change]) -> bool:
        """Whether to compare the changes with what is there is short."""
        sizes = [len(change.content or b"") if not isinstance(change.content, Path) else math.inf for change in changes]
        paths = [change.path for change in changes]
        return sum(sizes) <= SHORT_BYTES and self._short.is_small(paths, most_bytes=SHORT_BYTES, may_be_missing=True)

    def _prepare(self, call: Call, changes: Sequence[Change]) -> tuple[set[str], BatchDelta]:
        """Raise unless a batch may be written; return its ignored files and its delta."""
        self.admit(call, changes)
        refuse_placeholders(self._root, call.actor, changes)
        return self._scope.find_ignored(change.path for change in changes), batch_delta(self._root, changes)

    async def predict(self, computed: BatchDelta, *, semantic: SemanticLines = _NO_LINES) -> tuple[Delta, Consequence]:
        """Return the delta and consequences of changes that have not been made."""
        if self._consequences is None:
            return computed.delta(""), Consequence()
        paths = sorted({*computed.texts.before, *computed.texts.after})
        compared, consequence = await self._consequences.predict(computed.texts, paths)
        return computed.delta("", symbols=compared.around, semantic=semantic), consequence

    async def undo(self, call: Call, record: MutationRecord) -> Delta:
        """Put the files back as they were before."""
        return await self._reverse(call, record)

    async def redo(self, call: Call, record: MutationRecord) -> Delta:
        """Change them again after an undo."""
        return await self._reverse(call, record)

    async def file_versions(self, record: MutationRecord, paths: Sequence[str]) -> list[FileVersions]:
        """Read some files of a mutation, as they were before and after it."""
        return await asyncio.to_thread(
            FileVersionReader(root=self._root, mutations=self._mutations).read, record, paths
        )

    def other_changes(self, record: MutationRecord) -> tuple[str, ...]:
        """Return nothing: only files change."""
        return ()

    async def _reverse(self, call: Call, record: MutationRecord) -> Delta:
        folder = self._mutations.folder_of(record.mutation_id)
        back = await asyncio.to_thread(reverse_batch, self._root, folder, record)
        self._scope.admit(call, [change.path for change in back.changes if change.path not in back.dropped])
        kind = UNDONE if back.kept.state == "undone" else REDONE
        computed = await asyncio.to_thread(batch_delta, self._root, back.changes)
        transaction = _Transaction(
            journal_id=new_id("mut"),
            record=back.kept,
            changes=back.changes,
            dropped=back.dropped,
            computed=computed,
            kind=kind,
        )
        computed = await self._run_shielded(call, transaction)
        call.report_change(computed.effects())
        return computed.delta(back.kept.mutation_id)

    def admit(self, call: Call, changes: Sequence[Change]) -> None:
        """Raise unless the caller may write the batch."""
        self._scope.admit(call, [change.path for change in changes])
        self._refuse_large(changes)

    async def preview(self, changes: Sequence[Change], *, verb: str = "change", facts: Sequence[str] = ()) -> Preview:
        """Preview changes for a person; raise when no caller may write one of them."""
        paths = [change.path for change in changes]
        await asyncio.to_thread(self._scope.refuse_unwritable, paths)
        self._refuse_large(changes)
        ignored = sorted(map(path_text, await asyncio.to_thread(self._scope.find_ignored, paths)))
        more = f" and {len(ignored) - _NAMED} more" if len(ignored) > _NAMED else ""
        notes = [f"git-ignored: {', '.join(ignored[:_NAMED])}{more}"] if ignored else []
        computed = await asyncio.to_thread(batch_delta, self._root, changes)
        return await asyncio.to_thread(preview_changes, changes, computed, verb=verb, facts=facts, notes=notes)

    def _refuse_large(self, changes: Sequence[Change]) -> None:
        limits: JsonObject = {"edits.max_files": self._config.max_files, "edits.max_mb": self._config.max_mb}
        if len(changes) > self._config.max_files:
            raise TooLarge(f"{len(changes)} files are more than one mutation may change", details=limits)
        size = sum(len(change.content) for change in changes if isinstance(change.content, bytes))
        if size > self._config.max_mb * _MB:
            raise TooLarge(f"{size / _MB:.0f} MB are more than one mutation may write", details=limits)

    async def _compare(self, computed: BatchDelta) -> SyntaxDiff:
        with span("parse"):
            return await self._consequences.compare(computed.texts) if self._consequences is not None else SyntaxDiff()

    async def _run_shielded(self, call: Call, transaction: _Transaction) -> BatchDelta:
        """Run the transaction to its end even when the call is cancelled, so that all or nothing changes."""
        abandoned = threading.Event()
        work = asyncio.ensure_future(self._run_transaction(call, transaction, abandoned))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            abandoned.set()
            while not work.done():
                try:
                    await asyncio.wait({work})
                except asyncio.CancelledError:
                    continue
            if not work.cancelled():
                work.exception()
            raise

    async def _run_transaction(self, call: Call, transaction: _Transaction, abandoned: threading.Event) -> BatchDelta:
        record, changes = transaction.record, transaction.changes
        with self._locks.hold([change.path for change in changes]):
            planned = await self._plan_moves(transaction)
            moves = planned.moves
            if moves:
                record = replace(record, details={**record.details, GIT_MV: [move.to_json() for move in moves]})
            record = replace(record, details={**record.details, CALL: call.call_id})
            transaction = replace(transaction, record=record)
            with span("files.write", files=len(changes)):
                await self._write(call, transaction, abandoned)
            if transaction.kind == UNDONE:
                moves = tuple(move.reverse() for move in moves)
            computed = transaction.computed.with_moves(await self._move_in_index(call, planned, moves, changes))
        await self._record(call, replace(transaction, computed=computed))
        return computed

    async def _write(self, call: Call, transaction: _Transaction, abandoned: threading.Event) -> None:
        call.change_begins()
        try:
            planned = PlannedBatch(
                journal_id=transaction.journal_id,
                record=transaction.record,
                changes=transaction.changes,
                dropped=transaction.dropped,
                abandoned=abandoned.is_set,
            )
            for warning in await self._commits.apply(planned):
                call.warn(warning)
        except StorageFailed:
            # Some files may stay changed until the next start.
            raise
        except Exception:
            call.change_ended(done=False)
            raise
        call.change_ended(done=True, mutation_id=transaction.record.mutation_id)

    async def _move_in_index(
        self, call: Call, planned: PlannedMoves, moves: Sequence[IndexMove], changes: Sequence[Change]
    ) -> dict[str, bool]:
        """Move entries in git's index; return by new path whether each tracked file moved, and warn when not."""
        moved = await self._moves.apply(moves) if self._moves is not None else frozenset()
        refused = dict(planned.refused) | {move.old: _NOT_MOVED for move in moves if move.new not in moved}
        left = [(change.moved_from, change.path) for change in changes if change.moved_from in refused]
        for old, new in left[:_NAMED_MOVES]:
            call.warn(
                f"git's index did not move {path_text(old or '')} → {path_text(new)}, since {refused[old or '']}: "
                "git sees a deleted and an untracked file until both are staged"
            )
        return dict.fromkeys(moved, True) | {new: False for _, new in left}

    async def _plan_moves(self, transaction: _Transaction) -> PlannedMoves:
        if self._moves is None:
            return PlannedMoves()
        if transaction.kind != APPLIED:
            return PlannedMoves(moves=moves_from_json(transaction.record.details.get(GIT_MV)))
        return await self._moves.plan(
            [(change.moved_from, change.path) for change in transaction.changes if change.moved_from is not None]
        )

    async def _record(self, call: Call, transaction: _Transaction) -> None:
        computed = transaction.computed
        payload = event_payload(transaction.record) | {
            "insertions": computed.insertions,
            "deletions": computed.deletions,
            "hashes": {file.path: file.new_hash for file in computed.files[:_NAMED]},
        }
        draft = Draft(
            stream=STREAM,
            type=transaction.kind,
            payload=payload,
            actor=str(call.actor),
            correlation=call.correlation,
            event_id=outcome_event_id(transaction.journal_id),
        )
        try:
            # Durable together with the call's own record; if that never comes, the next start records it.
            if not call.log.append_soon([draft]):
                await call.log.append([draft])
        except CodePlaneError as error:
            # The files are changed all the same; the call's own record will fail in the same way.
            call.warn(f"the mutation is done, but was not recorded: {error.message}")


def outcome_event_id(journal_id: str) -> str:
    """Return the id of the event for the outcome of a batch, so that recovery records it only once."""
    return derived_event_id("mutation-outcome", journal_id)


def event_payload(record: MutationRecord) -> JsonObject:
    """Return the event payload that describes a mutation."""
    return {
        "mutation_id": record.mutation_id,
        "what": record.what,
        "state": record.state,
        "files": len(record.paths),
        "paths": [path_text(path) for path in record.paths[:_NAMED]],
    }
