"""bubblewrap: run commands in their own namespaces, with a writable workspace and hidden secrets."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

from codeplane.adapters import toolchains
from codeplane.adapters.secret_files import Hidden, SecretFiles
from codeplane.disk.git_folders import git_folders
from codeplane.disk.program_path import path_outside
from codeplane.kernel.errors import SandboxMissing
from codeplane.kernel.workspace import client_secrets

_PROBE_SEC = 20.0
# Never shown, wherever a link of the repository's own says that a tool is.
_KEYS = frozenset(
    {
        ".ssh",
        ".aws",
        ".gnupg",
        ".config",
        ".kube",
        ".docker",
        ".azure",
        ".gcloud",
        ".password-store",
        ".mozilla",
        ".gem",
    }
)
# What tools only hold a copy of and write into: lost with each run, or kept in `cache`.
_CACHE = ".cache"
_SHIFTED = ("/etc/resolv.conf",)
# What programs are made of. Other folders at the top hold other work, and other owners' tokens: not even their names
# are there. What a link leads to is shown beside it.
_SYSTEM = (
    *("/bin", "/sbin", "/usr", "/usr/local", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/sys"),
    *("/nix", "/gnu", "/snap", "/var/lib", "/var/cache"),
)
MASKED = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"),
    *("/etc/ssl/private", "/etc/krb5.keytab", "/etc/wireguard", "/etc/NetworkManager/system-connections"),
)
_HOMES = ("/home", "/root", "/Users")
# Beside a folder of programs, what they are of no use without.
_BESIDE = ("lib", "lib64", "libexec", "include", "share")
# What root could change the whole machine by, inside a namespace or not.
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi")
# It holds the sockets of daemons that act for any client.
_EMPTY = ("/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm")  # nosec B108  # what is hidden


class RootCopy(Protocol):
    """A copy of the root that is mounted in its place, and the parts of the real root mounted into it."""

    @property
    def folder(self) -> Path: ...

    @property
    def shared(self) -> tuple[Path, ...]: ...

    @property
    def read(self) -> tuple[Path, ...]: ...


class SandboxSpec(Protocol):
    """What a sandboxed command can reach."""

    @property
    def root(self) -> Path: ...

    @property
    def writable(self) -> tuple[Path, ...]: ...

    @property
    def tools(self) -> tuple[Path, ...]: ...

    @property
    def network(self) -> bool: ...

    @property
    def copy(self) -> "RootCopy | None": ...

    @property
    def secrets(self) -> tuple[str, ...]: ...


class Bubblewrap:
    """Wraps commands in bubblewrap; `find_hidden` folders are empty inside, `cache` persists between runs.

    The secrets files of work trees are empty inside, but for those that the enclosure names.
    """

    def __init__(
        self,
        *,
        home: Path,
        hidden: Iterable[Path],
        cache: Path,
        environment: Mapping[str, str],
        secrets: SecretFiles,
    ) -> None:
        self._home = home
        self._secrets = secrets
        # The secret of a registered client answers for a person.
        registered = client_secrets(environment, home)
        self._hidden = (*hidden, *dict.fromkeys((registered, registered.resolve())))
        self._cache = cache
        self._path = environment.get("PATH", "")
        self._environment = environment

    @cached_property
    def _program(self) -> str | None:
        return shutil.which("bwrap", path=path_outside(os.environ.get("PATH", ""), *self._secrets.roots()))

    @cached_property
    def _missing(self) -> str:
        if self._program is None:
            return "bubblewrap (bwrap) is not installed"
        command = [self._program, *_NAMESPACES, "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_PROBE_SEC, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap does not work here: {error}"
        if done.returncode != 0:
            return f"bubblewrap does not work here: {done.stderr.decode(errors='replace').strip()[:300]}"
        return ""

    def unavailable_reason(self) -> str:
        """Return why bubblewrap cannot be used here, or an empty text; tried once, since namespaces may be off."""
        return self._missing

    def command(self, argv: Sequence[str], *, cwd: Path, enclosure: SandboxSpec) -> list[str]:
        """Return the sandboxed command; its processes end with it or with us.

        SandboxMissing where a link leads to git's folder: nothing can be mounted over one, so it could be replaced.
        """
        gits = [enclosure.root / path for path in (".git", *sorted(git_folders(enclosure.root).paths))]
        if links := [place for place in gits if place.is_symlink()]:
            raise SandboxMissing(
                f"{links[0]} leads to git's folder and is a symbolic link, which no sandbox keeps from being replaced",
                hint='name the folder in a file: to=$(readlink -f .git) && rm .git && echo "gitdir: $to" > .git',
            )
        words = [self._program or "bwrap", *_NAMESPACES]
        words += [] if enclosure.network else ["--unshare-net"]
        words += _system()
        words += ["--dev", "/dev", "--proc", "/proc"]
        for kernels in _KERNEL:
            words += ["--ro-bind-try", kernels, kernels]
        for folder in dict.fromkeys((*_EMPTY, *_HOMES, str(self._home), *map(str, self._hidden))):
            # A link would be followed to what is covered anyway.
            if Path(folder).is_dir() and not Path(folder).is_symlink():
                words += ["--tmpfs", folder]
        words += ["--dir", str(self._home)]
        for masked in filter(os.path.exists, (*MASKED, *map(str, Path("/etc/ssh").glob("*_key")))):
            words += ["--tmpfs", masked] if Path(masked).is_dir() else ["--ro-bind-try", "/dev/null", masked]
        for shifted in _SHIFTED:
            real = Path(shifted).resolve()
            if not _is_shown(real):
                words += ["--ro-bind-try", str(real), str(real)]
        tools = (*self._tools(enclosure), *_shared_git(enclosure.root))
        for tool in tools:
            words += ["--ro-bind-try", str(tool), str(tool)]
        for secret in (credential_file for tool in tools for credential_file in toolchains.credential_files(tool)):
            words += ["--ro-bind-try", "/dev/null", str(secret)]
        self._cache.mkdir(parents=True, exist_ok=True)
        words += ["--bind", str(self._cache), str(self._home / _CACHE)]
        words += _root(enclosure)
        pins, masks = self._secret_options(enclosure)
        words += pins
        ours = enclosure.root / ".codeplane"
        words += ["--tmpfs", str(ours)] if ours.is_dir() else []
        for place in _git_places(enclosure.root):
            words += ["--ro-bind-try", str(place), str(place)]
        for place in enclosure.writable:
            words += ["--bind", str(place), str(place)]
        words += masks
        # What holds all this together is memory, and not to be filled.
        return [*words, "--remount-ro", "/", "--chdir", str(cwd), "--", *argv]

    def hidden_secrets(self, enclosure: SandboxSpec) -> list[str]:
        """Return the secrets files below the root that are empty inside."""
        root = enclosure.root.resolve()
        hidden = self._secrets.find_hidden((root,), shown=enclosure.secrets)
        return [path.path.relative_to(root).as_posix() for path in hidden if root in path.path.parents]

    def _secret_options(self, enclosure: SandboxSpec) -> tuple[list[str], list[str]]:
        """Return the options that pin the folders around secrets files and mask the files."""
        root, copy = enclosure.root.resolve(), enclosure.copy
        visible = [folder for folder in self._secrets.roots() if _is_shown(folder) and root not in folder.parents]
        secrets = self._secrets.find_hidden((root, *visible), shown=enclosure.secrets)
        places = (root,) if copy is None else (*copy.shared, *copy.read)
        hidden = [
            secret for secret in secrets if _is_shown(secret.path) or not set(places).isdisjoint(secret.path.parents)
        ]
        # Nor can another folder be put in the place of one that git's lies in.
        gits = [Hidden(path=root / path) for path in git_folders(root).paths] if copy is None else []
        pins = [word for place in places for word in pin_options([*hidden, *gits], place)]
        if copy is not None:
            hidden += self._secrets.hidden_in_copy(copy.folder, of=root, shown=enclosure.secrets)
        return pins, [word for secret in hidden for word in mask_options(secret, self._secrets.empty)]

    def _tools(self, enclosure: SandboxSpec) -> list[Path]:
        folders = toolchains.toolchains_in_home(self._home)
        words = [Path(os.path.normpath(folder)) for folder in self._path.split(":") if folder.startswith("/")]
        on_path = [
            folder
            for word in words
            for folder in _program_folders(word, self._home)
            if folder not in enclosure.root.parents
        ]
        named = [Path(os.path.normpath(folder)) for folder in toolchains.toolchains_in_environment(self._environment)]
        for tool in (*named, *enclosure.tools, *on_path):
            covered = self._home in tool.parents or not _is_shown(tool)
            if covered and tool not in self._home.parents and not self._is_private(tool):
                folders += toolchains.without_credentials(tool, self._home, self._environment)
        return [folder for folder in dict.fromkeys(folders) if folder.exists()]

    def _is_private(self, tool: Path) -> bool:
        """Return whether a folder is a home, or lies in a hidden folder."""
        if self._home in tool.parents and tool.relative_to(self._home).parts[0] in _KEYS:
            return True
        return tool == self._home or any(folder == tool or folder in tool.parents for folder in self._hidden)


def bubblewrap_of_other_work_tree(secrets: SecretFiles) -> str | None:
    """Return the bubblewrap on `PATH` that is ignored because it lies in another work tree."""
    path, (serving, *others) = os.environ.get("PATH", ""), secrets.roots()
    if not others:
        return None
    program = shutil.which("bwrap", path=path_outside(path, serving))
    usable = program and shutil.which("bwrap", path=path_outside(path, serving, *others))
    return None if usable else program


def _root(enclosure: SandboxSpec) -> list[str]:
    """Return the options that mount the root, or its copy."""
    root, copy = str(enclosure.root), enclosure.copy
    if copy is None:
        return ["--bind", root, root]
    words = ["--bind", str(copy.folder), root]
    for option, places in (("--bind", copy.shared), ("--ro-bind", copy.read)):
        words += [word for place in places for word in (option, str(place), str(place))]
    return words


def pin_options(hidden: Iterable[Hidden], root: Path) -> list[str]:
    """Return the options that keep the parent folders of hidden paths from being renamed."""
    around = {folder for entry in hidden for folder in entry.path.parents if root in folder.parents}
    return [word for folder in sorted(around) for word in ("--bind", str(folder), str(folder))]


def mask_options(hidden: Hidden, empty: Path) -> list[str]:
    """Return the options that mount something empty over a file or folder."""
    place = str(hidden.path)
    return ["--tmpfs", place, "--remount-ro", place] if hidden.is_folder else ["--ro-bind", str(empty), place]


def _system() -> list[str]:
    """Return the options that mount the system's programs and libraries, keeping links as links."""
    words: list[str] = []
    shown: list[Path] = []
    for place in map(Path, _SYSTEM):
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), str(place)] if place.parent == Path("/") else []
        real = place.resolve()
        if real.is_dir() and not any(path == real or path in real.parents for path in shown):
            words += ["--ro-bind", str(real), str(real)]
            shown.append(real)
    run = Path("/var/run")
    return [*words, "--symlink", str(run.readlink()), str(run)] if run.is_symlink() else words


