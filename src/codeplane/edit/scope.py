"""Which files may be changed at all, whoever asks."""

import errno
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

import pygit2

from codeplane.edit.beneath import beside, looked_at
from codeplane.index.files.ignore import IgnoreRules
from codeplane.index.files.include import NOTHING_INCLUDED, IncludeRules
from codeplane.index.files.paths import canonical, is_ours, shown
from codeplane.kernel.call import Call
from codeplane.kernel.errors import PathDenied
from codeplane.kernel.plain_path import is_plain
from codeplane.kernel.secret_files import NOTHING_SHOWN, SecretRules

_RULES = ".cplignore"


class Scope:
    """The work tree's own rules; those of the caller are asked through its call."""

    def __init__(
        self, root: Path, secrets: SecretRules = NOTHING_SHOWN, include: IncludeRules = NOTHING_INCLUDED
    ) -> None:
        self._root = root
        self._include = include
        self._secrets = secrets

    def located(self, path: str) -> str:
        """The canonical path of a file that is or could be there, with links inside the repository followed on the way.

        PathDenied when it leads outside, belongs to git or to CodePlane, or names a folder.
        """
        name = canonical(path, root=self._root)
        if not name:
            raise PathDenied("the repository's root is not a file", hint="name a file")
        folder, _, last = name.rpartition("/")
        if folder and not is_plain(str(self._root), folder):
            real = Path(self._real(folder))
            if real != self._root and self._root not in real.parents:
                raise PathDenied(f"{shown(name)} leads outside the repository through a link")
            name_there = (real / last).relative_to(self._root).as_posix()
        else:
            name_there = name
        if is_ours(name_there, root=self._root):
            raise PathDenied(f"{shown(name)} leads to what belongs to git or to CodePlane")
        return name_there

    def admit_link(self, path: str, target: str) -> None:
        """PathDenied unless a link at a located path may lead there: inside, and to nothing that is out of bounds."""
        said = f"{shown(path)}: a link to {target!r}"
        above = path.rpartition("/")[0]
        written = os.path.normpath(f"{above}/{target}" if above else target)
        if not target or target.startswith("/") or "\0" in target or written.split("/")[0] == "..":
            raise PathDenied(f"{said} leads outside the repository", hint="name a relative path")
        real = Path(self._real(f"{above}/{target}" if above else target))
        if real != self._root and self._root not in real.parents:
            raise PathDenied(f"{said} leads outside the repository through another link", hint="name a relative path")
        rules = IgnoreRules.of(self._root, self._secrets)
        # As it is written, and as links that are there make of it.
        for leads_to in (Path(written), real.relative_to(self._root)):
            if is_ours(leads_to.as_posix(), root=self._root):
                raise PathDenied(f"{said} leads to what belongs to git or to CodePlane", hint="link to another file")
            name = leads_to.as_posix()
            if name != "." and (rules.is_withheld(name) or rules.is_withheld(f"{name}/")):
                raise PathDenied(
                    f"{said} leads to what the rules for secrets or .cplignore leave out", hint="link to another file"
                )

    def admit(self, call: Call, paths: Iterable[str]) -> None:
        """PathDenied unless all of these located paths may be written."""
        self._admit(paths, call.may_write)

    def refuse(self, paths: Iterable[str]) -> None:
        """PathDenied unless somebody might write these located paths; whether a caller may is not asked."""
        self._admit(paths, None)

    def _admit(self, paths: Iterable[str], may_write: Callable[[str], None] | None) -> None:
        rules = IgnoreRules.of(self._root, self._secrets)
        for path in paths:
            if may_write is not None:
                may_write(path)
            if is_ours(path, root=self._root):
                raise PathDenied(f"{shown(path)} belongs to git or to CodePlane")
            if path.casefold() == _RULES:
                raise PathDenied(
                    f"{_RULES} decides what may be read and written here, so no operation writes it",
                    hint="the owner edits it",
                )
            if (denied := rules.refusal(path)) is not None:
                raise denied
            if self._is_folder(path):
                raise PathDenied(f"{shown(path)} is a folder", hint="name the files in it")

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that git ignores; without git none."""
        try:
            repository = pygit2.Repository(str(self._root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
            # The rules first: to read the index takes longer than all else, and few paths need it.
            return {path for path in paths if repository.path_is_ignored(path) and path not in repository.index}
        except (pygit2.GitError, KeyError, ValueError):
            return set()

    def unlisted(self, paths: Iterable[str]) -> set[str]:
        """Those of new paths that no search covers: withheld, or ignored or noise and not included."""
        given, rules = list(paths), IgnoreRules.of(self._root, self._secrets)
        _, left_out = rules.kept(given, tracked=False)
        found = self.ignored(given) | set(left_out)
        return {path for path in found if rules.is_withheld(path) or not self._include.covers(path)}

    def _is_folder(self, path: str) -> bool:
        try:
            with beside(self._root, path) as (folder, name):
                return stat.S_ISDIR(looked_at(folder, name).st_mode)
        except OSError:
            return False

    def _real(self, path: str) -> str:
        try:
            return os.path.realpath(self._root / path, strict=True)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise PathDenied(f"{shown(path)} is reached through links that lead in a circle") from error
            return os.path.realpath(self._root / path)
