"""The state of tested code as one comparable value."""

from collections.abc import Sequence
from hashlib import sha256

from codeplane.index.snapshot import Snapshot
from codeplane.testing.target import TargetSelection

_DIGITS = 24


def code_state(wanted: Sequence[TargetSelection], snapshot: Snapshot) -> str:
    """Return one value for everything that runs: the targets, and all files of the repository that they may use."""
    hashed = sha256()
    for selection in wanted:
        names = f"{selection.target_id!r} {selection.target.runner_name!r} {selection.names!r}"
        hashed.update(f"{names}\n".encode())
    for path, known in sorted(snapshot.files.items()):
        # A file that is too large to be read has no digest, and is known by its times.
        content = known.digest or repr(known.stamp)
        hashed.update(f"{path!r} {content} {known.stamp.mode:o}\n".encode())
    return hashed.hexdigest()[:_DIGITS]
