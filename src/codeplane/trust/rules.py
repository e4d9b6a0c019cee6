"""The built-in rules: reads and workspace writes run; what destroys, leaves the machine or is a shell does not."""

from pathlib import PurePosixPath

from codeplane.kernel.actor import Actor
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import PathDenied
from codeplane.kernel.operation import Assessment, Operation, Risk
from codeplane.kernel.ports import Decision, Verdict

_GUARDED = {
    Risk.DESTRUCTIVE: "it can destroy work or history",
    Risk.EXFILTRATION: "it sends things out of this machine",
    Risk.HIGH: "it runs a shell command",
}
_OURS = frozenset({".git", ".codeplane"})


class Rules:
    """Decides by the assessed risk and the owner's settings."""

    def __init__(self, config: TrustConfig) -> None:
        self._config = config

    def decide(self, actor: Actor, operation: Operation, assessment: Assessment) -> Decision:
        """Allow, or deny with the reason and what the owner can do about it."""
        guarded = _GUARDED.get(assessment.risk)
        if guarded is None:
            return Decision(verdict=Verdict.ALLOW)
        if operation.name in self._config.allow:
            return Decision(verdict=Verdict.ALLOW, reasons=(f"{operation.name} is named in trust.allow",))
        if self._config.mode == "automatic":
            return Decision(verdict=Verdict.ALLOW, reasons=("trust.mode is automatic",))
        return Decision(
            verdict=Verdict.DENY,
            reasons=(f"{guarded}, and {actor} was not given leave for {operation.name}",),
        )

    def check_path(self, path: str) -> None:
        """Refuse what is outside the workspace and what is CodePlane's or git's own, for everyone."""
        parts = PurePosixPath(path.replace("\\", "/")).parts
        if path.startswith(("/", "\\")) or (len(path) > 1 and path[1] == ":") or ".." in parts or "\0" in path:
            raise PathDenied(f"{path!r} is not a path inside the repository")
        # Compared without case: on some disks `.GIT` is `.git`.
        if any(part.casefold().rstrip(". ") in _OURS for part in parts):
            raise PathDenied(f"{path!r} belongs to git or to CodePlane, which no operation writes")
