"""Errors of requests: form, size, deadline, cursor."""

from codeplane.kernel.errors.error import CodePlaneError


class InvalidArgument(
    CodePlaneError,
    name="INVALID_ARGUMENT",
    code=1001,
    http=400,
    rpc="invalid_argument",
    hint="see the operation's parameters: cpl call operation.list name=OPERATION",
):
    """The arguments do not fit the operation."""


class UnknownOperation(
    CodePlaneError, name="UNKNOWN_OPERATION", code=1002, http=404, rpc="unimplemented", hint="list them: cpl call"
):
    """No operation has that name."""


class MalformedRequest(
    CodePlaneError,
    name="MALFORMED_REQUEST",
    code=1003,
    http=400,
    rpc="invalid_argument",
    hint="send one JSON object, encoded as UTF-8",
):
    """The bytes are not a valid request."""


class TooLarge(
    CodePlaneError,
    name="TOO_LARGE",
    acp="ERR_TOO_LARGE",
    code=1004,
    http=413,
    rpc="resource_exhausted",
    hint="send less at once, or raise the limit named in details",
):
    """A body, payload or answer is over its limit."""


class CursorInvalid(
    CodePlaneError,
    name="CURSOR_INVALID",
    code=1005,
    http=400,
    rpc="invalid_argument",
    hint="start again without a cursor; cursors are opaque and belong to one operation and session",
):
    """This server did not issue the cursor, or issued it for something else."""


class CursorExpired(
    CodePlaneError,
    name="CURSOR_EXPIRED",
    code=1006,
    http=400,
    rpc="out_of_range",
    hint="start again without a cursor; cursors live for an hour, or as long as their session",
):
    """The cursor has expired."""


class DeadlineExceeded(
    CodePlaneError,
    name="DEADLINE_EXCEEDED",
    code=1007,
    http=504,
    rpc="deadline_exceeded",
    hint="ask for less, or give the call more time with timeout_sec",
    retryable=True,
):
    """The call ran longer than it was allowed to."""


class Cancelled(
    CodePlaneError,
    name="CANCELLED",
    acp="ERR_OP_CANCELED",
    code=1008,
    http=499,
    rpc="canceled",
    hint="call again if you still need it",
):
    """The caller cancelled the call or closed its connection."""


class NotFound(
    CodePlaneError, name="NOT_FOUND", code=1009, http=404, rpc="not_found", hint="check the name; see: cpl status"
):
    """What was asked for does not exist."""


class OperationDisabled(
    CodePlaneError,
    name="OPERATION_DISABLED",
    acp="ERR_UNAUTHORIZED",
    code=1010,
    http=501,
    rpc="unimplemented",
    hint="the owner enables it in .codeplane/config.yaml and restarts the server",
):
    """A setting disables the operation; details name the setting."""


class HeadersTooLarge(
    CodePlaneError,
    name="HEADERS_TOO_LARGE",
    acp="ERR_TOO_LARGE",
    code=1011,
    http=431,
    rpc="resource_exhausted",
    hint="send fewer or shorter headers, or raise the limit named in details",
):
    """The headers of a request are over their limit."""


class RequestTooSlow(
    CodePlaneError,
    name="REQUEST_TOO_SLOW",
    code=1012,
    http=408,
    rpc="deadline_exceeded",
    hint="send the whole request without a pause, or raise the limit named in details",
    retryable=True,
):
    """The headers or the body of a request did not arrive in time."""


class Interrupted(
    CodePlaneError,
    name="INTERRUPTED",
    acp="ERR_OP_CANCELED",
    code=1019,
    http=409,
    rpc="aborted",
    hint="nothing was changed: call again, with the same idempotency_key if there was one",
    retryable=True,
):
    """The server ended during the call; none of its work was done."""


class OperationGone(
    CodePlaneError,
    name="OPERATION_GONE",
    code=1020,
    http=410,
    rpc="unavailable",
    hint="list the operations: cpl call; if the call changes something, check what it did",
):
    """An operation of another program was removed while, or just before, it ran."""


class SchemaRefused(
    CodePlaneError,
    name="SCHEMA_REFUSED",
    code=1021,
    http=422,
    rpc="invalid_argument",
    hint="declare a JSON Schema of an object, without recursion or remote references",
):
    """The JSON Schema of a declared operation is invalid, recursive, remote or too large."""
