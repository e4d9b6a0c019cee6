"""Dashboard sessions and the one-time links that open them."""

import hmac
import json
import os
import secrets
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.json import JsonObject, JsonValue, dumps

LINK_SEC = 120
SESSION_SEC = 12 * 3600
_MOST_LINKS = 20
_MOST_SESSIONS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A signed-in browser; of its cookie only the hash is held."""

    seal: str
    who: str
    opened_ns: int
    expires_ns: int
    token: str

    @property
    def name(self) -> str:
        """The session's name in lists and in the ledger; it grants nothing."""
        return self.seal[:12]


class SignIns:
    """Issues links, turns each into a session once, and ends sessions.

    Sessions of the owner outlive a restart: their seals are kept in a file that only the owner can read, without any
    token. Those of devices end with the server, because a device's token is written nowhere.
    """

    def __init__(self, *, clock: Clock, owner_token: str, file: Path | None = None) -> None:
        self._clock = clock
        self._owner_token = owner_token
        self._file = file
        self._links: dict[str, tuple[str, str, int]] = {}
        self._sessions: dict[str, SignIn] = {}
        self._restore()

    def link(self, *, token: str, who: str) -> tuple[str, int]:
        """Create a link's secret for the holder of a token, and its expiry."""
        now = self._clock.now_ns()
        self._links = {seal: entry for seal, entry in self._links.items() if entry[2] > now}
        while len(self._links) >= _MOST_LINKS:
            del self._links[next(iter(self._links))]
        secret, expires_ns = secrets.token_urlsafe(32), now + LINK_SEC * SECOND_NS
        self._links[_seal(secret)] = (token, who, expires_ns)
        return secret, expires_ns

    def redeem(self, secret: str) -> str | None:
        """Return the cookie of a new session for an unused link; None when it was used or expired."""
        link = self._links.pop(_seal(secret), None)
        now = self._clock.now_ns()
        if link is None or link[2] <= now:
            return None
        token, who, _ = link
        cookie = secrets.token_urlsafe(32)
        self._drop_ended(now)
        while len(self._sessions) >= _MOST_SESSIONS:
            self.end(min(self._sessions.values(), key=lambda session: session.opened_ns).seal)
        seal = _seal(cookie)
        self._sessions[seal] = SignIn(
            seal=seal, who=who, opened_ns=now, expires_ns=now + SESSION_SEC * SECOND_NS, token=token
        )
        self._save()
        return cookie

    def find(self, cookie: str | None) -> SignIn | None:
        """Return the valid session of a cookie, or None."""
        return self.find_seal(_seal(cookie)) if cookie else None

    def find_seal(self, seal: str) -> SignIn | None:
        """Return the valid session of a seal, or None."""
        session = self._sessions.get(seal)
        if session is not None and session.expires_ns <= self._clock.now_ns():
            self.end(session.seal)
            return None
        return session

    def all(self) -> tuple[SignIn, ...]:
        """Return all sessions, newest first."""
        self._drop_ended(self._clock.now_ns())
        return tuple(sorted(self._sessions.values(), key=lambda session: -session.opened_ns))

    def end(self, seal: str) -> bool:
        """End a session; False when there was none."""
        if self._sessions.pop(seal, None) is None:
            return False
        self._save()
        return True

    def end_all(self, *, but: str | None = None) -> int:
        """End all sessions except `but`, and return how many."""
        remaining = {seal: session for seal, session in self._sessions.items() if seal == but}
        ended, self._sessions = len(self._sessions) - len(remaining), remaining
        self._links.clear()
        self._save()
        return ended

    def _drop_ended(self, now: int) -> None:
        self._sessions = {seal: session for seal, session in self._sessions.items() if session.expires_ns > now}

    def _save(self) -> None:
        if self._file is None:
            return
        kept: list[JsonValue] = [
            {"seal": session.seal, "who": session.who, "opened_ns": session.opened_ns, "expires_ns": session.expires_ns}
            for session in self._sessions.values()
            if session.token == self._owner_token
        ]
        body: JsonObject = {"of": _seal(self._owner_token), "sessions": kept}
        part = self._file.with_name(f".{self._file.name}.part")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(dumps(body))
        part.replace(self._file)

    def _restore(self) -> None:
        """Restore the sessions; ignore a damaged file or one of another owner's token."""
        try:
            raw = json.loads(self._file.read_text()) if self._file is not None else {}
            if not hmac.compare_digest(str(raw.get("of", "")), _seal(self._owner_token)):
                return
            restored = [
                SignIn(
                    seal=session["seal"],
                    who=session["who"],
                    opened_ns=session["opened_ns"],
                    expires_ns=session["expires_ns"],
                    token=self._owner_token,
                )
                for session in raw["sessions"]
            ]
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return
        self._sessions = {session.seal: session for session in restored}
        self._drop_ended(self._clock.now_ns())


def form_token(cookie: str) -> str:
    """Return the token of a session's forms, derived from the cookie."""
    return hmac.new(cookie.encode(), b"codeplane form", sha256).hexdigest()


def _seal(secret: str) -> str:
    return sha256(b"codeplane dashboard\0" + secret.encode("utf-8", "surrogatepass")).hexdigest()
