"""The whole HTTP application, put together from its parts."""

from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from codeplane.kernel.errors import CodePlaneError, NotFound
from codeplane.surfaces.http.answers import error_answer, json_answer


def build(routes: Iterable[BaseRoute]) -> Starlette:
    """An application of the given routes whose errors are all of the one shape."""
    return Starlette(
        routes=list(routes),
        exception_handlers={HTTPException: _http_error, CodePlaneError: _known_error},
    )


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return error_answer(NotFound(f"nothing is at {request.url.path}"))
    return json_answer(
        {"error": {"error": "HTTP", "message": error.detail, "retryable": False}}, status=error.status_code
    )


async def _known_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CodePlaneError)
    return error_answer(error)
