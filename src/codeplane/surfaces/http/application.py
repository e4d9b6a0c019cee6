"""The HTTP application."""

from collections.abc import Iterable, Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from codeplane.kernel.errors import CodePlaneError, Internal, MalformedRequest, NotFound
from codeplane.surfaces.http.responses import error_response


def build_application(routes: Iterable[BaseRoute]) -> Starlette:
    """Build an application of the routes, with uniform errors."""
    return Starlette(
        routes=list(routes),
        exception_handlers={HTTPException: _http_error, CodePlaneError: _known_error, Exception: _crash},
    )


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return error_response(NotFound(f"nothing is at {request.url.path}"))
    if error.status_code == 405:
        return _answer_405(request, error.headers or {})
    return error_response(MalformedRequest(error.detail), status=error.status_code)


def _answer_405(request: Request, headers: Mapping[str, str]) -> Response:
    allowed = headers.get("allow", headers.get("Allow", ""))
    refusal = MalformedRequest(f"{request.method} is not for {request.url.path}", hint=f"use {allowed or 'POST'}")
    answer = error_response(refusal, status=405)
    answer.headers["allow"] = allowed
    return answer


async def _known_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CodePlaneError)
    return error_response(error)


async def _crash(request: Request, error: Exception) -> Response:
    return error_response(Internal(f"{request.method} {request.url.path} failed: {type(error).__name__}"))
