"""A workspace file's rules for which packages below it are members."""

from dataclasses import dataclass
from functools import cached_property

from codeplane.index.contexts.glob import FolderGlob


@dataclass(frozen=True, kw_only=True)
class Fence:
    """The membership rules of one workspace root; a permissive fence admits everything, and `reason` says why."""

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
        """Member folders named without a glob."""
        return frozenset(member.literal for member in self.members if member.is_literal)

    def admits(self, folder: str) -> bool:
        """Whether a package is a member, by its folder relative to the fence's root."""
        if self.permissive:
            return True
        if folder in self.named:
            return True
        if any(each.matches(outer) for outer in _outwards(folder) for each in self.without):
            return False
        return any(not member.is_literal and member.matches(folder) for member in self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerContent:
    """The parsed content of a marker file: a fence, or the problem with the file."""

    fence: Fence | None = None
    problem: str = ""


def _outwards(folder: str) -> list[str]:
    folders = [folder]
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        folders.append(folder)
    return folders
