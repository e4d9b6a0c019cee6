"""The client for asyncio: each call and stream of the client in a thread of its own, ended when its task is."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

from codeplane.client.bonjour import AnnouncedServer
from codeplane.client.client import CALL_SEC, Client
from codeplane.client.jobs import Job
from codeplane.client.records import Approval, LogEvent
from codeplane.client.resuming_stream import Reconnection
from codeplane.client.schedules import Schedule, ScheduleRun
from codeplane.client.search_stream import SearchPage
from codeplane.client.threads import Thread, ThreadEvent, ThreadMessage, ThreadSnapshot, TurnBudget, TurnResult
from codeplane.client.wire import ConnectionHandle
from codeplane.kernel.json import JsonObject

T = TypeVar("T")

_MAX_CALLS = 32


class AsyncClient:
    """The methods of the client for conversations and decisions; further calls wait while 32 are under way.

    Cancelling a call, or closing a stream, ends its connection. Nothing is read ahead of what is asked for.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        token: str | None = None,
        tls: ssl.SSLContext | None = None,
        user_agent: str = "codeplane-client",
        reconnection: Reconnection | None = None,
    ) -> None:
        """Take what the client takes."""
        self._client = Client(host, port, token=token, tls=tls, user_agent=user_agent, reconnection=reconnection)
        self._calls = asyncio.Semaphore(_MAX_CALLS)

    @classmethod
    def of_repository(
        cls,
        folder: str | Path = ".",
        *,
        token: str | None = None,
        user_agent: str = "codeplane-client",
        reconnection: Reconnection | None = None,
    ) -> Self:
        """Return a client of the server of the repository that a folder is in, as its owner unless a token is given."""
        found = Client.of_repository(folder, token=token, user_agent=user_agent, reconnection=reconnection)
        return cls._around(found)

    @classmethod
    def of_announced(
        cls,
        server: AnnouncedServer,
        *,
        fingerprint: str,
        token: str | None = None,
        user_agent: str = "codeplane-client",
        reconnection: Reconnection | None = None,
    ) -> Self:
        """Return a client of a server that announced itself; `fingerprint` is what its owner sees in `cpl status`."""
        found = Client.of_announced(
            server, fingerprint=fingerprint, token=token, user_agent=user_agent, reconnection=reconnection
        )
        return cls._around(found)

    @classmethod
    def _around(cls, client: Client) -> Self:
        other = cls("", 0)
        other._client = client
        return other

    async def call(
        self, operation: str, arguments: JsonObject, *, text: bool = False, timeout_sec: float = CALL_SEC
    ) -> JsonObject:
        """Call an operation; return `result` and `meta`, on request `text`, or `error` and `meta`."""
        return await self._run(lambda client: client.call(operation, arguments, text=text, timeout_sec=timeout_sec))

    def watch_events(
        self, *, after: int | None = None, stream: str = "", types: Sequence[str] = ()
    ) -> AsyncGenerator[LogEvent, None]:
        """Yield the events of the log after a position, or from now on, over lost connections."""
        return self._iterate(lambda client: client.watch_events(after=after, stream=stream, types=types))

    def search(
        self,
        query: str,
        *,
        mode: str = "auto",
        paths: Sequence[str] = (),
        languages: Sequence[str] = (),
        context: int = 0,
        most: int = 1000,
    ) -> AsyncGenerator[SearchPage, None]:
        """Yield the pages of a search as they are found, up to `most` hits, over lost connections."""
        return self._iterate(
            lambda client: client.search(query, mode=mode, paths=paths, languages=languages, context=context, most=most)
        )

    async def create_thread(
        self, *, title: str = "", toolset: str = "", model: str = "", idempotency_key: str = ""
    ) -> str:
        """Open a conversation and return its id; the same key again returns the same one."""
        return await self._run(
            lambda client: client.create_thread(
                title=title, toolset=toolset, model=model, idempotency_key=idempotency_key
            )
        )

    def threads(self, *, query: str = "", archived: bool = False) -> AsyncGenerator[Thread, None]:
        """Yield the conversations, the last used first; `query` are words of titles and messages."""
        return self._iterate(lambda client: client.threads(query=query, archived=archived))

    async def thread(self, thread_id: str) -> ThreadSnapshot:
        """Return a conversation with its newest messages; watching on from `last_sequence` misses nothing."""
        return await self._run(lambda client: client.thread(thread_id))

    def messages(self, thread_id: str) -> AsyncGenerator[ThreadMessage, None]:
        """Yield all messages of a conversation, newest first."""
        return self._iterate(lambda client: client.messages(thread_id))

    async def send(
        self,
        thread_id: str,
        text: str,
        *,
        wait_sec: float = 0.0,
        client_message_id: str = "",
        queue_mode: str = "",
        reasoning: str = "",
        budget: TurnBudget | None = None,
    ) -> TurnResult:
        """Send a message and wait up to `wait_sec` for its turn to end or pause."""
        return await self._run(
            lambda client: client.send(
                thread_id,
                text,
                wait_sec=wait_sec,
                client_message_id=client_message_id,
                queue_mode=queue_mode,
                reasoning=reasoning,
                budget=budget,
            )
        )

    def start_turn(
        self,
        thread_id: str,
        text: str,
        *,
        client_message_id: str = "",
        queue_mode: str = "",
        reasoning: str = "",
        budget: TurnBudget | None = None,
    ) -> AsyncGenerator[ThreadEvent, None]:
        """Send a message when the first event is read, and yield what happens until its turn ends."""
        return self._iterate(
            lambda client: client.start_turn(
                thread_id,
                text,
                client_message_id=client_message_id,
                queue_mode=queue_mode,
                reasoning=reasoning,
                budget=budget,
            )
        )

    def watch_thread(self, thread_id: str, from_sequence: int = 0) -> AsyncGenerator[ThreadEvent, None]:
        """Yield everything in a conversation after a sequence, and then as it happens, until it is closed."""
        return self._iterate(lambda client: client.watch_thread(thread_id, from_sequence))

    async def cancel_turn(self, turn_id: str, *, reason: str = "") -> TurnResult:
        """End a turn at once; what its tools did stays done."""
        return await self._run(lambda client: client.cancel_turn(turn_id, reason=reason))

    async def create_job(
        self,
        goal: str,
        *,
        budget: TurnBudget | None = None,
        changes_files: bool = False,
        callback_thread_id: str = "",
        idempotency_key: str = "",
    ) -> Job:
        """Queue a job; `watch_thread` shows its thread."""
        return await self._run(
            lambda client: client.jobs.create(
                goal,
                budget=budget,
                changes_files=changes_files,
                callback_thread_id=callback_thread_id,
                idempotency_key=idempotency_key,
            )
        )

    def jobs(self, *, status: str = "") -> AsyncGenerator[Job, None]:
        """Yield the jobs, newest first; an empty status means all."""
        return self._iterate(lambda client: client.jobs.list(status=status))

    async def job(self, job_id: str) -> Job:
        """Return a job as it is now."""
        return await self._run(lambda client: client.jobs.get(job_id))

    async def cancel_job(self, job_id: str, *, reason: str = "") -> str:
        """End a job at once and return its status; what is done stays done."""
        return await self._run(lambda client: client.jobs.cancel(job_id, reason=reason))

    async def create_schedule(
        self, name: str, goal: str, *, kind: str, spec: str, timezone: str = "", heartbeat: bool = False
    ) -> Schedule:
        """Have something run by the clock: `kind` is cron, interval or at, and `spec` says when."""
        return await self._run(
            lambda client: client.schedules.create(
                name, goal, kind=kind, spec=spec, timezone=timezone, heartbeat=heartbeat
            )
        )

    def schedules(self) -> AsyncGenerator[Schedule, None]:
        """Yield the schedules in the order in which they were made."""
        return self._iterate(lambda client: client.schedules.list())

    async def schedule(self, schedule_id: str) -> Schedule:
        """Return a schedule with its next runs and its newest wake-ups."""
        return await self._run(lambda client: client.schedules.get(schedule_id))

    async def run_schedule(self, schedule_id: str) -> ScheduleRun:
        """Run a schedule now, besides its times."""
        return await self._run(lambda client: client.schedules.run(schedule_id))

    async def delete_schedule(self, schedule_id: str) -> None:
        """Delete a schedule; runs that have started go on."""
        await self._run(lambda client: client.schedules.delete(schedule_id))

    def approvals(self, *, status: str = "PENDING") -> AsyncGenerator[Approval, None]:
        """Yield the actions with a status, newest first; an empty status means all."""
        return self._iterate(lambda client: client.approvals(status=status))

    async def approve(self, action_id: str, *, preview_hash: str = "", reason: str = "") -> str:
        """Approve an action and return its new status."""
        return await self._run(lambda client: client.approve(action_id, preview_hash=preview_hash, reason=reason))

    async def reject(self, action_id: str, *, reason: str = "") -> str:
        """Reject an action and return its new status."""
        return await self._run(lambda client: client.reject(action_id, reason=reason))

    async def _run(self, work: Callable[[Client], T]) -> T:
        async with self._calls:
            handle, thread = ConnectionHandle(), ThreadPoolExecutor(1, "codeplane-call")
            try:
                return await asyncio.get_running_loop().run_in_executor(thread, work, self._client.with_handle(handle))
            finally:
                handle.close()
                thread.shutdown(wait=False, cancel_futures=True)

    async def _iterate(self, start: Callable[[Client], Iterator[T]]) -> AsyncGenerator[T, None]:
        # A thread for each stream: many that wait must not use up a pool that others need.
        handle, thread = ConnectionHandle(), ThreadPoolExecutor(1, "codeplane-stream")
        try:
            items = start(self._client.with_handle(handle))
            loop = asyncio.get_running_loop()
            # No item is None, and StopIteration cannot leave a future.
            while (item := await loop.run_in_executor(thread, next, items, None)) is not None:
                yield item
        finally:
            handle.close()
            thread.shutdown(wait=False, cancel_futures=True)
