"""Escapes characters that hide, move or reverse the text around them."""

import unicodedata

_KEPT = frozenset("\n\t")
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


def escape_invisible(text: str, *, strict: bool = False) -> str:
    """Return the text with control, format and other invisible characters escaped, as in `\\u202e`.

    `strict` is for what a shell runs: spaces that only look like one and unassigned characters are escaped as well.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape_char(sign) if is_invisible(sign, strict=strict) else sign for sign in text)


def is_invisible(sign: str, *, strict: bool = False) -> bool:
    """Whether a character is not seen, or changes how others are; line ends and tabs are not counted."""
    if sign in _KEPT:
        return False
    return not sign.isprintable() if strict else unicodedata.category(sign) in _UNSEEN


def _escape_char(sign: str) -> str:
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
