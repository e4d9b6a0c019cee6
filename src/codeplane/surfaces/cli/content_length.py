"""Messages behind headers with their length, as language servers read and write them; imports nothing slow."""

import re
from collections.abc import Iterator

from codeplane.kernel.errors import InvalidArgument

_LENGTH = re.compile(rb"(?:^|\r\n)content-length:[ \t]*(\d{1,15})[ \t]*(?:\r\n|$)", re.IGNORECASE)
_MAX_HEAD = 8_192
# Editors send whole files: a large one must not end the editor's connection.
_MAX_BYTES = 256 * 1024 * 1024


class ContentLength:
    """A message has a head that says how long it is."""

    def split(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the messages in what is read; InvalidArgument for what has no head, or is too long."""
        held = bytearray()
        wanted = -1
        for chunk in chunks:
            held += chunk
            while True:
                if wanted < 0:
                    end = held.find(b"\r\n\r\n")
                    if end < 0:
                        if len(held) > _MAX_HEAD:
                            raise _no_head()
                        break
                    wanted = _length(bytes(held[:end]))
                    del held[: end + 4]
                if len(held) < wanted:
                    break
                message = bytes(held[:wanted])
                del held[:wanted]
                wanted = -1
                if message:
                    yield message

    def join(self, message: bytes) -> bytes:
        """Return the message behind its head."""
        return b"Content-Length: %d\r\n\r\n%b" % (len(message), message)


def _length(head: bytes) -> int:
    found = _LENGTH.search(head)
    if found is None:
        raise _no_head()
    length = int(found[1])
    if length > _MAX_BYTES:
        raise InvalidArgument(f"a message has more than {_MAX_BYTES} bytes", hint="open smaller documents")
    return length


def _no_head() -> InvalidArgument:
    return InvalidArgument("stdin has no Content-Length", hint="editors start this command; it speaks LSP")
