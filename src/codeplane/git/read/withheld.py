"""What git knows and nobody is shown: secrets by the rules, and what belongs to git or to CodePlane."""

from pathlib import Path

from codeplane.index.files.ignore import IgnoreRules
from codeplane.index.files.paths import canonical
from codeplane.kernel.errors import PathDenied
from codeplane.kernel.secret_files import SecretRules


class Withheld:
    """The rules in force now: history can hold a secret as well as the work tree can."""

    def __init__(self, root: Path, secrets: SecretRules) -> None:
        self._root = root
        self._rules = IgnoreRules.of(root, secrets)

    def covers(self, path: str) -> bool:
        """Whether the content of a path is left out of answers."""
        try:
            return self._rules.is_withheld(canonical(path, root=self._root))
        except PathDenied:
            return True

    def refuse(self, path: str) -> None:
        """PathDenied when the content of a path is left out of answers."""
        if (denied := self._rules.refusal(canonical(path, root=self._root))) is not None:
            raise denied
