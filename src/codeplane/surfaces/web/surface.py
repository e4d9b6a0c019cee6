"""The routes of the dashboard."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import (
    CodePlaneError,
    CursorExpired,
    CursorInvalid,
    Internal,
    NotFound,
    TokenExpired,
    Unauthorized,
)
from codeplane.surfaces.web.live_updates import LiveUpdates
from codeplane.surfaces.web.page_request import PageRequest
from codeplane.surfaces.web.pages import (
    activity,
    approvals,
    artifacts,
    changes,
    explore,
    ledger,
    overview,
    repository,
    schedules,
    settings,
    skills,
    tasks,
    threads,
    tools,
    trust,
    work,
)
from codeplane.surfaces.web.renderer import Renderer
from codeplane.surfaces.web.security_headers import PRIVATE, SECURITY
from codeplane.surfaces.web.sign_ins import SESSION_SEC, SignIns
from codeplane.surfaces.web.static_files import StaticFiles

_FOLDER = Path(__file__).parent
PAGES = (
    overview,
    activity,
    approvals,
    threads,
    tasks,
    work,
    schedules,
    artifacts,
    skills,
    tools,
    changes,
    repository,
    explore,
    ledger,
    trust,
    settings,
)

Handler = Callable[[PageRequest], Awaitable[Response]]


class WebSurface:
    """`/dashboard`: pages that call operations as the person who is signed in."""

    def __init__(
        self,
        *,
        conveyor: Conveyor,
        sign_ins: SignIns,
        stopping: asyncio.Event,
        repository: str,
        repository_id: str,
        version: str,
    ) -> None:
        """`repository_id` separates the cookies of servers on one host, which browsers do not separate by port."""
        self._conveyor = conveyor
        self._sign_ins = sign_ins
        self._cookie = f"codeplane_{repository_id[:12]}"
        self._static = StaticFiles(_FOLDER / "static", prefix="/dashboard/static")
        self._renderer = Renderer(_FOLDER / "templates", url=self._static.url, repository=repository, version=version)
        self._live = LiveUpdates(sign_ins, stopping)

    def routes(self) -> list[Route]:
        """Return the routes."""
        routes = [
            Route("/", self._root, methods=["GET"]),
            Route("/dashboard/", self._root, methods=["GET"]),
            Route("/dashboard/static/{name:path}", self._static.serve, methods=["GET"]),
            Route("/dashboard/sign-in/{secret}", self._enter, methods=["GET"]),
            Route("/dashboard/sign-out", self._page(self._leave), methods=["POST"]),
            Route("/dashboard/live", self._page(self._live.signals), methods=["GET"]),
            Route("/dashboard/activity/live", self._page(self._live.calls), methods=["GET"]),
            Route("/dashboard/threads/{thread}/live", self._page(self._live.thread), methods=["GET"]),
        ]
        for page in PAGES:
            routes += [Route(path, self._page(handler), methods=[method]) for method, path, handler in page.ROUTES]
        return [*routes, Route("/dashboard/{rest:path}", self._page(_no_page), methods=["GET"])]

    def _page(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            cookie = request.cookies.get(self._name(request))
            sign_in = self._sign_ins.find(cookie)
            if cookie is None or sign_in is None:
                return self._sign_in_page(request)
            page_request = PageRequest(
                request, conveyor=self._conveyor, renderer=self._renderer, sign_in=sign_in, cookie=cookie
            )
            try:
                if request.method == "POST":
                    # Before anything is done: a post that is not from one of our pages reaches nothing.
                    await page_request.form()
                return await handler(page_request)
            except (Unauthorized, TokenExpired):
                # The token behind the session was revoked.
                self._sign_ins.end(sign_in.seal)
                return self._sign_in_page(request)
            except (CursorInvalid, CursorExpired) as error:
                # The cursor is from before a restart: show the first page instead.
                first = page_request.first_page_url()
                return page_request.redirect(first) if first else await page_request.render_error(error)
            except CodePlaneError as error:
                return await page_request.render_error(error)
            except Exception as crash:
                logging.getLogger("codeplane.web").error("a page failed", exc_info=crash)
                return await page_request.render_error(Internal(f"this page failed: {type(crash).__name__}"))

        return answer

    async def _root(self, request: Request) -> Response:
        return RedirectResponse("/dashboard", status_code=307, headers=SECURITY)

    async def _enter(self, request: Request) -> Response:
        """Open a session for a link.

        A page that navigates on its own, not a redirect: a strict cookie is not sent along the redirects of a
        navigation that began on another site.
        """
        cookie = self._sign_ins.redeem(request.path_params["secret"])
        if cookie is None:
            return self._sign_in_page(request, used=True)
        answer = self._plain_page("entered.html")
        answer.set_cookie(
            self._name(request),
            cookie,
            max_age=SESSION_SEC,
            path="/",
            httponly=True,
            samesite="strict",
            secure=_is_secure(request),
        )
        return answer

    async def _leave(self, request: PageRequest) -> Response:
        self._sign_ins.end(request.sign_in.seal)
        answer = self._plain_page("left.html")
        answer.delete_cookie(
            self._name(request.http), path="/", httponly=True, samesite="strict", secure=_is_secure(request.http)
        )
        return answer

    def _sign_in_page(self, request: Request, *, used: bool = False) -> Response:
        answer = self._plain_page("sign_in.html", status=401, used=used)
        if request.headers.get("hx-request"):
            # A part of a page that is open: the whole of it has to go.
            answer.headers["hx-refresh"] = "true"
        return answer

    def _plain_page(self, template: str, *, status: int = 200, **context: object) -> Response:
        text = self._renderer.text(template, **context)
        return Response(text, status_code=status, media_type="text/html", headers={**SECURITY, **PRIVATE})

    def _name(self, request: Request) -> str:
        # The prefix makes browsers refuse it from anyone but this very host, over TLS.
        return f"__Host-{self._cookie}" if _is_secure(request) else self._cookie


async def _no_page(request: PageRequest) -> Response:
    raise NotFound(f"no page is at {request.http.url.path}", hint="choose one on the left")


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"
