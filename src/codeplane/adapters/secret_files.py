"""The secrets files of work trees: found on the disk, hidden from sandboxes, and read for what answers leave out."""

import hashlib
import os
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from codeplane.adapters.linked_work_trees import linked_work_trees
from codeplane.disk.program_path import path_outside
from codeplane.kernel.errors import TooLarge
from codeplane.kernel.secret_files import KEYS, SecretRules, is_secret_name
from codeplane.kernel.secret_values import SecretMatcher, is_public, values_of

EMPTY = "mask"
# bubblewrap takes time by the square of the number of mounts: one second here.
MAX_HIDDEN = 500
_MAX_BYTES = 256 * 1024
# Of values: in one file, in all, and their characters in all. A matcher of so many takes half a second to make.
_MAX_OF_FILE = 250
_MAX_VALUES = 1000
_MAX_CHARACTERS = 1024 * 1024
# Looked at for every answer; further ones when the work tree is walked.
_MAX_WATCHED = 32
# Files with too many values that are named.
_MAX_NAMED = 20
# A folder or file that changed just now can change again without another time.
_SETTLED_NS = 100_000_000
# Not searched: what is git's and ours.
_OWN = ".codeplane"
_NOT_SEARCHED = frozenset({".git", _OWN})
# Not searched but for their own entries: packages that everybody can download.
_PACKAGES = frozenset({"node_modules", "site-packages"})
# What an environment of Python is known by, and what in it is shown.
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
_OF_ENVIRONMENT = frozenset(
    {
        *(*_ENVIRONMENT, ".gitignore", "CACHEDIR.TAG", ".lock"),
        *("bin", "lib", "lib64", "include", "share", "Scripts", "Lib", "Include"),
    }
)
_GIT_SEC = 30.0
_SHA1_DIGITS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What a sandbox shows as empty."""

    path: Path
    is_folder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    """What was found in one folder, and whether that still holds while its time is the same."""

    mtime_ns: int
    settled: bool
    secrets: tuple[str, ...]
    folders: tuple[str, ...]


_Mark = tuple[int, int, int]
# As no file is.
_CHANGING: _Mark = (-1, -1, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """What the values were gathered from: other secrets files, folders or marks call for doing it again."""

    files_of: dict[Path, tuple[Path, ...]]
    folders: tuple[tuple[str, _Folder], ...]
    files: tuple[tuple[str, "_Mark | None"], ...]


_NOTHING = _Watched(files_of={}, folders=(), files=())


class SecretFiles:
    """Knows the secrets files below work trees; folders are read again only when they changed.

    `rules` hold for the serving work tree; in all others nothing is shown. `empty` is where the file lies that stands
    in for each of them in a sandbox. `on_surplus` is called with a file with more values than can be looked for.
    """

    def __init__(
        self, *, serving: Path, rules: SecretRules, empty: Path, on_surplus: Callable[[str], None] = lambda _: None
    ) -> None:
        self._serving = serving.resolve()
        self._rules = {self._serving: SecretRules(rules.shown, aliases=partial(self._aliases_of, self._serving))}
        self._aliases: dict[Path, frozenset[str]] = {}
        # By work tree, which further paths of secrets files are shown, and which were hidden from the beginning.
        self._judged: dict[Path, dict[Path, bool]] = {}
        self._lasting: dict[Path, tuple[Path, ...]] = {}
        self._judging = threading.Lock()
        self._empty = empty
        self._folders: dict[str, _Folder] = {}
        self._roots: dict[Path, tuple[Path, ...]] = {self._serving: ()}
        self._read: dict[Path, tuple[_Mark, tuple[str, ...]]] = {}
        self._values: set[str] = set()
        self._characters = 0
        self._surplus: dict[Path, None] = {}
        self._on_surplus = on_surplus
        self._watched = _NOTHING
        self._matcher: SecretMatcher | None = None
        self._lock = threading.Lock()

    @property
    def empty(self) -> Path:
        """An empty file that nobody can write, to be put over others."""
        if not (self._empty.is_file() and self._empty.stat().st_size == 0):
            self._empty.unlink(missing_ok=True)
            self._empty.touch(0o444)
        return self._empty

    def add(self, root: Path) -> None:
        """Know of a further work tree."""
        self._roots.setdefault(root.resolve(), ())

    def rules_of(self, root: Path) -> SecretRules:
        """Which paths below a work tree hold secrets."""
        root = root.resolve()
        if root not in self._rules:
            self._rules[root] = SecretRules(aliases=partial(self._aliases_of, root))
        return self._rules[root]

    def walk(self) -> None:
        """Look for secrets files everywhere below the work trees that are known."""
        for root in self.roots():
            self._secrets_below(root)
        # Not all of them are watched, so that all are looked at again.
        self._watched = _NOTHING

    def roots(self) -> list[Path]:
        """The work trees that are known, with those that git has linked to the serving one."""
        return list(dict.fromkeys((*self._roots, *linked_work_trees(self._serving))))

    def hidden(self, roots: Iterable[Path], *, shown: Iterable[str] = ()) -> list[Hidden]:
        """What a sandbox over these work trees must not show, links followed; `shown` are patterns of what it may."""
        found: dict[Path, Hidden] = {}
        patterns = tuple(shown)
        looked_at = {root.resolve() for root in roots}
        for root in looked_at:
            rules = self.rules_of(root).by_name(patterns)
            covered = [path for path in self._secrets_below(root) if rules.covers(path.relative_to(root).as_posix())]
            for path in (*covered, *self._hidden_aliases(root, covered)):
                real = Path(os.path.realpath(path))
                # What a link leads to inside is one of the aliases, or is everybody's.
                if real == path or root not in real.parents:
                    found |= self._found(real, root)
        # Of a work tree inside, which may be served too.
        inner = [tree / _OWN for tree in self.roots() if tree != self._serving and (tree / _OWN).is_dir()]
        found |= {path: Hidden(path=path, is_folder=True) for path in inner if set(path.parents) & looked_at}
        folders = {path for path, one in found.items() if one.is_folder}
        outermost = [found[path] for path in sorted(found) if folders.isdisjoint(path.parents)]
        if len(outermost) > MAX_HIDDEN:
            raise TooLarge(
                f"{len(outermost)} secrets files are more than a sandbox can hide ({MAX_HIDDEN})",
                hint="keep fewer of them below the repository (.env, *.pem, *.key …), or show the harmless ones: "
                "index.secrets",
            )
        return outermost

    def hidden_in_copy(self, folder: Path, *, of: Path, shown: Iterable[str] = ()) -> list[Hidden]:
        """What must not be shown of a copy of a work tree that is mounted where that is, by its names there."""
        folder, root = folder.resolve(), of.resolve()
        rules = self.rules_of(root).by_name(shown)
        found: dict[Path, Hidden] = {}
        for path in map(Path, self._walked(str(folder))):
            if rules.covers(path.relative_to(folder).as_posix()):
                found |= self._found(Path(os.path.realpath(path)), folder, of=root)
        for known in [one for one in self._folders if one == str(folder) or one.startswith(f"{folder}/")]:
            # It is made for one run.
            self._folders.pop(known, None)
        inside = [one for one in found.values() if folder in one.path.parents]
        return [replace(one, path=root / one.path.relative_to(folder)) for one in inside]

    def _found(self, real: Path, root: Path, *, of: Path | None = None) -> dict[Path, Hidden]:
        if real.is_dir():
            # An environment of Python that is called so is needed, and is no secret; one that git brought is none.
            if _is_environment(real) and not _is_brought(real, root, of or root):
                return {one: Hidden(path=one, is_folder=one.is_dir()) for one in _strangers(real)}
            return {real: Hidden(path=real, is_folder=True)}
        return {real: Hidden(path=real)} if real.is_file() and not self._is_public(real) else {}

    def matcher(self) -> SecretMatcher | None:
        """What finds the values of all secrets files in text; made anew when one of them changed."""
        if not self._is_current():
            with self._lock:
                self._gather()
        return self._matcher

    @property
    def surplus(self) -> list[str]:
        """The secrets files of which not every value is left out of answers, for they are too many."""
        return [_below(path, self._serving) for path in self._surplus]

    def _is_current(self) -> bool:
        """Whether every file and folder that is watched is as it was when values were gathered."""
        watched = self._watched
        return (
            watched.files_of == self._roots
            and all(self._folder(folder) is known for folder, known in watched.folders)
            and all(_mark(path) == mark for path, mark in watched.files)
        )

    def _gather(self) -> None:
        before, now = len(self._values), time.time_ns()
        roots = dict(self._roots)
        folders: dict[str, _Folder] = {}
        marks: dict[Path, _Mark | None] = {}
        for root, files in roots.items():
            rules = self.rules_of(root).by_name()
            for folder in dict.fromkeys((str(root), *(str(path.parent) for path in files[:_MAX_WATCHED]))):
                folders[folder] = self._folder(folder)
            near = [Path(folder, name) for folder, known in folders.items() for name in known.secrets]
            for path in dict.fromkeys((*files, *near)):
                if root not in path.parents or not rules.covers(path.relative_to(root).as_posix()):
                    continue
                if path.is_dir() and len(folders) < _MAX_WATCHED:
                    folders[str(path)] = self._folder(str(path))
                marks |= {one: _mark(str(one)) for one in _files_of(path)}
        ranked = sorted(marks, key=self._rank)
        for path in ranked:
            self._take(path, marks[path])
        if len(self._values) != before:
            # None was taken away, so there are new ones.
            self._matcher = SecretMatcher(self._values)
        self._watched = _Watched(
            files_of=roots,
            folders=tuple(folders.items()),
            files=tuple((str(path), _settled(marks[path], now)) for path in ranked[:_MAX_WATCHED]),
        )

    def _rank(self, path: Path) -> tuple[bool, bool, int]:
        """The order in which files are read: those that were, the one that is usual, and older ones before new ones."""
        try:
            # Unlike the time of the last change of content, nobody can set this one back.
            changed_ns = path.stat().st_ctime_ns
        except OSError:
            changed_ns = 0
        return path not in self._read, path != self._serving / ".env", changed_ns

    def _take(self, path: Path, mark: "_Mark | None") -> None:
        """Look for the values of a file from now on, as far as there is room.

        Values that were known stay so: a copy may outlive the file, and no other file can be used to make us forget.
        """
        if mark is None:
            return
        is_full = len(self._values) >= _MAX_VALUES or self._characters >= _MAX_CHARACTERS
        if is_full and path not in self._read:
            self._pass_over(path)
            return
        known = self._read.get(path)
        if known is None or known[0] != mark or time.time_ns() - mark[0] <= _SETTLED_NS:
            values = values_of(_text(path), is_key=path.suffix.lower() in KEYS)
            found = dict.fromkeys(value for value in values if not _is_place(value))
            known = self._read[path] = mark, tuple(found)[:_MAX_OF_FILE]
            if len(found) > _MAX_OF_FILE or mark[1] > _MAX_BYTES:
                self._pass_over(path)
        for value in known[1]:
            if value in self._values:
                continue
            if len(self._values) >= _MAX_VALUES or self._characters + len(value) > _MAX_CHARACTERS:
                self._pass_over(path)
            else:
                self._values.add(value)
                self._characters += len(value)

    def _pass_over(self, path: Path) -> None:
        if path not in self._surplus and len(self._surplus) < _MAX_NAMED:
            self._surplus[path] = None
            self._on_surplus(_below(path, self._serving))

    def _aliases_of(self, root: Path) -> frozenset[str]:
        if root not in self._aliases:
            self._secrets_below(root)
        return self._aliases[root]

    def _secrets_below(self, root: Path) -> tuple[Path, ...]:
        found = self._roots[root] = tuple(map(Path, self._walked(str(root))))
        rules = self.rules_of(root).by_name()
        covered = [path for path in found if rules.covers(path.relative_to(root).as_posix())]
        aliases = self._hidden_aliases(root, covered)
        self._aliases[root] = frozenset(path.relative_to(root).as_posix() for path in aliases)
        return found

    def _hidden_aliases(self, root: Path, covered: list[Path]) -> list[Path]:
        """Further paths of these files below the root that are hidden like them.

        Not those that the last commit holds: everybody has what they say from git, and a link that a test leaves behind
        must not take source away. That is judged once for each of them: a commit that comes later changes nothing. What
        was there before anything ran here has to say what the commit says, and stays hidden when its link is gone.
        """
        found = _aliases(root, covered)
        with self._judging:
            is_first = root not in self._judged
            judged = self._judged.setdefault(root, {})
            if new := [path for path in found if path not in judged]:
                committed = _committed(root, new)
                for path in new:
                    own = committed.get(path, {})
                    judged[path] = bool(own) and (not is_first or _is_same(path, own))
            if is_first:
                self._lasting[root] = tuple(path for path in found if not judged[path])
            lasting = [path for path in self._lasting[root] if path.exists()]
            return sorted({*(path for path in found if not judged[path]), *lasting})

    def _walked(self, root: str) -> Iterator[str]:
        folders = [root]
        while folders:
            folder = folders.pop()
            seen = self._folder(folder)
            yield from (f"{folder}/{name}" for name in seen.secrets)
            folders += [f"{folder}/{name}" for name in seen.folders]

    def _folder(self, folder: str) -> _Folder:
        try:
            mtime_ns = os.stat(folder).st_mtime_ns  # noqa: PTH116  # for every folder: twice as fast
        except OSError:
            self._folders.pop(folder, None)
            return _Folder(mtime_ns=0, settled=False, secrets=(), folders=())
        known = self._folders.get(folder)
        if known is not None and known.settled and known.mtime_ns == mtime_ns:
            return known
        settled = time.time_ns() - mtime_ns > _SETTLED_NS
        secrets, folders = _scanned(folder)
        known = self._folders[folder] = _Folder(
            mtime_ns=mtime_ns, settled=settled, secrets=tuple(sorted(secrets)), folders=tuple(folders)
        )
        return known

    def _is_public(self, path: Path) -> bool:
        return path.suffix.lower() in KEYS and is_public(_text(path))


def _scanned(folder: str) -> tuple[list[str], list[str]]:
    secrets: list[str] = []
    folders: list[str] = []
    is_packages = folder.rpartition("/")[2] in _PACKAGES
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if is_secret_name(entry.name):
                    secrets.append(entry.name)
                if not is_packages and entry.is_dir(follow_symlinks=False) and entry.name not in _NOT_SEARCHED:
                    folders.append(entry.name)
    except OSError:
        pass
    return secrets, folders


def _hard_links(root: Path, secrets: list[Path]) -> Iterator[Path]:
    """Other names of these files below the root."""
    linked = set()
    for path in secrets:
        found = path.stat()
        if found.st_nlink > 1:
            linked.add((found.st_dev, found.st_ino))
    if not linked:
        return
    for folder, folders, files in os.walk(root):
        # Packages too: with hard links there are few such files, and many places for them.
        folders[:] = [name for name in folders if name not in _NOT_SEARCHED]
        for name in files:
            try:
                found = os.lstat(f"{folder}/{name}")
            except OSError:
                continue
            if found.st_nlink > 1 and stat.S_ISREG(found.st_mode) and (found.st_dev, found.st_ino) in linked:
                yield Path(folder, name)


def _below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if root in path.parents else str(path)


def _mark(path: str) -> _Mark | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # for every answer: twice as fast
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _is_place(value: str) -> bool:
    """Whether a value is the path of something on this machine, and so no secret."""
    if not value.startswith("/"):
        return False
    try:
        return os.path.lexists(value)
    except ValueError:
        return False


def _settled(mark: _Mark | None, now: int) -> _Mark | None:
    """The mark, or one that no file has for a file that changed just now."""
    return mark if mark is None or now - mark[0] > _SETTLED_NS else _CHANGING


def _text(path: Path) -> str:
    """What a file says; not waiting on a FIFO of such a name."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _files_of(path: Path) -> tuple[Path, ...]:
    """The file, or the files in a folder of such a name, but for an environment of Python."""
    if not path.is_dir():
        return (path,)
    try:
        inner = sorted(path.iterdir())
    except OSError:
        return ()
    if _is_environment(path):
        inner = _strangers(path)
    return tuple(one for one in inner[:_MAX_WATCHED] if one.is_file())


