"""What a workspace file says about which packages below it belong to the workspace."""

from dataclasses import dataclass
from functools import cached_property

from codeplane.index.contexts.glob import FolderGlob


@dataclass(frozen=True, kw_only=True)
class Fence:
    """The authority of one workspace root; a permissive one keeps everything, and `reason` says why."""

    marker: str
    members: tuple[FolderGlob, ...] = ()
    # A package below one of these is out, unless it is named outright.
    without: tuple[FolderGlob, ...] = ()
    permissive: bool = False
    # Whether the root itself is only in when it is listed (go.work).
    lists_itself: bool = False
    reason: str = ""

    @cached_property
    def named(self) -> frozenset[str]:
        """The folders that are named outright."""
        return frozenset(member.literal for member in self.members if member.is_literal)

    def admits(self, folder: str) -> bool:
        """Whether a package belongs, by its folder as seen from the fence's root."""
        if self.permissive:
            return True
        if folder in self.named:
            return True
        if any(each.matches(outer) for outer in _outwards(folder) for each in self.without):
            return False
        return any(not member.is_literal and member.matches(folder) for member in self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """What reading one marker file gave: perhaps a fence, perhaps a reason why it could not be read."""

    fence: Fence | None = None
    problem: str = ""


def _outwards(folder: str) -> list[str]:
    found = [folder]
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return found
