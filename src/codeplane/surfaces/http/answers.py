"""JSON answers and errors of the HTTP surface."""

from starlette.responses import Response

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, dumps


def json_answer(body: JsonObject | str, *, status: int = 200) -> Response:
    """A JSON response; text is sent as it is."""
    text = body if isinstance(body, str) else dumps(body)
    return Response(text, status_code=status, media_type="application/json")


def error_answer(error: CodePlaneError, *, status: int | None = None) -> Response:
    """An error with its own status and everything the table knows about it."""
    return json_answer({"error": error.to_wire()}, status=status or error.http)
