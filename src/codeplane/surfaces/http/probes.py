"""What operators and monitors ask: health, readiness, metrics, status."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from codeplane.kernel.actor import Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.http.answers import json_answer


class Probes:
    """The endpoints of 002 §23.8."""

    def __init__(
        self,
        *,
        conveyor: Conveyor,
        identity: JsonObject,
        ending: Callable[[], bool],
        problems: Callable[[], list[str]],
        metrics: Callable[[], tuple[bytes, str]],
    ) -> None:
        self._conveyor = conveyor
        self._identity = identity
        self._ending = ending
        self._problems = problems
        self._metrics = metrics

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/health", self._health, methods=["GET"]),
            Route("/ready", self._ready, methods=["GET"]),
            Route("/metrics", self._render, methods=["GET"]),
            Route("/status", self._status, methods=["GET"]),
        ]

    async def _health(self, request: Request) -> Response:
        return json_answer({"status": "ending" if self._ending() else "ok", **self._identity})

    async def _ready(self, request: Request) -> Response:
        problems = self._problems()
        if problems:
            return json_answer({"status": "not ready", "problems": problems, **self._identity}, status=503)
        return json_answer({"status": "ready", **self._identity})

    async def _render(self, request: Request) -> Response:
        body, content_type = self._metrics()
        return Response(body, headers={"content-type": content_type})

    async def _status(self, request: Request) -> Response:
        outcome = await self._conveyor.call("status", {}, Caller(surface="rest", client="probe"))
        return json_answer(outcome.to_json(), status=outcome.error.http if outcome.error else 200)
