"""The `write_files` operation: edits of any number of files in one call, all or none."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from pydantic import Field

from codeplane.disk.short_work import ShortWork
from codeplane.edit.batch import Change
from codeplane.edit.batch_delta import batch_delta
from codeplane.edit.delta import Delta
from codeplane.edit.disk_error import disk_error
from codeplane.edit.edit_plan import EditPlan
from codeplane.edit.engine import SHORT_BYTES, Engine
from codeplane.edit.placeholder import refuse_placeholders
from codeplane.edit.preview import diff_changes
from codeplane.edit.request import Edit, WriteRequest
from codeplane.edit.scope import Scope
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, InvalidArgument
from codeplane.kernel.json import JsonValue
from codeplane.kernel.operation import Assessment, Budget, Preview, Result, Risk, assesses, operation, previews

_NAMED = 20
_TESTS = 8
_FAILED = 20


class WriteResult(Result):
    """What was written, or with dry_run would be; `affected_*` are bounded, and say when there are more."""

    applied: bool
    dry_run: bool = False
    delta: Delta
    affected_symbols: tuple[str, ...] = ()
    affected_tests: tuple[str, ...] = ()
    warnings: tuple[str, ...] = Field((), description="syntax errors that were not there before, and what is not known")
    ignored: tuple[str, ...] = Field((), description="files that git ignores")
    repo_fingerprint: str = ""
    epoch: int = 0
    diff: str | None = None

    def text(self) -> str:
        if self.dry_run:
            return (self.diff or "nothing would change") + _lines(self)
        if not self.applied:
            return "nothing to change: it is so already"
        return summary(self.delta) + _lines(self)


def summary(delta: Delta, *, taken_back: str = "undo takes it back") -> str:
    """Summarise a delta in a few lines, with how to take it back."""
    files = f"{delta.files_changed} file{'s' * (delta.files_changed != 1)}"
    head = f"{files}, +{delta.insertions} -{delta.deletions} ({delta.mutation_id}; {taken_back})"
    named = [file.text() for file in delta.files[:_NAMED]]
    if delta.files_changed > len(named):
        named.append(f"and {delta.files_changed - len(named)} more")
    return "\n".join([head, *named])


def _lines(result: WriteResult) -> str:
    lines = [f"WARNING: {warning}" for warning in result.warnings]
    if result.ignored:
        lines.append(f"git-ignored: {', '.join(result.ignored[:_NAMED])}")
    if result.affected_symbols:
        lines.append(f"symbols: {_by_file(result.affected_symbols[:_NAMED])}")
    if result.affected_tests:
        more = f" and {len(result.affected_tests) - _TESTS} more" if len(result.affected_tests) > _TESTS else ""
        lines.append(f"tests: {', '.join(result.affected_tests[:_TESTS])}{more}")
    return "".join(f"\n{line}" for line in lines)


def _by_file(symbols: Sequence[str]) -> str:
    """Symbols of the form `path:name`, marked when they came or went, with each path once."""
    names: dict[str, list[str]] = {}
    for symbol in symbols:
        path, _, name = symbol.lstrip("+-").rpartition(":")
        names.setdefault(path, []).append(f"{symbol[0] if symbol[0] in '+-' else ''}{name}")
    return "; ".join(f"{path}:{', '.join(some)}" if path else ", ".join(some) for path, some in names.items())


class WriteOperations:
    """Plan edits against the disk and pass them to the engine."""

    def __init__(self, *, root: Path, scope: Scope, engine: Engine) -> None:
        self._root = root
        self._scope = scope
        self._engine = engine
        self._short = ShortWork(root)

    @assesses("write_files")
    def assess(self, request: WriteRequest) -> Assessment:
        """A dry run only reads."""
        if request.dry_run:
            return Assessment(risk=Risk.READ)
        named = [path for edit in request.edits for path in (edit.path, edit.new_path) if path]
        try:
            gits = self._scope.git_folders()
            located = dict.fromkeys(self._scope.locate(path, gits) for path in named)
            return Assessment(risk=Risk.WRITE, paths=tuple(located), whole=True)
        except OSError:
            # Something is being swapped right now; each path is checked again before it is written.
            return Assessment(risk=Risk.WRITE)

    @previews("write_files")
    async def preview(self, request: WriteRequest) -> Preview:
        """Preview the diff; an edit that does not fit is refused before a person is asked."""
        _refuse_empty(request)
        changes = await asyncio.to_thread(self._plan, self._scope.refuse_unwritable, request.edits)
        return await self._engine.preview(changes, verb="show the change of" if request.dry_run else "change")

    @operation(
        "write_files",
        risk=Risk.WRITE,
        budget=Budget.MUTATION,
        capability="write_files",
        toolset="core",
        timeout_sec=120,
    )
    async def write_files(self, call: Call, request: WriteRequest) -> WriteResult:
        """Create, update, delete or move files, all edits or none: whole content, old_text/new_text, or line patches.
        Answers with the delta, affected symbols and tests, and new syntax errors."""
        _refuse_empty(request)
        plan = partial(self._plan, partial(self._scope.admit, call), request.edits)
        changes = await self._short.run_if(self._is_short(request.edits), plan)
        if request.dry_run:
            return await self._dry_run(call, changes)
        if not changes:
            return WriteResult(applied=False, delta=Delta(mutation_id="", files_changed=0))
        applied = await self._engine.apply(call, changes, what=_title(changes))
        return WriteResult(
            applied=True,
            delta=applied.delta,
            affected_symbols=applied.consequence.symbols,
            affected_tests=applied.consequence.tests,
            warnings=applied.consequence.warnings,
            ignored=applied.ignored,
            repo_fingerprint=applied.consequence.repo_fingerprint,
            epoch=applied.consequence.epoch,
        )

    def _is_short(self, edits: Sequence[Edit]) -> bool:
        """Whether to plan edits is short; to explain why a text was not found takes longer."""
        if any(edit.swaps or edit.patches for edit in edits):
            return False
        sent = sum(len(edit.content or "") for edit in edits)
        named = [path.removeprefix(f"{self._root}/") for edit in edits for path in (edit.path, edit.new_path) if path]
        return sent <= SHORT_BYTES and self._short.is_small(named, most_bytes=SHORT_BYTES, may_be_missing=True)

    def _plan(self, admit: Callable[[Iterable[str]], None], edits: Sequence[Edit]) -> list[Change]:
        gits = self._scope.git_folders()
        plan = EditPlan(self._root, self._scope, gits)
        failed: list[tuple[int, str, CodePlaneError]] = []
        for number, edit in enumerate(edits):
            try:
                # Before the file is read, so that errors tell nothing about files that may not be written.
                paths = [edit.path, *([edit.new_path] if edit.new_path else [])]
                admit([self._scope.locate(path, gits) for path in paths])
                plan.add(edit)
            except CodePlaneError as error:
                failed.append((number, edit.path, error))
                # Explaining a mismatch reads the whole file, and these are enough.
                if len(failed) > _FAILED:
                    break
            except OSError as error:
                raise disk_error(error, edit.path) from error
        if failed:
            raise _join_errors(failed, len(edits))
        return plan.changes()

    async def _dry_run(self, call: Call, changes: Sequence[Change]) -> WriteResult:
        self._engine.admit(call, changes)
        await asyncio.to_thread(refuse_placeholders, self._root, call.actor, changes)
        computed = await asyncio.to_thread(batch_delta, self._root, changes)
        ignored = await asyncio.to_thread(self._scope.find_ignored, [change.path for change in changes])
        delta, consequence = await self._engine.predict(computed)
        return WriteResult(
            applied=False,
            dry_run=True,
            delta=delta,
            affected_symbols=consequence.symbols,
            affected_tests=consequence.tests,
            warnings=consequence.warnings,
            diff=await asyncio.to_thread(diff_changes, changes, computed),
            ignored=tuple(sorted(map(path_text, ignored))),
        )


def _refuse_empty(request: WriteRequest) -> None:
    if not request.edits:
        raise InvalidArgument("there is no edit", hint='send edits: [{"path": "a.py", "old_text": …, "new_text": …}]')


def _join_errors(failed: Sequence[tuple[int, str, CodePlaneError]], count: int) -> CodePlaneError:
    """Join the errors of all edits that do not fit into one; a single edit's error stays as it is."""
    first = failed[0][2]
    if count == 1:
        return first
    messages = [f"edits[{number}] {error.name}: {error.message}" for number, _, error in failed[:_FAILED]]
    number_of = str(len(failed))
    if len(failed) > _FAILED:
        number_of = f"more than {_FAILED}"
        messages.append(f"and more; those after edits[{failed[-1][0]}] were not looked at")
    room = max(3500 // len(messages), 120)
    details: list[JsonValue] = [
        {"edit": number, "path": path[:200], "error": error.name, "message": error.message[:room], **error.details}
        for number, path, error in failed[:_FAILED]
    ]
    hints = list(dict.fromkeys(error.hint for _, _, error in failed))
    return type(first)(
        f"{number_of} of {count} edits do not fit, so none was made:\n"
        + "\n".join(message[:room] for message in messages),
        hint="; ".join(hints[:3]),
        details={"failed": details},
    )


def _title(changes: Sequence[Change]) -> str:
    moved = {change.moved_from for change in changes}
    named = [path_text(change.path) for change in changes if change.path not in moved]
    return f"write_files {', '.join(named[:3])}" + (f" and {len(named) - 3} more" if len(named) > 3 else "")
