"""Compressed answers, unpacked no further than wanted."""

import zlib

from codeplane.kernel.errors import FetchFailed
from codeplane.trust.web.network import Answer

# With a header of either kind, and without one, as some servers understand `deflate`.
_ANY_HEADER = zlib.MAX_WBITS | 32
_NO_HEADER = -zlib.MAX_WBITS


def unpacked(answer: Answer, max_bytes: int) -> tuple[bytes, bool]:
    """The body as it was before it was packed, and whether some is missing; a bomb fills no more than `max_bytes`."""
    encoding = answer.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return answer.body[:max_bytes], answer.cut or len(answer.body) > max_bytes
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed(f"the page is packed as {encoding[:40]!r}, which was not asked for")
    for bits in (_ANY_HEADER, _NO_HEADER):
        packer = zlib.decompressobj(bits)
        try:
            found = packer.decompress(answer.body, max_bytes + 1)
        except zlib.error as error:
            if bits == _NO_HEADER or encoding != "deflate":
                raise FetchFailed("the page is packed in a way that cannot be unpacked") from error
            continue
        return found[:max_bytes], answer.cut or len(found) > max_bytes or not packer.eof or bool(packer.unused_data)
    raise AssertionError("unreachable")
