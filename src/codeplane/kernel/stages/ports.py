"""What the stages need from outside the kernel."""

from dataclasses import dataclass, field

from codeplane.kernel.clock import Clock
from codeplane.kernel.ports import (
    Approver,
    Authority,
    Blobs,
    EventLog,
    Idempotency,
    Identity,
    Observer,
    RepositoryState,
    Tasks,
)
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Tracer


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePorts:
    """One implementation of each port."""

    identity: Identity
    authority: Authority
    approver: Approver | None
    tasks: Tasks
    idempotency: Idempotency
    log: EventLog
    blobs: Blobs
    repo: RepositoryState
    observer: Observer
    clock: Clock
    redactor: Redactor = field(default_factory=Redactor)
    # Without one nothing is timed.
    tracer: Tracer | None = None
