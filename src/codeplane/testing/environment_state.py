"""The state of everything a test run depends on besides the repository's files, as comparable values."""

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from codeplane.disk.git_folders import git_folders
from codeplane.kernel.ids import new_id

_MAX_ENTRIES = 300_000
_DIGITS = 24
_NEVER = frozenset({".git", ".codeplane", "__pycache__"})
_PACKAGES = frozenset({"node_modules", "site-packages", "dist-packages", "vendor"})
_IGNORED = "files that git ignores"
# Files that name the version a shim starts.
_CHOICES = ("version", "settings.toml", ".tool-versions", "VERSION")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentState:
    """`dependencies`: digests of variables, programs and installed packages, by name; `leftovers`: of the other files
    in the workspace that do not belong to the repository. Tests write leftovers; they do not write dependencies."""

    dependencies: Mapping[str, str]
    leftovers: str
    is_complete: bool = True

    def changed_since(self, earlier: Mapping[str, str]) -> tuple[str, ...]:
        """The names of the dependencies that differ from an earlier state."""
        names = self.dependencies.keys() | earlier.keys()
        return tuple(sorted(name for name in names if self.dependencies.get(name) != earlier.get(name)))


def environment_state(
    root: Path, *, belongs: Collection[str], programs: Iterable[Path], variables: Mapping[str, str], settings: str
) -> EnvironmentState:
    """Hash the files below the root that do not belong to the repository, and the programs that run its tests.

    Files are known by inode, size and change time, which no program can set; their content is not read. Blocks.
    """
    walk = _Walk()
    walk.workspace(root, belongs, packages=True)
    dependencies = {"variables": _digest(repr(sorted(variables.items()))), "settings": _digest(settings)}
    for program in dict.fromkeys(programs):
        walk.program(program, root)
    dependencies |= {name: group.hexdigest()[:_DIGITS] for name, group in walk.groups.items()}
    return EnvironmentState(
        dependencies=dependencies,
        leftovers=walk.leftovers.hexdigest()[:_DIGITS],
        is_complete=walk.left > 0,
    )


def after_run(before: EnvironmentState, root: Path, *, belongs: Collection[str]) -> EnvironmentState:
    """Return the state after a run: what it left in the workspace, with the dependencies from before it. Blocks.

    Dependencies that change during a run will differ from these when the next run starts.
    """
    walk = _Walk()
    walk.workspace(root, belongs, packages=False)
    is_complete = before.is_complete and walk.left > 0
    leftovers = walk.leftovers.hexdigest()[:_DIGITS]
    return EnvironmentState(dependencies=before.dependencies, leftovers=leftovers, is_complete=is_complete)


