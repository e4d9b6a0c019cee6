"""Consequences of a change: changed symbols, tests that reach it, new syntax errors, and the state after it."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from codeplane.edit.syntax_diff import MAX_PARSED, SyntaxComparer, SyntaxDiff, Texts
from codeplane.index.files.file import read
from codeplane.index.files.ignore import says_what_belongs
from codeplane.index.files.paths import path_text
from codeplane.index.freshness import SnapshotSource
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError
from codeplane.query.knowledge import Knowledge

MAX_SYMBOLS = 50
MAX_TESTS = 200
_MAX_COMPARED = 200
_READY_SEC = 0.5
_TESTS_SEC = 1.0
# For previews, which can wait since nothing has been written yet.
_EXPECTED_SEC = 10.0


class ReachedTest(Protocol):
    """A test file that reaches the change."""

    @property
    def path(self) -> str: ...


class Selection(Protocol):
    """The tests to run for a change."""

    @property
    def reached(self) -> Sequence[ReachedTest]: ...


class Impact(Protocol):
    """Finds the tests that reach changed files."""

    async def after_edit(self, snapshot: Snapshot, paths: Sequence[str]) -> Selection | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """The consequences of one change; `warnings` name new syntax errors and what could not be determined."""

    symbols: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    repo_fingerprint: str = ""
    epoch: int = 0
    warnings: tuple[str, ...] = ()


class Consequences:
    """Determine the consequences of changes from the index."""

    def __init__(
        self,
        *,
        root: Path,
        knowledge: Knowledge,
        syntax: SyntaxComparer,
        impact: Impact | None,
        unlisted: Callable[[Iterable[str]], set[str]],
    ) -> None:
        """`unlisted` returns the new paths that the index does not cover: ignored by git or by our rules."""
        self._root = root
        self._knowledge = knowledge
        self._syntax = syntax
        self._impact = impact
        self._unlisted = unlisted

    async def before(self) -> Snapshot | None:
        """Return the snapshot before a change; None while the index is being built, for which no change waits."""
        fresh = await self._fresh_source()
        try:
            return await fresh.snapshot(strict=False) if fresh is not None else None
        except OSError:
            # Files came and went while they were read; then less is known about the change.
            return None

    async def compare(self, texts: Texts) -> SyntaxDiff:
        """Compare two versions of files; best done during the write, when no parser is busy."""
        return await self._syntax.compare(texts)

    async def predict(self, texts: Texts, paths: Sequence[str]) -> tuple[SyntaxDiff, Consequence]:
        """Predict the consequences of a change that has not been made."""
        compared = await self.compare(texts)
        warnings = list(compared.errors)
        tests: tuple[str, ...] = ()
        now = await self.before()
        if now is not None:
            tests = await self._tests(now, paths, warnings, seconds=_EXPECTED_SEC)
        else:
            warnings.append("the index is not ready: affected tests are not known")
        symbols = _limit_names(compared.symbols, MAX_SYMBOLS)
        return compared, Consequence(symbols=symbols, tests=tests, warnings=tuple(warnings))

    async def of(
        self, before: Snapshot | None, paths: Sequence[str] | None, *, compared: SyntaxDiff | None = None
    ) -> Consequence:
        """Update the index and return the consequences of a change to these paths; None checks everything."""
        try:
            return await self._after_change(before, paths, compared)
        except Exception as error:  # the change is made, so the call must be answered whatever fails here
            return Consequence(warnings=(f"what it means is not known: {type(error).__name__}: {error}",))

    async def _after_change(
        self, before: Snapshot | None, paths: Sequence[str] | None, compared: SyntaxDiff | None
    ) -> Consequence:
        if compared is None and before is not None and paths is not None:
            # From the disk, before the index update keeps the parsers busy.
            compared = await self.compare(await asyncio.to_thread(self._texts, before, paths[:_MAX_COMPARED]))
        fresh = await self._fresh_source()
        if fresh is None:
            diff = compared or SyntaxDiff()
            warning = "the index is not ready: affected tests and the fingerprint are not known"
            return Consequence(symbols=_limit_names(diff.symbols, MAX_SYMBOLS), warnings=(*diff.errors, warning))
        after = await self._update_index(fresh, paths)
        changed = list(paths) if paths is not None else await asyncio.to_thread(_changed_paths, before, after)
        if compared is None:
            texts = await asyncio.to_thread(_snapshot_texts, before, after, changed[:_MAX_COMPARED])
            compared = await self.compare(texts)
        warnings = list(compared.errors)
        if len(changed) > _MAX_COMPARED:
            warnings.append(f"symbols and syntax of the first {_MAX_COMPARED} files only")
        tests = await self._tests(after, changed, warnings)
        return Consequence(
            symbols=_limit_names(compared.symbols, MAX_SYMBOLS),
            tests=tests,
            repo_fingerprint=fingerprint(after),
            epoch=after.epoch,
            warnings=tuple(warnings),
        )

    async def _fresh_source(self) -> SnapshotSource | None:
        try:
            async with asyncio.timeout(_READY_SEC):
                return await self._knowledge.fresh()
        except (TimeoutError, CodePlaneError, OSError):
            return None

    async def _update_index(self, fresh: SnapshotSource, paths: Sequence[str] | None) -> Snapshot:
        current = await fresh.snapshot(strict=False)
        if paths is None or any(map(says_what_belongs, paths)):
            return await fresh.verify()
        new = [path for path in paths if path not in current.files]
        left_out = await asyncio.to_thread(self._unlisted, new) if new else set()
        newer = await fresh.recheck(current, [path for path in paths if path not in left_out])
        return newer or current

    def _texts(self, before: Snapshot, paths: Sequence[str]) -> Texts:
        files = {path: read(f"{self._root}/{path}", max_bytes=MAX_PARSED) for path in paths}
        return Texts(
            before=_contents(before, paths),
            after={path: file.content for path, file in files.items() if file.skipped is None},
        )

    async def _tests(
        self, after: Snapshot, changed: Sequence[str], warnings: list[str], *, seconds: float = _TESTS_SEC
    ) -> tuple[str, ...]:
        """Find the tests to run for these paths."""
        if self._impact is None or not changed:
            return ()
        selection: Selection | None = None
        with suppress(TimeoutError, CodePlaneError):
            async with asyncio.timeout(seconds):
                # After a timeout the search goes on, and the next caller gets its result at once.
                selection = await self._impact.after_edit(after, changed)
        if selection is None:
            warnings.append("affected tests are not known yet: test_run impacted=true finds them")
            return ()
        return _limit_names([path_text(test.path) for test in selection.reached], MAX_TESTS)


def fingerprint(snapshot: Snapshot) -> str:
    """Return one value for the content of all files."""
    return sha256(f"{snapshot.state:x}".encode()).hexdigest()[:16]


def _changed_paths(before: Snapshot | None, after: Snapshot) -> list[str]:
    if before is None:
        return []
    names = before.files.keys() | after.files.keys()

    def state(snapshot: Snapshot, path: str) -> tuple[str, int] | None:
        file = snapshot.files.get(path)
        return (file.digest, file.stamp.mode) if file is not None else None

    return sorted(path for path in names if state(before, path) != state(after, path))


def _snapshot_texts(before: Snapshot | None, after: Snapshot, paths: Sequence[str]) -> Texts:
    return Texts(before=_contents(before, paths) if before is not None else {}, after=_contents(after, paths))


def _contents(snapshot: Snapshot, paths: Sequence[str]) -> dict[str, bytes]:
    files = {path: snapshot.files[path] for path in paths if path in snapshot.files}
    return {path: snapshot.text(file) for path, file in files.items() if file.skipped is None}


def _limit_names(names: Sequence[str], limit: int) -> tuple[str, ...]:
    """Limit the names; the last entry says how many more there are."""
    return tuple(names) if len(names) <= limit else (*names[:limit], f"and {len(names) - limit} more")
