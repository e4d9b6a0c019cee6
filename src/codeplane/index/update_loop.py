"""The loop that updates the derived index at each new epoch, and lets callers wait for it."""

import asyncio
import gc
import math
import sqlite3
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from codeplane.code.languages.registry import languages
from codeplane.index.derived_index import DerivedIndex
from codeplane.index.fact_store import FactStore
from codeplane.index.snapshot import Snapshot
from codeplane.index.update_progress import Progress
from codeplane.index.vector_index import VectorIndex
from codeplane.kernel.errors import IndexNotReady, StorageFailed
from codeplane.kernel.event import Draft
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.json import JsonObject
from codeplane.kernel.plural import ARE, plural

_RETRY_SEC = 5.0
_AGAIN_SEC = 0.5
_TELL_EVERY_SEC = 1.0
_FILL_SEC = 5.0
# While edits come one upon another, their full text is committed and their vectors are made together, this often; for
# those who ask for them at once.
_COMMIT_EVERY_SEC = 0.5
_FILL_EVERY_SEC = 10.0
_SOON_SEC = 0.01
_FACTS_SEC = 2.0
# A pass that is overtaken sooner is ended all the same: where edits come one upon another, none would ever be.
_SHORT_SEC = 1.0
# After a wait in vain, until facts are complete: each question would wait as long for one file that takes long.
_IN_VAIN_SEC = 0.5
_LARGE = 1000
_SETTLINGS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseBacklog:
    """How many files of a snapshot are not parsed yet."""

    files: int
    eta_sec: float | None = None

    def line(self) -> str:
        """The backlog as one line of an answer."""
        if not self.files:
            return ""
        eta = f", about {self.eta_sec:.0f} s more" if self.eta_sec is not None else ""
        return f"PARTIAL: {plural(self.files, 'file', verbs=ARE)} not parsed yet{eta}"


