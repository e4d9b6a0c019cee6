"""One side of a JSON-RPC connection: answers requests side by side, and makes requests of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from codeplane.kernel.errors import CodePlaneError, Internal
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.json_rpc.message import (
    INVALID_REQUEST,
    BadResponse,
    Message,
    Notification,
    Request,
    RequestId,
    Response,
    RpcError,
    error_text,
    notification_text,
    parse_message,
    request_text,
    result_text,
)

# Requests of one connection that are not answered yet, in either direction.
MAX_UNANSWERED = 128
CANCEL_REQUEST = "$/cancel_request"
CANCEL_BY = (CANCEL_REQUEST, "requestId")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A result, and what is done once it was sent."""

    result: JsonValue
    after: Callable[[], Awaitable[None]]


class ConnectionGone(Exception):
    """The other side has left before it answered."""


class Handler(Protocol):
    """What one protocol does with messages."""

    async def handle_request(self, request: Request) -> JsonValue | Answer:
        """Return the result of a request."""
        ...

    async def handle_notification(self, notification: Notification) -> None:
        """Take note of something; further messages are read when it returns."""
        ...

    def error_of(self, error: CodePlaneError) -> RpcError:
        """Return an error as the protocol shows it."""
        ...


class Peer:
    """A connection, on whatever carries its messages."""

    def __init__(
        self,
        send: Callable[[str], Awaitable[None]],
        *,
        log_failure: Callable[[str, Exception], None],
        needs_version: bool = True,
        cancel_by: tuple[str, str] = CANCEL_BY,
    ) -> None:
        """`send` sends one message; `log_failure` receives failures without an error of ours.

        `cancel_by` takes a request of ours back: the protocol's method, and its parameter for the id.
        """
        self._cancel_by = cancel_by
        self._needs_version = needs_version
        self._send = send
        self._log_failure = log_failure
        self._sending = asyncio.Lock()
        # By id until the answer is sent: who has it may use the id again.
        self._answering: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: dict[str, asyncio.Future[JsonValue]] = {}
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._next_id = 0
        self._is_closed = False
        self._has_said_all = False

    async def receive(self, text: str, handler: Handler) -> None:
        """Take one message; a request is answered later, in its own task."""
        try:
            message: Message = parse_message(text, needs_version=self._needs_version)
        except RpcError as error:
            answered = Response(id=error.request_id, error=error)
            if not isinstance(error, BadResponse) or not self._settle(answered):
                await self._transmit(error_text(error.request_id, error))
            return
        if isinstance(message, Response):
            self._settle(message)
        elif isinstance(message, Notification):
            await self._notice(message, handler)
        elif (refusal := self._refusal(message)) is not None:
            await self._transmit(error_text(message.id, refusal))
        else:
            self._is_idle.clear()
            task = asyncio.ensure_future(self._answer(message, handler))
            self._answering[_key(message.id)] = task
            self._tasks.add(task)
            task.add_done_callback(self._forget)
            # It begins before the next message is looked at, which may be about it.
            await asyncio.sleep(0)

    async def request(
        self, method: str, params: JsonObject, *, on_sent: Callable[[RequestId], None] | None = None
    ) -> JsonValue:
        """Ask the other side; RpcError is its error, ConnectionGone when it left without an answer.

        `on_sent` receives the id of the request before it is sent.
        """
        if self._is_closed or self._has_said_all or len(self._asked) >= MAX_UNANSWERED:
            raise ConnectionGone(f"{method} was not asked")
        request_id, self._next_id = self._next_id, self._next_id + 1
        answer: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
        self._asked[_key(request_id)] = answer
        if on_sent is not None:
            on_sent(request_id)
        try:
            await self._transmit(request_text(request_id, method, params))
            return await answer
        except asyncio.CancelledError:
            # The other side need not answer any more.
            if not self._is_closed:
                method, name = self._cancel_by
                await self.notify(method, {name: request_id})
            raise
        finally:
            self._asked.pop(_key(request_id), None)

    async def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification; it is out, in its order, when this returns."""
        await self._transmit(notification_text(method, params))

    def cancel(self, request_id: RequestId) -> bool:
        """Cancel a request that is being answered; False when there is none."""
        task = self._answering.get(_key(request_id))
        if task is None:
            return False
        # After its first step: a task that is cancelled before it would never answer.
        asyncio.get_running_loop().call_soon(task.cancel)
        return True

    async def drain(self, seconds: float) -> None:
        """Return when everything is answered, or the time is over; the other side sends nothing more."""
        self._has_said_all = True
        self._give_up()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_idle.wait()

    async def close(self) -> None:
        """End what is still being answered, and what was asked."""
        self._is_closed = True
        self._give_up()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    def _give_up(self) -> None:
        """Wait for no answer of the other side any more."""
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(ConnectionGone("the connection has ended"))

    def _refusal(self, request: Request) -> RpcError | None:
        if _key(request.id) in self._answering:
            return RpcError(
                INVALID_REQUEST, f"a request with id {request.id!r} is under way; give every request an id of its own"
            )
        if len(self._tasks) >= MAX_UNANSWERED:
            return RpcError(INVALID_REQUEST, f"{MAX_UNANSWERED} requests are under way; wait for some answers")
        return None

    async def _notice(self, notification: Notification, handler: Handler) -> None:
        """Have a notification handled; whatever fails, the connection and what else is asked on it go on."""
        try:
            await handler.handle_notification(notification)
        except (RpcError, CodePlaneError):
            return
        except Exception as error:
            self._log_failure(notification.method, error)

    async def _answer(self, request: Request, handler: Handler) -> None:
        after: Callable[[], Awaitable[None]] | None = None
        try:
            answer = await handler.handle_request(request)
            if isinstance(answer, Answer):
                after = answer.after
                text = result_text(request.id, answer.result)
            else:
                text = result_text(request.id, answer)
        except RpcError as error:
            text = error_text(request.id, error)
        except CodePlaneError as error:
            text = error_text(request.id, handler.error_of(error))
        except ConnectionGone as error:
            # The other side has left, and so has the reader of this.
            text = error_text(request.id, RpcError(INVALID_REQUEST, str(error)))
        except asyncio.CancelledError:
            if self._is_closed:
                raise
            text = error_text(request.id, RpcError(-32800, "the request was cancelled"))
        except Exception as error:
            self._log_failure(request.method, error)
            failure = Internal(f"{request.method[:100]} failed: {type(error).__name__}")
            text = error_text(request.id, handler.error_of(failure))
        self._answering.pop(_key(request.id), None)
        await self._transmit(text)
        if after is not None:
            await after()

    async def _transmit(self, text: str) -> None:
        async with self._sending:
            await self._send(text)

    def _settle(self, response: Response) -> bool:
        """Pass an answer to its caller; False when nobody waits for it."""
        answer = self._asked.get(_key(response.id)) if response.id is not None else None
        if answer is None or answer.done():
            return False
        if response.error is not None:
            answer.set_exception(response.error)
        else:
            answer.set_result(response.result)
        return True

    def _forget(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Sending failed since the other side has left; retrieved to avoid a warning.
            task.exception()
        if not self._tasks:
            self._is_idle.set()


def _key(request_id: RequestId | None) -> str:
    """Return an id as a key; 1 and "1" are different ids."""
    return repr(request_id)
