"""Runs git commands that may write: non-interactive, bounded, and ended with everything they started."""

import asyncio
import errno
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from codeplane.git.read.git_error import git_error
from codeplane.git.read.partial_clone import local_only
from codeplane.git.read.repository import common_dir, git_dir_of
from codeplane.git.read.submodule_guard import skip_submodule_variables, skip_submodules, unnamed_submodules
from codeplane.git.safety.guarded_programs import GuardedPrograms
from codeplane.git.safety.known_links import KnownLinks
from codeplane.kernel.config import GitConfig
from codeplane.kernel.errors import DeadlineExceeded, GitRefused, NotFound, NotGit, TooLarge
from codeplane.kernel.trace import span
from codeplane.processes.child import Child, ReadPipe

# Descriptors that git and its children inherit during a mutation, so that later runs can find those still running.
INHERITED_DESCRIPTORS: ContextVar[tuple[int, ...]] = ContextVar("held", default=())
MAX_OUT = 64 * 1024 * 1024
_MAX_SAID = 16 * 1024
_GRACE_SEC = 2.0
_ASK_SEC = 20.0
_AT_ONCE = 500
# There is no terminal: nothing may prompt or wait for an editor.
_SETTINGS = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_MERGE_AUTOEDIT": "no",
    # What is approved must be what is written or sent, and a hook can have git show another commit in its place.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null/none",
}

_CHANGING = frozenset(
    ("checkout", "cherry-pick", "clean", "commit", "merge", "pull", "rebase", "reset", "restore", "revert", "stash")
)
# Commands that write more than objects into git's folder.
_WRITING = _CHANGING | frozenset(
    (
        *("add", "apply", "branch", "config", "fetch", "mv", "notes", "pack-refs", "push", "read-tree", "remote", "rm"),
        *("submodule", "switch", "symbolic-ref", "tag", "update-index", "update-ref", "worktree"),
    )
)
# Commands that write files of the work tree.
_WRITING_FILES = (_CHANGING - {"commit"}) | frozenset(
    ("apply", "mv", "read-tree", "rm", "submodule", "switch", "worktree")
)
# Commands that read files of the work tree, and write none.
_READING_FILES = frozenset(("add", "commit", "diff", "hash-object", "update-index"))
# A hook may have written the file in which git looks up the files of commits, in place of reading the commits.
_OWN_READING = {"core.commitGraph": "false"}
# More than a command prints that changes thousands of files.
_ROOM = 1024 * 1024

Environment = Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GitOutput:
    """The exit code and output of a git command."""

    code: int
    out: bytes
    err: str

    @property
    def line(self) -> str:
        """The output as one line of text."""
        return os.fsdecode(self.out).strip()

    @property
    def fields(self) -> list[str]:
        """The NUL-separated fields of the output."""
        return [os.fsdecode(field) for field in self.out.split(b"\0") if field]


