"""The remote of a clone: accepted transports, and an address safe to show."""

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

from codeplane.kernel.errors import InvalidArgument

MAX_URL = 2000
_SCHEMES = ("https", "ssh", "git", "file")
_SCP = re.compile(r"(?:(?P<user>[\w][\w.-]*)@)?(?P<host>[\w][\w.-]*):(?![:/]{2})(?P<path>[^\s:-][^\s]*)", re.ASCII)
_HINT = "use https://…, ssh://…, git@host:path, git://… or file:///…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A remote's address as given, and without its secrets."""

    url: str
    shown: str
    last: str
    folder: str | None = None

    @classmethod
    def of(cls, url: str) -> "Remote":
        """Parse an address; InvalidArgument, without the address, if it is not accepted."""
        if len(url) > MAX_URL or not url.isprintable() or any(map(str.isspace, url)):
            raise InvalidArgument("the url is too long, or holds spaces or signs that no address has", hint=_HINT)
        if url.startswith("-"):
            raise InvalidArgument("a url cannot begin with -", hint=_HINT)
        if "://" in url:
            return cls._by_scheme(url)
        match = _SCP.fullmatch(url)
        if match is None:
            raise InvalidArgument("the url names no transport that is taken", hint=_HINT)
        return cls(url=url, shown=url, last=_last(match["path"]))

    @classmethod
    def _by_scheme(cls, url: str) -> "Remote":
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname or "", parts.port
        except ValueError as error:
            raise InvalidArgument("the url cannot be read: its host or port is no such thing", hint=_HINT) from error
        if parts.scheme not in _SCHEMES or "::" in url.partition("/")[0]:
            raise InvalidArgument(f"{parts.scheme[:20]!r} is no transport that is taken", hint=_HINT)
        if not parts.path.strip("/"):
            raise InvalidArgument("the url names no repository", hint=_HINT)
        if parts.scheme == "file":
            if parts.netloc not in ("", "localhost"):
                raise InvalidArgument("a file:// url names a folder of this machine", hint="use file:///folder")
            folder = unquote(parts.path)
            if "\0" in folder:
                raise InvalidArgument("a folder's name cannot hold NUL", hint=_HINT)
            return cls(url=f"file://{parts.path}", shown=f"file://{parts.path}", last=_last(folder), folder=folder)
        if not host or host.startswith("-") or (parts.username or "").startswith("-"):
            raise InvalidArgument("the url names no host", hint=_HINT)
        # The user of ssh is part of the address; elsewhere it can be a token.
        user = f"{parts.username}@" if parts.scheme == "ssh" and parts.username else ""
        place = parts.netloc.rpartition("@")[2]
        shown = urlunsplit((parts.scheme, user + place, parts.path, "", ""))
        return cls(url=url, shown=shown, last=_last(parts.path))

    def redact(self, text: str) -> str:
        """Git's output without the secrets of the address."""
        text = text.replace(self.url, self.shown)
        if self.url != self.shown and "://" in self.url:
            parts = urlsplit(self.url)
            for secret in (parts.netloc.rpartition("@")[0], parts.password, parts.username, parts.query):
                # A name of one or two letters would take the text apart, and gives nothing away.
                if secret and len(secret) > 2 and f"{secret}@" not in self.shown:
                    text = text.replace(secret, "***").replace(unquote(secret), "***")
        return re.sub(r"(\w+://)[^/\s'\"]*@", r"\1***@", text)


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