def _is_environment(folder: Path) -> bool:
    """Whether a folder looks like an environment of Python."""
    return (
        any((folder / sign).exists() for sign in _ENVIRONMENT)
        and any(os.path.lexists(folder / program) for program in ("bin/python", "bin/python3", "Scripts/python.exe"))
        and any((folder / name).is_dir() for name in ("lib", "Lib"))
    )


def _is_brought(folder: Path, root: Path, of: Path) -> bool:
    """Whether git tracks something in a folder; `root` may be a copy `of` a work tree."""
    below = of / folder.relative_to(root) if root in folder.parents else folder
    return of in below.parents and bool(_tracked(of, [below]))


def _strangers(environment: Path) -> list[Path]:
    """What lies in an environment of Python and is no part of one."""
    try:
        return sorted(one for one in environment.iterdir() if one.name not in _OF_ENVIRONMENT and not one.is_symlink())
    except OSError:
        return []


def _aliases(root: Path, secrets: list[Path]) -> list[Path]:
    """Further paths of these files below the root: what links lead to, and other names of files with several."""
    real = {Path(os.path.realpath(path)) for path in secrets}
    found = {path for path in real if root in path.parents and path.exists()} - set(secrets)
    found |= set(_hard_links(root, [path for path in real if path.is_file()])) - set(secrets)
    return sorted(found)


