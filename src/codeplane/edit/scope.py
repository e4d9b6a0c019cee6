"""Which files may be changed at all, by any caller."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pygit2

from codeplane.disk.git_folders import GitFolders, git_folders
from codeplane.disk.links import is_free_of_links
from codeplane.edit.folder_descriptors import open_parent, stat_entry
from codeplane.index.files.ignore import IgnoreRules
from codeplane.index.files.include import NOTHING_INCLUDED, IncludeRules
from codeplane.index.files.paths import canonical, is_ours, path_text
from codeplane.kernel.call import Call
from codeplane.kernel.disk_names import fold_path
from codeplane.kernel.errors import PathDenied
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules

_RULES = ".cplignore"
_KEPT_SEC = 1.0


class Scope:
    """The rules of the work tree; the caller's own permissions are checked through its call."""

    def __init__(
        self, root: Path, secrets: SecretRules = NOTHING_SHOWN, include: IncludeRules = NOTHING_INCLUDED
    ) -> None:
        self._root = root
        self._include = include
        self._secrets = secrets
        self._opened: tuple[float, pygit2.Repository] | None = None

    def git_folders(self) -> GitFolders:
        """Return git's folders as they are now, for a caller that locates several paths."""
        return git_folders(self._root)

    def locate(self, path: str, gits: GitFolders | None = None) -> str:
        """Return the canonical path of a file that may not exist yet, following links inside the repository.

        PathDenied when it leads outside, belongs to git or to CodePlane, or is the root.
        """
        gits = git_folders(self._root) if gits is None else gits
        name = canonical(path, root=self._root, gits=gits)
        if not name:
            raise PathDenied("the repository's root is not a file", hint="name a file")
        folder, _, last = name.rpartition("/")
        if folder and not is_free_of_links(str(self._root), folder):
            real = Path(self._real_path(folder))
            if real != self._root and self._root not in real.parents:
                raise PathDenied(f"{path_text(name)} leads outside the repository through a link")
            name_there = (real / last).relative_to(self._root).as_posix()
        else:
            name_there = name
        if is_ours(name_there, root=self._root, gits=gits):
            raise PathDenied(f"{path_text(name)} leads to what belongs to git or to CodePlane")
        return name_there

    def admit_link(self, path: str, target: str) -> None:
        """Raise PathDenied unless a link may lead to the target: inside, and to no hidden file."""
        link = f"{path_text(path)}: a link to {target!r}"
        above = path.rpartition("/")[0]
        written = os.path.normpath(f"{above}/{target}" if above else target)
        if not target or target.startswith("/") or "\0" in target or written.split("/")[0] == "..":
            raise PathDenied(f"{link} leads outside the repository", hint="name a relative path")
        real = Path(self._real_path(f"{above}/{target}" if above else target))
        if real != self._root and self._root not in real.parents:
            raise PathDenied(f"{link} leads outside the repository through another link", hint="name a relative path")
        rules = IgnoreRules.of(self._root, self._secrets)
        # The target as it is written, and with existing links resolved.
        for leads_to in (Path(written), real.relative_to(self._root)):
            if is_ours(leads_to.as_posix(), root=self._root):
                raise PathDenied(f"{link} leads to what belongs to git or to CodePlane", hint="link to another file")
            name = leads_to.as_posix()
            if name != "." and (rules.is_withheld(name) or rules.is_withheld(f"{name}/")):
                raise PathDenied(
                    f"{link} leads to what the rules for secrets or .cplignore leave out", hint="link to another file"
                )

    def admit(self, call: Call, paths: Iterable[str]) -> None:
        """Raise PathDenied unless the caller may write all of these located paths."""
        self._admit(paths, call.may_write)

    def refuse_unwritable(self, paths: Iterable[str]) -> None:
        """Raise PathDenied when no caller at all may write one of these located paths."""
        self._admit(paths, None)

    def _admit(self, paths: Iterable[str], may_write: Callable[[str], None] | None) -> None:
        rules, gits = IgnoreRules.of(self._root, self._secrets), git_folders(self._root)
        for path in paths:
            if may_write is not None:
                may_write(path)
            if is_ours(path, root=self._root, gits=gits):
                raise PathDenied(f"{path_text(path)} belongs to git or to CodePlane")
            if fold_path(path) == (_RULES,):
                raise PathDenied(
                    f"{_RULES} decides what may be read and written here, so no operation writes it",
                    hint="the owner edits it",
                )
            if (denied := rules.refusal(path)) is not None:
                raise denied
            if self._is_folder(path):
                raise PathDenied(f"{path_text(path)} is a folder", hint="name the files in it")

    def find_ignored(self, paths: Iterable[str]) -> set[str]:
        """Return the paths that git ignores; none without git."""
        try:
            repository = self._repository()
            # The rules first: reading the index takes longest, and few paths need it.
            ignored = [path for path in paths if repository.path_is_ignored(path)]
            if ignored:
                repository.index.read(False)
            return {path for path in ignored if path not in repository.index}
        except (pygit2.GitError, KeyError, ValueError):
            self._opened = None
            return set()

    def unlisted_paths(self, paths: Iterable[str]) -> set[str]:
        """Return the new paths that the index does not cover: hidden, or ignored and not included."""
        candidates, rules = list(paths), IgnoreRules.of(self._root, self._secrets)
        _, left_out = rules.split_paths(candidates, tracked=False)
        ignored = self.find_ignored(candidates) | set(left_out)
        return {path for path in ignored if rules.is_withheld(path) or not self._include.covers(path)}

    def _repository(self) -> pygit2.Repository:
        """The repository, kept for a moment: opening it reads all of git's settings, and edits come in bursts."""
        now = time.monotonic()
        if self._opened is None or now - self._opened[0] > _KEPT_SEC:
            opened = pygit2.Repository(str(self._root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
            self._opened = now, opened
        return self._opened[1]

    def _is_folder(self, path: str) -> bool:
        try:
            with open_parent(self._root, path) as (folder, name):
                return stat.S_ISDIR(stat_entry(folder, name).st_mode)
        except OSError:
            return False

    def _real_path(self, path: str) -> str:
        try:
            return os.path.realpath(self._root / path, strict=True)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise PathDenied(f"{path_text(path)} is reached through links that lead in a circle") from error
            return os.path.realpath(self._root / path)
