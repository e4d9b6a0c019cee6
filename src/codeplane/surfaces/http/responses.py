"""JSON and error responses of the HTTP surface."""

from starlette.responses import Response

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, dumps


def json_response(body: JsonObject | str, *, status: int = 200) -> Response:
    """Return a JSON response; a string is sent unchanged."""
    text = body if isinstance(body, str) else dumps(body)
    return Response(text, status_code=status, media_type="application/json")


def error_response(error: CodePlaneError, *, status: int | None = None) -> Response:
    """Return an error response with the error's own status."""
    return json_response({"error": error.to_wire()}, status=status or error.http)
