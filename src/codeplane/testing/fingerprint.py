"""What stays of a failure when numbers, places and times are taken away."""

from hashlib import sha256

from codeplane.kernel.trace import normalise_trace
from codeplane.testing.case import Case


def fingerprint(target_id: str, case: Case) -> str:
    """Equal for the same test failing in the same way."""
    content = "\x1f".join(
        (target_id, case.name, case.kind.rpartition(".")[2], normalise_trace(case.stack or case.message))
    )
    return sha256(content.encode(errors="replace")).hexdigest()[:16]
