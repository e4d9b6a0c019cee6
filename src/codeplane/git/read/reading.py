"""Asking the git command line, without locks, pagers, hooks, network or more output than was asked for."""

import asyncio
import difflib
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from codeplane.git.read.opened import bare, git_dir_of, not_opened
from codeplane.git.read.piped import piped
from codeplane.git.read.refusal import ended
from codeplane.git.read.unentered import unentered
from codeplane.index.files.paths import canonical, shown
from codeplane.kernel.errors import (
    CodePlaneError,
    DeadlineExceeded,
    GitRefused,
    InvalidArgument,
    NotFound,
    RefNotFound,
    TooLarge,
)
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.kernel.secret_files import NOTHING_SHOWN, SecretRules
from codeplane.kernel.trace import span

MAX_OUTPUT = 64 * 1024 * 1024
_MAX_SAID = 16 * 1024
_MAX_REF = 1000
_CHUNK = 256 * 1024
# What a repository's or a person's settings could turn a question into: a program that is run, or another format.
_SETTINGS = (
    "core.fsmonitor=false",
    "safe.bareRepository=explicit",
    "core.quotepath=false",
    "log.showSignature=false",
    "log.showRoot=true",
    "log.follow=false",
    "diff.suppressBlankEmpty=false",
    "submodule.recurse=false",
    "color.ui=false",
    # One length in every answer.
    "core.abbrev=9",
)
# Not refs/codeplane/, which keeps what would be lost: nobody is pointed there by mistake.
_SHOWN = ("refs/heads/", "refs/tags/", "refs/remotes/")
_PLAIN = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_./~^@-]{0,250}")
_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))