class Git:
    """Run git in one work tree."""

    def __init__(
        self,
        root: Path,
        config: GitConfig,
        environment: Environment,
        programs: GuardedPrograms | None = None,
        within: Path | None = None,
        links: KnownLinks | None = None,
    ) -> None:
        """`environment` returns git's environment, without settings of its own; `programs` sandboxes hooks and filters.

        The git folder of a work tree or submodule must be `within` that of the repository, where git writes through no
        symbolic links but those in `links`.
        """
        self.root = root
        self.config = config
        self._environment = environment
        self._programs = programs
        self._within = within
        self._links = links

    def at(self, root: Path) -> "Git":
        """Return a Git for another work tree or submodule of this repository."""
        within = Path(os.path.realpath(common_dir(self.folder)))
        return Git(root, self.config, self._environment, self._programs, within, self._links)

    def online_programs(self) -> tuple[str, ...]:
        """List the hooks and filters of this work tree that no sandbox can keep off the network."""
        if self._programs is None:
            return ()
        try:
            return self._programs.online(self.root, self.folder, dict(self._environment()) | _SETTINGS)
        except NotGit:
            return ()

    @property
    def folder(self) -> Path:
        """The git folder of this work tree; NotGit when there is none."""
        folder = git_dir_of(self.root)
        if folder == self.root / ".git" and (folder / "commondir").exists():
            # Only the git folders of linked work trees have one; a hook could have written it.
            raise GitRefused(
                ".git has a file commondir, by which git would take another folder's settings and hooks",
                hint="look at .git/commondir, and remove it",
            )
        if self._within is not None and self._within not in (real := Path(os.path.realpath(folder))).parents:
            # Agents can write such a folder, and git runs the programs that its settings name.
            raise GitRefused(
                f"the git folder of {self.root.name} is not the repository's own: {real}",
                hint="git submodule absorbgitdirs, or git worktree repair, puts it where it belongs",
            )
        if self._within is not None and not _is_linked(folder, real, self._within):
            raise GitRefused(
                f"the git folder of {self.root.name} is that of no submodule or work tree: {real}",
                hint=f"look at {self.root / '.git'}; git worktree repair fixes it",
            )
        return folder

    def _is_submodule(self, folder: Path) -> bool:
        return self._within is not None and Path(os.path.realpath(common_dir(folder))) != self._within

    def settings_variables(self) -> dict[str, str]:
        """Return variables that make git sandbox the programs that this submodule's settings name."""
        variables = self._variables(None, remote=True)
        return {name: value for name, value in variables.items() if name.startswith("GIT_CONFIG_")}

    async def each(self, *arguments: str, paths: Sequence[str]) -> None:
        """Run a command for many paths, in as many command lines as needed."""
        for start in range(0, len(paths), _AT_ONCE):
            await self.run(*arguments, "--", *paths[start : start + _AT_ONCE])

    def refuse_outside(self) -> None:
        """Raise NotGit when the root itself is no repository: git would search the folders above it."""
        _ = self.folder

    def refuse_new_links(self) -> None:
        """Raise GitRefused when git's folder has symbolic links that are not known to be the owner's."""
        if self._links is not None:
            shared = self._within or Path(os.path.realpath(common_dir(self.folder)))
            self._links.refuse_new(shared, root=self.root if self._within is None else None)

    async def run(
        self,
        *arguments: str,
        input: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        check: bool = True,
        literal: bool = True,
        remote: bool = False,
    ) -> GitOutput:
        """Run one command to its end; with `check`, raise an error when it fails.

        Only with `remote` may it use the network.
        """
        limit = timeout or self.config.timeout_sec
        self.refuse_outside()
        if _command_name(arguments) in _WRITING:
            await asyncio.to_thread(self.refuse_new_links)
        words = ["git", *(["--literal-pathspecs"] if literal else []), *skip_submodules(arguments)]
        command = [*await asyncio.to_thread(self._shield, arguments, remote=remote), *words]
        out, err = _Gathered(MAX_OUT), _Gathered(_MAX_SAID)
        try:
            with self._run(), span("git", command=_command_name(arguments)) as running:
                variables = self._variables(env, remote=remote, fetches=_command_name(arguments) in _WRITING_FILES)
                code = await self._wait_for_end(command, input, variables, limit, out, err)
                running.note(code=code)
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"git {_command_name(arguments)} took longer than {limit:g} s and was ended",
                hint="raise git.timeout_sec or git.remote_timeout_sec; git_status shows how things are",
            ) from error
        done = GitOutput(code=code, out=bytes(out.data), err=err.data.decode("utf-8", "backslashreplace"))
        if out.cut and check:
            raise TooLarge(f"git {_command_name(arguments)} prints more than {MAX_OUT // 1024 // 1024} MB")
        if check and code != 0:
            raise git_error(_command_name(arguments), done.err or done.line, done.code)
        return done

    def list_unnamed_submodules(self, links: Collection[str]) -> list[str]:
        """List the submodules that some commands would enter whatever their options."""
        environment = dict(self._environment())
        if self._programs is not None:
            environment |= self._programs.search_path(self.root, environment)
        return unnamed_submodules(self.root, links, environment)

    def ask(self, *arguments: str, check: bool = True) -> GitOutput:
        """Run a short reading command and wait for it, for code that is not async."""
        self.refuse_outside()
        # Assessing a call must not run the programs that the repository's settings name.
        command = ["git", "-c", "core.fsmonitor=false", "--literal-pathspecs", *skip_submodules(arguments)]
        try:
            with self._run(), span("git", command=_command_name(arguments)):
                ended = subprocess.run(
                    command,
                    cwd=self.root,
                    env=self._variables(None),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_ASK_SEC,
                    check=False,
                )
        except FileNotFoundError as error:
            raise NotFound("git is not installed, or not on PATH", hint="install git") from error
        except subprocess.TimeoutExpired as error:
            raise DeadlineExceeded(f"git {_command_name(arguments)} took longer than {_ASK_SEC:g} s") from error
        done = GitOutput(
            code=ended.returncode, out=ended.stdout, err=ended.stderr[:_MAX_SAID].decode("utf-8", "backslashreplace")
        )
        if check and done.code != 0:
            raise git_error(_command_name(arguments), done.err or done.line, done.code)
        return done

    def _shield(self, arguments: tuple[str, ...], *, remote: bool) -> list[str]:
        if self._programs is None:
            return []
        if _command_name(arguments) in _READING_FILES:
            return self._programs.without_links(self.root)
        if _command_name(arguments) not in _WRITING_FILES:
            return []
        environment = dict(self._environment()) | _SETTINGS
        return self._programs.shield(self.root, self.folder, environment, remote=remote)

    def _run(self) -> AbstractContextManager[None]:
        return self._programs.runs.run() if self._programs is not None else nullcontext()

    def _variables(
        self, env: Mapping[str, str] | None, *, remote: bool = False, fetches: bool = False
    ) -> dict[str, str]:
        environment = dict(self._environment()) | _SETTINGS
        folder = self.folder
        environment |= {} if remote else local_only(common_dir(folder))
        # A hook could write a commondir file for the git commands that run after it.
        environment |= {"GIT_COMMON_DIR": os.path.normpath(common_dir(folder))}
        guarded = (
            self._programs.settings(
                self.root,
                folder,
                environment,
                submodule=self._is_submodule(folder),
                fetches=remote or fetches,
            )
            if self._programs is not None
            else {}
        ) | _OWN_READING
        if self._programs is not None:
            environment |= self._programs.search_path(self.root, environment)
        settings = skip_submodule_variables(self.root, common_dir(folder) / "config", environment, guarded)
        if self._within is not None:
            # Git must use the folder that was checked above, whatever replaces it meanwhile.
            settings |= {"GIT_DIR": str(folder), "GIT_WORK_TREE": str(self.root)}
        return environment | settings | dict(env or {})

    async def _wait_for_end(
        self,
        command: list[str],
        given: bytes | None,
        environment: dict[str, str],
        limit: float,
        out: "_Gathered",
        err: "_Gathered",
    ) -> int:
        # Pipes of our own, so that a hook's background process does not keep us waiting.
        out_end, out_start = os.pipe()
        err_end, err_start = os.pipe()
        # If this process is killed, a command that changes files keeps open pipes with room for its output: it would
        # stop half-way at a broken pipe.
        outliving = (_enlarge(out_end), _enlarge(err_end)) if _CHANGING.intersection(command) else ()
        try:
            # In a process group of its own, so that hooks, filters and transports end with it.
            process = Child(
                command,
                cwd=self.root,
                env=environment,
                given=given,
                stdout=out_start,
                stderr=err_start,
                pass_fds=(*outliving, *INHERITED_DESCRIPTORS.get()),
            )
        except BaseException as error:
            os.close(out_end)
            os.close(err_end)
            if isinstance(error, FileNotFoundError):
                raise NotFound("git is not installed, or not on PATH", hint="install git") from error
            if isinstance(error, OSError) and error.errno == errno.E2BIG:
                raise TooLarge("that is more than one command takes", hint="name folders instead of files") from error
            raise
        finally:
            os.close(out_start)
            os.close(err_start)
        pipes = [ReadPipe(FileIO(out_end), out), ReadPipe(FileIO(err_end), err)]
        try:
            async with asyncio.timeout(limit):
                code = await process.wait()
        finally:
            if process.returncode is None:
                await asyncio.shield(_end(process))
            with suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_SEC):
                    await out.ended.wait()
                    await err.ended.wait()
            for pipe in pipes:
                pipe.close()
        return code


