"""JSON values as types, and the one way they become text."""

import json
from collections.abc import Callable
from json import encoder as library
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    JsonValue: TypeAlias = str | int | float | bool | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None
    JsonObject: TypeAlias = dict[str, JsonValue]
else:
    # Pydantic cannot resolve an alias that names itself; checkers see the exact type, models take what they get.
    JsonValue = object
    JsonObject = dict[str, object]

_encode_ascii = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def _make_encoder(*, sort_keys: bool) -> "Callable[[JsonValue], str]":
    """A compact encoder that is made once: the library's own makes its inner one again for every value."""
    encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False, sort_keys=sort_keys)
    make_encoder = getattr(library, "c_make_encoder", None)
    if make_encoder is None:
        return encoder.encode
    quote = library.encode_basestring
    # Without the markers of what is open: a value that holds itself raises RecursionError.
    parts = make_encoder(None, encoder.default, quote, None, ":", ",", sort_keys, False, False)
    return lambda value: "".join(parts(value, 0))


_encode = _make_encoder(sort_keys=False)
_encode_sorted = _make_encoder(sort_keys=True)


def dumps(value: JsonValue) -> str:
    """Compact JSON that UTF-8 can always hold: half a character, as file names may have, is escaped."""
    text = _encode(value)
    return text if is_text(text) else _encode_ascii(value)


def is_text(text: str) -> bool:
    """Whether UTF-8 can hold it."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def canonical(value: JsonValue) -> bytes:
    """JSON with sorted keys: equal values give equal bytes, fit for hashing."""
    return _encode_sorted(value).encode()
