"""Runs git commands that only read: no locks, pagers, hooks or network, and bounded output."""

import asyncio
import difflib
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from codeplane.disk.git_variables import NO_FETCH
from codeplane.git.read.git_error import exit_reason
from codeplane.git.read.repository import bare_repository_error, git_dir_of, open_error
from codeplane.git.read.submodule_guard import skip_submodules
from codeplane.index.files.paths import canonical, path_text
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
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules
from codeplane.kernel.trace import span
from codeplane.processes.child import PIPE, Child

MAX_OUTPUT = 64 * 1024 * 1024
_MAX_SAID = 16 * 1024
_MAX_REF = 1000
_CHUNK = 256 * 1024
# Settings that could make a reading command run a program or print another format.
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
# Not refs/codeplane/, which only holds recovery refs.
_SHOWN = ("refs/heads/", "refs/tags/", "refs/remotes/")
_PLAIN = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_./~^@-]{0,250}")
_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))


# Commands that read files of the work tree.
READING_FILES = frozenset(("blame", "diff"))
# Returns the words to put before a git command of that name, which runs in a folder.
Before = Callable[[Path, str], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOutput:
    """What git printed; `cut` when the output was longer than the limit."""

    code: int
    out: bytes
    errors: str
    cut: bool

    def records(self) -> list[bytes]:
        """Return the NUL-separated parts of the output."""
        parts = self.out.split(b"\0")
        return parts[:-1] if parts[-1] == b"" else parts


class GitReader:
    """Run git to read one work tree; libgit2 supports neither sha256, clean filters nor a sparse index."""

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
        """`before` returns the command around git: agents may have configured filters, or swap folders for links.

        `runs` counts the runs whose filters may use the network.
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
    ) -> ReadOutput:
        """Run git and return up to `max_bytes` of its output; a typed error when it fails or takes too long."""
        with self._runs.run() if self._runs is not None else nullcontext():
            return await self._read(*arguments, max_bytes=max_bytes, codes=codes, env=env, folder=folder)

    async def _read(
        self,
        *arguments: str,
        max_bytes: int | None,
        codes: Sequence[int],
        env: Mapping[str, str] | None,
        folder: str,
    ) -> ReadOutput:
        git_dir_of(self.root)
        environment = {
            **self._environment(),
            "LC_ALL": "C",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PAGER": "cat",
            # A folder without a repository must not be read as part of the one around it.
            "GIT_CEILING_DIRECTORIES": str((self.root / folder).parent),
            # A partial clone would fetch missing objects, but reading must not use the network.
            **NO_FETCH,
            **(env or {}),
        }
        command: list[str | bytes] = [
            *(await asyncio.to_thread(self._before, self.root / folder, arguments[0]) if self._before else ()),
            "git",
            *_OPTIONS,
            "--no-pager",
            "--literal-pathspecs",
            *[_encode(argument) for argument in skip_submodules(arguments)],
        ]
        try:
            async with (
                asyncio.timeout(self._timeout_sec),
                _trace_span(arguments[0]),
                _run_with_pipes(command, cwd=self.root / folder, env=environment) as running,
            ):
                errors = asyncio.ensure_future(_read_up_to(running.err, _MAX_SAID, drain=True))
                out, cut = await _read_up_to(running.out, max_bytes or MAX_OUTPUT, drain=False)
                if cut:
                    running.end()
                message = (await errors)[0].decode("utf-8", "backslashreplace").strip()
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
            raise self._error(arguments[0], message or exit_reason(code))
        return ReadOutput(code=0 if cut else code, out=out, errors=message, cut=cut)

    async def commit(self, ref: str) -> str:
        """Resolve a name to a commit; RefNotFound suggests similar names."""
        name = await self._object(ref) if ref.startswith(":/") else ref
        return await self._object(f"{name}^{{commit}}", asked=ref)

    async def name(self, ref: str) -> str:
        """Return a commit in a form that other git commands take; a plain name is not resolved first.

        When such a command fails or calls the name ambiguous, `commit` tells what is wrong with it.
        """
        return f"{ref}^{{commit}}" if _PLAIN.fullmatch(ref) and ".." not in ref else await self.commit(ref)

    async def head(self) -> str | None:
        """Return the commit that is checked out; None before the first commit, an error when it is missing."""
        commit = await self.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1))
        if commit.code == 0:
            return commit.out.decode().strip()
        head = await self.run("rev-parse", "--verify", "--quiet", "HEAD", codes=(0, 1))
        if head.code == 0:
            raise self._error("rev-parse", f"HEAD names {head.out.decode().strip()}, which is not there")
        return None

    async def refuse_unknown(self, paths: Sequence[str], *trees: str) -> None:
        """Raise NotFound when none of the paths is in the work tree, the index or one of the trees."""
        if not paths or await asyncio.to_thread(self._any_exists, paths):
            return
        for command in (("ls-files", "-z"), *(("ls-tree", "-z", tree) for tree in trees)):
            if (await self.run(*command, "--", *paths, max_bytes=1)).out:
                return
        named = ", ".join(path_text(path) for path in paths[:5])
        raise NotFound(f"git knows nothing of {named}", hint="list_dir shows what is there")

    def _any_exists(self, paths: Sequence[str]) -> bool:
        return any(os.path.lexists(self.root / path) for path in paths)

    def pathspecs(self, paths: Sequence[str]) -> list[str]:
        """Turn the caller's paths into literal pathspecs relative to the root."""
        return [canonical(path, root=self.root) or "." for path in paths]

    async def _object(self, name: str, *, asked: str | None = None) -> str:
        asked = asked if asked is not None else name
        if not asked or asked.startswith(("-", "^")) or len(asked) > _MAX_REF or any(sign in asked for sign in "\0\n"):
            raise RefNotFound(f"{asked[:100]!r} is no name of a commit")
        output = await self.run("rev-parse", "--verify", "--end-of-options", name, codes=(0, 1, 128))
        if "ambiguous" in output.errors and "unknown revision" not in output.errors:
            raise InvalidArgument(
                f"{asked!r} is ambiguous: {output.errors.splitlines()[0][:200]}",
                hint="name it in full, such as refs/heads/… or refs/tags/…, or with more of its letters",
            )
        if output.code != 0:
            raise await self._unknown_ref_error(asked, output.errors)
        return output.out.decode("ascii", "replace").strip().splitlines()[-1]

    async def _unknown_ref_error(self, asked: str, message: str) -> CodePlaneError:
        if not _UNKNOWN_REF.search(message):
            return self._error("rev-parse", message)
        if await self.head() is None:
            return RefNotFound(f"there is no {asked!r}: the repository has no commits yet", hint="commit first")
        listed = await self.run("for-each-ref", "--format=%(refname:short)", *_SHOWN, max_bytes=1024 * 1024)
        names = listed.out.decode("utf-8", "backslashreplace").splitlines()
        near = difflib.get_close_matches(asked, names, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else None
        return RefNotFound(f"there is no commit, branch or tag {asked!r}", hint=hint)

    def _error(self, command: str, message: str) -> CodePlaneError:
        if "must be run in a work tree" in message:
            return bare_repository_error(self.root)
        # Outside a repository `git diff` compares any two files.
        if "--no-index" in message:
            return open_error(self.root, "not a git repository")
        if "not a git repository" in message or "dubious ownership" in message or "object format" in message:
            return open_error(self.root, message)
        if "promisor" in message or "transport 'none' not allowed" in message or "lazy fetch" in message:
            return GitRefused(f"git {command}: objects are missing in this partial clone", hint="git_fetch gets them")
        words = message[:500] or "it printed nothing"
        return GitRefused(f"git {command} failed: {words}", hint="if the repository is damaged, git fsck tells where")


_UNKNOWN_REF = re.compile(
    r"Needed a single revision|unknown revision|bad revision|expected .* type|no such path|does not exist|"
    r"not a valid object|log for .* only (has|goes)|no upstream|unknown index entry|is in the index|exists on disk"
)


def _encode(argument: str) -> bytes:
    try:
        return os.fsencode(argument)
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{argument[:100]!r} cannot be passed to git", hint="send it as plain text") from error


@asynccontextmanager
async def _trace_span(command: str) -> AsyncIterator[None]:
    with span("git", command=command):
        yield


async def _read_up_to(stream: asyncio.StreamReader, limit: int, *, drain: bool) -> tuple[bytes, bool]:
    """Read up to `limit` bytes and say whether there was more; with `drain`, read on to the end."""
    parts: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK):
        if size < limit:
            parts.append(chunk[: limit - size])
        size += len(chunk)
        if size > limit and not drain:
            break
    return b"".join(parts), size > limit


@asynccontextmanager
async def _run_with_pipes(command: Sequence[str | bytes], *, cwd: Path, env: Mapping[str, str]) -> AsyncIterator[Child]:
    """Run a command without input; leaving the block ends it."""
    # In a process group of its own, so that filters and other children of git end with it.
    running = Child(command, cwd=cwd, env=env, stdout=PIPE, stderr=PIPE)
    try:
        yield running
    finally:
        if running.returncode is None:
            running.end()
        # Closed first, so that its end does not wait for unread output.
        running.close()
        await running.wait()
