"""Absolute request targets, such as `GET http://example.org/status`."""

import re

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_ENDS = re.compile(rb"[/?#]")


class TargetHostProtocol(HttpToolsProtocol):
    """Treats the host of an absolute request target as a second Host header.

    The target names the host then, not the header: where both say the same there is one Host, else two,
    and a check of the Hosts refuses that.
    """

    def on_headers_complete(self) -> None:
        """Add the target's host before anything reads the headers."""
        if (named := _authority(self.url)) is not None:
            hosts = [value.strip(b" \t").lower() for name, value in self.headers if name == b"host"]
            if hosts != [named.lower()]:
                self.headers.append((b"host", named))
        super().on_headers_complete()


def _authority(url: bytes) -> bytes | None:
    """Return the host of an absolute target; None for a path or `*`."""
    if url.startswith(b"/") or url == b"*":
        return None
    scheme, between, rest = url.partition(b"://")
    return _ENDS.split(rest if between else scheme, maxsplit=1)[0]
