"""The folders that may be attached: no home folders, none of git's or CodePlane's."""

import os
from dataclasses import dataclass
from pathlib import Path

from codeplane.disk.git_folders import git_places
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import InvalidArgument, NotFound, PathDenied
from codeplane.kernel.secret_paths import is_secret_name

_MAX_SHOWN = 200
_OURS = frozenset({".git", ".codeplane"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """Judges folders by where they really lie, relative to the serving repository."""

    serving: Path
    home: Path
    roots: tuple[str, ...]

    def resolve_path(self, path: str) -> Path:
        """Resolve a path: absolute, from `~`, or relative to the repository; it need not exist."""
        if "\0" in path:
            raise PathDenied("a path cannot hold NUL")
        if path == "~" or path.startswith("~/"):
            path = f"{self.home}{path[1:]}"
        return Path(os.path.realpath(self.serving / path))

    def is_allowed(self, real: Path) -> bool:
        """Whether the owner's settings allow this folder; hidden folders below a root are not."""
        for root in map(self.resolve_path, self.roots):
            if real == root:
                return True
            if root in real.parents and not any(part.startswith(".") for part in real.relative_to(root).parts):
                return True
        return False

    def check(self, path: str) -> Path:
        """The folder at a path, or an error if it cannot be attached."""
        real = self.resolve_path(path)
        self.refuse(real)
        if not os.access(real, os.F_OK):
            raise NotFound(
                f"there is no folder {path_text(path[:_MAX_SHOWN])!r}",
                hint="name an existing folder by its absolute path",
            )
        if not real.is_dir():
            raise InvalidArgument(f"{path_text(path)!r} is no folder", hint="attach the folder that it is in")
        if not os.access(real, os.R_OK | os.X_OK):
            raise PathDenied(f"{path_text(path)!r} cannot be read by this user", hint="fix its permissions first")
        if real.samefile(self.serving):
            raise InvalidArgument("that is the repository itself", hint="leave workspace out to ask about it")
        return real

    def refuse(self, real: Path) -> None:
        """Raise PathDenied for folders that may never be attached."""
        name = repr(path_text(str(real)))
        if real == real.parent or real == self.home or real in self.home.parents:
            what = "the whole machine" if real == real.parent else "a home directory or what holds it"
            raise PathDenied(
                f"{name} is {what}, far more than a project: it is never opened to agents",
                hint="attach one project's folder by its own path",
            )
        if real == self.serving:
            raise PathDenied("that is the repository itself", hint="leave workspace out to ask about it")
        if real in self.serving.parents:
            raise PathDenied(f"{name} contains the repository and its .codeplane", hint="attach one project's folder")
        if any(map(is_secret_name, real.parts)):
            # By their names in there nobody could tell what these files are.
            raise PathDenied(f"{name} holds secrets by its name", hint="attach a project's folder")
        if self._is_gits(real) or any(part.casefold() in _OURS for part in real.parts):
            raise PathDenied(f"{name} belongs to git or to CodePlane", hint="attach the folder around it")

    def _is_gits(self, real: Path) -> bool:
        """Whether a folder lies inside the serving repository's git folder and is not a work tree."""
        inside = not git_places(self.serving).isdisjoint(map(str, (real, *real.parents)))
        return inside and not os.path.lexists(real / ".git")
