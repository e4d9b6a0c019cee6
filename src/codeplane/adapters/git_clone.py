"""Cloning with the git command line, without prompts or hooks and within limits."""

import asyncio
import os
import re
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codeplane.adapters.git_cli import clean_environment
from codeplane.kernel.errors import DeadlineExceeded, NotFound, RemoteFailed, TooLarge
from codeplane.processes.child import PIPE, Child

_LOOK_SEC = 0.3
_MAX_SAID = 2000
_MB = 1_000_000
_PHASE = re.compile(r"([A-Z][\w ]+):\s+(\d{1,3})%")
_NO_LFS = ("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false")
_LFS = (
    *("-c", "filter.lfs.smudge=git-lfs smudge -- %f"),
    *("-c", "filter.lfs.process=git-lfs filter-process"),
    *("-c", "filter.lfs.required=true"),
)
# `user`: a folder of this machine may be named by the caller, never by a remote's list of submodules.
_TRANSPORTS = (
    *("-c", "protocol.allow=never"),
    *("-c", "protocol.https.allow=always"),
    *("-c", "protocol.ssh.allow=always"),
    *("-c", "protocol.git.allow=always"),
    *("-c", "protocol.file.allow=user"),
)


class Remote(Protocol):
    """A remote's URL, and its form without credentials."""

    @property
    def url(self) -> str: ...

    @property
    def shown(self) -> str: ...

    def redact(self, text: str) -> str: ...


class Listener(Protocol):
    """Receives the progress."""

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GitClone:
    """Clones within limits of size and time, and removes a clone that fails."""

    max_mb: int
    timeout_sec: float
    # The work tree that programs are not taken from.
    outside: Path

    async def clone(
        self, remote: Remote, target: Path, *, branch: str, recurse_submodules: bool, fetch_lfs: bool, call: Listener
    ) -> None:
        """Clone into a new folder."""
        if fetch_lfs and shutil.which("git-lfs") is None:
            raise NotFound("git-lfs is not installed, or not on PATH", hint="install it, or leave fetch_lfs out")
        command = ["git", *_TRANSPORTS, *(_LFS if fetch_lfs else _NO_LFS)]
        command += ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"]
        command += ["clone", "--progress", "--template=", "--origin=origin"]
        command += ["--recurse-submodules" if recurse_submodules else "--no-recurse-submodules"]
        command += [f"--branch={branch}"] if branch else []
        try:
            await self._run(
                [*command, "--", remote.url, str(target)], self._environment(fetch_lfs), remote, target, call
            )
            if remote.url != remote.shown:
                # Git would keep the secret part of the address in the clone's settings.
                command = ["git", "-C", str(target), "remote", "set-url", "origin", "--", remote.shown]
                await self._run(command, self._environment(False), remote, target, call)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, target, ignore_errors=True))
            raise

    async def _run(
        self, command: list[str], environment: dict[str, str], remote: Remote, target: Path, call: Listener
    ) -> None:
        try:
            # A group of its own: git's transports and filters end with it.
            process = Child(command, env=environment, cwd=target.parent, stderr=PIPE)
        except FileNotFoundError as error:
            raise NotFound("git is not installed, or not on PATH", hint="install git") from error
        watching = asyncio.create_task(self._watch_size(target))
        listening = asyncio.create_task(_listen(process.err, call.progress))
        try:
            async with asyncio.timeout(self.timeout_sec):
                await asyncio.wait({watching, listening}, return_when=asyncio.FIRST_COMPLETED)
                if watching.done():
                    watching.result()
                output = await listening
                status = await process.wait()
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"the clone of {remote.shown} took longer than {self.timeout_sec:.0f} s",
                hint="raise workspaces.clone_timeout_sec, or clone it yourself and attach the folder",
            ) from error
        finally:
            watching.cancel()
            listening.cancel()
            if process.returncode is None:
                process.end()
            process.close()
            await asyncio.shield(process.wait())
        if status != 0:
            raise RemoteFailed(f"git could not clone {remote.shown}: {remote.redact(output) or f'status {status}'}")
        await asyncio.to_thread(self._refuse_large, target)

    async def _watch_size(self, target: Path) -> None:
        # Nothing tells how much a transport has written so far.
        while True:
            await asyncio.sleep(_LOOK_SEC)
            await asyncio.to_thread(self._refuse_large, target)

    def _environment(self, fetch_lfs: bool) -> dict[str, str]:
        return clean_environment(self.outside) | {
            "GIT_ASKPASS": "false",
            "SSH_ASKPASS": "false",
            "GCM_INTERACTIVE": "never",
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
            "GIT_LFS_SKIP_SMUDGE": "0" if fetch_lfs else "1",
        }

    def _refuse_large(self, target: Path) -> None:
        if _size(target, self.max_mb * _MB) > self.max_mb * _MB:
            raise TooLarge(
                f"the clone is larger than {self.max_mb} MB and was removed",
                hint="raise workspaces.max_clone_mb, or clone it yourself and attach the folder",
                details={"limit": "workspaces.max_clone_mb"},
            )


async def _listen(stream: asyncio.StreamReader, tell: Callable[[float, float, str], Awaitable[None]]) -> str:
    """Report git's progress output, and return the end of its other output."""
    output = ""
    line = b""
    last = ("", "")
    while chunk := await stream.read(4096):
        *lines, line = re.split(rb"[\r\n]", line + chunk)
        for text in (text_line.decode(errors="replace").strip() for text_line in lines):
            phase = _PHASE.search(text)
            if phase is None:
                output = f"{output}\n{text}"[-_MAX_SAID:]
            elif (phase[1], phase[2]) != last:
                last = (phase[1], phase[2])
                await tell(float(phase[2]), 100.0, phase[1])
        line = line[-_MAX_SAID:]
    problems = [text for text in f"{output}\n{line.decode(errors='replace')}".splitlines() if _is_problem(text)]
    return "; ".join(problems)[:500] or output.strip()[-500:]


def _is_problem(text: str) -> bool:
    return text.startswith(("fatal:", "error:", "ssh:", "remote: ERROR", "Permission denied", "Host key"))


def _size(folder: Path, enough: int) -> int:
    """Return the size of a folder in bytes; stop counting at the limit."""
    total = 0
    folders = [str(folder)]
    while folders and total <= enough:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            # Git renames and removes its temporary files meanwhile.
            continue
    return total
