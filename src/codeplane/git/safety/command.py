"""The git command line as writers use it: nobody to ask, bounded, and ended with all it started."""

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

from codeplane.git.read.opened import common, git_dir_of
from codeplane.git.read.partial_clone import local_only
from codeplane.git.read.refusal import refusal
from codeplane.git.read.unentered import unentered, unentered_settings, unnamed
from codeplane.git.safety.guarded import GuardedPrograms
from codeplane.git.safety.known_links import KnownLinks
from codeplane.kernel.config import GitConfig
from codeplane.kernel.errors import DeadlineExceeded, GitRefused, NotFound, NotGit, TooLarge
from codeplane.kernel.trace import span
from codeplane.processes.child import Child, ReadPipe

# Descriptors that git keeps open while it changes something: who is left of it is known by them.
HELD: ContextVar[tuple[int, ...]] = ContextVar("held", default=())
MAX_OUT = 64 * 1024 * 1024
_MAX_SAID = 16 * 1024
_GRACE_SEC = 2.0
_ASK_SEC = 20.0
_AT_ONCE = 500
# Nobody sits in front of it: nothing may ask, and nothing may wait for an editor.
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
}

_CHANGING = frozenset(
    ("checkout", "cherry-pick", "clean", "commit", "merge", "pull", "rebase", "reset", "restore", "revert", "stash")
)
# Those that write in git's folder, besides objects.
_WRITING = _CHANGING | frozenset(
    (
        *("add", "apply", "branch", "config", "fetch", "mv", "notes", "pack-refs", "push", "read-tree", "remote", "rm"),
        *("submodule", "switch", "symbolic-ref", "tag", "update-index", "update-ref", "worktree"),
    )
)
# More than a command that changes files says of thousands of them.
_ROOM = 1024 * 1024

