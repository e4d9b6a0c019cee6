"""Removes secrets files from recovery refs, where earlier versions stored them."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pygit2

from codeplane.disk.git_variables import NO_FETCH
from codeplane.disk.program_path import path_outside
from codeplane.git.read.repository import common_dir, open_repository
from codeplane.git.safety.command import Git
from codeplane.git.safety.contents import MAX_BLOB, Contents
from codeplane.git.safety.recovery_refs import AUTHOR, PREFIX, identity
from codeplane.git.safety.secret_contents import SecretContents
from codeplane.kernel.errors import CodePlaneError, NotGit
from codeplane.kernel.reserved_folders import is_codeplanes
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules

_MAX_REFS = 300
_MAX_FILES = 20_000
_LOOK_SEC = 20.0
_REACHED_SEC = 120.0
_OBJECTS = ("--objects", "--no-object-names")

# Runs a reading git command and returns its output.
Ask = Callable[..., bytes]
# The secrets files of each ref: path, then mode and object.
Held = dict[str, dict[str, str]]


def git_asker(root: Path) -> Ask:
    """Return a function that runs git for `cpl doctor`."""

    def ask(*arguments: str) -> bytes:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        command = ["git", "-c", "core.fsmonitor=false", *arguments]
        environment |= NO_FETCH | {"PATH": path_outside(environment.get("PATH", ""), root)}
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=_LOOK_SEC, check=False)
        return done.stdout

    return ask


def find_recovery_secrets(root: Path, ask: Ask, secrets: SecretRules = NOTHING_SHOWN) -> Held:
    """Find secrets files and `.codeplane/` files in the newest recovery refs, by ref."""
    by_ref: Held = {}
    fields = "%(objecttype) %(authoremail) %(tree) %(refname)"
    listed = ask("for-each-ref", f"--format={fields}", "--sort=-creatordate", f"--count={_MAX_REFS}", PREFIX)
    for line in os.fsdecode(listed).splitlines():
        kind, _, rest = line.partition(" ")
        if kind != "commit":
            continue
        email, tree, ref = rest.split(" ", 2)
        if email != f"<{AUTHOR[1]}>":
            continue
        for path, entry in islice(_files(root, ask, tree), _MAX_FILES):
            if is_codeplanes(path) or secrets.covers(path):
                by_ref.setdefault(ref, {})[path] = entry
    return by_ref


def _files(root: Path, ask: Ask, tree: str) -> Iterable[tuple[str, str]]:
    """List the files of a tree with modes and object ids, through libgit2 where it can, which is cheaper."""
    try:
        return list(_walk(open_repository(root), tree, ""))
    except (CodePlaneError, pygit2.GitError, KeyError, ValueError):
        lines = os.fsdecode(ask("ls-tree", "-r", "-z", "--full-tree", tree)).split("\0")
        entries = ((path, facts.split(" ")) for facts, _, path in (line.partition("\t") for line in lines) if path)
        return [(path, f"{facts[0]} {facts[2]}") for path, facts in entries]


def _walk(repository: pygit2.Repository, tree: str, folder: str) -> Iterator[tuple[str, str]]:
    for entry in repository[tree].peel(pygit2.Tree):
        path = folder + os.fsdecode(entry.raw_name or b"")
        if entry.type_str == "tree":
            yield from _walk(repository, str(entry.id), f"{path}/")
        else:
            yield path, f"{int(entry.filemode):06o} {entry.id}"


class RecoverySecrets:
    """Remove secrets files from recovery refs and git's objects, and keep what undo needs apart."""

    def __init__(self, git: Git, contents: Contents, secrets: SecretRules, apart: SecretContents) -> None:
        self._git = git
        self._contents = contents
        self._secrets = secrets
        self._apart = apart

    async def clear(self) -> tuple[str, ...]:
        """Remove the secrets files from every recovery ref and return the changed refs."""
        try:
            held = await asyncio.to_thread(
                find_recovery_secrets, self._git.root, lambda *words: self._git.ask(*words).out, self._secrets
            )
        except NotGit:
            return ()
        gone: list[str] = []
        for ref, files in held.items():
            await self._keep_apart(files)
            gone += await self._without(ref, files)
        if gone:
            await self._forget(gone)
        return tuple(held)

    async def _keep_apart(self, files: dict[str, str]) -> None:
        named = {path: entry.split(" ")[1] for path, entry in files.items() if not is_codeplanes(path)}
        contents = await self._contents.read_small(named.values(), most=MAX_BLOB)
        for oid, content in contents.items():
            await asyncio.to_thread(self._apart.put, oid, content)

    async def _without(self, ref: str, files: dict[str, str]) -> list[str]:
        """Replace the commit of a ref by one without these files; return the objects that only the old one had."""
        printed = (await self._git.run("log", "-1", "--format=%H %at%n%P%n%B", ref)).out.decode("utf-8", "replace")
        first, parents, message = printed.split("\n", 2)
        old, when = first.split(" ")
        listed = (await self._git.run("ls-tree", "-r", "-z", "--full-tree", ref)).fields
        entries = ((path, facts.split(" ")) for facts, _, path in (line.partition("\t") for line in listed))
        left = {path: f"{facts[0]} {facts[2]}" for path, facts in entries if path not in files}
        tree = await self._contents.tree(left)
        words = [word for parent in parents.split() for word in ("-p", parent)]
        made = await self._git.run(
            *("-c", "commit.gpgsign=false", "commit-tree", tree, *words),
            input=message.strip().encode() + b"\n",
            env=identity(f"@{when} +0000"),
        )
        # Fails when the ref has moved meanwhile.
        await self._git.run("update-ref", ref, made.line, old)
        excluded = [f"^{parent}" for parent in (*parents.split(), made.line)]
        return (await self._git.run("rev-list", *_OBJECTS, old, *excluded)).line.split()

    async def _forget(self, oids: Iterable[str]) -> None:
        """Delete loose objects that are unreachable; packed ones are left to git gc."""
        wanted = set(oids)
        everything = ("--all", "--reflog", "--indexed-objects")
        done = await self._git.run("rev-list", *_OBJECTS, *everything, timeout=_REACHED_SEC)
        objects = Path(common_dir(self._git.folder)) / "objects"
        for oid in wanted - set(done.line.split()):
            with suppress(OSError):
                (objects / oid[:2] / oid[2:]).unlink()


async def clear_and_log(secrets: RecoverySecrets, log: Callable[..., None]) -> None:
    """Remove the secrets files and log the refs; a failure is logged and does not stop the server."""
    try:
        if refs := await secrets.clear():
            log("secrets files were taken out of recovery refs; packed ones go by git gc --prune=now", refs=refs[:20])
    except CodePlaneError as error:
        log("secrets files under recovery refs could not be taken out", reason=error.message)
