"""What every draft passes on its way into the log, whatever orders it: redaction and the bound on payloads."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from codeplane.kernel.errors import MalformedRequest, TooLarge
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.thread_copies import with_thread_copies
from codeplane.ledger.job import Append


class DraftEncoder:
    """Encodes drafts, without the secrets that their payloads hold."""

    def __init__(self, *, redactor: Redactor, max_payload_bytes: int) -> None:
        self._redactor = redactor
        self._max_bytes = max_payload_bytes

    def encode(self, drafts: Sequence[Draft], expect: Mapping[str, int] | None) -> Append:
        """The drafts as the writer takes them, with copies for threads behind them.

        TooLarge or MalformedRequest for a payload that cannot be stored.
        """
        drafts = with_thread_copies(drafts)
        try:
            payloads = _encode_payloads(drafts)
            if not self._are_clean(payloads):
                # Before the write, because the tables are made from the payloads too.
                drafts = [replace(draft, payload=self._without_secrets(draft.payload)) for draft in drafts]
                payloads = _encode_payloads(drafts)
        except (TypeError, ValueError, RecursionError) as error:
            raise MalformedRequest("an event's payload cannot be written as JSON") from error
        largest = max(map(_size, payloads), default=0)
        if largest > self._max_bytes:
            raise TooLarge(f"an event's payload has {largest} bytes", details={"limit": self._max_bytes})
        return Append(drafts=drafts, payloads=payloads, expect=expect)

    def _are_clean(self, payloads: Sequence[str]) -> bool:
        """Whether none can hold a secret: looked at together, and one by one only where something was found."""
        distinct = payloads if len(payloads) == 1 else {*payloads}
        return self._redactor.is_clean("\n".join(distinct)) or (
            len(distinct) > 1 and all(map(self._redactor.is_clean, distinct))
        )

    def _without_secrets(self, payload: JsonObject) -> JsonObject:
        redacted = self._redactor.json(payload)
        assert isinstance(redacted, dict)
        return redacted


def _encode_payloads(drafts: Sequence[Draft]) -> list[str]:
    """The payloads as JSON; a copy for a thread has the very payload of the event that it copies."""
    if len(drafts) == 1:
        return [dumps(drafts[0].payload)]
    encoded: dict[int, str] = {}
    for draft in drafts:
        if id(draft.payload) not in encoded:
            encoded[id(draft.payload)] = dumps(draft.payload)
    return [encoded[id(draft.payload)] for draft in drafts]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
