"""Scripts, styles and images, held in memory, with content hashes in their URLs."""

import gzip
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from codeplane.kernel.errors import NotFound
from codeplane.surfaces.web.security_headers import SECURITY

_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_FOREVER = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}


class StaticFiles:
    """The files below one folder, read at the start."""

    def __init__(self, folder: Path, *, prefix: str) -> None:
        self._prefix = prefix
        self._held: dict[str, tuple[bytes, bytes, str]] = {}
        for path in sorted(folder.rglob("*")):
            if path.suffix in _KINDS:
                body = path.read_bytes()
                packed = gzip.compress(body, mtime=0)
                self._held[path.relative_to(folder).as_posix()] = (body, packed, _KINDS[path.suffix])

    def url(self, name: str) -> str:
        """Return the URL of a file."""
        return f"{self._prefix}/{name}?v={sha256(self._held[name][0]).hexdigest()[:12]}"

    async def serve(self, request: Request) -> Response:
        """Serve a file by name."""
        file = self._held.get(request.path_params["name"])
        if file is None:
            raise NotFound(f"nothing is at {request.url.path}")
        body, packed, kind = file
        headers = {**SECURITY, **_FOREVER}
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(packed, media_type=kind, headers={**headers, "content-encoding": "gzip"})
        return Response(body, media_type=kind, headers=headers)
