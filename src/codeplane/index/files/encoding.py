"""The text encoding of a file: by its byte order mark, UTF-8, or Latin-1."""

BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
LATIN = "latin-1 (not valid UTF-8)"


def decode(raw: bytes) -> tuple[str, str]:
    """Decode bytes and name the encoding; invalid UTF-8 is read as Latin-1."""
    for mark, name in BOMS:
        if raw.startswith(mark):
            try:
                return raw.decode(name), name
            except UnicodeDecodeError:
                break
    try:
        return raw.decode(), "utf-8"
    except UnicodeDecodeError:
        return raw.decode("latin-1"), LATIN


def encode(text: str, encoding: str, *, mark: bytes = b"") -> bytes:
    """Encode a text behind its file's byte order mark."""
    if encoding == "utf-16":
        return mark + text.encode("utf-16-be" if mark == b"\xfe\xff" else "utf-16-le")
    if encoding == LATIN:
        return text.encode("latin-1")
    return mark + text.encode()


def mark_of(raw: bytes, encoding: str) -> bytes:
    """The byte order mark of a file."""
    return next((mark for mark, name in BOMS if name == encoding and raw.startswith(mark)), b"")
