"""The tasks extension (SEP-2663): a call that takes long is answered with a task, which its caller asks about later.

Only a request that declares the extension is answered so, and only in the protocol without sessions.
"""

from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from codeplane.kernel.actor import Answer, Caller
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.deferred_call import DeferredCall, DeferredCalls, DeferredStatus
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, DeferredCallNotFound
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.mcp.caller import STREAM, Context, caller_of
from codeplane.surfaces.mcp.elicitation import approval_form, decision_of, shows_forms
from codeplane.surfaces.mcp.tools import error_text, escape_texts

EXTENSION = "io.modelcontextprotocol/tasks"
_REQUIRED: JsonObject = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
_POLL_MS = 2000
_MAX_ID = 200

# How the outcome of a call is written as the result of `tools/call`.
Encode = Callable[[Outcome], types.CallToolResult]


class TaskParams(types.RequestParams):
    """Which task."""

    task_id: str = Field(alias="taskId", max_length=_MAX_ID)


class UpdateTaskParams(TaskParams):
    """Answers to the questions of a task, by their keys."""

    input_responses: dict[str, Any] = Field(alias="inputResponses")


class TaskMethods:
    """Serves `tasks/get`, `tasks/update` and `tasks/cancel`, and makes tasks of calls."""

    def __init__(self, deferred: DeferredCalls, encode: Callable[[Context, Outcome], types.CallToolResult]) -> None:
        self._deferred = deferred
        self._encode = encode

    def serve_on(self, server: Server[dict[str, object]]) -> None:
        """Add the methods to a server, and say that it has them."""
        server.extensions[EXTENSION] = {}
        server.add_request_handler("tasks/get", TaskParams, self._get)
        server.add_request_handler("tasks/update", UpdateTaskParams, self._update)
        server.add_request_handler("tasks/cancel", TaskParams, self._cancel)

    async def call(self, ctx: Context, name: str, arguments: JsonObject, caller: Caller) -> Outcome | JsonObject:
        """Run a call: its outcome, or the task that it has become."""
        result = await self._deferred.begin(name, arguments, caller, asks=shows_forms(ctx))
        return result if isinstance(result, Outcome) else {"resultType": "task", **self._task(result)}

    async def _get(self, ctx: Context, params: TaskParams) -> JsonObject:
        _check(ctx, params.task_id)
        asks = shows_forms(ctx)
        try:
            found = await self._deferred.show(params.task_id, caller_of(ctx), asks=asks)
        except CodePlaneError as error:
            raise _task_error(error) from error
        task = self._task(found)
        if found.question is not None:
            form = types.ElicitRequest(params=approval_form(found.question.text))
            asked = form.model_dump(mode="json", by_alias=True, exclude_none=True)
            return {**task, "status": "input_required", "inputRequests": {found.question.question_id: asked}}
        if found.outcome is not None:
            result = self._encode(ctx, found.outcome)
            task["result"] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return task

    async def _update(self, ctx: Context, params: UpdateTaskParams) -> JsonObject:
        _check(ctx, params.task_id)
        answers: dict[str, Answer | None] = {}
        for key, response in params.input_responses.items():
            try:
                answers[key] = decision_of(types.ElicitResult.model_validate(response, by_name=False))
            except ValueError:
                # No answer to anything that was asked.
                continue
        try:
            await self._deferred.answer(params.task_id, answers, caller_of(ctx))
        except CodePlaneError as error:
            raise _task_error(error) from error
        return {}

    async def _cancel(self, ctx: Context, params: TaskParams) -> JsonObject:
        _check(ctx, params.task_id)
        try:
            await self._deferred.cancel(params.task_id, caller_of(ctx))
        except CodePlaneError as error:
            raise _task_error(error) from error
        return {}

    def _task(self, call: DeferredCall) -> JsonObject:
        status = "completed" if call.status is DeferredStatus.ENDED else call.status.value
        task: JsonObject = {
            "taskId": call.deferred_id,
            "status": status,
            "createdAt": rfc3339(call.created_ns),
            "lastUpdatedAt": rfc3339(call.updated_ns),
            "ttlMs": call.ttl_ms,
            "pollIntervalMs": _POLL_MS,
        }
        return {**task, **escape_texts({"statusMessage": call.message})} if call.message else task


def declares_tasks(ctx: Context) -> bool:
    """Whether this request says that its client understands tasks."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return False
    capabilities = ctx.session.client_capabilities
    extensions = capabilities.extensions if capabilities is not None else None
    return extensions is not None and EXTENSION in extensions


def missing_extension() -> MCPError:
    """The error for what only clients with the extension may ask for."""
    return MCPError(
        code=types.MISSING_REQUIRED_CLIENT_CAPABILITY, message="Missing required client capability", data=_REQUIRED
    )


def _check(ctx: Context, task_id: str) -> None:
    """Refuse clients without the extension, and a routing header that names another task."""
    if not declares_tasks(ctx):
        raise missing_extension()
    request = ctx.request
    if request is None or STREAM in request.scope:
        return
    if request.headers.get(MCP_NAME_HEADER) != task_id:
        raise MCPError(
            code=types.HEADER_MISMATCH,
            message=f"{MCP_NAME_HEADER} header does not match the request body's 'taskId' parameter",
        )


def _task_error(error: CodePlaneError) -> MCPError:
    code = types.INVALID_PARAMS if isinstance(error, DeferredCallNotFound) else -32000
    return MCPError(code=code, message=error_text(error), data=escape_texts(error.to_wire()))
