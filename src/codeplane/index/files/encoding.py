"""How a file's bytes are read as text: by its mark, as UTF-8, or byte by byte."""

BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
LATIN = "latin-1 (not valid UTF-8)"


def decode(raw: bytes) -> tuple[str, str]:
    """The text and what it is encoded in; every byte of what is not UTF-8 stays what it is."""
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
    """The bytes of a text, behind the mark its file had; UnicodeEncodeError where the encoding lacks a character."""
    if encoding == "utf-16":
        return mark + text.encode("utf-16-be" if mark == b"\xfe\xff" else "utf-16-le")
    if encoding == LATIN:
        return text.encode("latin-1")
    return mark + text.encode()


def mark_of(raw: bytes, encoding: str) -> bytes:
    """The mark in front of a file's text."""
    return next((mark for mark, name in BOMS if name == encoding and raw.startswith(mark)), b"")
