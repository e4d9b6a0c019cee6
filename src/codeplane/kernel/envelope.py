"""The envelope around every answer."""

from dataclasses import dataclass

from codeplane.kernel.call import Operation
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.operation import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Which call, session and task an answer belongs to, and what else is worth knowing."""

    request_id: str
    timestamp_ms: int
    call_id: str
    session_id: str | None = None
    task_id: str | None = None
    task_state: str | None = None
    idempotency_key: str | None = None
    replayed: bool = False
    warnings: tuple[str, ...] = ()
    signals: tuple[JsonObject, ...] = ()
    fingerprints: JsonObject | None = None

    def to_wire(self) -> JsonObject:
        """The meta object of the wire format; optional parts only when they say something."""
        wire: JsonObject = {
            "session_id": self.session_id,
            "request_id": self.request_id,
            "timestamp_ms": self.timestamp_ms,
            "task_id": self.task_id,
            "task_state": self.task_state,
            "call_id": self.call_id,
        }
        if self.idempotency_key is not None:
            wire["idempotency_key"] = self.idempotency_key
        if self.replayed:
            wire["replayed"] = True
        if self.warnings:
            wire["warnings"] = list(self.warnings)
        if self.signals:
            wire["signals"] = list(self.signals)
        if self.fingerprints:
            wire["fingerprints"] = self.fingerprints
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a call ended: a result or an error, never both, always with its meta."""

    operation: Operation | None
    meta: Meta
    result: Result | None = None
    result_json: str = "null"
    error: CodePlaneError | None = None

    def to_json(self, *, with_text: bool = False) -> str:
        """The envelope verbatim, as programs read it; on request with the text people read."""
        wire = self.meta.to_wire()
        if self.result is not None and (unmet := self.result.unmet()):
            wire["unmet"] = unmet
        meta = dumps(wire)
        if self.error is not None:
            return f'{{"error":{dumps(self.error.to_wire())},"meta":{meta}}}'
        text = f',"text":{dumps(self.result.text())}' if with_text and self.result is not None else ""
        return f'{{"result":{self.result_json},"meta":{meta}{text}}}'
