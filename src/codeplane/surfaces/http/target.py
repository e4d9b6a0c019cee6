"""What a request is addressed to, where its first line says that itself."""

import re

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_ENDS = re.compile(rb"[/?#]")


class AddressedProtocol(HttpToolsProtocol):
    """HTTP in which a target such as `http://example.org/status` counts as a Host, beside the header.

    Who is meant is said by the target then, and not by the header: where both say the same there is one Host, else two,
    and whoever looks at Hosts refuses that.
    """

    def on_headers_complete(self) -> None:
        """Before the request is looked at by anybody."""
        if (named := _authority(self.url)) is not None:
            hosts = [value.strip(b" \t").lower() for name, value in self.headers if name == b"host"]
            if hosts != [named.lower()]:
                self.headers.append((b"host", named))
        super().on_headers_complete()


def _authority(url: bytes) -> bytes | None:
    """Whom a target names; None of one that is a path, or `*`."""
    if url.startswith(b"/") or url == b"*":
        return None
    scheme, between, rest = url.partition(b"://")
    return _ENDS.split(rest if between else scheme, maxsplit=1)[0]