def _is_shown(place: Path) -> bool:
    """Return whether a path is visible in the mounted system folders."""
    around = {str(place), *map(str, place.parents)}
    return not around.isdisjoint(_SYSTEM) and around.isdisjoint((*_EMPTY, *_HOMES))


def _program_folders(folder: Path, home: Path) -> list[Path]:
    """Return what a folder of programs needs: the whole Python environment, or its sibling folders."""
    if any((folder.parent / sign).exists() for sign in ("pyvenv.cfg", "conda-meta")):
        return [folder.parent]
    if (root := toolchains.shim_root(folder)) is not None:
        return [root]
    alone = folder.parent in (home, *home.parents)
    return [folder, *(folder.parent / name for name in (() if alone else _BESIDE))]


def _git_places(root: Path) -> list[Path]:
    """Return the paths of hooks, monitors and filters, which git runs outside any sandbox and which stay read-only."""
    paths: list[Path] = []
    for holder in (root, *(root / name for name in _submodules(root))):
        place = holder / ".git"
        paths.append(place)
        # A file that names the folder, which can name another that it shares with others.
        folder = _git_file_target(place, "gitdir:") if place.is_file() else Path(os.path.realpath(place))
        if folder is not None:
            paths.append(folder)
            if (common := _git_file_target(folder / "commondir", "")) is not None:
                paths.append(common)
    # Only what can be written: what lies outside is read-only already.
    return [path for path in dict.fromkeys(paths) if path.exists() and (path == root or root in path.parents)]


