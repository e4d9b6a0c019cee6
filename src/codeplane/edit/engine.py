"""The one way files are changed: admitted, locked, journaled, kept for undo, recorded, and answered in full."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.edit.consequences import Consequence, Consequences
from codeplane.edit.delta import Delta, SemanticLines
from codeplane.edit.described import Described, described
from codeplane.edit.entry import Change
from codeplane.edit.foretold import foretold
from codeplane.edit.history.kept import CALL, Kept, Sides
from codeplane.edit.history.mutations import KeptMutations
from codeplane.edit.history.sides import FileSides
from codeplane.edit.index_moves import IndexMove, IndexMoves, PlannedMoves, moves_of
from codeplane.edit.journal import Journal
from codeplane.edit.locks import PathLocks
from codeplane.edit.placeholder import refuse_placeholders
from codeplane.edit.reversal import reversed_batch
from codeplane.edit.scope import Scope
from codeplane.edit.syntax import Compared
from codeplane.index.files.paths import shown
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
_NAMED = 100
_NAMED_MOVES = 5
_NOT_MOVED = "its entry changed meanwhile, or git was busy"
GIT_MV = "git_mv"


_NO_LINES: SemanticLines = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What was done, what it means, and which of the files git ignores."""

    delta: Delta
    consequence: Consequence
    ignored: tuple[str, ...] = ()