# What is put before a command that runs in a folder.
Before = Callable[[Path], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What git printed; `cut` when there was more than was wanted."""

    code: int
    out: bytes
    said: str
    cut: bool

    def records(self) -> list[bytes]:
        """The NUL-separated parts of what was printed."""
        parts = self.out.split(b"\0")
        return parts[:-1] if parts[-1] == b"" else parts


class Reading:
    """Runs git to read one work tree; libgit2 knows neither sha256 nor clean filters nor a sparse index."""

    def __init__(
        self,
        *,
        root: Path,
        environment: Callable[[], Mapping[str, str]],
        timeout_sec: float = 120.0,
        before: Before | None = None,
        secrets: SecretRules = NOTHING_SHOWN,
        runs: OnlineRuns | None = None,
    ) -> None:
        """`before` gives what encloses git where others can write its settings: it runs the filters they name.

        `runs` are those whose filters may have the network.
        """
        self._runs = runs
        self.root = root.resolve()
        self._environment = environment
        self._timeout_sec = timeout_sec
        self._before = before
        self.secrets = secrets

    async def run(
        self,
        *arguments: str,
        max_bytes: int | None = None,
        codes: Sequence[int] = (0,),
        env: Mapping[str, str] | None = None,
        folder: str = "",
    ) -> Read:
        """What git answers, up to the bytes that are wanted; a typed error when it will not, or takes too long."""
        with self._runs.run() if self._runs is not None else nullcontext():
            return await self._read(*arguments, max_bytes=max_bytes, codes=codes, env=env, folder=folder)

    async def _read(
        self,
        *arguments: str,
        max_bytes: int | None,
        codes: Sequence[int],
        env: Mapping[str, str] | None,
        folder: str,
    ) -> Read:
        git_dir_of(self.root)
        environment = {
            **self._environment(),
            "LC_ALL": "C",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PAGER": "cat",
            # A folder without git of its own must not speak for the one around it.
            "GIT_CEILING_DIRECTORIES": str((self.root / folder).parent),
            # A partial clone would fetch what it lacks: a question must not reach the network.
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            **(env or {}),
        }
        command: list[str | bytes] = [
            *(await asyncio.to_thread(self._before, self.root / folder) if self._before is not None else ()),
            "git",
            *_OPTIONS,
            "--no-pager",
            "--literal-pathspecs",
            *[_encoded(argument) for argument in unentered(arguments)],
        ]
        try:
            async with (
                asyncio.timeout(self._timeout_sec),
                _spanned(arguments[0]),
                piped(command, cwd=self.root / folder, env=environment) as running,
            ):
                said = asyncio.ensure_future(_upto(running.err, _MAX_SAID, drain=True))
                out, cut = await _upto(running.out, max_bytes or MAX_OUTPUT, drain=False)
                if cut:
                    running.end()
                words = (await said)[0].decode("utf-8", "backslashreplace").strip()
                code = await running.wait()
        except FileNotFoundError as error:
            raise NotFound("git is not installed, or not on PATH", hint="install git") from error
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"git {arguments[0]} took longer than {self._timeout_sec:.0f} s",
                hint="ask for less, such as paths or a limit",
            ) from error
        if cut and max_bytes is None:
            raise TooLarge(f"git {arguments[0]} answers with more than {MAX_OUTPUT} bytes", hint="name fewer paths")
        if not cut and code not in codes:
            raise self._refused(arguments[0], words or ended(code))
        return Read(code=0 if cut else code, out=out, said=words, cut=cut)

    async def commit(self, ref: str) -> str:
        """The commit that a name stands for; RefNotFound, with names like it, when there is none."""
        name = await self._object(ref) if ref.startswith(":/") else ref
        found = await self._object(f"{name}^{{commit}}", asked=ref)
        return found

    async def name(self, ref: str) -> str:
        """A commit as another command of git's takes it, without asking first where the name is a plain one.

        When that command refuses it, or calls it ambiguous, `commit` says what is wrong with it.
        """
        return f"{ref}^{{commit}}" if _PLAIN.fullmatch(ref) and ".." not in ref else await self.commit(ref)

    async def head(self) -> str | None:
        """The commit that is checked out; None before the first, an error when it is named and not there."""
        found = await self.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1))
        if found.code == 0:
            return found.out.decode().strip()
        named = await self.run("rev-parse", "--verify", "--quiet", "HEAD", codes=(0, 1))
        if named.code == 0:
            raise self._refused("rev-parse", f"HEAD names {named.out.decode().strip()}, which is not there")
        return None

    async def refuse_unknown(self, paths: Sequence[str], *trees: str) -> None:
        """NotFound when none of the paths is in the work tree, the index or one of the trees: a slip, no answer."""
        if not paths or await asyncio.to_thread(self._any_there, paths):
            return
        for command in (("ls-files", "-z"), *(("ls-tree", "-z", tree) for tree in trees)):
            if (await self.run(*command, "--", *paths, max_bytes=1)).out:
                return
        named = ", ".join(shown(path) for path in paths[:5])
        raise NotFound(f"git knows nothing of {named}", hint="list_dir shows what is there")

    def _any_there(self, paths: Sequence[str]) -> bool:
        return any(os.path.lexists(self.root / path) for path in paths)

    def pathspecs(self, paths: Sequence[str]) -> list[str]:
        """Paths as callers name them, as git takes them: relative to the root, and meant literally."""
        return [canonical(path, root=self.root) or "." for path in paths]

    async def _object(self, name: str, *, asked: str | None = None) -> str:
        asked = asked if asked is not None else name
        if not asked or asked.startswith(("-", "^")) or len(asked) > _MAX_REF or any(sign in asked for sign in "\0\n"):
            raise RefNotFound(f"{asked[:100]!r} is no name of a commit")
        found = await self.run("rev-parse", "--verify", "--end-of-options", name, codes=(0, 1, 128))
        if "ambiguous" in found.said and "unknown revision" not in found.said:
            raise InvalidArgument(
                f"{asked!r} is ambiguous: {found.said.splitlines()[0][:200]}",
                hint="name it in full, such as refs/heads/… or refs/tags/…, or with more of its letters",
            )
        if found.code != 0:
            raise await self._no_such_ref(asked, found.said)
        return found.out.decode("ascii", "replace").strip().splitlines()[-1]

    async def _no_such_ref(self, asked: str, said: str) -> CodePlaneError:
        if not _MEANS_UNKNOWN.search(said):
            return self._refused("rev-parse", said)
        if await self.head() is None:
            return RefNotFound(f"there is no {asked!r}: the repository has no commits yet", hint="commit first")
        listed = await self.run("for-each-ref", "--format=%(refname:short)", *_SHOWN, max_bytes=1024 * 1024)
        names = listed.out.decode("utf-8", "backslashreplace").splitlines()
        near = difflib.get_close_matches(asked, names, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else None
        return RefNotFound(f"there is no commit, branch or tag {asked!r}", hint=hint)

    def _refused(self, command: str, said: str) -> CodePlaneError:
        if "must be run in a work tree" in said:
            return bare(self.root)
        # Without a repository `git diff` would rather compare any two files.
        if "--no-index" in said:
            return not_opened(self.root, "not a git repository")
        if "not a git repository" in said or "dubious ownership" in said or "object format" in said:
            return not_opened(self.root, said)
        if "promisor" in said or "transport 'none' not allowed" in said or "lazy fetch" in said:
            return GitRefused(f"git {command}: objects are missing in this partial clone", hint="git_fetch gets them")
        words = said[:500] or "it said nothing"
        return GitRefused(f"git {command} failed: {words}", hint="if the repository is damaged, git fsck tells where")


_MEANS_UNKNOWN = re.compile(
    r"Needed a single revision|unknown revision|bad revision|expected .* type|no such path|does not exist|"
    r"not a valid object|log for .* only (has|goes)|no upstream|unknown index entry|is in the index|exists on disk"
)


def _encoded(argument: str) -> bytes:
    try:
        return os.fsencode(argument)
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{argument[:100]!r} cannot be said to git", hint="send it as plain text") from error


@asynccontextmanager
async def _spanned(command: str) -> AsyncIterator[None]:
    with span("git", command=command):
        yield


async def _upto(stream: asyncio.StreamReader, limit: int, *, drain: bool) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK):
        if size < limit:
            parts.append(chunk[: limit - size])
        size += len(chunk)
        if size > limit and not drain:
            break
    return b"".join(parts), size > limit
