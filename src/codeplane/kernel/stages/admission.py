"""The stages before the handler, in their order."""

from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.result_redaction import ResultRedaction
from codeplane.kernel.stages.approve import Approve
from codeplane.kernel.stages.authorise import Authorise
from codeplane.kernel.stages.budget import CountBudget
from codeplane.kernel.stages.chain import Chain
from codeplane.kernel.stages.idempotency import KeyClaims
from codeplane.kernel.stages.identify import Identify
from codeplane.kernel.stages.ports import StagePorts
from codeplane.kernel.stages.progress import Admitted, Received
from codeplane.kernel.stages.record import Recorder
from codeplane.kernel.stages.validate import Validate


def admission(
    catalogue: Catalogue, ports: StagePorts, recorder: Recorder, redaction: ResultRedaction
) -> Chain[Received, Admitted]:
    """Build validate, identify, authorise, approve and budget; a new stage goes in here."""
    keys = KeyClaims(idempotency=ports.idempotency)
    authorise = Authorise(authority=ports.authority, approver=ports.approver)
    identify = Identify(
        elsewhere=ports.elsewhere,
        identity=ports.identity,
        tasks=ports.tasks,
        keys=keys,
        authority=ports.authority,
        log=ports.log,
        redaction=redaction,
    )
    approve = Approve(
        identity=ports.identity, authorise=authorise, approver=ports.approver, keys=keys, clock=ports.clock
    )
    return (
        Chain.of(Validate(catalogue=catalogue, identity=ports.identity, redactor=ports.redactor))
        .then(identify)
        .then(authorise)
        .then(approve)
        .then(CountBudget(tasks=ports.tasks, repo=ports.repo, recorder=recorder))
    )