class Engine:
    """Changes the files of one work tree; everything that writes files goes through here."""

    def __init__(
        self,
        *,
        root: Path,
        scope: Scope,
        journal: Journal,
        kept: KeptMutations,
        locks: PathLocks,
        consequences: Consequences | None,
        moves: IndexMoves | None,
        clock: Clock,
        config: EditsConfig,
    ) -> None:
        self._root = root
        self._scope = scope
        self._journal = journal
        self._kept = kept
        self._locks = locks
        self._consequences = consequences
        self._moves = moves
        self._clock = clock
        self._config = config

    async def apply(
        self, call: Call, changes: Sequence[Change], *, what: str, semantic: SemanticLines = _NO_LINES
    ) -> Applied:
        """Make all of the changes or none; a path is changed once, and is located (`Scope.located`)."""
        self._refuse_large(changes)
        paths = [change.path for change in changes]
        with span("index.wait"):
            before = await self._consequences.before() if self._consequences is not None else None
        ignored, found = await asyncio.to_thread(self._prepared, call, changes)
        mutation_id = new_id("mut")
        kept = Kept(
            mutation_id=mutation_id,
            kind="files",
            what=what,
            at_ns=self._clock.now_ns(),
            session_id=call.task.session_id if call.task else None,
            state="applied",
            paths=tuple(paths),
            details=found.told(str(call.actor)).to_json(),
        )
        # Parsed while the disk is waited for.
        comparing = asyncio.ensure_future(self._compared(found))
        try:
            delta, found = await self._shielded(call, mutation_id, kept, changes, (), found, APPLIED)
            compared = await comparing
        finally:
            comparing.cancel()
        consequence = Consequence()
        if self._consequences is not None:
            with span("index.refresh", files=len(paths)):
                consequence = await self._consequences.of(before, paths, compared=compared)
        call.changed(found.effects(consequence.symbols))
        delta = delta.labelled(compared.around, semantic)
        return Applied(delta=delta, consequence=consequence, ignored=tuple(sorted(map(shown, ignored))))

    def _prepared(self, call: Call, changes: Sequence[Change]) -> tuple[set[str], Described]:
        """Raise unless a batch may be written; which of its files git ignores, and what it changes."""
        self.admit(call, changes)
        refuse_placeholders(self._root, call.actor, changes)
        return self._scope.ignored(change.path for change in changes), described(self._root, changes)

    async def expected(self, found: Described, *, semantic: SemanticLines = _NO_LINES) -> tuple[Delta, Consequence]:
        """The delta of changes that nobody made yet, and what they would mean."""
        delta = found.delta("")
        if self._consequences is None:
            return delta, Consequence()
        paths = sorted({*found.texts.before, *found.texts.after})
        compared, consequence = await self._consequences.expected(found.texts, paths)
        return delta.labelled(compared.around, semantic), consequence

    async def undo(self, call: Call, kept: Kept) -> Delta:
        """Put the files back as they were before."""
        return await self._reversed(call, kept)

    async def redo(self, call: Call, kept: Kept) -> Delta:
        """Change them again after an undo."""
        return await self._reversed(call, kept)

    async def sides(self, kept: Kept, paths: Sequence[str]) -> list[Sides]:
        """Some of a mutation's files as they were before it, and as it left them."""
        return await asyncio.to_thread(FileSides(root=self._root, kept=self._kept).of, kept, paths)

    def beside(self, kept: Kept) -> tuple[str, ...]:
        """Nothing but files."""
        return ()

    async def _reversed(self, call: Call, kept: Kept) -> Delta:
        folder = self._kept.folder_of(kept.mutation_id)
        back = await asyncio.to_thread(reversed_batch, self._root, folder, kept)
        self._scope.admit(call, [change.path for change in back.changes if change.path not in back.dropped])
        kind = UNDONE if back.kept.state == "undone" else REDONE
        found = await asyncio.to_thread(described, self._root, back.changes)
        delta, found = await self._shielded(call, new_id("mut"), back.kept, back.changes, back.dropped, found, kind)
        call.changed(found.effects())
        return delta

    def admit(self, call: Call, changes: Sequence[Change]) -> None:
        """Raise unless the batch is within what may be written."""
        self._scope.admit(call, [change.path for change in changes])
        self._refuse_large(changes)

    async def foreseen(self, changes: Sequence[Change], *, verb: str = "change", facts: Sequence[str] = ()) -> Preview:
        """What a person is shown of changes before anyone makes them; what nobody may write is refused."""
        paths = [change.path for change in changes]
        await asyncio.to_thread(self._scope.refuse, paths)
        self._refuse_large(changes)
        ignored = sorted(map(shown, await asyncio.to_thread(self._scope.ignored, paths)))
        more = f" and {len(ignored) - _NAMED} more" if len(ignored) > _NAMED else ""
        notes = [f"git-ignored: {', '.join(ignored[:_NAMED])}{more}"] if ignored else []
        found = await asyncio.to_thread(described, self._root, changes)
        return await asyncio.to_thread(foretold, changes, found, verb=verb, facts=facts, notes=notes)

    def _refuse_large(self, changes: Sequence[Change]) -> None:
        limits: JsonObject = {"edits.max_files": self._config.max_files, "edits.max_mb": self._config.max_mb}
        if len(changes) > self._config.max_files:
            raise TooLarge(f"{len(changes)} files are more than one mutation may change", details=limits)
        size = sum(len(change.content) for change in changes if isinstance(change.content, bytes))
        if size > self._config.max_mb * _MB:
            raise TooLarge(f"{size / _MB:.0f} MB are more than one mutation may write", details=limits)

    async def _compared(self, found: Described) -> Compared:
        with span("parse"):
            return await self._consequences.compared(found.texts) if self._consequences is not None else Compared()

    async def _shielded(
        self,
        call: Call,
        journal_id: str,
        kept: Kept,
        changes: Sequence[Change],
        dropped: Sequence[str],
        found: Described,
        kind: str,
    ) -> tuple[Delta, Described]:
        """Run to an end that is an end: a call that is cancelled changes nothing, or everything."""
        abandoned = threading.Event()
        work = asyncio.ensure_future(self._transacted(call, journal_id, kept, changes, dropped, found, kind, abandoned))
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

    async def _transacted(
        self,
        call: Call,
        journal_id: str,
        kept: Kept,
        changes: Sequence[Change],
        dropped: Sequence[str],
        found: Described,
        kind: str,
        abandoned: threading.Event,
    ) -> tuple[Delta, Described]:
        with self._locks.hold([change.path for change in changes]):
            planned = await self._planned(kept, changes, kind)
            moves = planned.moves
            if moves:
                kept = replace(kept, details={**kept.details, GIT_MV: [move.to_json() for move in moves]})
            kept = replace(kept, details={**kept.details, CALL: call.call_id})
            with span("files.write", files=len(changes)):
                await self._written(call, journal_id, kept, changes, dropped, abandoned)
            if kind == UNDONE:
                moves = tuple(move.back() for move in moves)
            found = found.with_moves(await self._moved(call, planned, moves, changes))
        delta = found.delta(kept.mutation_id)
        await self._record(call, journal_id, kept, delta, kind)
        return delta, found

    async def _written(
        self,
        call: Call,
        journal_id: str,
        kept: Kept,
        changes: Sequence[Change],
        dropped: Sequence[str],
        abandoned: threading.Event,
    ) -> None:
        call.change_begins()
        try:
            await asyncio.to_thread(self._journaled, call, journal_id, kept, changes, dropped, abandoned)
        except StorageFailed:
            # Part of it may stay changed until the next start.
            raise
        except Exception:
            call.change_ended(done=False)
            raise
        call.change_ended(done=True, mutation_id=kept.mutation_id)

    def _journaled(
        self,
        call: Call,
        journal_id: str,
        kept: Kept,
        changes: Sequence[Change],
        dropped: Sequence[str],
        abandoned: threading.Event,
    ) -> None:
        self._journal.apply(journal_id, kept, changes, dropped=dropped, abandoned=abandoned.is_set)
        self._tidied(call, kept.mutation_id)

    async def _moved(
        self, call: Call, planned: PlannedMoves, moves: Sequence[IndexMove], changes: Sequence[Change]
    ) -> dict[str, bool]:
        """Whether git's index moved with each tracked file, by its new path; says why where it did not."""
        done = await self._moves.made(moves) if self._moves is not None else frozenset()
        refused = dict(planned.refused) | {move.old: _NOT_MOVED for move in moves if move.new not in done}
        left = [(change.moved_from, change.path) for change in changes if change.moved_from in refused]
        for old, new in left[:_NAMED_MOVES]:
            call.warn(
                f"git's index did not move {shown(old or '')} → {shown(new)}, since {refused[old or '']}: "
                "git sees a deleted and an untracked file until both are staged"
            )
        return dict.fromkeys(done, True) | {new: False for _, new in left}

    def _tidied(self, call: Call, mutation_id: str) -> None:
        """Make room among what is kept; the files are changed, so whatever is wrong here is only said."""
        try:
            if not self._kept.holds(mutation_id):
                call.warn(
                    "the mutation is done, but could not be kept for undo: "
                    "make .codeplane/undo a folder that can be written"
                )
            self._kept.prune()
        except Exception as error:
            why = error.strerror if isinstance(error, OSError) else error
            call.warn(f"the mutation is done, but what is kept for undo could not be tidied: {why}")

    async def _planned(self, kept: Kept, changes: Sequence[Change], kind: str) -> PlannedMoves:
        if self._moves is None:
            return PlannedMoves()
        if kind != APPLIED:
            return PlannedMoves(moves=moves_of(kept.details.get(GIT_MV)))
        return await self._moves.planned(
            [(change.moved_from, change.path) for change in changes if change.moved_from is not None]
        )

    async def _record(self, call: Call, journal_id: str, kept: Kept, delta: Delta, kind: str) -> None:
        payload = payload_of(kept) | {
            "insertions": delta.insertions,
            "deletions": delta.deletions,
            "hashes": {file.path: file.new_hash for file in delta.files[:_NAMED]},
        }
        draft = Draft(
            stream=STREAM,
            type=kind,
            payload=payload,
            actor=str(call.actor),
            correlation=call.correlation,
            event_id=outcome_id(journal_id),
        )
        try:
            # What the call's own record waits for is durable with it; should that never come, the next start tells.
            if not call.log.append_soon([draft]):
                await call.log.append([draft])
        except CodePlaneError as error:
            # The files are changed, whatever the log says; the call's own record will fail in the same way.
            call.warn(f"the mutation is done, but was not recorded: {error.message}")


def outcome_id(journal_id: str) -> str:
    """The id of the one event that says how a batch ended, so that recovery records it once."""
    return derived_event_id("mutation-outcome", journal_id)


def payload_of(kept: Kept) -> JsonObject:
    """What the log says of a mutation."""
    return {
        "mutation_id": kept.mutation_id,
        "what": kept.what,
        "state": kept.state,
        "files": len(kept.paths),
        "paths": [shown(path) for path in kept.paths[:_NAMED]],
    }
