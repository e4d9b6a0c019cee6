"""The protocols that the stages need from outside the kernel."""

from collections.abc import Callable
from dataclasses import dataclass, field

from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import NotFound
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.job_tree import JobOperation, same_operation
from codeplane.kernel.ports import Approver, Authority, Blobs, Idempotency, Identity, Observer, RepositoryState, Tasks
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Tracer

_MAX_NAME = 100


def no_workspace(name: str) -> Catalogue:
    """Raise NotFound: there are no further workspaces."""
    raise NotFound(f"there is no workspace {name[:_MAX_NAME]!r}", hint="leave workspace out")


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
    # Finds the operations of another workspace; raises NotFound for unknown ones.
    elsewhere: Callable[[str], Catalogue] = no_workspace
    # Finds the operation of a job's own work tree.
    job_operation: JobOperation = same_operation
