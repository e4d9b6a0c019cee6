"""The `git.remotes` operation."""

import re
from urllib.parse import urlsplit, urlunsplit

from codeplane.git.read.reader import GitReader
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.workspace_request import WorkspaceRequest

_LINE = re.compile(r"(?P<name>.+?)\t(?P<url>.*) \((?P<way>fetch|push)\)(?: \[.*\])?")


class RemotesRequest(WorkspaceRequest):
    """Every remote."""


class RemoteInfo(Result):
    """A remote; push_url when pushes go elsewhere. Passwords and tokens are left out of both."""

    name: str
    url: str
    push_url: str | None = None

    def text(self) -> str:
        return f"{self.name} {self.url}" + (f" (push: {self.push_url})" if self.push_url else "")


class RemotesResult(Result):
    """The remotes by name."""

    remotes: tuple[RemoteInfo, ...]

    def text(self) -> str:
        return "\n".join(remote.text() for remote in self.remotes) or "no remotes"


class RemoteReadOperations:
    """Answer `git.remotes`."""

    def __init__(self, *, reader: GitReader) -> None:
        self._reader = reader

    @operation("git.remotes", risk=Risk.READ)
    async def remotes(self, call: Call, request: RemotesRequest) -> RemotesResult:
        """Configured remotes with their URLs."""
        # `git remote` does not fail outside a repository.
        await self._reader.run("rev-parse", "--git-dir")
        output = await self._reader.run("remote", "--verbose")
        urls: dict[str, dict[str, str]] = {}
        for line in output.out.decode("utf-8", "backslashreplace").splitlines():
            if match := _LINE.fullmatch(line):
                urls.setdefault(match["name"], {}).setdefault(match["way"], redact_url(match["url"]))
        return RemotesResult(remotes=tuple(_remote(name, both) for name, both in sorted(urls.items())))


def _remote(name: str, urls: dict[str, str]) -> RemoteInfo:
    fetch, push = urls.get("fetch", ""), urls.get("push")
    return RemoteInfo(name=name, url=fetch, push_url=push if push != fetch else None)


def redact_url(url: str) -> str:
    """Return a URL without secrets: the user name of ssh stays, elsewhere it can be a token."""
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
        netloc = parts.netloc
        user, _, host = netloc.rpartition("@")
        login = f"{user.partition(':')[0]}@" if user and parts.scheme in ("ssh", "git+ssh", "ssh+git") else ""
        query = "" if parts.scheme in ("http", "https") else parts.query
        return urlunsplit((parts.scheme, login + host, parts.path, query, ""))
    except ValueError:
        return re.sub(r"://[^/]*@", "://", url)
