"""What every draft passes on its way into the log, whatever orders it: redaction and the bound on payloads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

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
            encoded = _encode_payloads(drafts)
            if not self._are_clean(encoded.values()):
                # Before the write, because the tables are made from the payloads too.
                drafts = [replace(draft, payload=self._without_secrets(draft.payload)) for draft in drafts]
                encoded = _encode_payloads(drafts)
            payloads = [encoded[id(draft.payload)] for draft in drafts]
        except (TypeError, ValueError, RecursionError) as error:
            raise MalformedRequest("an event's payload cannot be written as JSON") from error
        largest = max((_size(payload) for payload in payloads), default=0)
        if largest > self._max_bytes:
            raise TooLarge(f"an event's payload has {largest} bytes", details={"limit": self._max_bytes})
        return Append(drafts=drafts, payloads=payloads, expect=expect)

    def _are_clean(self, payloads: Collection[str]) -> bool:
        """Whether none can hold a secret: looked at together, and one by one only where something was found."""
        return self._redactor.is_clean("\n".join(payloads)) or (
            len(payloads) > 1 and all(map(self._redactor.is_clean, payloads))
        )

    def _without_secrets(self, payload: JsonObject) -> JsonObject:
        redacted = self._redactor.json(payload)
        assert isinstance(redacted, dict)
        return redacted


def _encode_payloads(drafts: Sequence[Draft]) -> dict[int, str]:
    """The payloads as JSON by their identity: a copy for a thread has the payload of the event that it copies."""
    payloads = {id(draft.payload): draft.payload for draft in drafts}
    return {identity: dumps(payload) for identity, payload in payloads.items()}


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
