"""Fingerprints of failures: what is left of one without numbers, places and times."""

from hashlib import sha256

from codeplane.kernel.trace import normalise_trace
from codeplane.testing.case import Case


def fingerprint(target_id: str, case: Case) -> str:
    """Return a value that is equal for the same test failing in the same way."""
    content = "\x1f".join(
        (target_id, case.name, case.kind.rpartition(".")[2], normalise_trace(case.stack or case.message))
    )
    return sha256(content.encode(errors="replace")).hexdigest()[:16]
