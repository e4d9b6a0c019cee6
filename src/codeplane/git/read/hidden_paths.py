"""Paths whose content is hidden from results: secrets, and what belongs to git or CodePlane."""

from pathlib import Path

from codeplane.index.files.ignore import IgnoreRules
from codeplane.index.files.paths import canonical
from codeplane.kernel.errors import PathDenied
from codeplane.kernel.secret_paths import SecretRules


class HiddenPaths:
    """Apply the current rules to paths, also to those in history."""

    def __init__(self, root: Path, secrets: SecretRules) -> None:
        self._root = root
        self._rules = IgnoreRules.of(root, secrets)

    def covers(self, path: str) -> bool:
        """Whether the content of a path is hidden."""
        try:
            return self._rules.is_withheld(canonical(path, root=self._root))
        except PathDenied:
            return True

    def refuse(self, path: str) -> None:
        """Raise PathDenied when the content of a path is hidden."""
        if (denied := self._rules.refusal(canonical(path, root=self._root))) is not None:
            raise denied