class EnvironmentLog:
    """Stores how the last run left the environment, to tell whether anything but tests changed it since.

    Runs have the same lineage while each one starts with what the run before it left.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def lineage(self, state: EnvironmentState) -> str:
        """Return the lineage of a run that starts now."""
        last = self._read()
        if last is None or not state.is_complete:
            return new_id("env")
        is_same = last.leftovers == state.leftovers and last.dependencies == state.dependencies
        return last.lineage if is_same else new_id("env")

    def find_changes(self, code: str, state: EnvironmentState) -> tuple[str, ...]:
        """Return the names of what changed since the last run; nothing if that ran other code."""
        last = self._read()
        if last is None or last.code != code:
            return ()
        found = state.changed_since(last.dependencies)
        return (*found, _IGNORED) if last.leftovers != state.leftovers else found

    def note(self, code: str, lineage: str, state: EnvironmentState) -> None:
        """Store how a run of this code and lineage left the environment."""
        last = _Last(code=code, lineage=lineage, dependencies=dict(state.dependencies), leftovers=state.leftovers)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_suffix(".new")
        temporary.write_bytes(msgspec.json.encode(last))
        temporary.replace(self._file)

    def _read(self) -> "_Last | None":
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_Last)
        except (OSError, msgspec.MsgspecError):
            return None


class _Last(msgspec.Struct, frozen=True, kw_only=True):
    code: str = msgspec.field(name="code")
    lineage: str = msgspec.field(name="lineage")
    dependencies: dict[str, str] = msgspec.field(name="dependencies")
    leftovers: str = msgspec.field(name="leftovers")


class _Walk:
    """Hashes the stamps of files, by group, up to a number of entries."""

    def __init__(self) -> None:
        self.groups: dict[str, _Hash] = {}
        self.leftovers = _Hash()
        self.left = _MAX_ENTRIES
        self._seen: set[str] = set()

    def workspace(self, root: Path, belongs: Collection[str], *, packages: bool) -> None:
        """Add everything below the root that does not belong to the repository, with or without installed packages."""
        waiting, gits = [""], git_folders(root)
        while waiting and self.left > 0:
            folder = waiting.pop()
            for entry in _entries(f"{root}/{folder}"):
                path = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name in _NEVER or _is_cache(entry.path) or gits.cover(path):
                        continue
                    if not _holds_packages(entry):
                        waiting.append(f"{path}/")
                    elif packages:
                        self._packages(path, entry.path, within=f"{root}/", belongs=belongs)
                elif path not in belongs:
                    self.left -= 1
                    self.leftovers.add(path, entry)
                    if packages and entry.is_symlink() and _holds_packages(entry):
                        self._packages(path, os.path.realpath(entry.path))

    def program(self, program: Path, root: Path) -> None:
        """Add a program outside of the workspace, with the packages that are installed for it."""
        real = Path(os.path.realpath(program))
        group = self.groups.setdefault(program.name, _Hash())
        for file in (program, real):
            group.add_file(file)
        own, base = program.parent.parent, real.parent.parent
        for prefix in (own,) if _is_isolated(own) else dict.fromkeys((own, base)):
            if prefix == root or root in prefix.parents or str(prefix) in ("/", "/usr"):
                continue
            for choice in _CHOICES:
                group.add_file(prefix / choice)
            for folder in _site_packages(prefix, root):
                self._packages(program.name, str(folder))

    def _packages(self, name: str, folder: str, *, within: str = "", belongs: Collection[str] = ()) -> None:
        if folder in self._seen:
            return
        self._seen.add(folder)
        group = self.groups.setdefault(name, _Hash())
        waiting = [folder]
        while waiting and self.left > 0:
            here = waiting.pop()
            files = []
            for entry in _entries(here):
                if entry.name == "__pycache__" or entry.name == ".cache":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif not within or entry.path.removeprefix(within) not in belongs:
                    files.append(entry)
            self.left -= len(files) + 1
            group.add_all(here, files)


class _Hash:
    """A digest of names and stamps."""

    def __init__(self) -> None:
        self._hash = sha256()

    def add_all(self, folder: str, entries: Sequence["os.DirEntry[str]"]) -> None:
        """Add the files of a folder at once: there can be tens of thousands in all."""
        stamps: list[tuple[str, int, int, int, int]] = []
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            stamps.append((entry.name, found.st_ino, found.st_size, found.st_ctime_ns, found.st_mode))
        self._hash.update(repr((folder, stamps)).encode(errors="surrogateescape"))

    def add(self, name: str, entry: "os.DirEntry[str]") -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return
        self._note(name, found)

    def add_file(self, file: Path) -> None:
        try:
            self._note(str(file), file.stat())
        except OSError:
            self._hash.update(f"{file!s} is missing\n".encode(errors="surrogateescape"))

    def _note(self, name: str, found: os.stat_result) -> None:
        stamp = f"{found.st_ino} {found.st_size} {found.st_ctime_ns} {stat.S_IMODE(found.st_mode)}"
        self._hash.update(f"{name} {stamp}\n".encode(errors="surrogateescape"))

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _holds_packages(entry: "os.DirEntry[str]") -> bool:
    return entry.name in _PACKAGES or os.access(f"{entry.path}/pyvenv.cfg", os.F_OK)


def _is_isolated(prefix: Path) -> bool:
    """Whether a prefix is a virtual environment without access to the packages of its base Python."""
    try:
        settings = (prefix / "pyvenv.cfg").read_text(errors="replace")
    except OSError:
        return False
    pairs = (line.lower().replace(" ", "") for line in settings.splitlines())
    return "include-system-site-packages=true" not in pairs


def _is_cache(folder: str) -> bool:
    """Whether a folder is marked as a cache; uv marks virtual environments that way too, which do not count."""
    return os.access(f"{folder}/CACHEDIR.TAG", os.F_OK) and not os.access(f"{folder}/pyvenv.cfg", os.F_OK)


def _site_packages(prefix: Path, root: Path) -> list[Path]:
    """Return the folders of installed Python packages below a prefix, or of the version that its shims start."""
    prefixes = [prefix]
    if (versions := prefix / "versions").is_dir():
        chosen = _chosen_versions(prefix, root)
        prefixes = [entry for entry in sorted(versions.iterdir()) if not chosen or entry.name in chosen]
    return [folder for prefix in prefixes for folder in sorted(prefix.glob("lib/python*/*-packages"))]


def _chosen_versions(prefix: Path, root: Path) -> set[str]:
    for file in (*(folder / ".python-version" for folder in (root, *root.parents)), prefix / "version"):
        try:
            return set(file.read_text(errors="replace").split())
        except OSError:
            continue
    return set()


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogateescape")).hexdigest()[:_DIGITS]
