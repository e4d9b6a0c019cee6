"""One request of somebody who is signed in: who it is, and the door to everything."""

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
from codeplane.surfaces.web.headers import PRIVATE, SECURITY
from codeplane.surfaces.web.renderer import Renderer
from codeplane.surfaces.web.sign_ins import SignIn, form_token

SURFACE = "web"
CLIENT = "dashboard"
FORM_FIELD = "form_token"
# Names in addresses that stand for a place in a list.
PLACES = frozenset({"cursor", "waiting", "skipped", "actors", "grants", "audit"})


class Visit:
    """What a page needs to answer one request; it reaches the planes through the conveyor and in no other way."""

    def __init__(
        self, request: Request, *, conveyor: Conveyor, renderer: Renderer, sign_in: SignIn, cookie: str
    ) -> None:
        self.request = request
        self.sign_in = sign_in
        self._conveyor = conveyor
        self._renderer = renderer
        self._form_token = form_token(cookie)
        self._form: dict[str, str] | None = None
        self.session_id: str | None = None

    @property
    def query(self) -> dict[str, str]:
        """What the address asks for, without what was left empty."""
        return {name: value for name, value in self.request.query_params.items() if value}

    @property
    def is_part(self) -> bool:
        """Whether a page that is open asks for what changed on it."""
        return self.request.headers.get("hx-request") == "true"

    def place(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def knows(self, operation: str) -> bool:
        """Whether there is such an operation here."""
        return self._conveyor.catalogue.risk_of(operation) is not None

    def reads(self, operation: str) -> bool:
        """Whether an operation changes nothing."""
        return self._conveyor.catalogue.risk_of(operation) is Risk.READ

    async def form(self) -> dict[str, str]:
        """The fields of a posted form; OriginDenied unless it is one of ours."""
        if self._form is None:
            body = (await self.request.body()).decode("utf-8", "replace")
            self._form = {name: values[-1] for name, values in parse_qs(body, keep_blank_values=True).items()}
            if not hmac.compare_digest(self._form.pop(FORM_FIELD, "").encode(), self._form_token.encode()):
                raise OriginDenied(
                    "this form was not made for this session", hint="go back, load the page again, and send it again"
                )
        return self._form

    async def ask(self, operation: str, arguments: Mapping[str, JsonValue] | None = None) -> JsonObject:
        """The answer of an operation; its error is raised."""
        outcome = await self._conveyor.call(operation, arguments or {}, self._caller())
        self.session_id = outcome.meta.session_id or self.session_id
        if outcome.error is not None:
            raise outcome.error
        answer: JsonObject = json.loads(outcome.result_json)
        return answer

    async def attempt(
        self, operation: str, arguments: Mapping[str, JsonValue] | None = None
    ) -> tuple[JsonObject, CodePlaneError | None]:
        """The answer, or an empty one and why, for pages that show what else they have."""
        try:
            return await self.ask(operation, arguments), None
        except CodePlaneError as error:
            return {}, error

    def follow(self, operation: str, arguments: Mapping[str, JsonValue]) -> AsyncIterator[Result | Outcome]:
        """The items of a streaming operation."""
        return self._conveyor.stream(operation, arguments, self._caller())

    def render(self, template: str, **context: object) -> Response:
        """A page, or a part of one."""
        return Response(self.text(template, **context), media_type="text/html", headers={**SECURITY, **PRIVATE})

    def first_page(self) -> str:
        """The address without the places in its lists, which is told there; empty when it names none."""
        if self.request.method != "GET" or not self.query.keys() & PLACES:
            return ""
        kept = {name: value for name, value in self.query.items() if name not in PLACES}
        return f"{self.request.url.path}?{urlencode({**kept, 'again': '1'})}"

    async def refuse(self, error: CodePlaneError) -> Response:
        """A page that says what went wrong, and what to do."""
        waiting, _ = await self.attempt("approval.list", {"status": "PENDING", "limit": 1})
        said = self.render("error.html", error=error, title="That did not work", pending=waiting.get("pending", 0))
        said.status_code = error.http
        return said

    def text(self, template: str, **context: object) -> str:
        """A template filled in."""
        return self._renderer.text(
            template,
            form_token=self._form_token,
            here=self.request.url.path,
            query=self.query,
            who=self.sign_in.who,
            **context,
        )

    def anew(self) -> Response:
        """Have the page that is open loaded again."""
        return Response(status_code=200, headers={**SECURITY, **PRIVATE, "hx-refresh": "true"})

    def go(self, address: str) -> Response:
        """Send the browser on after a post."""
        return RedirectResponse(address, status_code=303, headers={**SECURITY, **PRIVATE})

    def _caller(self) -> Caller:
        return Caller(
            surface=SURFACE,
            client=CLIENT,
            connection_id=f"web:{self.sign_in.name}",
            token=self.sign_in.token,
            request_id=getattr(self.request.state, "request_id", None),
        )
