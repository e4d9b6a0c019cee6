"""Where a client is in a thread: the sequence of an event, and which of the updates made of it came last."""

import re
from dataclasses import dataclass

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue

META = "codeplane"
_CURSOR = re.compile(r"([0-9]{1,15})\.([0-9]{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cursor:
    """A place in a thread; everything up to it was sent."""

    sequence: int
    update: int = 0

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The cursor as clients send it back."""
        return f"{self.sequence}.{self.update}"

    @classmethod
    def parse(cls, text: JsonValue) -> "Cursor":
        """Return the cursor in a text; InvalidArgument when there is none."""
        match = _CURSOR.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise InvalidArgument(f"{str(text)[:40]!r} is no cursor", hint="send back one of `_meta.codeplane.cursor`")
        return cls(sequence=int(match[1]), update=int(match[2]))


def meta_field(meta: JsonObject | None, name: str) -> JsonValue:
    """Return a field of what a client has put under our name into `_meta`."""
    own = (meta or {}).get(META)
    return own.get(name) if isinstance(own, dict) else None
