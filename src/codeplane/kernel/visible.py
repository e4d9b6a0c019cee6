"""Text as a person should see it: nothing that moves, hides or turns round what stands beside it."""

import unicodedata

_KEPT = frozenset("\n\t")
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    """The text with control, format and other unseen signs written out, as in `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in _KEPT or unicodedata.category(one) not in _UNSEEN else _written(one) for one in text)


def _written(sign: str) -> str:
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
