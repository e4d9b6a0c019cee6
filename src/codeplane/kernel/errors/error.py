"""The class of every failure a caller can see."""

from collections.abc import Mapping
from typing import ClassVar

from codeplane.kernel.json import JsonObject, JsonValue

_MAX_MESSAGE = 4000


class CodePlaneError(Exception):
    """A failure with a name, a number, and the next step for its reader."""

    name: ClassVar[str]
    code: ClassVar[int]
    http: ClassVar[int]
    rpc: ClassVar[str]
    retryable: ClassVar[bool]
    default_hint: ClassVar[str]
    # Its code in the specification's own dialect of ACP, which has ten of them.
    acp: ClassVar[str]

    def __init_subclass__(
        cls,
        *,
        name: str,
        code: int,
        http: int,
        rpc: str,
        hint: str,
        retryable: bool = False,
        acp: str = "ERR_INTERNAL",
    ) -> None:
        cls.name, cls.code, cls.http, cls.rpc = name, code, http, rpc
        cls.default_hint, cls.retryable, cls.acp = hint, retryable, acp

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        details: Mapping[str, JsonValue] | None = None,
        source: str = "codeplane",
    ) -> None:
        self.message = _printable(message, _MAX_MESSAGE)
        super().__init__(self.message)
        self.hint = hint or self.default_hint
        self.details: dict[str, JsonValue] = dict(details or {})
        self.source = source

    def to_wire(self) -> JsonObject:
        """The error as every surface sends it."""
        wire: JsonObject = {
            "code": self.code,
            "error": self.name,
            "message": self.message,
            "retryable": self.retryable,
            "hint": self.hint,
            "source": self.source,
            "details": self.details,
        }
        causes = self._causes()
        if causes:
            wire["causes"] = causes
        return wire

    def _causes(self) -> list[JsonValue]:
        chain: list[JsonValue] = []
        cause = self.__cause__
        while cause is not None and len(chain) < 8:
            kind = cause.name if isinstance(cause, CodePlaneError) else type(cause).__name__
            chain.append({"error": kind, "message": _printable(str(cause), 500)})
            cause = cause.__cause__
        return chain


def _printable(text: str, limit: int) -> str:
    """Text that every surface and the log can carry, whatever an exception had to say."""
    return text[:limit].encode("utf-8", "backslashreplace").decode()
