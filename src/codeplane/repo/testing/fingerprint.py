"""What stays of a failure when numbers, places and times are taken away."""

import re
from hashlib import sha256

from codeplane.repo.testing.case import Case

_NOISE = (
    (re.compile(r"0x[0-9a-fA-F]+"), "<address>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I), "<uuid>"),
    (re.compile(r"(?:[\w.@~+-]*[/\\])+(?=[\w.@+-]+)"), ""),
    (re.compile(r"\d+(?:\.\d+)?"), "<n>"),
    (re.compile(r"\s+"), " "),
)
_LINES = 60


def normalised(text: str) -> str:
    """The end of a stack without what differs from run to run."""
    text = "\n".join(text.splitlines()[-_LINES:])
    for pattern, stand_in in _NOISE:
        text = pattern.sub(stand_in, text)
    return text.strip()


def fingerprint(target_id: str, case: Case) -> str:
    """Equal for the same test failing in the same way."""
    content = "\x1f".join((target_id, case.name, case.kind.rpartition(".")[2], normalised(case.stack or case.message)))
    return sha256(content.encode(errors="replace")).hexdigest()[:16]
