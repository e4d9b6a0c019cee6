"""Where further work trees are, and where they may come to be."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from codeplane.git.read.repository import common_dir
from codeplane.git.safety.command import Git
from codeplane.git.write.exclude_file import ExcludeFile, pattern_of
from codeplane.index.files.paths import canonical, is_ours, shown
from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.errors import NotFound, PathDenied

_OURS = frozenset({".git", ".codeplane"})
# Rules know files by their paths in the repository, and these have none.
BESIDE = "@worktrees"
_PEOPLE = frozenset({ActorKind.OWNER, ActorKind.DEVICE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder for a work tree; `inside` is its path in the repository, None beside it."""

    folder: Path
    inside: str | None

    @property
    def prefix(self) -> str:
        """What stands before the names of its files where rules are asked about them."""
        return f"{self.inside}/" if self.inside is not None else f"{BESIDE}/{self.folder.name}/"


class WorktreePlaces:
    """Decides where work trees may be added: inside the repository; beside it for people, and where the owner says so
    for agents."""

    def __init__(self, git: Git) -> None:
        self._git = git

    def place(self, given: str, actor: Actor | None) -> Place:
        """The folder that a path means; PathDenied when it may not be there. Without an actor no rights are checked."""
        root = self._git.root
        if "\0" in given:
            raise PathDenied("a path cannot hold NUL")
        lexical = Path(os.path.normpath(root / given))
        if lexical == root or root in lexical.parents:
            return self._inside(given)
        real = Path(os.path.realpath(lexical))
        if root in real.parents:
            return self._inside(str(real.relative_to(root)))
        self._refuse_outside(real, given)
        if actor is not None and actor.kind not in _PEOPLE:
            self._refuse_agent(real, given)
        if not real.parent.is_dir():
            raise NotFound(f"there is no folder {shown(str(real.parent))!r}", hint="make it first, or name another")
        return Place(folder=real, inside=None)

    def _inside(self, given: str) -> Place:
        root = self._git.root
        path = canonical(given, root=root)
        real = Path(os.path.realpath(root / path))
        if not path:
            raise PathDenied(f"{shown(given)!r} is the repository itself", hint="name a folder in it")
        # No link, on the way or at its end, may lead elsewhere, nor to what is git's or CodePlane's own.
        if root not in real.parents:
            raise PathDenied(f"{shown(given)!r} leads out of the repository through a link", hint="name another folder")
        if is_ours(real.relative_to(root).as_posix(), root=root):
            raise PathDenied(f"{shown(given)!r} leads to what belongs to git or to CodePlane")
        return Place(folder=root / path, inside=path)

    def _refuse_outside(self, real: Path, given: str) -> None:
        shared = Path(os.path.realpath(common_dir(self._git.folder)))
        if _is_ours(real) or real == shared or shared in real.parents:
            raise PathDenied(f"{shown(given)!r} belongs to git or to CodePlane")
        if real in self._git.root.parents:
            raise PathDenied(f"{shown(given)!r} contains the repository")

    def _refuse_agent(self, real: Path, given: str) -> None:
        """PathDenied unless the owner lets agents add work trees there; hidden folders are not for them."""
        roots = [Path(os.path.realpath(self._git.root / Path(one).expanduser())) for one in self._opened]
        below = [real.relative_to(root) for root in roots if root in real.parents]
        if not below:
            opened = f" or below {', '.join(map(shown, self._opened))}" if self._opened else ""
            raise PathDenied(
                f"{shown(given)!r} is outside the repository",
                hint=f"name a folder inside it{opened}; the owner can add one there with cpl call git.worktree_add, or "
                "open a folder to agents: git.worktree_roots in .codeplane/config.yaml",
            )
        hidden = [next((part for part in path.parts if part.startswith(".")), "") for path in below]
        if all(hidden):
            raise PathDenied(
                f"{shown(hidden[0])!r} in {shown(given)!r} is hidden, and agents make no hidden folders out there",
                hint="choose a name that does not begin with a dot",
            )

    @property
    def _opened(self) -> tuple[str, ...]:
        return self._git.config.worktree_roots


def worktree_paths(git: Git) -> list[Path]:
    """Every work tree, the main one first."""
    fields = git.ask("worktree", "list", "--porcelain", "-z").fields
    return [Path(one.removeprefix("worktree ")) for one in fields if one.startswith("worktree ")]


async def exclude_worktree(git: Git, path: str) -> bytes | None:
    """Keep git from taking a folder for a repository inside this one; the new line, None when it is ignored anyway."""
    given = os.fsencode(f"{path}/\0")
    asked = await git.run("check-ignore", "-z", "--stdin", input=given, check=False, literal=False)
    if asked.code == 0:
        return None
    pattern = pattern_of(PurePath(path))
    await asyncio.to_thread(ExcludeFile(common_dir(git.folder)).add, pattern)
    return pattern


def forget_excluded(git: Git) -> None:
    """Take away the lines in git's own list of ignored files that name work trees that are gone."""
    paths = worktree_paths(git)
    inside = [(path, root) for path in paths for root in paths if root in path.parents]
    kept = {pattern_of(path.relative_to(root)) for path, root in inside}
    git.refuse_new_links()
    ExcludeFile(common_dir(git.folder)).keep_only(kept)


def _is_ours(path: Path) -> bool:
    return bool({part.casefold() for part in path.parts} & _OURS)
