"""The settings of submodules in `.gitmodules` and in the repository's config."""

import os
from collections.abc import Collection

from codeplane.git.safety.command import Git
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import GitRefused

GITMODULES = ".gitmodules"
_LOCAL = ("--local",)
_ALL = r"^submodule\."
_LEFT_ALONE = "none"
_CHECKOUT = "checkout"


class SubmoduleSettings:
    """The names, paths and addresses of submodules."""

    def __init__(self, git: Git) -> None:
        self._named, self._own = _read(git, _place(git)), _read(git, _LOCAL)
        # Git's settings, the user's too, override .gitmodules.
        stronger = [*self._named, *_read(git, ())]
        self._paths = _values(self._named, "path")
        self._urls = _values(stronger, "url")
        self._updates = _values(stronger, "update")

    @property
    def addresses(self) -> list[tuple[str, str]]:
        """Every address with the key of its setting."""
        return [(key, value) for key, value in (*self._named, *self._own) if key.endswith(".url")]

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the repository's own submodule settings."""
        return frozenset(key for key, _ in self._own)

    def is_checked_out_by_update(self, name: str) -> bool:
        """Whether an update checks out the commit, and neither merges, rebases nor runs a command."""
        return self._updates.get(name, _CHECKOUT) == _CHECKOUT

    def names_to_update(self, paths: Collection[str]) -> dict[str, str]:
        """Return the names of the submodules that git updates, by path.

        GitRefused when a path has no name, several names or no address: git might use another than was checked.
        """
        updated: dict[str, str] = {}
        for path in paths:
            names = [name for name, named in self._paths.items() if named == path]
            if len(names) != 1:
                count = f"{len(names)} names" if names else "no name"
                raise GitRefused(
                    f"{GITMODULES} has {count} for the submodule {path_text(path)}",
                    hint=f"give it one section in {GITMODULES}, or name the other submodules in paths",
                )
            if self._updates.get(names[0]) == _LEFT_ALONE:
                continue
            if not self._urls.get(names[0]):
                raise GitRefused(
                    f"no address is set for the submodule {path_text(path)}",
                    hint=f"set its url in {GITMODULES}, or name the other submodules in paths",
                )
            updated[path] = names[0]
        return updated


def _place(git: Git) -> tuple[str, str]:
    """Return where git reads `.gitmodules`: from the work tree, else the index, else the last commit."""
    if not os.path.lexists(git.root / GITMODULES):
        for blob in (f":{GITMODULES}", f"HEAD:{GITMODULES}"):
            if git.ask("rev-parse", "--verify", "--quiet", blob, check=False).code == 0:
                return "--blob", blob
    return "--file", GITMODULES


def _read(git: Git, place: tuple[str, ...]) -> list[tuple[str, str]]:
    done = git.ask("config", *place, "-z", "--get-regexp", _ALL, check=False)
    return [(key, value) for key, _, value in (line.partition("\n") for line in done.fields)]


def _values(settings: list[tuple[str, str]], key: str) -> dict[str, str]:
    """Return the values of a key by submodule name; the last one wins."""
    values = {}
    for setting, value in settings:
        name, _, last = setting.removeprefix("submodule.").rpartition(".")
        if name and last == key:
            values[name] = value
    return values
