"""Probes: health and readiness for everyone, metrics and status for the owner."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from codeplane.kernel.actor import Actor, Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import CodePlaneError, Unauthorized
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.http.protocol import connection_of
from codeplane.surfaces.http.responses import json_response
from codeplane.surfaces.services.caller import bearer


class Probes:
    """The endpoints for health, readiness, metrics and status."""

    def __init__(
        self,
        *,
        conveyor: Conveyor,
        identity: JsonObject,
        ending: Callable[[], bool],
        problems: Callable[[], list[str]],
        metrics: Callable[[], tuple[bytes, str]],
        identify: Callable[[Caller], Actor],
        are_metrics_open: bool,
    ) -> None:
        """`identity` is public, so it does not name the repository; `identify` refuses a false token."""
        self._conveyor = conveyor
        self._identity = identity
        self._ending = ending
        self._problems = problems
        self._metrics = metrics
        self._identify = identify
        self._are_metrics_open = are_metrics_open

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/health", self._health, methods=["GET"]),
            Route("/ready", self._readiness, methods=["GET"]),
            Route("/metrics", self._render, methods=["GET"]),
            Route("/status", self._status, methods=["GET"]),
        ]

    async def _health(self, request: Request) -> Response:
        return json_response({"status": "ending" if self._ending() else "ok", **self._identity})

    async def _readiness(self, request: Request) -> Response:
        problems = self._problems()
        if not problems:
            return json_response({"status": "ready", **self._identity})
        # Problems name files, which others need not know.
        details: JsonObject = {"problems": problems} if self._may_read(request) else {}
        return json_response({"status": "not ready", **details, **self._identity}, status=503)

    async def _render(self, request: Request) -> Response:
        if not self._are_metrics_open:
            self._caller(request)
        body, content_type = self._metrics()
        return Response(body, headers={"content-type": content_type})

    async def _status(self, request: Request) -> Response:
        outcome = await self._conveyor.call("status", {}, self._caller(request))
        return json_response(outcome.to_json(), status=outcome.error.http if outcome.error else 200)

    def _may_read(self, request: Request) -> bool:
        """Return whether a request comes from the owner's account or with a valid token."""
        connection = connection_of(request.scope)
        if connection is not None and connection.is_own:
            return True
        try:
            self._caller(request)
        except CodePlaneError:
            return False
        return True

    def _caller(self, request: Request) -> Caller:
        """Return the caller; Unauthorized for a false token, or for another account without one."""
        token = bearer(request.headers.getlist("authorization"))
        connection = connection_of(request.scope)
        if token is None and (connection is None or not connection.is_own):
            raise Unauthorized(
                f"{request.url.path} is for programs of the owner's account, and for those with a token",
                hint="send a token as `Authorization: Bearer …`; observe.metrics_open lets everyone read /metrics",
            )
        caller = Caller(surface="rest", client="probe", token=token)
        self._identify(caller)
        return caller