def _is_linked(folder: Path, real: Path, within: Path) -> bool:
    """Whether a git folder belongs to a submodule, or to a work tree that shares the repository's settings."""
    match real.relative_to(within).parts:
        # A linked work tree has submodules of its own.
        case ("modules", _, *_) | ("worktrees", _, "modules", _, *_):
            return not (folder / "commondir").exists()
        case ("worktrees", _):
            return Path(os.path.realpath(common_dir(folder))) == within
    return False


class _Gathered(asyncio.Protocol):
    """Collects the beginning of what comes through a pipe and drops the rest."""

    def __init__(self, limit: int) -> None:
        self.data = bytearray()
        self.cut = False
        self.ended = asyncio.Event()
        self._limit = limit

    def data_received(self, data: bytes) -> None:
        room = self._limit - len(self.data)
        self.cut = self.cut or len(data) > room
        self.data += data[: max(room, 0)]

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()


def _enlarge(pipe: int) -> int:
    """Give a pipe a large buffer, as far as the system allows."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _ROOM)
    return pipe


async def _end(process: Child) -> None:
    """End a command and its process group, with SIGTERM first, at which git removes its locks."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(_GRACE_SEC):
            await process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _command_name(arguments: tuple[str, ...]) -> str:
    """Return the name of the git command, without options before it."""
    words = iter(arguments)
    for word in words:
        if word == "-c":
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""