def _shared_git(root: Path) -> list[Path]:
    """Return the git folder of a linked worktree, if it points back to the worktree."""
    place = root / ".git"
    folder = _git_file_target(place, "gitdir:") if place.is_file() and not place.is_symlink() else None
    if folder is None or root in folder.parents or _git_file_target(folder / "gitdir", "") != place:
        return []
    common = _git_file_target(folder / "commondir", "")
    return [common] if common is not None and common in folder.parents and (common / "HEAD").is_file() else [folder]


def _git_file_target(file: Path, start: str) -> Path | None:
    try:
        text = file.read_text(errors="surrogateescape").strip()
    except OSError:
        return None
    if not text.startswith(start):
        return None
    return Path(os.path.realpath(file.parent / text.removeprefix(start).strip()))


def _submodules(root: Path) -> list[str]:
    """Return the submodule folders inside the root, as `.gitmodules` names them."""
    try:
        text = (root / ".gitmodules").read_text(errors="surrogateescape")
    except OSError:
        return []
    names = re.findall(r"(?m)^\s*path\s*=\s*(.+?)\s*$", text)
    return [name for name in names if ".." not in name.split("/") and not name.startswith("/")]


_NAMESPACES = (
    *("--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--die-with-parent", "--new-session"),
    # Started as root, it keeps the capability to unmount what hides things, unless that is dropped.
    *("--cap-drop", "ALL"),
)
