"""The operations `undo`, `redo` and `mutation.list`, for mutations of any kind."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from codeplane.edit.consequences import Consequence, Consequences
from codeplane.edit.delta import Delta
from codeplane.edit.history.mutation_record import MutationRecord, MutationStats, Reversal, State
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.undo.preview import MUTATION, UndoPreview
from codeplane.edit.undo.visibility import require_visible, visible_mutations
from codeplane.edit.write_files import summary
from codeplane.index.files.paths import escape_bytes, path_text
from codeplane.kernel.actor import ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.call_record import CALL_STARTED
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CannotUndo, CodePlaneError
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.operation import Assessment, Budget, Preview, Request, Result, Risk, assesses, operation, previews
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules

_NAMED = 20
_LATER = 3


class UndoRequest(Request):
    """Which mutation."""

    mutation_id: str = Field("", max_length=100, description="the session's last without it")


class UndoResult(Result):
    """What was put back, or done again."""

    mutation_id: str
    what: str
    state: Literal["applied", "undone"]
    made_by: str | None = Field(None, description="who made it, where that was not the caller")
    delta: Delta
    affected_symbols: tuple[str, ...] = ()
    affected_tests: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    repo_fingerprint: str = ""
    epoch: int = 0

    def text(self) -> str:
        done = "undone" if self.state == "undone" else "done again"
        whose = f" (made by {self.made_by}; it was the newest change of all)" if self.made_by else ""
        lines = [f"{done}: {self.what}{whose}", *self.delta.refs]
        taken_back = "redo does it again" if self.state == "undone" else "undo takes it back"
        if self.delta.files_changed or not self.delta.refs:
            lines.append(summary(self.delta, taken_back=taken_back))
        else:
            lines.append(f"({self.mutation_id}; {taken_back})")
        lines += [f"WARNING: {warning}" for warning in self.warnings]
        return "\n".join(lines)


class ListRequest(PageRequest):
    """Mutations, the newest first."""

    all_sessions: bool = Field(True, description="false: this session's alone")


class MutationInfo(Result):
    """One mutation that is kept."""

    mutation_id: str
    kind: Literal["files", "git"]
    what: str
    at: str
    state: Literal["applied", "undone"]
    session_id: str | None
    actor: str | None = Field(None, description="who made it; missing where that was not kept")
    call_id: str | None = Field(None, description="the call that made it")
    files: int
    insertions: int | None = Field(None, description="lines that came; missing where that is not known")
    deletions: int | None = None
    paths: tuple[str, ...]

    def text(self) -> str:
        lines = f", +{self.insertions} -{self.deletions}" if self.insertions is not None else ""
        files = f" ({plural(self.files, 'file')}{lines})" if self.files else ""
        by = f" by {self.actor}" if self.actor else ""
        return f"{self.mutation_id} {self.at[:19]} {self.state} {self.what}{files}{by}"


class MutationList(Result):
    """One page of them."""

    mutations: tuple[MutationInfo, ...]
    total: int
    retention: str
    pagination: Pagination

    def text(self) -> str:
        if not self.mutations:
            return f"[nothing to undo; kept for {self.retention}]"
        end = f"[{len(self.mutations)} of {self.total}; kept for {self.retention}]"
        return "\n".join([*(mutation.text() for mutation in self.mutations), end]) + self.pagination.line()


class UndoOperations:
    """Find the mutation and pass it to the reversal of its kind."""

    def __init__(
        self,
        *,
        root: Path,
        mutations: MutationStore,
        reversals: Mapping[str, Reversal],
        consequences: Consequences | None,
        cursors: Cursors,
        secrets: SecretRules = NOTHING_SHOWN,
    ) -> None:
        self._mutations = mutations
        self._reversals = reversals
        self._preview = UndoPreview(root=root, reversals=reversals, secrets=secrets)
        self._consequences = consequences
        self._cursors = cursors

    @operation(
        "undo", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", toolset="core", timeout_sec=120
    )
    async def undo(self, call: Call, request: UndoRequest) -> UndoResult:
        """Take back the session's last mutation (files or local git), or the one named, while things are as it left
        them."""
        return await self._reverse(call, request, wanted="applied")

    @operation("redo", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def redo(self, call: Call, request: UndoRequest) -> UndoResult:
        """Do again what was undone last in this session, or the mutation named."""
        return await self._reverse(call, request, wanted="undone")

    @assesses("undo")
    def assess_undo(self, call: Call | None, request: UndoRequest) -> Assessment:
        """The files that would be put back."""
        return self._assess(call, request, "applied")

    @assesses("redo")
    def assess_redo(self, call: Call | None, request: UndoRequest) -> Assessment:
        """The files that would be changed again."""
        return self._assess(call, request, "undone")

    @previews("undo")
    async def preview_undo(self, call: Call, request: UndoRequest) -> Preview:
        """The diff of what would be taken back."""
        return await self._preview.preview(await self._choose_visible(call, request.mutation_id, "applied"))

    @previews("redo")
    async def preview_redo(self, call: Call, request: UndoRequest) -> Preview:
        """The diff of what would be done again."""
        return await self._preview.preview(await self._choose_visible(call, request.mutation_id, "undone"))

    @operation("mutation.list", risk=Risk.READ)
    async def list_mutations(self, call: Call, request: ListRequest) -> MutationList:
        """Mutations that can be undone or done again, the newest first; agents see their own and their work's."""
        session = call.task.session_id if call.task else ""
        scope = f"mutation.list:{session}:{request.all_sessions}"
        after = str(self._cursors.open(request.cursor, scope=scope)["after"]) if request.cursor else None
        records = [
            record
            for record in await visible_mutations(call, await asyncio.to_thread(self._mutations.all))
            if request.all_sessions or record.session_id == session
        ]
        rest = [record for record in records if after is None or record.mutation_id < after]
        page = rest[: request.limit]
        cursor = None
        if len(rest) > len(page):
            cursor = self._cursors.issue(scope=scope, state={"after": page[-1].mutation_id})
        return MutationList(
            mutations=tuple(map(_info, page)),
            total=len(records),
            retention=self._mutations.retention,
            pagination=Pagination(next_cursor=cursor, total_estimate=len(records)),
        )

    def _assess(self, call: Call | None, request: UndoRequest, wanted: State) -> Assessment:
        try:
            record = self._choose(call, request.mutation_id, wanted)
        except CodePlaneError:
            record = None
        if record is None:
            # The call itself says why there is none, to callers who may make it.
            return Assessment(risk=Risk.WRITE, whole=True)
        return Assessment(risk=Risk.WRITE, paths=tuple(map(escape_bytes, record.paths)), whole=True)

    async def _reverse(self, call: Call, request: UndoRequest, *, wanted: State) -> UndoResult:
        # An approval names the mutation.
        mutation_id = call.pins.get(MUTATION, request.mutation_id)
        record = await self._choose_visible(call, mutation_id, wanted)
        reversal = self._reversals.get(record.kind)
        if reversal is None:
            raise CannotUndo(f"mutations of kind {record.kind} cannot be undone here")
        before = await self._consequences.before() if self._consequences is not None else None
        reverse = reversal.undo if wanted == "applied" else reversal.redo
        state: State = "undone" if wanted == "applied" else "applied"
        try:
            delta = await reverse(call, record)
        except CannotUndo as error:
            later = await visible_mutations(call, await asyncio.to_thread(self._later, record))
            if names := [other.mutation_id for other in later[:_LATER]]:
                error.hint = f"undo the later one first: {', '.join(names)}; or look at what is there now and edit it"
            raise
        await asyncio.to_thread(self._mutations.mark, record.mutation_id, state)
        consequence = Consequence()
        if self._consequences is not None:
            paths = None if record.kind == "git" else record.paths
            consequence = await self._consequences.of(before, paths)
        return UndoResult(
            mutation_id=record.mutation_id,
            what=record.what,
            state=state,
            made_by=None if mutation_id else await _maker(call, record),
            delta=delta,
            affected_symbols=consequence.symbols,
            affected_tests=consequence.tests,
            warnings=consequence.warnings,
            repo_fingerprint=consequence.repo_fingerprint,
            epoch=consequence.epoch,
        )

    def _later(self, record: MutationRecord) -> list[MutationRecord]:
        """Return later mutations of the same files, newest first."""
        paths = set(record.paths)
        return [
            other
            for other in self._mutations.all()
            if other.mutation_id > record.mutation_id and other.state == "applied" and paths & set(other.paths)
        ]

    async def _choose_visible(self, call: Call, mutation_id: str, wanted: State) -> MutationRecord:
        """Choose the mutation to undo or redo among those that the caller may see."""
        if mutation_id:
            named = await asyncio.to_thread(self._mutations.find, mutation_id, CannotUndo)
            await require_visible(call, named, CannotUndo, self._mutations.retention)
        record = await asyncio.to_thread(self._choose, call, mutation_id, wanted)
        if record is None:
            raise await self._nothing_to_undo(call, wanted)
        return record

    async def _nothing_to_undo(self, call: Call, wanted: State) -> CannotUndo:
        """The error for a session without such a mutation; it names the caller's newest elsewhere."""
        verb = "undo" if wanted == "applied" else "redo"
        records = await visible_mutations(call, await asyncio.to_thread(self._mutations.all))
        newest = next((record for record in records if record.state == wanted), None)
        if newest is None:
            return CannotUndo(
                f"there is nothing to {verb}; mutations are kept for {self._mutations.retention}",
                hint=f"nothing is left to {verb}: mutation_list shows what there was; git_status, how things are",
            )
        return CannotUndo(
            f"this session has nothing to {verb}; the newest of others is {newest.mutation_id} ({newest.what})",
            hint=f"send mutation_id: {newest.mutation_id} to {verb} that one",
        )

    def _choose(self, call: Call | None, mutation_id: str, wanted: State) -> MutationRecord | None:
        """Choose the mutation to undo or redo, None when there is none; without a call, as for a person."""
        if mutation_id:
            named = self._mutations.find(mutation_id, CannotUndo)
            if named.state != wanted:
                other = "undone already; redo does it again" if wanted == "applied" else "not undone"
                raise CannotUndo(f"{named.mutation_id} is {other}", hint="see mutation_list")
            return named
        session = call.task.session_id if call is not None and call.task else None
        record = self._mutations.find_newest(state=wanted, session_id=session)
        if record is not None and wanted == "undone":
            self._refuse_stale(record, session)
        if record is None and (call is None or call.actor.kind is ActorKind.OWNER):
            # A person may undo any mutation, also after their session has ended.
            return self._mutations.find_newest(state=wanted)
        return record

    def _refuse_stale(self, record: MutationRecord, session: str | None) -> None:
        """Raise CannotUndo when the session made another mutation after the undo."""
        since = self._mutations.find_newest(state="applied", session_id=session)
        if since is not None and since.mutation_id > record.mutation_id:
            raise CannotUndo(
                f"{since.what} came after what was undone last, {record.what}",
                hint=f"send mutation_id: {record.mutation_id} if that one is meant",
            )


async def _maker(call: Call, record: MutationRecord) -> str | None:
    """Return who made a mutation, if not the caller."""
    if record.session_id is None or (call.task is not None and record.session_id == call.task.session_id):
        return None
    events = await call.log.query(EventQuery(session_id=record.session_id, types=(CALL_STARTED,), limit=1))
    made_by = events[0].actor if events else f"session {record.session_id}"
    return None if made_by == str(call.actor) else made_by


def _info(record: MutationRecord) -> MutationInfo:
    stats = MutationStats.of(record)
    return MutationInfo(
        mutation_id=record.mutation_id,
        kind=record.kind,
        what=record.what,
        at=rfc3339(record.at_ns),
        state=record.state,
        session_id=record.session_id,
        actor=stats.actor,
        call_id=record.call_id,
        files=len(record.paths),
        insertions=stats.insertions,
        deletions=stats.deletions,
        paths=tuple(path_text(path) for path in record.paths[:_NAMED]),
    )
