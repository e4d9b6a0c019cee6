"""A request of a signed-in person for a page."""

import hmac
import json
from collections.abc import AsyncIterator, Mapping
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from codeplane.kernel.actor import Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, OriginDenied
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Result, Risk
from codeplane.surfaces.web.renderer import Renderer
from codeplane.surfaces.web.security_headers import PRIVATE, SECURITY
from codeplane.surfaces.web.sign_ins import SignIn, form_token

SURFACE = "web"
CLIENT = "dashboard"
FORM_FIELD = "form_token"
# Names in addresses that stand for a place in a list.
PLACES = frozenset({"cursor", "waiting", "skipped", "actors", "grants", "audit"})


class PageRequest:
    """What a page needs to answer a request; it reaches the planes only through the conveyor."""

    def __init__(
        self, request: Request, *, conveyor: Conveyor, renderer: Renderer, sign_in: SignIn, cookie: str
    ) -> None:
        self.http = request
        self.sign_in = sign_in
        self._conveyor = conveyor
        self._renderer = renderer
        self._form_token = form_token(cookie)
        self._form: dict[str, str] | None = None
        self.session_id: str | None = None

    @property
    def query(self) -> dict[str, str]:
        """The query of the URL, without empty values."""
        return {name: value for name, value in self.http.query_params.items() if value}

    @property
    def is_partial(self) -> bool:
        """Whether an open page requests a part of itself."""
        return self.http.headers.get("hx-request") == "true"

    def path_param(self, name: str) -> str:
        """Return a parameter of the path."""
        return str(self.http.path_params[name])

    def has_operation(self, operation: str) -> bool:
        """Return whether an operation exists here."""
        return self._conveyor.catalogue.risk_of(operation) is not None

    def is_read_only(self, operation: str) -> bool:
        """Return whether an operation only reads."""
        return self._conveyor.catalogue.risk_of(operation) is Risk.READ

    async def form(self) -> dict[str, str]:
        """Return the fields of a posted form; OriginDenied unless it is ours."""
        if self._form is None:
            body = (await self.http.body()).decode("utf-8", "replace")
            self._form = {name: values[-1] for name, values in parse_qs(body, keep_blank_values=True).items()}
            if not hmac.compare_digest(self._form.pop(FORM_FIELD, "").encode(), self._form_token.encode()):
                raise OriginDenied(
                    "this form was not made for this session", hint="go back, load the page again, and send it again"
                )
        return self._form

    async def call(self, operation: str, arguments: Mapping[str, JsonValue] | None = None) -> JsonObject:
        """Call an operation and return its result, or raise its error."""
        outcome = await self._conveyor.call(operation, arguments or {}, self._caller())
        self.session_id = outcome.meta.session_id or self.session_id
        if outcome.error is not None:
            raise outcome.error
        answer: JsonObject = json.loads(outcome.result_json)
        return answer

    async def try_call(
        self, operation: str, arguments: Mapping[str, JsonValue] | None = None
    ) -> tuple[JsonObject, CodePlaneError | None]:
        """Call an operation; return its result, or an empty one and the error."""
        try:
            return await self.call(operation, arguments), None
        except CodePlaneError as error:
            return {}, error

    def stream(self, operation: str, arguments: Mapping[str, JsonValue]) -> AsyncIterator[Result | Outcome]:
        """Stream the items of an operation."""
        return self._conveyor.stream(operation, arguments, self._caller())

    def render(self, template: str, **context: object) -> Response:
        """Render a page or a part of one as a response."""
        return Response(self.render_text(template, **context), media_type="text/html", headers={**SECURITY, **PRIVATE})

    def first_page_url(self) -> str:
        """Return the URL without cursors; empty when it has none."""
        if self.http.method != "GET" or not self.query.keys() & PLACES:
            return ""
        rest = {name: value for name, value in self.query.items() if name not in PLACES}
        return f"{self.http.url.path}?{urlencode({**rest, 'again': '1'})}"

    async def render_error(self, error: CodePlaneError) -> Response:
        """Render an error page."""
        waiting, _ = await self.try_call("approval.list", {"status": "PENDING", "limit": 1})
        response = self.render("error.html", error=error, title="That did not work", pending=waiting.get("pending", 0))
        response.status_code = error.http
        return response

    def render_text(self, template: str, **context: object) -> str:
        """Render a template to text."""
        return self._renderer.text(
            template,
            form_token=self._form_token,
            here=self.http.url.path,
            query=self.query,
            who=self.sign_in.who,
            **context,
        )

    def reload_page(self) -> Response:
        """Return a response that makes the browser reload the page."""
        return Response(status_code=200, headers={**SECURITY, **PRIVATE, "hx-refresh": "true"})

    def redirect(self, address: str) -> Response:
        """Redirect the browser after a post."""
        return RedirectResponse(address, status_code=303, headers={**SECURITY, **PRIVATE})

    def _caller(self) -> Caller:
        return Caller(
            surface=SURFACE,
            client=CLIENT,
            connection_id=f"web:{self.sign_in.name}",
            token=self.sign_in.token,
            request_id=getattr(self.http.state, "request_id", None),
        )