class UpdateLoop:
    """Runs updates off the event loop, one at a time, until the index is up to date."""

    def __init__(
        self,
        *,
        follower: Callable[[Callable[[Progress], None]], DerivedIndex],
        vectors: Callable[[FactStore], VectorIndex] | None,
        newest: Callable[[], Snapshot | None],
        mend: Callable[[], Awaitable[bool]],
        log: EventLog,
        stream: str,
        wait_sec: float,
        logger: Callable[[str, JsonObject], None],
    ) -> None:
        self._follower = follower(self._note_progress)
        self.vectors = vectors(self._follower.facts) if vectors is not None else None
        self._filling: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        # A task that nobody holds may be collected before it has run.
        self._notifying: asyncio.Task[None] | None = None
        self._newest = newest
        self._mend = mend
        self._log = log
        self._stream = stream
        self._wait_sec = wait_sec
        self._log_note = logger
        self._loop: asyncio.AbstractEventLoop | None = None
        self._awake = asyncio.Event()
        self._caught_up = asyncio.Condition()
        self._epoch = 0
        self._followed = 0
        self._last_report_sec = 0.0
        self._failure: str | None = None
        self._waited_in_vain = False
        self._closing = False
        self._settled = 0
        self._follower.text.on_wait = self.wake
        self._committed_sec = self._filled_sec = -math.inf
        self._vectors_wanted = asyncio.Event()

    @property
    def derived(self) -> DerivedIndex:
        """The derived index with its stores."""
        return self._follower

    @property
    def epoch(self) -> int:
        """The newest epoch with complete facts; its full text may still be pending."""
        return self._epoch

    def wake(self) -> None:
        """Wake the loop; callable from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._awake.set)

    async def run(self) -> None:
        """Update until cancelled."""
        self._loop = asyncio.get_running_loop()
        self._awake.set()
        for what, why in (("symbols are", self._follower.facts.remade), ("full text is", self._follower.text.remade)):
            if why is not None:
                self._log_note(f"{what} indexed again", {"reason": why})
        if self._newest() is None:
            await asyncio.to_thread(self._follower.warm)
        while True:
            await self._until_awake()
            if (why := self._follower.facts.damaged) is not None:
                self._log_note("symbols are damaged and are indexed again", {"reason": why})
                await self._remake(why)
            snapshot = self._newest()
            if snapshot is not None and snapshot.epoch != self._followed:
                if await self._mend():
                    self._awake.set()
                    continue
                await self._pass(snapshot)
            elif self._follower.is_text_behind and self._commits():
                await self._commit_text()

    async def _until_awake(self) -> None:
        """Wait until there is something to update or commit."""
        due_sec = self._committed_sec + _COMMIT_EVERY_SEC - time.monotonic()
        with suppress(TimeoutError):
            async with asyncio.timeout(max(due_sec, _SOON_SEC) if self._follower.is_text_behind else None):
                await self._awake.wait()
        self._awake.clear()

    def _commits(self) -> bool:
        """Whether to commit the full text now: a caller waits for it, or the last commit is old."""
        return (
            self._closing
            or self._follower.text.is_awaited
            or time.monotonic() - self._committed_sec >= _COMMIT_EVERY_SEC
        )

    async def _commit_text(self) -> None:
        try:
            await asyncio.to_thread(self._follower.commit_text)
        except Exception as error:  # the pass that feeds it again says what is wrong if it lasts
            self._log_note("the full text could not be committed and is fed again", {"reason": str(error)})
            self._followed = -1
            self._awake.set()
        self._committed_sec = time.monotonic()

    async def wait_for_facts(self, snapshot: Snapshot) -> ParseBacklog:
        """Wait, bounded, for a snapshot's facts, and return the backlog; after a wait in vain only for a moment."""
        if self._follower.facts.damaged is not None:
            self._epoch = 0
            self._awake.set()
        try:
            async with asyncio.timeout(self.longest_wait_sec):
                async with self._caught_up:
                    await self._caught_up.wait_for(lambda: self._epoch >= snapshot.epoch)
        except TimeoutError:
            self._waited_in_vain = True
            if self._failure is not None:
                raise IndexNotReady(f"symbols cannot be indexed: {self._failure}") from None
            pending = await asyncio.to_thread(self._follower.files_without_facts, snapshot)
            progress = self._follower.progress
            return ParseBacklog(files=len(pending), eta_sec=progress.eta_sec if progress else None)
        return ParseBacklog(files=0)

    @property
    def longest_wait_sec(self) -> float:
        """How long a question waits for facts at most."""
        return min(self._wait_sec, _IN_VAIN_SEC) if self._waited_in_vain else self._wait_sec

    async def wait_for_vectors(self) -> None:
        """Wait briefly for the vectors; the search reports what is still missing."""
        newest, longest = self._newest(), min(self.longest_wait_sec, _FILL_SEC)
        self._vectors_wanted.set()
        if newest is not None:
            # They start once the facts are there.
            with suppress(TimeoutError):
                async with asyncio.timeout(longest), self._caught_up:
                    await self._caught_up.wait_for(lambda: self._followed >= newest.epoch)
        # Those that were being made meanwhile may have been of another state.
        self._vectors_wanted.set()
        if self._filling is not None:
            await asyncio.wait({self._filling}, timeout=longest)

    async def wait_until_warm(self) -> None:
        """Wait until the cache of facts is warm."""
        async with self._caught_up:
            await self._caught_up.wait_for(lambda: self._followed > 0)
        if self._warming is not None:
            await asyncio.wait({self._warming})

    async def close(self) -> None:
        """Stop the workers and close the stores."""
        self._closing = True
        self._vectors_wanted.set()
        if self._filling is not None:
            await asyncio.wait({self._filling})
        if self._warming is not None:
            await asyncio.wait({self._warming})
        await asyncio.to_thread(self._follower.close)
        if self.vectors is not None:
            await asyncio.to_thread(self.vectors.close)

    def state(self) -> JsonObject:
        """The state in the form of `status`."""
        progress = self._follower.progress
        state: JsonObject = {"epoch": self._epoch}
        if self._failure is not None:
            state["failure"] = self._failure
        if progress is not None:
            state |= _progress_json(progress)
        if self.vectors is not None:
            newest = self._newest()
            waiting = self.vectors.waiting_for(newest) if newest is not None else 0
            vectors: JsonObject = {"model": self.vectors.model, "waiting": waiting}
            if self.vectors.failure is not None:
                vectors["failure"] = self.vectors.failure
            state["vectors"] = vectors
        return state

    async def _pass(self, snapshot: Snapshot) -> None:
        short_until_sec = time.monotonic() + _SHORT_SEC
        try:
            done = await asyncio.to_thread(
                self._follower.update,
                snapshot,
                newer=lambda: self._closing or (time.monotonic() > short_until_sec and self._is_old(snapshot)),
                parsed=lambda: self._announce_facts(snapshot.epoch),
                commits=self._commits,
            )
        except IndexNotReady:
            await self._mend_content()
            self._awake.set()
            return
        except Exception as error:  # whatever it was, giving up would leave every answer partial
            reason = f"{type(error).__name__}: {error}"
            if reason != self._failure:
                self._log_note("symbols could not be indexed and are tried again", {"reason": reason})
            self._failure = reason
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                await self._remake(reason)
            else:
                await asyncio.sleep(_RETRY_SEC)
            self._awake.set()
            return
        self._failure = None
        if not done:
            if not self._is_old(snapshot):
                # Workers give no answer about content that was cut off.
                await self._mend_content()
            self._awake.set()
            return
        if not self._follower.is_text_behind:
            self._committed_sec = time.monotonic()
        self._fill()
        first = self._followed == 0
        self._followed = snapshot.epoch
        if first:
            self._settle(snapshot)
            if self._warming is None or self._warming.done():
                self._warming = asyncio.create_task(self._warm(snapshot))
        await self._announce_epoch(snapshot.epoch)
        if first and len(snapshot.texts) >= _LARGE:
            # Where nothing had to be parsed, the first edit would wait for a worker to start.
            await asyncio.to_thread(self._follower.parsers.warm, single=True)
        if first or self._last_report_sec:
            self._last_report_sec = 0.0
            self._tell("index.symbols_ready", {"epoch": snapshot.epoch})

    async def _mend_content(self) -> None:
        """Re-read content that was changed from outside; if it is intact, wait before the retry."""
        if not await self._mend():
            await asyncio.sleep(_AGAIN_SEC)

    async def _remake(self, why: str) -> None:
        """Delete all facts so that they are rebuilt; retry if the disk refuses."""
        self._epoch = self._followed = 0
        try:
            await asyncio.to_thread(self._follower.remake, why)
        except (OSError, sqlite3.Error) as error:
            self._failure = f"{type(error).__name__}: {error}"
            await asyncio.sleep(_RETRY_SEC)
            self._awake.set()

    def _announce_facts(self, epoch: int) -> None:
        """Announce that an epoch's facts are complete; called from the update's thread."""

        def notify() -> None:
            self._notifying = asyncio.create_task(self._announce_epoch(epoch))

        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(notify)

    async def _announce_epoch(self, epoch: int) -> None:
        async with self._caught_up:
            self._epoch, self._waited_in_vain = epoch, False
            self._caught_up.notify_all()

    def _fill(self) -> None:
        """Start filling in vectors in the background, unless already running."""
        if self.vectors is not None and (self._filling is None or self._filling.done()):
            self._filling = asyncio.create_task(self._note_vectors(self.vectors))

    async def _note_vectors(self, vectors: VectorIndex) -> None:
        # A thread of its own: it may lower its priority for good, and the others answer questions.
        apart = ThreadPoolExecutor(1, thread_name_prefix="vectors")
        try:
            await self._fill_all(vectors, apart)
        finally:
            apart.shutdown(wait=False)

    async def _fill_all(self, vectors: VectorIndex, apart: ThreadPoolExecutor) -> None:
        filled, reason = None, vectors.remade
        loop = asyncio.get_running_loop()
        while not self._closing and (snapshot := self._newest()) is not None and snapshot.epoch != filled:
            if await self._pause() or await self._mend():
                continue
            # A file is cut at its definitions; what is cut without them stays so.
            with suppress(TimeoutError):
                async with asyncio.timeout(_FACTS_SEC), self._caught_up:
                    await self._caught_up.wait_for(partial(self._has_facts, snapshot))
            try:
                fill = partial(vectors.fill, snapshot, stop=partial(self._is_old, snapshot))
                await loop.run_in_executor(apart, fill)
            except IndexNotReady:
                await self._mend_content()
                continue
            except Exception as error:  # whatever it was, answers have to say that there are no vectors
                vectors.failure = str(error)
                self._log_note("vectors could not be made; semantic search has none", {"reason": str(error)})
                return
            filled, self._filled_sec = snapshot.epoch, time.monotonic()
            if not self._is_old(snapshot):
                # Not when a newer state has cut it short: callers that want them still wait.
                self._vectors_wanted.clear()
            self._settle(snapshot)
            if vectors.remade != reason:
                reason = vectors.remade
                self._log_note("vectors are made again", {"reason": reason})

    async def _pause(self) -> bool:
        """Pause between fills unless vectors are wanted; return whether it paused."""
        wait_sec = self._filled_sec + _FILL_EVERY_SEC - time.monotonic()
        if wait_sec <= 0 or self._vectors_wanted.is_set():
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_sec):
                await self._vectors_wanted.wait()
        return True

    async def _warm(self, snapshot: Snapshot) -> None:
        """Warm the cache of a large index in the background; finding references needs many files' facts."""
        if len(snapshot.texts) < _LARGE:
            return
        if self._filling is not None:
            await asyncio.wait({self._filling})
        files = ((file.path, file.digest) for file in snapshot.texts if languages().of(file.path) is not None)
        # A caller that asks for what cannot be read gets the error.
        with suppress(sqlite3.Error, StorageFailed):
            await asyncio.to_thread(self._follower.facts.warm, files, stop=lambda: self._closing)

    def _settle(self, snapshot: Snapshot) -> None:
        """Freeze the objects of a large index, so that garbage collection skips them.

        It would look at all of it now and then while questions are answered, which takes longer than most of them. Not
        at every epoch: what is passed over and becomes a cycle later is never freed.
        """
        if self._settled < _SETTLINGS and len(snapshot.texts) >= _LARGE:
            self._settled += 1
            gc.collect()
            gc.freeze()

    def _has_facts(self, snapshot: Snapshot) -> bool:
        return self._epoch >= snapshot.epoch

    def _is_old(self, snapshot: Snapshot) -> bool:
        newest = self._newest()
        return self._closing or newest is None or newest.epoch != snapshot.epoch

    def _note_progress(self, progress: Progress) -> None:
        if progress.files < progress.files_total and progress.sec - self._last_report_sec >= _TELL_EVERY_SEC:
            self._last_report_sec = progress.sec
            self._tell("index.progress", _progress_json(progress))

    def _tell(self, kind: str, payload: JsonObject) -> None:
        self._log.append_soon([Draft(stream=self._stream, type=kind, payload=payload)])


def _progress_json(progress: Progress) -> JsonObject:
    eta = progress.eta_sec
    return {
        "files": progress.files,
        "files_total": progress.files_total,
        "bytes": progress.bytes,
        "bytes_total": progress.bytes_total,
        "share": round(progress.share, 3),
        "mb_per_sec": round(progress.rate / 1e6, 2),
        "eta_sec": round(eta, 1) if eta is not None else None,
        "throttled": progress.throttled,
    }
