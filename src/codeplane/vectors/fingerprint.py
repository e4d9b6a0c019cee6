"""A short fingerprint of a model's files."""

from hashlib import file_digest, sha256
from pathlib import Path

from codeplane.kernel.errors import EmbedderFailed


def fingerprint(*paths: Path) -> str:
    """Twelve hexadecimal digits of a hash over the files."""
    whole = sha256()
    try:
        for path in paths:
            with path.open("rb") as file:
                whole.update(file_digest(file, "sha256").digest())
    except OSError as error:
        raise EmbedderFailed(
            f"{path.name} of the model cannot be read: {error.strerror}", hint="name the folder that holds the model"
        ) from error
    return whole.hexdigest()[:12]
