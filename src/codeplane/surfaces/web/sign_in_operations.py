"""The operations of dashboard sessions, such as `dashboard.link`."""

from collections.abc import Callable
from typing import ClassVar

from pydantic import Field

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import NotFound, PolicyDenied
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.plural import ARE, plural
from codeplane.surfaces.web.sign_ins import LINK_SEC, SignIns

_PEOPLE = frozenset({ActorKind.OWNER, ActorKind.DEVICE})


class NoRequest(Request):
    """No arguments."""


class DashboardLink(Result):
    """A link that signs one browser in, once."""

    secret: ClassVar[bool] = True

    path: str
    url: str
    expires_at: str

    def text(self) -> str:
        return f"{self.url}\nopens the dashboard once, within {LINK_SEC // 60} minutes"


class SignInView(Result):
    """A browser that is signed in."""

    name: str
    who: str
    opened_at: str
    expires_at: str


class SignInList(Result):
    """Everyone who is signed in."""

    items: tuple[SignInView, ...]

    def text(self) -> str:
        lines = [
            f"{session.name} {session.who} since {session.opened_at[:19]}Z until {session.expires_at[:19]}Z"
            for session in self.items
        ]
        return "\n".join(lines) or "no browser is signed in"


class SignOutRequest(Request):
    """Which browser; all of them without a name."""

    name: str | None = Field(None, min_length=6, max_length=64, description="as dashboard.sessions shows it")


class SignedOut(Result):
    """How many browsers have to sign in again."""

    ended: int

    def text(self) -> str:
        return f"{plural(self.ended, 'browser', verbs=ARE)} signed out"


class SignInOperations:
    """The operations that sign people in and out; refused to agents."""

    def __init__(self, sign_ins: SignIns, *, url: Callable[[], str]) -> None:
        """`url` returns the server's URL, once it listens."""
        self._sign_ins = sign_ins
        self._url = url

    @operation("dashboard.link", risk=Risk.WRITE)
    async def link(self, call: Call, request: NoRequest) -> DashboardLink:
        """A link that signs one browser in to the dashboard, once, within two minutes."""
        _require_person(call.actor)
        token = call.caller.token
        if token is None:
            raise NotFound("no server runs here, so there is no dashboard", hint="start it: cpl up")
        secret, expires_ns = self._sign_ins.link(token=token, who=str(call.actor))
        path = f"/dashboard/sign-in/{secret}"
        return DashboardLink(path=path, url=self._url() + path, expires_at=rfc3339(expires_ns))

    @operation("dashboard.sessions", risk=Risk.READ)
    async def sessions(self, call: Call, request: NoRequest) -> SignInList:
        """The browsers that are signed in to the dashboard."""
        _require_person(call.actor)
        return SignInList(
            items=tuple(
                SignInView(
                    name=sign_in.name,
                    who=sign_in.who,
                    opened_at=rfc3339(sign_in.opened_ns),
                    expires_at=rfc3339(sign_in.expires_ns),
                )
                for sign_in in self._sign_ins.all()
            )
        )

    @operation("dashboard.sign_out", risk=Risk.WRITE)
    async def sign_out(self, call: Call, request: SignOutRequest) -> SignedOut:
        """Sign one browser out of the dashboard, or all of them."""
        _require_person(call.actor)
        if request.name is None:
            return SignedOut(ended=self._sign_ins.end_all())
        matches = [sign_in for sign_in in self._sign_ins.all() if sign_in.seal.startswith(request.name)]
        if len(matches) != 1:
            raise NotFound(f"no browser is signed in as {request.name!r}", hint="see: cpl call dashboard.sessions")
        return SignedOut(ended=int(self._sign_ins.end(matches[0].seal)))


def _require_person(actor: Actor) -> None:
    if actor.kind not in _PEOPLE:
        raise PolicyDenied(
            f"{actor} is not a person, and the dashboard is for people", hint="the owner opens it: cpl dashboard"
        )
