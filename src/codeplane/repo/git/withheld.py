"""What git knows and nobody is shown: secrets by the rules, and what belongs to git or to CodePlane."""

from pathlib import Path

from codeplane.kernel.errors import PathDenied
from codeplane.repo.truth.ignore import IgnoreRules
from codeplane.repo.truth.paths import canonical, shown


class Withheld:
    """The rules in force now: history can hold a secret as well as the work tree can."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._rules = IgnoreRules.of(root)

    def covers(self, path: str) -> bool:
        """Whether the content of a path is left out of answers."""
        try:
            return self._rules.is_secret(canonical(path, root=self._root))
        except PathDenied:
            return True

    def refuse(self, path: str) -> None:
        """PathDenied when the content of a path is left out of answers."""
        if self.covers(path):
            raise PathDenied(
                f"{shown(path)} is left out by the rules for secrets or by .cplignore",
                hint=f"the owner can un-ignore it: add !{shown(path)} to .cplignore",
            )
