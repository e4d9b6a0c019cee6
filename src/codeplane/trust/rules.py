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
_MAX_SHOWN = 200
# Also as the short names that Windows gives them.
_OURS = frozenset({".git", ".codeplane", "git~1", "codepl~1"})
# What disks of macOS leave out when they compare names.
_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


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
        # What an operation says of one call is nearer to it than what is said of its kind.
        said = " and ".join(assessment.effects) or guarded
        return Decision(
            verdict=Verdict.DENY,
            reasons=(f"{said}, and {actor} was not given leave for {operation.name}",),
        )

    def check_path(self, path: str) -> None:
        """Refuse what is outside the workspace and what is CodePlane's or git's own, for everyone."""
        shown = repr(path[:_MAX_SHOWN])
        parts = PurePosixPath(path.replace("\\", "/")).parts
        if path.startswith(("/", "\\")) or path[1:2] == ":" or "\0" in path or any(map(_climbs, parts)):
            raise PathDenied(f"{shown} is not a path inside the repository")
        if any(_plain(part) in _OURS for part in parts):
            raise PathDenied(f"{shown} belongs to git or to CodePlane, which no operation writes")


def _climbs(part: str) -> bool:
    """`..`, also with the dots and spaces after it that some systems drop."""
    return part.startswith("..") and not part.strip(". ")


def _plain(part: str) -> str:
    """The name that a disk may take it for: without case, streams, trailing dots and spaces, invisible signs."""
    return part.translate(_IGNORED).partition(":")[0].rstrip(". ").casefold()
