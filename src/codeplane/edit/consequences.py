"""What a change means for the rest: symbols it touched, tests that reach it, errors it brought, the state after it."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from codeplane.edit.syntax import MAX_PARSED, Compared, Syntax, Texts
from codeplane.index.files.file import read
from codeplane.index.files.ignore import says_what_belongs
from codeplane.index.files.paths import shown
from codeplane.index.freshness import Fresh
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError
from codeplane.query.knowledge import Knowledge

MAX_SYMBOLS = 50
MAX_TESTS = 200
_MAX_COMPARED = 200
_READY_SEC = 0.5
_TESTS_SEC = 1.0
# Nothing has been written yet, so whoever asks can wait.
_EXPECTED_SEC = 10.0


class Reached(Protocol):
    """A test file that reaches what changed."""

    @property
    def path(self) -> str: ...


class Selection(Protocol):
    """The tests to run for a change."""

    @property
    def reached(self) -> Sequence[Reached]: ...


class Impact(Protocol):
    """Which tests reach changed files."""

    async def after_edit(self, snapshot: Snapshot, paths: Sequence[str]) -> Selection | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """What followed from a change; `warnings` name syntax errors that it brought, and what could not be known."""

    symbols: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    repo_fingerprint: str = ""
    epoch: int = 0
    warnings: tuple[str, ...] = ()


class Consequences:
    """Works out what a change means, from the index."""

    def __init__(
        self,
        *,
        root: Path,
        knowledge: Knowledge,
        syntax: Syntax,
        impact: Impact | None,
        unlisted: Callable[[Iterable[str]], set[str]],
    ) -> None:
        """`unlisted` gives those of new paths that do not belong to the repository: ignored by git or by our rules."""
        self._root = root
        self._knowledge = knowledge
        self._syntax = syntax
        self._impact = impact
        self._unlisted = unlisted

    async def before(self) -> Snapshot | None:
        """The state before a change; None when the index is still being built, which no change waits for."""
        fresh = await self._fresh()
        try:
            return await fresh.snapshot(strict=False) if fresh is not None else None
        except OSError:
            # Files that come and go while they are read: what the change means is less well known then.
            return None

    async def compared(self, texts: Texts) -> Compared:
        """What two versions of files differ in; best asked while they are being written, when no parser is busy."""
        return await self._syntax.compared(texts)

    async def expected(self, texts: Texts, paths: Sequence[str]) -> tuple[Compared, Consequence]:
        """What a change that nobody made yet would mean, by the state as it is."""
        compared = await self.compared(texts)
        warnings = list(compared.errors)
        tests: tuple[str, ...] = ()
        now = await self.before()
        if now is not None:
            tests = await self._tests(now, paths, warnings, seconds=_EXPECTED_SEC)
        else:
            warnings.append("the index is not ready: affected tests are not known")
        symbols = _bounded(compared.symbols, MAX_SYMBOLS)
        return compared, Consequence(symbols=symbols, tests=tests, warnings=tuple(warnings))

    async def of(
        self, before: Snapshot | None, paths: Sequence[str] | None, *, compared: Compared | None = None
    ) -> Consequence:
        """What the change of these paths means, the index brought up to date with it; None looks at everything."""
        try:
            return await self._of(before, paths, compared)
        except Exception as error:  # whatever it was, the change is made, and its answer has to come
            return Consequence(warnings=(f"what it means is not known: {type(error).__name__}: {error}",))

    async def _of(self, before: Snapshot | None, paths: Sequence[str] | None, compared: Compared | None) -> Consequence:
        if compared is None and before is not None and paths is not None:
            # From the disk, before the index takes it up and the parsers with it.
            looked_at = paths[:_MAX_COMPARED]
            compared = await self.compared(await asyncio.to_thread(self._texts, before, looked_at))
        fresh = await self._fresh()
        if fresh is None:
            found = compared or Compared()
            said = "the index is not ready: affected tests and the fingerprint are not known"
            return Consequence(symbols=_bounded(found.symbols, MAX_SYMBOLS), warnings=(*found.errors, said))
        after = await self._brought_up(fresh, paths)
        changed = list(paths) if paths is not None else await asyncio.to_thread(_differing, before, after)
        if compared is None:
            texts = await asyncio.to_thread(_snapshots, before, after, changed[:_MAX_COMPARED])
            compared = await self.compared(texts)
        warnings = list(compared.errors)
        if len(changed) > _MAX_COMPARED:
            warnings.append(f"symbols and syntax of the first {_MAX_COMPARED} files only")
        tests = await self._tests(after, changed, warnings)
        return Consequence(
            symbols=_bounded(compared.symbols, MAX_SYMBOLS),
            tests=tests,
            repo_fingerprint=fingerprint(after),
            epoch=after.epoch,
            warnings=tuple(warnings),
        )

    async def _fresh(self) -> Fresh | None:
        try:
            async with asyncio.timeout(_READY_SEC):
                return await self._knowledge.fresh()
        except (TimeoutError, CodePlaneError, OSError):
            return None

    async def _brought_up(self, fresh: Fresh, paths: Sequence[str] | None) -> Snapshot:
        current = await fresh.snapshot(strict=False)
        if paths is None or any(map(says_what_belongs, paths)):
            return await fresh.verify()
        new = [path for path in paths if path not in current.files]
        left_out = await asyncio.to_thread(self._unlisted, new) if new else set()
        newer = await fresh.recheck(current, [path for path in paths if path not in left_out])
        return newer or current

    def _texts(self, before: Snapshot, paths: Sequence[str]) -> Texts:
        found = {path: read(f"{self._root}/{path}", max_bytes=MAX_PARSED) for path in paths}
        return Texts(
            before=_held(before, paths),
            after={path: one.content for path, one in found.items() if one.skipped is None},
        )

    async def _tests(
        self, after: Snapshot, changed: Sequence[str], warnings: list[str], *, seconds: float = _TESTS_SEC
    ) -> tuple[str, ...]:
        """What test_run takes for these paths."""
        if self._impact is None or not changed:
            return ()
        found: Selection | None = None
        with suppress(TimeoutError, CodePlaneError):
            async with asyncio.timeout(seconds):
                # Whoever finds out goes on when nobody waits any more, and the next one is told at once.
                found = await self._impact.after_edit(after, changed)
        if found is None:
            warnings.append("affected tests are not known yet: test_run impacted=true finds them")
            return ()
        return _bounded([shown(one.path) for one in found.reached], MAX_TESTS)


def fingerprint(snapshot: Snapshot) -> str:
    """One value for the content of all files: equal states have equal fingerprints."""
    return sha256(f"{snapshot.state:x}".encode()).hexdigest()[:16]


def _differing(before: Snapshot | None, after: Snapshot) -> list[str]:
    if before is None:
        return []
    names = before.files.keys() | after.files.keys()

    def of(snapshot: Snapshot, path: str) -> tuple[str, int] | None:
        known = snapshot.files.get(path)
        return (known.digest, known.stamp.mode) if known is not None else None

    return sorted(path for path in names if of(before, path) != of(after, path))


def _snapshots(before: Snapshot | None, after: Snapshot, paths: Sequence[str]) -> Texts:
    return Texts(before=_held(before, paths) if before is not None else {}, after=_held(after, paths))


def _held(snapshot: Snapshot, paths: Sequence[str]) -> dict[str, bytes]:
    found = {path: snapshot.files[path] for path in paths if path in snapshot.files}
    return {path: snapshot.text(known) for path, known in found.items() if known.skipped is None}


def _bounded(names: Sequence[str], limit: int) -> tuple[str, ...]:
    """So many of the names; the last entry says how many more there are."""
    return tuple(names) if len(names) <= limit else (*names[:limit], f"and {len(names) - limit} more")
