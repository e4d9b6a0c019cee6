"""The places of linked work trees, and the rules for adding one."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from codeplane.git.read.repository import common_dir
from codeplane.git.safety.command import Git
from codeplane.git.write.exclude_file import ExcludeFile, pattern_of
from codeplane.index.files.paths import canonical, is_ours, path_text
from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.errors import NotFound, PathDenied

_OURS = frozenset({".git", ".codeplane"})
# A path prefix for policy rules on files of work trees outside the repository.
BESIDE = "@worktrees"
_PEOPLE = frozenset({ActorKind.OWNER, ActorKind.DEVICE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder for a work tree; `inside` is its path in the repository, None when it is outside."""

    folder: Path
    inside: str | None

    @property
    def prefix(self) -> str:
        """The prefix of its files' paths for policy rules."""
        return f"{self.inside}/" if self.inside is not None else f"{BESIDE}/{self.folder.name}/"


class WorktreePlaces:
    """Decide where work trees may be added: inside the repository, and outside by people or where the owner allows."""

    def __init__(self, git: Git) -> None:
        self._git = git

    def place(self, given: str, actor: Actor | None) -> Place:
        """Return the folder for a path; PathDenied when none may be there. Without an actor, rights are not checked."""
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
            raise NotFound(f"there is no folder {path_text(str(real.parent))!r}", hint="make it first, or name another")
        return Place(folder=real, inside=None)

    def _inside(self, given: str) -> Place:
        root = self._git.root
        path = canonical(given, root=root)
        real = Path(os.path.realpath(root / path))
        if not path:
            raise PathDenied(f"{path_text(given)!r} is the repository itself", hint="name a folder in it")
        # No link in the path may lead outside, or to what belongs to git or CodePlane.
        if root not in real.parents:
            raise PathDenied(
                f"{path_text(given)!r} leads out of the repository through a link", hint="name another folder"
            )
        if is_ours(real.relative_to(root).as_posix(), root=root):
            raise PathDenied(f"{path_text(given)!r} leads to what belongs to git or to CodePlane")
        return Place(folder=root / path, inside=path)

    def _refuse_outside(self, real: Path, given: str) -> None:
        shared = Path(os.path.realpath(common_dir(self._git.folder)))
        if _is_ours(real) or real == shared or shared in real.parents:
            raise PathDenied(f"{path_text(given)!r} belongs to git or to CodePlane")
        if real in self._git.root.parents:
            raise PathDenied(f"{path_text(given)!r} contains the repository")

    def _refuse_agent(self, real: Path, given: str) -> None:
        """Raise PathDenied unless the owner lets agents add work trees there; hidden folders are never allowed."""
        roots = [Path(os.path.realpath(self._git.root / Path(root).expanduser())) for root in self._open_roots]
        below = [real.relative_to(root) for root in roots if root in real.parents]
        if not below:
            opened = f" or below {', '.join(map(path_text, self._open_roots))}" if self._open_roots else ""
            raise PathDenied(
                f"{path_text(given)!r} is outside the repository",
                hint=f"name a folder inside it{opened}; the owner can add one there with cpl call git.worktree_add, or "
                "open a folder to agents: git.worktree_roots in .codeplane/config.yaml",
            )
        hidden = [next((part for part in path.parts if part.startswith(".")), "") for path in below]
        if all(hidden):
            raise PathDenied(
                f"{path_text(hidden[0])!r} in {path_text(given)!r} is hidden,"
                " and agents make no hidden folders out there",
                hint="choose a name that does not begin with a dot",
            )

    @property
    def _open_roots(self) -> tuple[str, ...]:
        return self._git.config.worktree_roots


def worktree_paths(git: Git) -> list[Path]:
    """List the work trees, the main one first."""
    fields = git.ask("worktree", "list", "--porcelain", "-z").fields
    return [Path(field.removeprefix("worktree ")) for field in fields if field.startswith("worktree ")]


async def exclude_worktree(git: Git, path: str) -> bytes | None:
    """Exclude a work tree's folder from this repository; return the new line, None when it is ignored anyway."""
    given = os.fsencode(f"{path}/\0")
    checked = await git.run("check-ignore", "-z", "--stdin", input=given, check=False, literal=False)
    if checked.code == 0:
        return None
    pattern = pattern_of(PurePath(path))
    await asyncio.to_thread(ExcludeFile(common_dir(git.folder)).add, pattern)
    return pattern


def forget_excluded(git: Git) -> None:
    """Remove the exclude lines of work trees that are gone."""
    paths = worktree_paths(git)
    inside = [(path, root) for path in paths for root in paths if root in path.parents]
    patterns = {pattern_of(path.relative_to(root)) for path, root in inside}
    git.refuse_new_links()
    ExcludeFile(common_dir(git.folder)).keep_only(patterns)


def _is_ours(path: Path) -> bool:
    return bool({part.casefold() for part in path.parts} & _OURS)