def _tracked(root: Path, paths: list[Path]) -> set[Path]:
    """Those of these paths that git tracks, or that hold what it tracks; none where it cannot say."""
    listed = {root / os.fsdecode(name) for name in _listed(root, "ls-files", paths)}
    return {path for path in paths if path in listed or any(path in one.parents for one in listed)}


def _committed(root: Path, paths: list[Path]) -> dict[Path, dict[Path, str]]:
    """What the last commit holds of these paths, by file with its object id; nothing where git cannot say."""
    found: dict[Path, dict[Path, str]] = {}
    for line in _listed(root, "ls-tree", paths):
        facts, _, name = line.partition(b"\t")
        file, oid = root / os.fsdecode(name), facts.rpartition(b" ")[2].decode()
        for path in paths:
            if path == file or path in file.parents:
                found.setdefault(path, {})[file] = oid
    return found


def _is_same(path: Path, committed: dict[Path, str]) -> bool:
    """Whether a file, or everything in a folder, says what was committed of it."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if not file.is_dir() or file.is_symlink()]
    return all(file in committed and _object_id(file, len(committed[file])) == committed[file] for file in files)


def _object_id(file: Path, size: int) -> str:
    """The id that git gives to what a file says, by the length of such ids; none for what is no file."""
    if file.is_symlink() or not file.is_file():
        return ""
    try:
        content = file.read_bytes()
    except OSError:
        return ""
    hashed = hashlib.sha1(usedforsecurity=False) if size == _SHA1_DIGITS else hashlib.sha256()
    hashed.update(b"blob %d\0" % len(content) + content)
    return hashed.hexdigest()


def _listed(root: Path, command: str, paths: list[Path]) -> list[bytes]:
    """What git lists of these paths, of the index (`ls-files`) or of the last commit (`ls-tree`)."""
    settings = ("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit", "--literal-pathspecs")
    options = ("-z", "--") if command == "ls-files" else ("-r", "-z", "HEAD", "--")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["PATH"] = path_outside(environment.get("PATH", ""), root)
    names = [str(path.relative_to(root)) for path in paths]
    try:
        done = subprocess.run(
            ["git", *settings, command, *options, *names],
            cwd=root,
            env=environment,
            capture_output=True,
            timeout=_GIT_SEC,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line for line in done.stdout.split(b"\0") if line]
