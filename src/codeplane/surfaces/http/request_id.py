"""Which request this is: the caller's own name for it where that is fit to be repeated, else one of ours."""

from codeplane.kernel.ids import new_id

HEADER = b"x-request-id"
_LONGEST = 128


def request_id(headers: list[tuple[bytes, bytes]]) -> str:
    """The caller's X-Request-Id if it is short and printable ASCII, otherwise a new one."""
    given = next((value for name, value in headers if name == HEADER), b"")
    text = given.decode("latin-1")
    return text if 0 < len(text) <= _LONGEST and text.isascii() and text.isprintable() else new_id("req")