Environment = Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended, and what it said."""

    code: int
    out: bytes
    err: str

    @property
    def line(self) -> str:
        """What it printed, as one line of text."""
        return os.fsdecode(self.out).strip()

    @property
    def fields(self) -> list[str]:
        """What it printed, separated by NUL."""
        return [os.fsdecode(one) for one in self.out.split(b"\0") if one]


class Git:
    """Runs git in one work tree."""

    def __init__(
        self,
        root: Path,
        config: GitConfig,
        environment: Environment,
        programs: GuardedPrograms | None = None,
        within: Path | None = None,
        links: KnownLinks | None = None,
    ) -> None:
        """`environment` gives what git may know of this process, without settings of its own; `programs` encloses what
        it runs by itself. The git folder of a work tree or submodule has to lie `within` that of the repository, in
        which no links but those known in `links` are written through."""
        self.root = root
        self.config = config
        self._environment = environment
        self._programs = programs
        self._within = within
        self._links = links

    def at(self, root: Path) -> "Git":
        """The same git in another work tree, or submodule, of this repository."""
        within = Path(os.path.realpath(common(self.folder)))
        return Git(root, self.config, self._environment, self._programs, within, self._links)

    def online_programs(self) -> tuple[str, ...]:
        """The hooks and filters of this work tree that no enclosure can take the network from."""
        if self._programs is None:
            return ()
        try:
            return self._programs.online(self.root, self.folder, dict(self._environment()) | _SETTINGS)
        except NotGit:
            return ()

    @property
    def folder(self) -> Path:
        """Where git keeps what belongs to this work tree; NotGit when there is none."""
        folder = git_dir_of(self.root)
        if folder == self.root / ".git" and (folder / "commondir").exists():
            # Only those of linked work trees, which lie elsewhere, have one; a hook could have written it.
            raise GitRefused(
                ".git has a file commondir, by which git would take another folder's settings and hooks",
                hint="look at .git/commondir, and remove it",
            )
        if self._within is not None and self._within not in (real := Path(os.path.realpath(folder))).parents:
            # Whoever can write the work tree can write such a folder, and git runs what its settings name.
            raise GitRefused(
                f"the git folder of {self.root.name} is not the repository's own: {real}",
                hint="git submodule absorbgitdirs, or git worktree repair, puts it where it belongs",
            )
        if self._within is not None and not _is_linked(folder, real, self._within):
            raise GitRefused(
                f"the git folder of {self.root.name} is that of no submodule or work tree: {real}",
                hint=f"look at {self.root / '.git'}; git worktree repair mends it",
            )
        return folder

    def _is_submodule(self, folder: Path) -> bool:
        return self._within is not None and Path(os.path.realpath(common(folder))) != self._within

    def settings_variables(self) -> dict[str, str]:
        """The variables that have a git which enters this submodule run enclosed what its settings name."""
        variables = self._variables(None, remote=True)
        return {name: value for name, value in variables.items() if name.startswith("GIT_CONFIG_")}

    async def each(self, *arguments: str, paths: Sequence[str]) -> None:
        """Run a command for paths of which there may be more than one command line takes."""
        for start in range(0, len(paths), _AT_ONCE):
            await self.run(*arguments, "--", *paths[start : start + _AT_ONCE])

    def refuse_outside(self) -> None:
        """NotGit when there is no repository right here: git itself would go on to the folders above."""
        _ = self.folder

    def refuse_new_links(self) -> None:
        """GitRefused when git's folder has links by which writing there writes elsewhere; the owner's are known."""
        if self._links is not None:
            shared = self._within or Path(os.path.realpath(common(self.folder)))
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
    ) -> Done:
        """Run one command to its end; with `check`, what git refuses is raised as an error of ours.

        Only with `remote` may it talk to other machines.
        """
        limit = timeout or self.config.timeout_sec
        self.refuse_outside()
        if _named(arguments) in _WRITING:
            await asyncio.to_thread(self.refuse_new_links)
        command = ["git", *(["--literal-pathspecs"] if literal else []), *unentered(arguments)]
        out, err = _Gathered(MAX_OUT), _Gathered(_MAX_SAID)
        try:
            with self._run(), span("git", command=_named(arguments)) as running:
                code = await self._ended(command, input, self._variables(env, remote=remote), limit, out, err)
                running.note(code=code)
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"git {_named(arguments)} took longer than {limit:g} s and was ended",
                hint="raise git.timeout_sec or git.remote_timeout_sec; git_status shows how things are",
            ) from error
        done = Done(code=code, out=bytes(out.data), err=err.data.decode("utf-8", "backslashreplace"))
        if out.cut and check:
            raise TooLarge(f"git {_named(arguments)} prints more than {MAX_OUT // 1024 // 1024} MB")
        if check and code != 0:
            raise refusal(_named(arguments), done.err or done.line, done.code)
        return done

    def unnamed(self, links: Collection[str]) -> list[str]:
        """The repositories inside that some commands would enter, whatever they are told."""
        environment = dict(self._environment())
        if self._programs is not None:
            environment |= self._programs.search_path(self.root, environment)
        return unnamed(self.root, links, environment)

    def ask(self, *arguments: str, check: bool = True) -> Done:
        """Run a short reading command at once, for judgements that cannot wait for others."""
        self.refuse_outside()
        # Judging what a call would do must not run what the repository's settings name.
        command = ["git", "-c", "core.fsmonitor=false", "--literal-pathspecs", *unentered(arguments)]
        try:
            with self._run(), span("git", command=_named(arguments)):
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
            raise DeadlineExceeded(f"git {_named(arguments)} took longer than {_ASK_SEC:g} s") from error
        done = Done(
            code=ended.returncode, out=ended.stdout, err=ended.stderr[:_MAX_SAID].decode("utf-8", "backslashreplace")
        )
        if check and done.code != 0:
            raise refusal(_named(arguments), done.err or done.line, done.code)
        return done

    def _run(self) -> AbstractContextManager[None]:
        return self._programs.runs.run() if self._programs is not None else nullcontext()

    def _variables(self, env: Mapping[str, str] | None, *, remote: bool = False) -> dict[str, str]:
        environment = dict(self._environment()) | _SETTINGS
        folder = self.folder
        environment |= {} if remote else local_only(common(folder))
        # A hook can write the file that names another one, for what git starts after it.
        environment |= {"GIT_COMMON_DIR": os.path.normpath(common(folder))}
        guarded = (
            self._programs.settings(self.root, folder, environment, submodule=self._is_submodule(folder))
            if self._programs is not None
            else {}
        )
        if self._programs is not None:
            environment |= self._programs.search_path(self.root, environment)
        settings = unentered_settings(self.root, common(folder) / "config", environment, guarded)
        if self._within is not None:
            # What was looked at above is what is used, whatever is put in its place meanwhile.
            settings |= {"GIT_DIR": str(folder), "GIT_WORK_TREE": str(self.root)}
        return environment | settings | dict(env or {})

    async def _ended(
        self,
        command: list[str],
        given: bytes | None,
        environment: dict[str, str],
        limit: float,
        out: "_Gathered",
        err: "_Gathered",
    ) -> int:
        # Pipes of our own: the command's end is not held up by what a hook left running in the background.
        out_end, out_start = os.pipe()
        err_end, err_start = os.pipe()
        # Should this process be killed, what changes files goes on as if somebody still listened: to break off in the
        # middle of what it says would leave it half done.
        outliving = (_roomy(out_end), _roomy(err_end)) if _CHANGING.intersection(command) else ()
        try:
            # A group of its own: hooks, filters and transports end with it.
            process = Child(
                command,
                cwd=self.root,
                env=environment,
                given=given,
                stdout=out_start,
                stderr=err_start,
                pass_fds=(*outliving, *HELD.get()),
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
    """Whether a git folder is that of a submodule, or of a work tree with the settings of the repository."""
    match real.relative_to(within).parts:
        # A linked work tree has submodules of its own.
        case ("modules", _, *_) | ("worktrees", _, "modules", _, *_):
            return not (folder / "commondir").exists()
        case ("worktrees", _):
            return Path(os.path.realpath(common(folder))) == within
    return False


class _Gathered(asyncio.Protocol):
    """The beginning of what comes through a pipe; the rest is read and dropped."""

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


def _roomy(pipe: int) -> int:
    """A pipe that takes much before anybody reads from it, as far as the system lets it."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _ROOM)
    return pipe


async def _end(process: Child) -> None:
    """End a command and everything in its group: asked first, since git takes its locks away when it is asked."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(_GRACE_SEC):
            await process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _named(arguments: tuple[str, ...]) -> str:
    """The command without its settings and arguments."""
    words = iter(arguments)
    for word in words:
        if word == "-c":
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""
