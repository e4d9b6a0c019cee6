"""The secrets files of work trees: found on the disk, hidden from sandboxes, and redacted from answers."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from codeplane.adapters.git_listing import tracked_paths
from codeplane.adapters.linked_work_trees import linked_work_trees
from codeplane.adapters.python_environment import foreign_entries, is_python_environment
from codeplane.adapters.secret_aliases import SecretAliases
from codeplane.adapters.secret_folders import OWN, SecretFolders
from codeplane.adapters.secret_value_index import SecretValueIndex, read_regular_file
from codeplane.kernel.errors import TooLarge
from codeplane.kernel.secret_matcher import SecretMatcher
from codeplane.kernel.secret_paths import KEYS, SecretRules
from codeplane.kernel.secret_values import is_public

EMPTY = "mask"
# bubblewrap takes time by the square of the number of mounts: one second here.
MAX_HIDDEN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """A path that a sandbox shows as empty."""

    path: Path
    is_folder: bool = False


class SecretFiles:
    """Knows the secrets files below work trees.

    `rules` apply to the serving work tree; in all others every secrets file is hidden. `empty` is the path of the file
    that is mounted over each of them in a sandbox, `aliases` that of the record of their other paths. `on_surplus` is
    called with a file with too many values to redact.
    """

    def __init__(
        self,
        *,
        serving: Path,
        rules: SecretRules,
        empty: Path,
        aliases: Path | None = None,
        on_surplus: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._serving = serving.resolve()
        self._rules = {self._serving: SecretRules(rules.shown, aliases=partial(self._aliases_of, self._serving))}
        self._alias_names: dict[Path, frozenset[str]] = {}
        self._aliases = SecretAliases(aliases)
        self._empty = empty
        self._folders = SecretFolders()
        self._roots: dict[Path, tuple[Path, ...]] = {self._serving: ()}
        self._values = SecretValueIndex(
            serving=self._serving,
            roots=self._roots,
            folders=self._folders,
            rules_of=self.rules_of,
            on_surplus=on_surplus,
        )

    @property
    def empty(self) -> Path:
        """An empty read-only file, to be mounted over others."""
        if not (self._empty.is_file() and self._empty.stat().st_size == 0):
            self._empty.unlink(missing_ok=True)
            self._empty.touch(0o444)
        return self._empty

    def add(self, root: Path) -> None:
        """Add a work tree."""
        self._roots.setdefault(root.resolve(), ())

    def remove(self, root: Path) -> None:
        """Forget a work tree that is gone."""
        self._roots.pop(root.resolve(), None)
        self._rules.pop(root.resolve(), None)

    def rules_of(self, root: Path) -> SecretRules:
        """Return the rules for the paths below a work tree."""
        root = root.resolve()
        if root not in self._rules:
            self._rules[root] = SecretRules(aliases=partial(self._aliases_of, root))
        return self._rules[root]

    def walk(self) -> None:
        """Look for secrets files everywhere below the known work trees."""
        for root in self.roots():
            self._find_secrets(root)
        self._values.invalidate()

    def roots(self) -> list[Path]:
        """Return the known work trees, with those that git has linked to the serving one."""
        return list(dict.fromkeys((*self._roots, *linked_work_trees(self._serving))))

    def find_hidden(self, roots: Iterable[Path], *, shown: Iterable[str] = ()) -> list[Hidden]:
        """Return what a sandbox over these work trees must hide, links followed; `shown` are patterns of exceptions."""
        hidden: dict[Path, Hidden] = {}
        patterns = tuple(shown)
        work_trees = {root.resolve() for root in roots}
        for root in work_trees:
            rules = self.rules_of(root).by_name(patterns)
            covered = [path for path in self._find_secrets(root) if rules.covers(path.relative_to(root).as_posix())]
            for path in (*covered, *self._aliases.find_hidden(root, covered)):
                real = Path(os.path.realpath(path))
                # What a link leads to inside is one of the aliases, or is everybody's.
                if real == path or root not in real.parents:
                    hidden |= self._hidden_entries(real, root)
        # Of a work tree inside, which may be served too.
        inner = [tree / OWN for tree in self.roots() if tree != self._serving and (tree / OWN).is_dir()]
        hidden |= {path: Hidden(path=path, is_folder=True) for path in inner if set(path.parents) & work_trees}
        folders = {path for path, entry in hidden.items() if entry.is_folder}
        outermost = [hidden[path] for path in sorted(hidden) if folders.isdisjoint(path.parents)]
        if len(outermost) > MAX_HIDDEN:
            raise TooLarge(
                f"{len(outermost)} secrets files are more than a sandbox can hide ({MAX_HIDDEN})",
                hint="keep fewer of them below the repository (.env, *.pem, *.key …), or show the harmless ones: "
                "index.secrets",
            )
        return outermost

    def hidden_in_copy(self, folder: Path, *, of: Path, shown: Iterable[str] = ()) -> list[Hidden]:
        """Return what must be hidden of a copy that is mounted in place of a work tree, by its paths there."""
        folder, root = folder.resolve(), of.resolve()
        rules = self.rules_of(root).by_name(shown)
        hidden: dict[Path, Hidden] = {}
        for path in map(Path, self._folders.walk(str(folder))):
            if rules.covers(path.relative_to(folder).as_posix()):
                hidden |= self._hidden_entries(Path(os.path.realpath(path)), folder, of=root)
        # The copy is made for one run.
        self._folders.forget(str(folder))
        inside = [entry for entry in hidden.values() if folder in entry.path.parents]
        return [replace(entry, path=root / entry.path.relative_to(folder)) for entry in inside]

    def matcher(self) -> SecretMatcher | None:
        """Return what finds the values of all secrets files in text."""
        return self._values.matcher()

    @property
    def surplus(self) -> list[str]:
        """The secrets files with too many values to redact all of them."""
        return self._values.surplus

    def _hidden_entries(self, real: Path, root: Path, *, of: Path | None = None) -> dict[Path, Hidden]:
        if real.is_dir():
            # A Python environment of such a name is needed, and not secret; one that git tracks is hidden.
            if is_python_environment(real) and not _is_tracked(real, root, of or root):
                return {path: Hidden(path=path, is_folder=path.is_dir()) for path in foreign_entries(real)}
            return {real: Hidden(path=real, is_folder=True)}
        return {real: Hidden(path=real)} if real.is_file() and not _is_public_key(real) else {}

    def _aliases_of(self, root: Path) -> frozenset[str]:
        if root not in self._alias_names:
            self._find_secrets(root)
        return self._alias_names[root]

    def _find_secrets(self, root: Path) -> tuple[Path, ...]:
        secrets = self._roots[root] = tuple(map(Path, self._folders.walk(str(root))))
        rules = self.rules_of(root).by_name()
        covered = [path for path in secrets if rules.covers(path.relative_to(root).as_posix())]
        aliases = self._aliases.find_hidden(root, covered)
        self._alias_names[root] = frozenset(path.relative_to(root).as_posix() for path in aliases)
        return secrets


def _is_public_key(path: Path) -> bool:
    return path.suffix.lower() in KEYS and is_public(read_regular_file(path))


def _is_tracked(folder: Path, root: Path, of: Path) -> bool:
    """Return whether git tracks something in a folder; `root` may be a copy `of` a work tree."""
    below = of / folder.relative_to(root) if root in folder.parents else folder
    return of in below.parents and bool(tracked_paths(of, [below]))
